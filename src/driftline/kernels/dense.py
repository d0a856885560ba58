"""Alg. 4 of the paper where m = cd is small: all rows are evaluated in every iteration.

The iterates are those of `driftline.kernels.search`, whose search for the row that attains φ costs more than it saves
if a row is a few numbers. Rows lie here side by side, so that one instruction evaluates several.
"""

import math
from typing import NamedTuple

import numpy as np

from driftline._jit import comparing_kernel, inner_kernel, kernel, summing_kernel
from driftline.kernels.rows import ROUNDING, Rows, find_subset, is_instance, precedes, pull_of, row_value, write_row
from driftline.kernels.vectors import advance, step_sizes
from driftline.types import Flags, Indices, Matrix, Vector

LARGEST_CLASSES = 4
"""With up to so many classes all label subsets of the newest instance are rows from the beginning."""
LARGEST_SIZE = 64
"""Up to so many numbers a row, evaluating all rows is faster than searching among them."""
LANES = 8
"""Rows are padded to a multiple of so many, with rows whose value is -∞."""
TOGETHER = 4
"""So many numbers of each row are multiplied in one pass."""


@inner_kernel
def is_dense(c: int, d: int, n_rows: int, n_slots: int) -> bool:
    """Tell whether a problem is small enough, and there is room for all rows of the newest instance."""
    return c <= LARGEST_CLASSES and c * d <= LARGEST_SIZE and n_rows + 2**c - 1 <= n_slots


@inner_kernel
def admit_all(rows: Rows, n: int, psi: Matrix, own: Indices, subset: Flags, clock: int) -> int:
    """Add the rows of the newest instance that are not kept, smaller subsets first; return the number of rows."""
    c, n_own = subset.size, 0
    for i in range(n):
        if is_instance(rows, i, psi):
            own[n_own] = i
            n_own += 1
    for size in range(1, c + 1):
        for code in range(2**c - 1, 0, -1):
            count = 0
            for y in range(c):
                subset[y] = (code >> y) & 1 == 1
                count += subset[y]
            if count == size and find_subset(rows.members, own[:n_own], subset) < 0:
                write_row(rows, n, psi, subset, clock)
                n += 1
    return n


@summing_kernel
def evaluate(F: Matrix, levels: Vector, x: Vector, values: Vector) -> None:
    """Set values to Fᵀμ - h, where levels = -h."""
    for i in range(values.size):
        values[i] = F[0, i] * x[0] + F[1, i] * x[1] + (F[2, i] * x[2] + F[3, i] * x[3]) + levels[i]
    for k in range(TOGETHER, F.shape[0], TOGETHER):
        for i in range(values.size):
            values[i] += F[k, i] * x[k] + F[k + 1, i] * x[k + 1] + (F[k + 2, i] * x[k + 2] + F[k + 3, i] * x[k + 3])


@comparing_kernel
def largest(values: Vector) -> float:
    """Return the largest of some numbers; eight at a time, since a chain of comparisons waits for each."""
    a, b, c, d, e, f, g, h = values[0], values[1], values[2], values[3], values[4], values[5], values[6], values[7]
    for i in range(LANES, values.size, LANES):
        a, b, c, d = max(a, values[i]), max(b, values[i + 1]), max(c, values[i + 2]), max(d, values[i + 3])
        e, f, g, h = max(e, values[i + 4]), max(f, values[i + 5]), max(g, values[i + 6]), max(h, values[i + 7])
    return float(max(a, b, c, d, e, f, g, h))


@summing_kernel
def reaching(values: Vector, floor: float) -> tuple[int, int]:
    """Return how many values reach a floor, and the sum of their positions."""
    count, positions = 0, 0
    for i in range(values.size):
        there = int(values[i] >= floor)
        count += there
        positions += there * i
    return count, positions


@inner_kernel
def first_of_largest(rows: Rows, values: Vector, floor: float, mu: Matrix) -> int:
    """Return the row with the largest value of those that reach a floor; of several, the first.

    They are compared by a formula whose rounding is the same wherever a row stands.
    """
    top, found = -np.inf, -1
    for i in range(values.size):
        if values[i] >= floor:
            value = row_value(rows.instances, rows.members, rows.sizes, i, mu)
            if value > top or (value == top and precedes(rows.births, rows.sizes, rows.members, i, found)):
                top, found = value, i
    return found


class Work(NamedTuple):
    """The arrays of a solve; vectors of weights are padded with zeros to a multiple of `TOGETHER`."""

    F: Matrix
    """f_i of all rows, a column each."""
    levels: Vector
    """-h_i."""
    values: Vector
    """v_i."""
    pulls: Matrix
    """τ - f_i of all rows, a row each."""
    x: Vector
    """μ, flat."""
    mu: Matrix
    """The same, (c, d)."""
    bar: Vector
    """μ̄, flat."""
    lam: Vector
    before: Vector
    """μ before an iteration."""
    best: Vector
    """The best iterate."""


@kernel
def new_work(rows: Rows, n: int, mean: Matrix, width: Matrix, start: Matrix) -> Work:
    """Return the arrays of a solve over n rows that starts at μ = start."""
    c, d = start.shape
    m = c * d
    size = (m + TOGETHER - 1) // TOGETHER * TOGETHER
    x, bar, lam = np.zeros(size), np.zeros(size), np.zeros(size)
    x[:m], bar[:m], lam[:m] = start.copy().reshape(m), start.copy().reshape(m), width.copy().reshape(m)
    n_padded = (n + LANES - 1) // LANES * LANES
    F, pulls, levels = np.zeros((size, n_padded)), np.zeros((n, size)), np.full(n_padded, -np.inf)
    levels[:n] = -1.0 / rows.sizes[:n]
    tau = mean.copy().reshape(m)
    for i in range(n):
        pull_of(rows, i, mean, pulls[i])
        F[:m, i] = tau - pulls[i, :m]
    return Work(
        F,
        levels,
        np.empty(n_padded),
        pulls,
        x,
        x[:m].reshape(c, d),
        bar,
        lam,
        np.zeros(size),
        np.zeros(size),
    )


@inner_kernel
def iterate(rows: Rows, work: Work, n_iterations: int, clock: int) -> None:
    """Run the iterations, and leave the best iterate in `best`."""
    F, levels, values, pulls, x, mu, bar, lam, before, best = work
    best_risk, steepest, size = np.inf, 0.0, 1.0
    for i in range(len(pulls)):
        steepest = max(steepest, rows.norms[i])
    for j in range(x.size):
        size += steepest * abs(x[j])
    for l in range(1, n_iterations + 2):  # noqa: E741  # the paper's letter
        a, b = step_sizes(l)
        evaluate(F, levels, x, values)
        floor = largest(values) - ROUNDING * size
        count, i = reaching(values, floor)
        if count > 1:
            i = first_of_largest(rows, values, floor, mu)
        if l <= n_iterations:
            rows.last_used[i] = clock + l
        for j in range(x.size):
            before[j] = x[j]
        product, moved = advance(x, bar, pulls, i, lam, a, b)
        size += steepest * math.sqrt(moved)
        risk = 1.0 + levels[i] - product
        if risk < best_risk:
            best_risk = risk
            for j in range(x.size):
                best[j] = before[j]


@kernel
def minimize_densely(
    rows: Rows, n: int, psi: Vector, mean: Matrix, width: Matrix, start: Matrix, n_iterations: int, clock: int
) -> tuple[Matrix, int]:
    """Run Alg. 4 on n kept rows and those of the instance ψ; return the best iterate and the number of rows."""
    c, d = start.shape
    n = admit_all(rows, n, psi.reshape(1, d), np.empty(n, np.int64), np.empty(c, np.bool_), clock)
    work = new_work(rows, n, mean, width, start)
    iterate(rows, work, n_iterations, clock)
    return work.best[: c * d].copy().reshape(c, d), n
