"""Alg. 4 of the paper where m = cd is large: few rows are evaluated in an iteration.

Most of the time goes into finding the row that attains φ. It is found exactly while evaluating few rows, because

* v_i moves by at most ‖f_i‖ times the path of μ, so that ``key_i + ‖f_i‖ path`` bounds it from above, and a row is
  evaluated only if its bound reaches the maximum; rows far below are not even looked at until μ has moved that far;
* a row of all classes, the commonest, depends on μ through σ = Σ_y μ_y alone, and the change of σ since it was last
  anchored is so small that single precision tells all rows apart but near ties;
* the best row of the newest instance follows from its c sorted scores.
"""

import math
from typing import NamedTuple

import numpy as np

from driftline._jit import inlined_kernel, inner_kernel, kernel
from driftline.kernels.rows import (
    ROUNDING,
    Rows,
    best_proper_subset,
    find_subset,
    is_instance,
    least_recent,
    precedes,
    pull_of,
    row_value,
    write_row,
)
from driftline.kernels.vectors import advance, aligned, dot, dot_single, norm, sum_rows, update_drift
from driftline.types import Flags, Indices, Matrix, Singles, Vector

HORIZON = 64
"""Iterations between two anchors of σ."""
NEAR = 16
"""A row counts as near if it may reach the maximum in so many steps as long as the last."""
BLOCK = 64
"""Iterations between two checkpoints."""


class Work(NamedTuple):
    """The arrays of a solve; m = c d."""

    psi: Matrix
    """The newest instance, (1, d)."""
    x: Vector
    """μ, flat, (m,)."""
    mu: Matrix
    """The same, (c, d)."""
    bar: Vector
    """μ̄, flat, (m,)."""
    tau: Matrix
    lam: Vector
    sigma: Matrix
    """Σ_y μ_y when it was last anchored, (1, d)."""
    drift: Singles
    """Its change since."""
    partial: Matrix
    pulls: Matrix
    """τ - f_i of the rows used, (slots, m)."""
    used: Indices
    """The row used in each iteration."""
    saved: Matrix
    """x and bar at two checkpoints, (2, 2, m)."""
    keys: Vector
    """v_i ≤ keys_i + slopes_i path."""
    bases: Vector
    """v_i when σ was last anchored; NaN if not evaluated since."""
    near: Indices
    picked: Indices
    """The rows evaluated in an iteration."""
    values: Vector
    """Their values."""
    own: Indices
    """Slots of rows of the newest instance."""
    scores: Vector
    order: Indices
    subset: Flags
    """The label subset of the best of those rows."""


@kernel
def new_work(n_slots: int, psi: Vector, tau: Matrix, lam: Matrix, start: Matrix, n_iterations: int) -> Work:
    """Return the arrays of a solve that starts at μ = start."""
    c, d = start.shape
    m = c * d
    x, bar, widths, newest = aligned(m), aligned(m), aligned(m), aligned(d).reshape(1, d)
    x[:], bar[:], widths[:], newest[0] = start.copy().reshape(m), start.copy().reshape(m), lam.copy().reshape(m), psi
    return Work(
        newest,
        x,
        x.reshape(c, d),
        bar,
        tau,
        widths,
        aligned(d).reshape(1, d),
        aligned((d + 1) // 2).view(np.float32)[:d],
        aligned(d).reshape(1, d),
        aligned(n_slots * m).reshape(n_slots, m),
        np.empty(n_iterations + 2, np.int64),
        aligned(4 * m).reshape(2, 2, m),
        np.full(n_slots, np.inf),
        np.empty(n_slots),
        np.empty(n_slots, np.int64),
        np.empty(n_slots + 1, np.int64),
        np.empty(n_slots + 1),
        np.empty(n_slots, np.int64),
        np.empty(c),
        np.empty(c, np.int64),
        np.ones(c, np.bool_),
    )


@inner_kernel
def admit(rows: Rows, n_rows: int, work: Work, clock: int) -> tuple[int, int]:
    """List the rows of the newest instance, adding that of all classes unless kept; return the numbers of both."""
    n_own = 0
    for i in range(n_rows):
        if is_instance(rows, i, work.psi):
            work.own[n_own] = i
            n_own += 1
    if find_subset(rows.members, work.own[:n_own], work.subset) >= 0:
        return n_rows, n_own
    write_row(rows, n_rows, work.psi, work.subset, clock)
    work.own[n_own] = n_rows
    return n_rows + 1, n_own + 1


@inlined_kernel
def estimate(
    instances: Matrix,
    members: Flags,
    singles: Singles,
    sizes: Indices,
    i: int,
    mu: Matrix,
    sigma: Matrix,
    drift: Singles,
    bases: Vector,
    h: float,
) -> float:
    """Return v_i(μ), up to the error of single precision in the drift; h = 1/c."""
    if sizes[i] < mu.shape[0]:
        return row_value(instances, members, sizes, i, mu)
    if np.isnan(bases[i]):
        bases[i] = (dot(instances, i, sigma, 0) - 1.0) / mu.shape[0]
    return float(bases[i]) + dot_single(singles, i, drift) * h


@inner_kernel
def resolve(
    rows: Rows, work: Work, n_near: int, i: int, floor: float, path_full: float, path_proper: float
) -> tuple[float, int]:
    """Return the largest value, in double precision, of the near rows that may reach a floor, and its row."""
    top, c = -np.inf, work.mu.shape[0]
    for k in range(n_near):
        j = work.near[k]
        path = path_full if rows.sizes[j] == c else path_proper
        if work.keys[j] + rows.slopes[j] * path >= floor:
            value = row_value(rows.instances, rows.members, rows.sizes, j, work.mu)
            if value > top or (value == top and precedes(rows.births, rows.sizes, rows.members, j, i)):
                top, i = value, j
    return top, i


@inner_kernel
def divide(
    rows: Rows, work: Work, n: int, floor_full: float, floor_proper: float, path_full: float, path_proper: float
) -> tuple[int, float, float]:
    """List as near those of n rows that may reach their floor; return their number and the bounds of the others."""
    n_near, far_full, far_proper, c = 0, -np.inf, -np.inf, work.mu.shape[0]
    for j in range(n):
        bound = work.keys[j] + rows.slopes[j] * (path_full if rows.sizes[j] == c else path_proper)
        if bound >= (floor_full if rows.sizes[j] == c else floor_proper):
            work.near[n_near] = j
            n_near += 1
        elif rows.sizes[j] == c:
            far_full = max(far_full, bound)
        else:
            far_proper = max(far_proper, bound)
    return n_near, far_full, far_proper


@inner_kernel
def save(x: Vector, bar: Vector, checkpoint: Matrix) -> None:
    """Make a checkpoint of an iterate."""
    for j in range(x.size):
        checkpoint[0, j] = x[j]
        checkpoint[1, j] = bar[j]


@inner_kernel
def turn(page: int, saved_at: int, best_saved_at: int, best_at: int) -> tuple[int, int]:
    """Return the page that the best iterate does not need, for the next checkpoint, and best_saved_at."""
    return (1 - page, saved_at) if best_at >= saved_at else (page, best_saved_at)


@inner_kernel
def replay(checkpoint: Matrix, pulls: Matrix, used: Indices, lam: Vector, steps: Matrix, first: int, last: int) -> None:
    """Repeat the iterations from a checkpoint at iterate number `first` up to number `last`."""
    for l in range(first, last):  # noqa: E741
        advance(checkpoint[0], checkpoint[1], pulls, used[l], lam, steps[l, 0], steps[l, 1])


@inner_kernel
def iterate(rows: Rows, n: int, n_own: int, work: Work, steps: Matrix, clock: int) -> tuple[int, int]:
    """Run the iterations; return the number of rows and where in `saved` the best iterate is.

    Most iterates improve on the best, and copying them costs: they are overwritten, and the best is replayed in the
    end. saved[page] is a checkpoint at iterate number saved_at, and saved[1 - page], at best_saved_at, the last one
    before the best iterate, unless that came after saved_at.

    The search for the maximum begins with the runner-up of the iteration before, which is the likeliest; then the
    near rows whose bounds reach its value are evaluated, all before any comparison, so that their products overlap.
    Paths and steps are those of σ/c for rows of all classes ("full"), and those of μ for the others ("proper").
    """
    instances, members, births, last_used, singles, slopes, sizes = rows
    psi, x, mu, bar, tau, lam, sigma, drift, partial, pulls, used, saved = work[:12]
    keys, bases, near, picked, values, own, scores, order, subset = work[12:]
    (c, d), h = mu.shape, 1.0 / mu.shape[0]
    first_new, n_near, lead = n, 0, n - 1
    steepest, newest_key, newest_norm = norm(psi, 0), np.inf, norm(psi, 0)
    for j in range(n):
        steepest = max(steepest, slopes[j])
    # The error of a product of d terms, summed in 8 parts or more, for a drift of length 1.
    slack = steepest * (64 + d / 8) * 2.0**-24
    path_full, path_proper, reach, step_full, step_proper = 0.0, 0.0, 0.0, 0.0, 0.0
    far_full, far_proper, floor = np.inf, np.inf, -np.inf
    best_risk, best_at, saved_at, best_saved_at, page = np.inf, 0, 1, 0, 0
    for l in range(1, len(steps)):  # noqa: E741
        if l % BLOCK == 1:
            page, best_saved_at = turn(page, saved_at, best_saved_at, best_at)
            save(x, bar, saved[page])
            saved_at = l
        if l % HORIZON == 1:
            sum_rows(mu, c, sigma)
            drift[:] = 0.0
            bases[:] = np.nan
            reach = 0.0
        screening = (
            l % HORIZON == 1 or floor <= far_full + steepest * path_full or floor <= far_proper + steepest * path_proper
        )
        if screening:
            n_near = first_new
            for j in range(first_new):
                near[j] = j

        error = slack * reach + ROUNDING * (1.0 + steepest * path_proper)
        values[0] = estimate(instances, members, singles, sizes, lead, mu, sigma, drift, bases, h)
        picked[0], n_picked, least = lead, 1, values[0] - 2.0 * error
        for k in range(n_near):
            j = near[k]
            picked[n_picked] = j
            n_picked += (keys[j] + slopes[j] * (path_full if sizes[j] == c else path_proper) >= least) & (j != lead)
        for k in range(1, n_picked):
            values[k] = estimate(instances, members, singles, sizes, picked[k], mu, sigma, drift, bases, h)
        top, second, i, rival = -np.inf, -np.inf, lead, lead
        for k in range(n_picked):
            j, value = picked[k], values[k]
            keys[j] = value + error - slopes[j] * (path_full if sizes[j] == c else path_proper)
            if value > top:
                top, second, i, rival = value, top, j, i
            elif value > second:
                second, rival = value, j
        if second >= top - 2.0 * error:
            top, i = resolve(rows, work, n_near, i, top - 2.0 * error, path_full, path_proper)
        if screening:
            floor_full, floor_proper = top - NEAR * steepest * step_full, top - NEAR * steepest * step_proper
            n_near, far_full, far_proper = divide(
                rows, work, first_new, floor_full, floor_proper, path_full, path_proper
            )
            far_full -= steepest * path_full
            far_proper -= steepest * path_proper
        lead = rival

        if newest_key + newest_norm * path_proper >= top - error:
            value = best_proper_subset(psi, mu, scores, order, subset)
            newest_key = value - newest_norm * path_proper
            if value >= top - error:
                top = row_value(instances, members, sizes, i, mu)
            if value >= top:
                k = find_subset(members, own[:n_own], subset)
                if k < 0 and n == slopes.size:
                    # So many rows were used since that the one recycled would not be kept; but the best iterate may
                    # need it to be replayed, which is therefore done first.
                    k = least_recent(last_used, first_new)
                    page, best_saved_at = turn(page, saved_at, best_saved_at, best_at)
                    replay(saved[1 - page], pulls, used, lam, steps, best_saved_at, best_at)
                    save(x, bar, saved[page])
                    best_saved_at, saved_at = best_at, l
                    write_row(rows, k, psi, subset, clock)
                elif k < 0:
                    k = own[n_own] = n
                    n_own += 1
                    n += 1
                    write_row(rows, k, psi, subset, clock)
                if value > top or precedes(births, sizes, members, k, i):
                    top, i = value, k

        if last_used[i] <= clock:  # not yet in this solve
            pull_of(rows, i, tau, pulls[i])
        if l < len(steps) - 1:
            last_used[i] = clock + l
        used[l] = i
        product, moved = advance(x, bar, pulls, i, lam, steps[l, 0], steps[l, 1])
        risk = 1.0 - 1.0 / sizes[i] - product
        if risk < best_risk:
            best_risk, best_at = risk, l
        step_proper = math.sqrt(moved)
        step_full = update_drift(mu, sigma, drift, partial) * (1.0 + 1e-5) * h  # with an allowance for rounding
        path_proper += step_proper
        path_full += step_full
        reach += step_full
        floor = top - error - steepest * max(step_full, step_proper)
    page, best_saved_at = turn(page, saved_at, best_saved_at, best_at)
    replay(saved[1 - page], pulls, used, lam, steps, best_saved_at, best_at)
    return n, 1 - page


@kernel
def minimize_by_search(
    rows: Rows, n: int, psi: Vector, mean: Matrix, width: Matrix, start: Matrix, steps: Matrix, clock: int
) -> tuple[Matrix, int]:
    """Run Alg. 4 on n kept rows and those of the instance ψ; return the best iterate and the number of rows."""
    work = new_work(rows.slopes.size, psi, mean, width, start, len(steps) - 2)
    n, n_own = admit(rows, n, work, clock)
    n, page = iterate(rows, n, n_own, work, steps, clock)
    return work.saved[page, 0].copy().reshape(start.shape), n
