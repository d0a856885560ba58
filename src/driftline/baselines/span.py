"""Supports with the inverse of their Gram matrix, to project others on them."""

import numpy as np

from driftline._jit import kernel
from driftline.baselines.supports import SupportSet
from driftline.types import Indices, Matrix, Vector

NEAR = 1e-4
"""A squared distance from the span of the supports below which an instance is in it: the inverse would lose digits.

With 1e-6 it loses all of them where instances have one or two columns.
"""


@kernel
def project(inverse: Matrix, row: Vector, size: int, coefficients: Vector) -> float:
    r"""Put d = K⁻¹k_x, the projection of x on the supports, into `coefficients`; return D² = 1 - k_xᵀd, from 0 up."""
    explained = 0.0
    for i in range(size):
        total = 0.0
        for j in range(size):
            total += inverse[i, j] * row[j]
        coefficients[i] = total
        explained += total * row[i]
    return max(1.0 - explained, 0.0)


@kernel
def lean(weights: Matrix, y: int, r: int, step: float, coefficients: Vector, size: int) -> None:
    """Move f_y - f_r by `step` times the function with these coefficients."""
    for i in range(size):
        weights[y, i] += 0.5 * step * coefficients[i]
        weights[r, i] -= 0.5 * step * coefficients[i]


@kernel
def append(
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
    r"""Make x a support, with a step of 1 from r to y: K⁻¹ ← [[K⁻¹, 0], [0, 0]] + vvᵀ/D² with v = (d; -1)."""
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
def absorb(
    x: Vector,
    y: int,
    r: int,
    row: Vector,
    supports: Matrix,
    weights: Matrix,
    count: Indices,
    inverse: Matrix,
    near: float,
    coefficients: Vector,
) -> None:
    """Take a step of 1 from r to y: along x if it is far from the supports and there is room, else its projection."""
    size = count[0]
    distance = project(inverse, row, size, coefficients)
    if distance <= near or size == len(supports):
        lean(weights, y, r, 1.0, coefficients, size)
    else:
        append(x, y, r, coefficients, distance, supports, weights, count, inverse)


class SpanningSet(SupportSet):
    """Supports that span a space, and the inverse of their Gram matrix."""

    _kept = (*SupportSet._kept, "inverse")

    def __init__(self, n_columns: int, budget: int, scale: float, tolerance: float | None) -> None:
        super().__init__(n_columns, budget, scale)
        self._inverse = np.zeros((budget, budget))
        self._near = NEAR if tolerance is None else max(min(tolerance, 1.0) ** 2, NEAR)
