"""Alg. 4 of the paper where m = cd is small: all rows that can attain φ are evaluated in every iteration.

The iterates are those of `driftline.kernels.search`, whose search for the row that attains φ costs more than it saves
if a row is a few numbers. Rows lie here side by side, so that one instruction evaluates several; and of those with the
same labels in the plane only the corners of their convex hull count, since they are compared by one linear function.
"""

import math
from typing import NamedTuple

import numpy as np

from driftline._jit import comparing_kernel, inner_kernel, kernel, summing_kernel
from driftline.kernels.rows import ROUNDING, Rows, find_subset, is_instance, precedes, pull_of, row_value, write_row
from driftline.kernels.vectors import advance
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


@inner_kernel
def turns_left(instances: Matrix, i: int, j: int, k: int) -> bool:
    """Tell whether the way from instance i by j to k turns left; in one dimension it never does."""
    if instances.shape[1] == 1:
        return False
    ahead = (instances[j, 0] - instances[i, 0]) * (instances[k, 1] - instances[i, 1])
    aside = (instances[j, 1] - instances[i, 1]) * (instances[k, 0] - instances[i, 0])
    return bool(ahead > aside)


@inner_kernel
def comes_first(instances: Matrix, i: int, j: int) -> bool:
    """Tell whether instance i is left of j, or below it."""
    for k in range(instances.shape[1]):
        if instances[i, k] != instances[j, k]:
            return bool(instances[i, k] < instances[j, k])
    return False


@inner_kernel
def mark_corners(instances: Matrix, order: Indices, n: int, chain: Indices, extreme: Flags) -> None:
    """Mark the corners of the convex hull of n instances, which come in order: those above, then those below."""
    for side in range(2):
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
    """Mark the rows that can attain φ: in up to two dimensions the corners among those with the same labels."""
    instances, members = rows.instances, rows.members
    if instances.shape[1] > 2:
        extreme[:n] = True
        return
    for i in range(n):
        if seen[i]:
            continue
        count = 0
        for j in range(i, n):
            same = True
            for y in range(members.shape[1]):
                same &= members[i, y] == members[j, y]
            if same:
                seen[j] = True
                place = count
                while place > 0 and comes_first(instances, j, order[place - 1]):
                    order[place] = order[place - 1]
                    place -= 1
                order[place] = j
                count += 1
        mark_corners(instances, order, count, chain, extreme)


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
    a, b, c, d = max(a, e), max(b, f), max(c, g), max(d, h)
    a, b = max(a, c), max(b, d)
    return float(max(a, b))


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
def first_of_largest(rows: Rows, n: int, mu: Matrix) -> int:
    """Return the row with the largest value of n; of several, the first.

    They are compared by a formula whose rounding is the same wherever a row stands.
    """
    top, found = -np.inf, 0
    for i in range(n):
        value = row_value(rows.instances, rows.members, rows.sizes, i, mu)
        if value > top or (value == top and precedes(rows.births, rows.sizes, rows.members, i, found)):
            top, found = value, i
    return found


class Work(NamedTuple):
    """The arrays of a solve; vectors of weights are padded with zeros to a multiple of `TOGETHER`."""

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
    extreme = np.zeros(n, np.bool_)
    mark_extreme(rows, n, np.empty(n, np.int64), np.empty(n, np.int64), extreme, np.zeros(n, np.bool_))
    chosen = np.flatnonzero(extreme)
    n_padded = (chosen.size + LANES - 1) // LANES * LANES
    F, pulls, levels = np.zeros((size, n_padded)), np.zeros((n, size)), np.full(n_padded, -np.inf)
    for i in range(n):
        pull_of(rows, i, mean, pulls[i])
    for k in range(chosen.size):
        i = chosen[k]
        levels[k] = -1.0 / rows.sizes[i]
        for y in range(c):
            if rows.members[i, y]:
                F[y * d : y * d + d, k] = rows.instances[i] / rows.sizes[i]
    return Work(
        chosen,
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
def iterate(rows: Rows, work: Work, steps: Matrix, clock: int) -> None:
    """Run the iterations, and leave the best iterate in `best`."""
    chosen, F, levels, values, pulls, x, mu, bar, lam, before, best = work
    best_risk, steepest, size, n = np.inf, 0.0, 1.0, len(pulls)
    for i in range(n):
        steepest = max(steepest, rows.slopes[i])
    for j in range(x.size):
        size += steepest * abs(x[j])
    for l in range(1, len(steps)):  # noqa: E741  # the paper's letter
        evaluate(F, levels, x, values)
        count, place = reaching(values, largest(values) - ROUNDING * size)
        i = chosen[place] if count == 1 else first_of_largest(rows, n, mu)
        if l < len(steps) - 1:
            rows.last_used[i] = clock + l
        for j in range(x.size):
            before[j] = x[j]
        product, moved = advance(x, bar, pulls, i, lam, steps[l, 0], steps[l, 1])
        size += steepest * math.sqrt(moved)
        risk = 1.0 - 1.0 / rows.sizes[i] - product
        if risk < best_risk:
            best_risk = risk
            for j in range(x.size):
                best[j] = before[j]


@kernel
def minimize_densely(
    rows: Rows, n: int, psi: Vector, mean: Matrix, width: Matrix, start: Matrix, steps: Matrix, clock: int
) -> tuple[Matrix, int]:
    """Run Alg. 4 on n kept rows and those of the instance ψ; return the best iterate and the number of rows."""
    c, d = start.shape
    n = admit_all(rows, n, psi.reshape(1, d), np.empty(n, np.int64), np.empty(c, np.bool_), clock)
    work = new_work(rows, n, mean, width, start)
    iterate(rows, work, steps, clock)
    return work.best[: c * d].copy().reshape(c, d), n
