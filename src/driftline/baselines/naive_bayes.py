r"""Naive Bayes classifiers ("experts") that learn row by row, many of them in common arrays.

An expert gives class c of a row x the weight P(c) Π_j P(x_j|c). P(c) is the fraction of its rows that are of class c. A
nominal column, which contains codes 0, 1, …, has P(v|c) = (n_v + 1)/(n + L) if n values of the column were seen with c,
n_v of them equal to v, and L - 1 is the largest of them. A numeric column has a Gaussian density with the mean and
sample variance of the values seen with c; if the variance is 0, the density is 1 at the mean and 0 elsewhere. If no
value of a column was seen with c, the weight is 0. Missing values (NaN) are skipped. All this is as in MOA, except that
products too small for a float are zero in MOA.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from driftline._jit import inner_kernel, kernel
from driftline.types import Indices, Matrix, Vector

Cube = Matrix
"""An array with an entry for each expert, class and column."""
LN2 = math.log(2.0)
SQRT_2_PI = math.sqrt(2.0 * math.pi)
MIN_PRODUCT, MAX_PRODUCT = 1e-100, 1e100
"""Range of a product that can be multiplied once more without overflow: a factor is at most 1e162."""


class Experts(NamedTuple):
    """Statistics of all experts; the arrays may have room for more experts."""

    starts: Indices
    """Position in `counts` of the first code of each column, and of the end; a numeric column has no codes."""
    rows: Matrix
    """Number of rows of each class."""
    seen: Cube
    """Number of values that were not missing."""
    counts: Cube
    """Number of times each code of each nominal column was seen."""
    levels: Cube
    """Largest code plus 1."""
    mean: Cube
    """Mean of a numeric column."""
    squares: Cube
    """Sum of squared deviations from the mean."""


def empty_experts(n_columns: int, nominal: Sequence[int]) -> Experts:
    """Return arrays for no expert and no class."""
    widths = np.zeros(n_columns, np.int64)
    widths[list(nominal)] = 1
    empty = np.zeros((0, 0, n_columns))
    starts = _starts(widths)
    return Experts(starts, np.zeros((0, 0)), empty, np.zeros((0, 0, starts[-1])), empty, empty, empty)


def _starts(widths: Indices) -> Indices:
    return np.concatenate([[0], np.cumsum(widths)])


def with_room_for_codes(experts: Experts, Z: Matrix) -> Experts:
    """Return the experts with room for the codes in some rows."""
    before = np.diff(experts.starts)
    needed = (np.fmax.reduce(Z, axis=0, initial=0.0, where=before > 0) + 1).astype(np.int64)
    widths = np.where(before > 0, np.maximum(before, needed), 0)
    if np.array_equal(widths, before):
        return experts
    starts = _starts(widths)
    places = np.arange(experts.starts[-1]) + np.repeat(starts[:-1] - experts.starts[:-1], before)
    counts = np.zeros((*experts.rows.shape, starts[-1]))
    counts[:, :, places] = experts.counts
    return experts._replace(starts=starts, counts=counts)


def resized(experts: Experts, n_experts: int, n_classes: int) -> Experts:
    """Return the experts in arrays for `n_experts` (the first ones, or all and empty ones) and `n_classes`, or more."""

    def fitted(array: Matrix) -> Matrix:
        enlarged = np.zeros((n_experts, n_classes, *array.shape[2:]))
        kept = array[:n_experts]
        enlarged[: len(kept), : array.shape[1]] = kept
        return enlarged

    return Experts(experts.starts, *map(fitted, experts[1:]))


@kernel
def learn(experts: Experts, e: int, x: Vector, y: int) -> None:
    """Let expert e learn a row of class y."""
    starts, rows, seen, counts, levels, mean, squares = experts
    rows[e, y] += 1.0
    for j in range(x.size):
        if np.isnan(x[j]):
            continue
        seen[e, y, j] += 1.0
        if starts[j] < starts[j + 1]:
            code = int(x[j])
            counts[e, y, starts[j] + code] += 1.0
            levels[e, y, j] = max(levels[e, y, j], code + 1.0)
        else:
            shift = x[j] - mean[e, y, j]
            mean[e, y, j] += shift / seen[e, y, j]
            squares[e, y, j] += shift * (x[j] - mean[e, y, j])


@inner_kernel
def class_weight(experts: Experts, e: int, c: int, x: Vector) -> tuple[float, float]:
    """Return m and k such that the weight of class c for expert e is m 2^k with 1/2 ≤ m < 1, or m = 0.

    For nominal columns m equals, bit for bit, the plain product if that does not underflow.
    """
    starts, rows, seen, counts, levels, mean, squares = experts
    n_rows = 0.0
    for y in range(rows.shape[1]):
        n_rows += rows[e, y]
    if rows[e, c] == 0.0:
        return 0.0, 0.0
    product, k, exponent = rows[e, c] / n_rows, 0.0, 0.0
    for j in range(x.size):
        if np.isnan(x[j]):
            continue
        n = seen[e, c, j]
        if n == 0.0:
            return 0.0, 0.0
        if starts[j] < starts[j + 1]:
            place = starts[j] + int(x[j])
            count = counts[e, c, place] if place < starts[j + 1] else 0.0
            product *= (count + 1.0) / (n + levels[e, c, j])
        else:
            shift = x[j] - mean[e, c, j]
            variance = squares[e, c, j] / max(n - 1.0, 1.0)
            if variance > 0.0:
                product *= 1.0 / (SQRT_2_PI * math.sqrt(variance))
                exponent += shift * shift / (2.0 * variance)
            elif shift != 0.0:
                return 0.0, 0.0
        if not MIN_PRODUCT < product < MAX_PRODUCT:
            product, power = math.frexp(product)
            k += power
    if exponent == math.inf:
        return 0.0, 0.0
    halvings = np.floor(exponent / LN2)
    rest = min(max(exponent - halvings * LN2, 0.0), LN2)  # for a huge exponent only rounding errors are left
    product, power = math.frexp(product * math.exp(-rest))
    return product, k + power - halvings


@kernel
def most_probable_class(experts: Experts, e: int, x: Vector) -> int:
    """Return the class with the largest weight for expert e, the first on ties; 0 if it has learned nothing."""
    best, best_m, best_k = 0, 0.0, 0.0
    for c in range(experts.rows.shape[1]):
        m, k = class_weight(experts, e, c, x)
        if m > 0.0 and (best_m == 0.0 or k > best_k or (k == best_k and m > best_m)):
            best, best_m, best_k = c, m, k
    return best


@kernel
def copy_expert(experts: Experts, e: int, source: int) -> None:
    """Overwrite expert e with a copy of the expert `source`."""
    experts.rows[e] = experts.rows[source]
    for array in experts[2:]:
        array[e] = array[source]


@kernel
def reset_expert(experts: Experts, e: int) -> None:
    """Reset expert e to one that has learned nothing."""
    experts.rows[e] = 0.0
    for array in experts[2:]:
        array[e] = 0.0
