"""Alg. 4 of the paper where m = cd is large: few rows are evaluated in an iteration.

Most of the time goes into finding the row that attains φ. It is found exactly while evaluating few rows, because

* v_i changes by at most ‖f_i‖ times the length of the path of μ, so that ``key_i + ‖f_i‖ path`` is an upper bound, and
  a row is evaluated only if its bound reaches the maximum; rows far below it are skipped until μ has moved that far;
* a row of all classes, the most frequent kind, depends on μ through σ = Σ_y μ_y alone, and the change of σ since it was
  last anchored is so small that single precision separates all rows but near ties;
* the best row of the newest instance follows from its c sorted scores.

Rows of all classes are called *full*, the others *proper*. Paths and steps are those of σ/c for full rows, and those of
μ for proper ones.
"""

import math

import numpy as np

from driftline._jit import inlined_kernel, inner_kernel, kernel
from driftline.kernels.rows import (
    ROUNDING,
    Rows,
    best_proper_subset,
    find_subset,
    is_row_of,
    least_recently_used,
    precedes,
    row_value,
    set_pull,
    write_row,
)
from driftline.kernels.saved_iterates import SavedIterates, find_best_again, free_place, save_current
from driftline.kernels.screening import (
    Screen,
    Travel,
    all_near,
    anchor,
    far_rows_may_reach,
    find_largest,
    screen_rows,
)
from driftline.kernels.search_workspace import SearchWorkspace, new_search_workspace
from driftline.kernels.vectors import accelerated_step, norm, update_drift
from driftline.types import Matrix, Vector

ANCHOR_ITERATIONS = 64
"""Iterations between two anchors of σ."""
SAVE_ITERATIONS = 64
"""Iterations between two saved iterates."""


@inner_kernel
def admit_full_row(rows: Rows, n: int, work: SearchWorkspace, clock: int) -> tuple[int, int]:
    """List in `own` the rows of the newest instance, after adding its full row unless it is kept.

    Return the number of rows and how many of them are its own.
    """
    n_own = 0
    for i in range(n):
        if is_row_of(rows, i, work.psi):
            work.own[n_own] = i
            n_own += 1
    if find_subset(rows.subsets, work.own[:n_own], work.subset) >= 0:
        return n, n_own
    write_row(rows, n, work.psi, work.subset, clock)
    work.own[n_own] = n
    return n + 1, n_own + 1


@inner_kernel
def admit_subset(
    rows: Rows, n: int, n_own: int, n_before: int, work: SearchWorkspace, clock: int
) -> tuple[int, int, int]:
    """Write the row of the newest instance with the label subset `subset`; return its slot and both numbers of rows.

    If no slot is free, it takes that of the least recently used of the rows after the first `n_before`.
    """
    i = n
    if n == rows.slopes.size:
        i = least_recently_used(rows.last_used, n_before)
    else:
        work.own[n_own] = i
        n, n_own = n + 1, n_own + 1
    write_row(rows, i, work.psi, work.subset, clock)
    return i, n, n_own


@inner_kernel
def largest_slope(rows: Rows, n: int) -> float:
    """Return the largest slope of n rows."""
    steepest = 0.0
    for i in range(n):
        steepest = max(steepest, rows.slopes[i])
    return steepest


@inlined_kernel
def take_step(
    rows: Rows, work: SearchWorkspace, i: int, number: int, steps: Matrix, clock: int, travel: Travel
) -> tuple[float, Travel]:
    """Do an iteration with the subgradient of row i; return R(μ) before it, and `travel` after it."""
    if rows.last_used[i] <= clock:  # not yet in this solve
        set_pull(rows, i, work.tau, work.pulls[i])
    if number < len(steps) - 1:
        rows.last_used[i] = clock + number
    work.used[number] = i
    product, moved = accelerated_step(work.x, work.bar, work.pulls, i, work.lam, steps[number, 0], steps[number, 1])
    risk = 1.0 - 1.0 / rows.sizes[i] - product
    proper = math.sqrt(moved)
    # The factor allows for rounding in single precision.
    full = update_drift(work.mu, work.sigma, work.drift, work.partial) * (1.0 + 1e-5) * (1.0 / work.mu.shape[0])
    return risk, Travel(travel.path_full + full, travel.path_proper + proper, full, proper, travel.since_anchor + full)


@inner_kernel
def iterate_by_search(
    rows: Rows, n: int, n_own: int, work: SearchWorkspace, steps: Matrix, clock: int
) -> tuple[int, int]:
    """Run the iterations; return the number of rows, and the place of the best iterate in `iterates`.

    The search for the maximum begins with the runner-up of the iteration before, which is the most likely row.
    """
    n_before, newest_norm = n, norm(work.psi, 0)
    steepest = max(newest_norm, largest_slope(rows, n))
    # The error of a product of d terms, summed in 8 parts or more, for a drift of length 1.
    drift_error = steepest * (64 + work.mu.shape[1] / 8) * 2.0**-24
    travel, screen, saved = Travel(0.0, 0.0, 0.0, 0.0, 0.0), Screen(0, np.inf, np.inf), SavedIterates(0, 1, 0)
    best_risk, best, runner_up, newest_key, floor = np.inf, 0, n - 1, np.inf, -np.inf
    for l in range(1, len(steps)):  # noqa: E741  # the paper's letter
        if l % SAVE_ITERATIONS == 1:
            saved = save_current(work, free_place(saved, best), l)
        is_screening = l % ANCHOR_ITERATIONS == 1 or far_rows_may_reach(screen, floor, steepest, travel)
        if l % ANCHOR_ITERATIONS == 1:
            travel = anchor(work, travel)
        if is_screening:
            screen = all_near(work.near, n_before)
        error = drift_error * travel.since_anchor + ROUNDING * (1.0 + steepest * travel.path_proper)
        top, i, runner_up = find_largest(rows, work, runner_up, screen.n_near, travel, error)
        if is_screening:
            screen = screen_rows(rows, work, n_before, top, steepest, travel)
        if newest_key + newest_norm * travel.path_proper >= top - error:
            value = best_proper_subset(work.psi, work.mu, work.scores, work.order, work.subset)
            newest_key = value - newest_norm * travel.path_proper
            if value >= top - error:
                top = row_value(rows.instances, rows.subsets, rows.sizes, i, work.mu)
            if value >= top:
                k = find_subset(rows.subsets, work.own[:n_own], work.subset)
                if k < 0 and n == rows.slopes.size:
                    # A row is overwritten. So many were used since that it would not be kept; but the best iterate
                    # may need it to be found again, which is therefore done first.
                    saved = save_current(work, find_best_again(work, saved, best, steps), l)
                if k < 0:
                    k, n, n_own = admit_subset(rows, n, n_own, n_before, work, clock)
                if value > top or precedes(rows.arrivals, rows.sizes, rows.subsets, k, i):
                    top, i = value, k
        risk, travel = take_step(rows, work, i, l, steps, clock, travel)
        if risk < best_risk:
            best_risk, best = risk, l
        floor = top - error - steepest * max(travel.step_full, travel.step_proper)
    return n, 1 - find_best_again(work, saved, best, steps).place


@kernel
def minimize_by_search(
    rows: Rows, n: int, psi: Vector, mean: Matrix, width: Matrix, start: Matrix, steps: Matrix, clock: int
) -> tuple[Matrix, int]:
    """Run Alg. 4 on n kept rows and those of the instance ψ; return the best iterate and the number of rows."""
    work = new_search_workspace(rows.slopes.size, psi, mean, width, start, len(steps) - 2)
    n, n_own = admit_full_row(rows, n, work, clock)
    n, place = iterate_by_search(rows, n, n_own, work, steps, clock)
    return work.iterates[place, 0].copy().reshape(start.shape), n
