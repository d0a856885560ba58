"""Alg. 4 of the paper where m = cd is small: all rows that can attain φ are evaluated in every iteration.

The iterates are those of `driftline.kernels.search`, whose search for the row that attains φ costs more than it saves
if a row has few numbers. Here rows are the columns of a matrix, so that one instruction evaluates several. In the plane
only the corners of the convex hull of the rows with the same labels are evaluated, since a linear function on them is
largest at a corner.
"""

import math
from typing import NamedTuple

import numpy as np

from driftline._jit import comparing_kernel, inner_kernel, kernel, summing_kernel
from driftline.kernels.rows import ROUNDING, Rows, find_subset, is_row_of, precedes, row_value, set_pull, write_row
from driftline.kernels.vectors import accelerated_step
from driftline.types import Flags, Indices, Matrix, Vector

MAX_CLASSES = 4
"""Largest number of classes: all label subsets of the newest instance are rows from the beginning."""
MAX_ROW_SIZE = 64
"""Largest cd for which evaluating all rows is faster than searching among them."""
ROW_MULTIPLE = 8
"""The number of rows is padded to a multiple of this, with rows whose value is -∞."""
FEATURE_MULTIPLE = 4
"""The length of a row is padded to a multiple of this, with zeros: so many products are added in one pass."""


@inner_kernel
def is_dense(c: int, d: int, n_rows: int, n_slots: int) -> bool:
    """Return whether a problem is small enough, with free slots for all rows of the newest instance."""
    return c <= MAX_CLASSES and c * d <= MAX_ROW_SIZE and n_rows + 2**c - 1 <= n_slots


@inner_kernel
def admit_all_subsets(rows: Rows, n: int, psi: Matrix, own: Indices, subset: Flags, clock: int) -> int:
    """Add the rows of the newest instance that are not kept, smaller subsets first; return the number of rows."""
    c, n_own = subset.size, 0
    for i in range(n):
        if is_row_of(rows, i, psi):
            own[n_own] = i
            n_own += 1
    for size in range(1, c + 1):
        for code in range(2**c - 1, 0, -1):
            count = 0
            for y in range(c):
                subset[y] = (code >> y) & 1 == 1
                count += subset[y]
            if count == size and find_subset(rows.subsets, own[:n_own], subset) < 0:
                write_row(rows, n, psi, subset, clock)
                n += 1
    return n


@inner_kernel
def turns_left(instances: Matrix, i: int, j: int, k: int) -> bool:
    """Return whether the path from instance i through j to k turns left; in one dimension it never does."""
    if instances.shape[1] == 1:
        return False
    left = (instances[j, 0] - instances[i, 0]) * (instances[k, 1] - instances[i, 1])
    right = (instances[j, 1] - instances[i, 1]) * (instances[k, 0] - instances[i, 0])
    return bool(left > right)


@inner_kernel
def sorts_before(instances: Matrix, i: int, j: int) -> bool:
    """Return whether instance i comes before j in the order by first component, then by the next."""
    for k in range(instances.shape[1]):
        if instances[i, k] != instances[j, k]:
            return bool(instances[i, k] < instances[j, k])
    return False


@inner_kernel
def mark_hull_corners(instances: Matrix, order: Indices, n: int, chain: Indices, extreme: Flags) -> None:
    """Set `extreme` for the corners of the convex hull of n instances in sorted order; `chain` is overwritten."""
    for side in range(2):  # the corners above, then those below
        length = 0
        for place in range(n):
            k = order[n - 1 - place] if side == 0 else order[place]
            while length >= 2 and not turns_left(instances, chain[length - 2], chain[length - 1], k):
                length -= 1
            chain[length] = k
            length += 1
        for place in range(length):
            extreme[chain[place]] = True


@inner_kernel
def mark_extreme(rows: Rows, n: int, order: Indices, chain: Indices, extreme: Flags, seen: Flags) -> None:
    """Set `extreme` for the rows that can attain φ; `order`, `chain` and `seen` are overwritten.

    In up to two dimensions they are the corners of the convex hull of the rows with the same labels, else all rows.
    """
    instances, subsets = rows.instances, rows.subsets
    if instances.shape[1] > 2:
        extreme[:n] = True
        return
    for i in range(n):
        if seen[i]:
            continue
        count = 0
        for j in range(i, n):
            same = True
            for y in range(subsets.shape[1]):
                same &= subsets[i, y] == subsets[j, y]
            if same:
                seen[j] = True
                place = count
                while place > 0 and sorts_before(instances, j, order[place - 1]):
                    order[place] = order[place - 1]
                    place -= 1
                order[place] = j
                count += 1
        mark_hull_corners(instances, order, count, chain, extreme)


@summing_kernel
def evaluate_rows(F: Matrix, levels: Vector, x: Vector, values: Vector) -> None:
    """Set values to v = Fᵀx - h, where levels = -h and x is μ, flat."""
    for i in range(values.size):
        values[i] = F[0, i] * x[0] + F[1, i] * x[1] + (F[2, i] * x[2] + F[3, i] * x[3]) + levels[i]
    for k in range(FEATURE_MULTIPLE, F.shape[0], FEATURE_MULTIPLE):
        for i in range(values.size):
            values[i] += F[k, i] * x[k] + F[k + 1, i] * x[k + 1] + (F[k + 2, i] * x[k + 2] + F[k + 3, i] * x[k + 3])


@comparing_kernel
def largest_value(values: Vector) -> float:
    """Return the largest of some numbers, from eight maxima side by side: one alone would wait for each comparison."""
    a, b, c, d, e, f, g, h = values[0], values[1], values[2], values[3], values[4], values[5], values[6], values[7]
    for i in range(ROW_MULTIPLE, values.size, ROW_MULTIPLE):
        a, b, c, d = max(a, values[i]), max(b, values[i + 1]), max(c, values[i + 2]), max(d, values[i + 3])
        e, f, g, h = max(e, values[i + 4]), max(f, values[i + 5]), max(g, values[i + 6]), max(h, values[i + 7])
    a, b, c, d = max(a, e), max(b, f), max(c, g), max(d, h)
    a, b = max(a, c), max(b, d)
    return float(max(a, b))


@summing_kernel
def count_reaching(values: Vector, floor: float) -> tuple[int, int]:
    """Return how many values are at least `floor`, and the sum of their positions."""
    count, positions = 0, 0
    for i in range(values.size):
        reaches = int(values[i] >= floor)
        count += reaches
        positions += reaches * i
    return count, positions


@inner_kernel
def first_largest_row(rows: Rows, n: int, mu: Matrix) -> int:
    """Return the row with the largest value of n rows; of several, the first by `precedes`.

    They are compared by a formula whose rounding does not depend on the position of a row.
    """
    top, found = -np.inf, 0
    for i in range(n):
        value = row_value(rows.instances, rows.subsets, rows.sizes, i, mu)
        if value > top or (value == top and precedes(rows.arrivals, rows.sizes, rows.subsets, i, found)):
            top, found = value, i
    return found


class DenseWorkspace(NamedTuple):
    """The arrays of a solve; vectors of weights are padded with zeros to a multiple of `FEATURE_MULTIPLE`."""

    chosen: Indices
    """The rows that can attain φ."""
    F: Matrix
    """f_i of these, a column each."""
    levels: Vector
    """-h_i."""
    values: Vector
    """v_i."""
    pulls: Matrix
    """τ - f_i of all rows, a row each."""
    x: Vector
    """μ, flat."""
    mu: Matrix
    """The same memory as (c, d)."""
    bar: Vector
    """μ̄, flat."""
    lam: Vector
    """λ, flat."""
    before: Vector
    """μ before an iteration."""
    best: Vector
    """The best iterate."""


@kernel
def new_dense_workspace(rows: Rows, n: int, mean: Matrix, width: Matrix, start: Matrix) -> DenseWorkspace:
    """Return the arrays of a solve over n rows that starts at μ = start."""
    c, d = start.shape
    m = c * d
    size = (m + FEATURE_MULTIPLE - 1) // FEATURE_MULTIPLE * FEATURE_MULTIPLE
    x, bar, lam = np.zeros(size), np.zeros(size), np.zeros(size)
    x[:m], bar[:m], lam[:m] = start.copy().reshape(m), start.copy().reshape(m), width.copy().reshape(m)
    extreme = np.zeros(n, np.bool_)
    mark_extreme(rows, n, np.empty(n, np.int64), np.empty(n, np.int64), extreme, np.zeros(n, np.bool_))
    chosen = np.flatnonzero(extreme)
    n_padded = (chosen.size + ROW_MULTIPLE - 1) // ROW_MULTIPLE * ROW_MULTIPLE
    F, pulls, levels = np.zeros((size, n_padded)), np.zeros((n, size)), np.full(n_padded, -np.inf)
    for i in range(n):
        set_pull(rows, i, mean, pulls[i])
    for k in range(chosen.size):
        i = chosen[k]
        levels[k] = -1.0 / rows.sizes[i]
        for y in range(c):
            if rows.subsets[i, y]:
                F[y * d : y * d + d, k] = rows.instances[i] / rows.sizes[i]
    return DenseWorkspace(
        chosen=chosen,
        F=F,
        levels=levels,
        values=np.empty(n_padded),
        pulls=pulls,
        x=x,
        mu=x[:m].reshape(c, d),
        bar=bar,
        lam=lam,
        before=np.zeros(size),
        best=np.zeros(size),
    )


@inner_kernel
def iterate_densely(rows: Rows, work: DenseWorkspace, steps: Matrix, clock: int) -> None:
    """Run the iterations; set `best` to the best iterate."""
    x, values = work.x, work.values
    best_risk, steepest, size, n = np.inf, 0.0, 1.0, len(work.pulls)
    for i in range(n):
        steepest = max(steepest, rows.slopes[i])
    for j in range(x.size):
        size += steepest * abs(x[j])
    for l in range(1, len(steps)):  # noqa: E741  # the paper's letter
        evaluate_rows(work.F, work.levels, x, values)
        count, place = count_reaching(values, largest_value(values) - ROUNDING * size)
        i = work.chosen[place] if count == 1 else first_largest_row(rows, n, work.mu)
        if l < len(steps) - 1:
            rows.last_used[i] = clock + l
        for j in range(x.size):
            work.before[j] = x[j]
        product, moved = accelerated_step(x, work.bar, work.pulls, i, work.lam, steps[l, 0], steps[l, 1])
        size += steepest * math.sqrt(moved)
        risk = 1.0 - 1.0 / rows.sizes[i] - product
        if risk < best_risk:
            best_risk = risk
            for j in range(x.size):
                work.best[j] = work.before[j]


@kernel
def minimize_densely(
    rows: Rows, n: int, psi: Vector, mean: Matrix, width: Matrix, start: Matrix, steps: Matrix, clock: int
) -> tuple[Matrix, int]:
    """Run Alg. 4 on n kept rows and those of the instance ψ; return the best iterate and the number of rows."""
    c, d = start.shape
    n = admit_all_subsets(rows, n, psi.reshape(1, d), np.empty(n, np.int64), np.empty(c, np.bool_), clock)
    work = new_dense_workspace(rows, n, mean, width, start)
    iterate_densely(rows, work, steps, clock)
    return work.best[: c * d].copy().reshape(c, d), n
