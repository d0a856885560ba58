r"""Naive Bayes experts that learn a row at a time, many of them in plain arrays.

An expert gives class c of a row x the weight P(c) Π_j P(x_j|c). P(c) is the share of the rows it learned. A nominal
column, which holds codes 0, 1, …, has P(v|c) = (n_v + 1)/(n + L) if n values of the column were seen with c, n_v of
them v, and L - 1 is the largest. A numeric column has a Gaussian density with the mean and sample variance of these;
without variance it is 1 at the mean and 0 elsewhere. A column of which no value was seen with c rules c out. A missing
value (NaN) is passed over. All this is as in MOA, but for products too small for a float: those are zero there.
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
NORMAL = math.sqrt(2.0 * math.pi)
NEAR_ZERO, NEAR_INFINITY = 1e-100, 1e100
"""A factor may be up to 1e162, for the smallest deviation there is: a product between these bears one more."""


class Experts(NamedTuple):
    """What experts have seen; there may be room for more of them."""

    starts: Indices
    """Where the codes of each column begin in `counts`, and where the last one's end; a numeric column has none."""
    rows: Matrix
    """How many rows of each class."""
    seen: Cube
    """How many values, beside missing ones."""
    counts: Cube
    """How often each code of each nominal column."""
    levels: Cube
    """The largest code, plus 1."""
    mean: Cube
    """Mean of a numeric column."""
    squares: Cube
    """Sum of squared deviations from it."""


def no_experts(n_columns: int, nominal: Sequence[int]) -> Experts:
    """Return arrays without room for an expert or a class."""
    widths = np.zeros(n_columns, np.int64)
    widths[list(nominal)] = 1
    empty = np.zeros((0, 0, n_columns))
    starts = _starts(widths)
    return Experts(starts, np.zeros((0, 0)), empty, np.zeros((0, 0, starts[-1])), empty, empty, empty)


def _starts(widths: Indices) -> Indices:
    return np.concatenate([[0], np.cumsum(widths)])


def with_codes(experts: Experts, Z: Matrix) -> Experts:
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
    """Return the first experts, or with room for more, and for as many classes or more."""

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
def weigh(experts: Experts, e: int, c: int, x: Vector) -> tuple[float, float]:
    """Return m and k such that the product that expert e gives to class c is m 2^k and 1/2 ≤ m < 1; m = 0 if it is 0.

    For nominal columns m is, to the bit, what a plain product would be if it did not underflow.
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
                product *= 1.0 / (NORMAL * math.sqrt(variance))
                exponent += shift * shift / (2.0 * variance)
            elif shift != 0.0:
                return 0.0, 0.0
        if not NEAR_ZERO < product < NEAR_INFINITY:
            product, power = math.frexp(product)
            k += power
    if exponent == math.inf:
        return 0.0, 0.0
    halvings = np.floor(exponent / LN2)
    rest = min(max(exponent - halvings * LN2, 0.0), LN2)  # of a huge exponent, only rounding is left
    product, power = math.frexp(product * math.exp(-rest))
    return product, k + power - halvings


@kernel
def opinion(experts: Experts, e: int, x: Vector) -> int:
    """Return the class to which expert e gives most, the first on ties: 0 if it has learned nothing."""
    best, best_m, best_k = 0, 0.0, 0.0
    for c in range(experts.rows.shape[1]):
        m, k = weigh(experts, e, c, x)
        if m > 0.0 and (best_m == 0.0 or k > best_k or (k == best_k and m > best_m)):
            best, best_m, best_k = c, m, k
    return best


@kernel
def put(experts: Experts, e: int, source: int) -> None:
    """Put what another expert knows in the place of expert e."""
    experts.rows[e] = experts.rows[source]
    for array in experts[2:]:
        array[e] = array[source]


@kernel
def forget(experts: Experts, e: int) -> None:
    """Make expert e one that has learned nothing."""
    experts.rows[e] = 0.0
    for array in experts[2:]:
        array[e] = 0.0
