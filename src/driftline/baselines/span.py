"""Supports with the inverse of their Gram matrix, for projections on their span."""

import numpy as np

from driftline._jit import kernel
from driftline.baselines.supports import SupportSet
from driftline.core.schema import ArraySpec, Schema, whole_numbers
from driftline.types import Indices, Matrix, Vector

MIN_SQUARED_DISTANCE = 1e-4
"""Squared distance from the span of the supports below which an instance counts as inside it.

A smaller value makes the inverse of the Gram matrix inaccurate: with 1e-6 it has no correct digit left for instances
with one or two columns.
"""


@kernel
def project(inverse: Matrix, row: Vector, size: int, coefficients: Vector) -> float:
    r"""Write d = K⁻¹k_x, the projection of x on the supports, to `coefficients`; return D² = max(1 - k_xᵀd, 0)."""
    explained = 0.0
    for i in range(size):
        total = 0.0
        for j in range(size):
            total += inverse[i, j] * row[j]
        coefficients[i] = total
        explained += total * row[i]
    return max(1.0 - explained, 0.0)


@kernel
def move_margin(weights: Matrix, y: int, r: int, step: float, coefficients: Vector, size: int) -> None:
    """Add `step` times the function with these coefficients to f_y - f_r."""
    for i in range(size):
        weights[y, i] += 0.5 * step * coefficients[i]
        weights[r, i] -= 0.5 * step * coefficients[i]


@kernel
def add_support(
    x: Vector,
    y: int,
    r: int,
    coefficients: Vector,
    distance: float,
    supports: Matrix,
    weights: Matrix,
    count: Indices,
    inverse: Matrix,
) -> None:
    r"""Add the support x with a step of 1 from r to y; update K⁻¹ ← [[K⁻¹, 0], [0, 0]] + vvᵀ/D² with v = (d; -1)."""
    size = count[0]
    for i in range(size):
        for j in range(size):
            inverse[i, j] += coefficients[i] * coefficients[j] / distance
        inverse[i, size] = inverse[size, i] = -coefficients[i] / distance
    inverse[size, size] = 1.0 / distance
    supports[size] = x
    weights[y, size], weights[r, size] = 0.5, -0.5
    count[0] += 1


@kernel
def learn_mistake(
    x: Vector,
    y: int,
    r: int,
    row: Vector,
    supports: Matrix,
    weights: Matrix,
    count: Indices,
    inverse: Matrix,
    min_squared_distance: float,
    coefficients: Vector,
) -> None:
    """Take a step of 1 from r to y, along x or its projection.

    It is along x, which becomes a support, if x is far from the supports and the budget is not full.
    """
    size = count[0]
    distance = project(inverse, row, size, coefficients)
    if distance <= min_squared_distance or size == len(supports):
        move_margin(weights, y, r, 1.0, coefficients, size)
    else:
        add_support(x, y, r, coefficients, distance, supports, weights, count, inverse)


class SpanningSet(SupportSet):
    """Supports, their coefficients, and the inverse of their Gram matrix."""

    def __init__(self, n_columns: int, budget: int, scale: float, tolerance: float | None) -> None:
        super().__init__(n_columns, budget, scale)
        self._inverse = np.zeros((budget, budget))
        self._min_squared_distance = (
            MIN_SQUARED_DISTANCE if tolerance is None else max(min(tolerance, 1.0) ** 2, MIN_SQUARED_DISTANCE)
        )

    def schema(self) -> Schema:
        """Return what each array must be in a file; no support is ever replaced, so there are at most `budget`."""
        own: Schema = {"count": whole_numbers((1,), len(self._supports)), "inverse": ArraySpec(self._inverse.shape)}
        return super().schema() | own
