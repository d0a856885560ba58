"""The search for the row with the largest value v_i(μ), which evaluates few rows.

Rows of all classes are called *full*, the others *proper*. Paths and steps are those of σ/c for full rows, with
σ = Σ_y μ_y, and those of μ for proper ones.
"""

from typing import NamedTuple

import numpy as np

from driftline._jit import inlined_kernel, inner_kernel
from driftline.kernels.rows import Rows, precedes, row_value
from driftline.kernels.search_workspace import SearchWorkspace
from driftline.kernels.vectors import dot, sum_rows
from driftline.types import Indices

NEAR_STEPS = 16
"""A row is near if it may reach the maximum within so many steps as long as the last one."""


class Travel(NamedTuple):
    """How far μ and σ/c have moved."""

    path_full: float
    """Length of the path of σ/c."""
    path_proper: float
    """Length of the path of μ."""
    step_full: float
    """Length of the last step of σ/c."""
    step_proper: float
    """Length of the last step of μ."""
    since_anchor: float
    """Length of the path of σ/c since σ was last anchored."""


class Screen(NamedTuple):
    """Which rows are near, and how high the others can be."""

    n_near: int
    """Number of near rows."""
    far_full: float
    """The values of all other full rows are at most this, plus the steepest slope times their path."""
    far_proper: float
    """The same for proper rows."""


@inner_kernel
def anchor(work: SearchWorkspace, travel: Travel) -> Travel:
    """Set σ to Σ_y μ_y, its drift to 0 and all bases to NaN; return `travel` with `since_anchor` set to 0."""
    sum_rows(work.mu, work.mu.shape[0], work.sigma)
    work.drift[:] = 0.0
    work.bases[:] = np.nan
    return Travel(travel.path_full, travel.path_proper, travel.step_full, travel.step_proper, 0.0)


@inlined_kernel
def estimate(rows: Rows, work: SearchWorkspace, i: int, h: float) -> float:
    """Return v_i(μ), up to the error of single precision in the drift; h = 1/c. May set `bases`."""
    if rows.sizes[i] < work.mu.shape[0]:
        return row_value(rows.instances, rows.subsets, rows.sizes, i, work.mu)
    if np.isnan(work.bases[i]):
        work.bases[i] = (dot(rows.instances, i, work.sigma, 0) - 1.0) / work.mu.shape[0]
    return float(work.bases[i] + dot(rows.instances_single, i, work.drift, 0) * h)


@inlined_kernel
def path_of(rows: Rows, i: int, c: int, travel: Travel) -> float:
    """Return the length of the path that v_i depends on."""
    path: float = travel.path_full if rows.sizes[i] == c else travel.path_proper
    return path


@inner_kernel
def resolve_ties(
    rows: Rows, work: SearchWorkspace, n_near: int, i: int, floor: float, travel: Travel
) -> tuple[float, int]:
    """Return the largest value, in double precision, of the near rows that may reach a floor, and its row."""
    top, c = -np.inf, work.mu.shape[0]
    for k in range(n_near):
        j = work.near[k]
        if work.keys[j] + rows.slopes[j] * path_of(rows, j, c, travel) >= floor:
            value = row_value(rows.instances, rows.subsets, rows.sizes, j, work.mu)
            if value > top or (value == top and precedes(rows.arrivals, rows.sizes, rows.subsets, j, i)):
                top, i = value, j
    return top, i


@inlined_kernel
def find_largest(
    rows: Rows, work: SearchWorkspace, first: int, n_near: int, travel: Travel, error: float
) -> tuple[float, int, int]:
    """Return the largest v_i(μ), its row i, and the row of the second largest; sets the keys of the rows evaluated.

    The row `first` is evaluated before the others: it should have a large value. Then come the near rows whose upper
    bounds reach that value, all of them before any comparison, so that their products overlap.
    """
    c, h = work.mu.shape[0], 1.0 / work.mu.shape[0]
    work.candidates[0], work.values[0] = first, estimate(rows, work, first, h)
    n, least = 1, work.values[0] - 2.0 * error
    for k in range(n_near):
        j = work.near[k]
        work.candidates[n] = j
        n += (work.keys[j] + rows.slopes[j] * path_of(rows, j, c, travel) >= least) & (j != first)
    for k in range(1, n):
        work.values[k] = estimate(rows, work, work.candidates[k], h)
    top, second, i, runner_up = -np.inf, -np.inf, first, first
    for k in range(n):
        j, value = work.candidates[k], work.values[k]
        work.keys[j] = value + error - rows.slopes[j] * path_of(rows, j, c, travel)
        if value > top:
            top, second, i, runner_up = value, top, j, i
        elif value > second:
            second, runner_up = value, j
    if second >= top - 2.0 * error:
        top, i = resolve_ties(rows, work, n_near, i, top - 2.0 * error, travel)
    return top, i, runner_up


@inner_kernel
def screen_rows(rows: Rows, work: SearchWorkspace, n: int, top: float, steepest: float, travel: Travel) -> Screen:
    """List in `near` those of n rows that may reach the maximum `top` soon."""
    floor_full = top - NEAR_STEPS * steepest * travel.step_full
    floor_proper = top - NEAR_STEPS * steepest * travel.step_proper
    n_near, far_full, far_proper, c = 0, -np.inf, -np.inf, work.mu.shape[0]
    for j in range(n):
        bound = work.keys[j] + rows.slopes[j] * path_of(rows, j, c, travel)
        if bound >= (floor_full if rows.sizes[j] == c else floor_proper):
            work.near[n_near] = j
            n_near += 1
        elif rows.sizes[j] == c:
            far_full = max(far_full, bound)
        else:
            far_proper = max(far_proper, bound)
    return Screen(n_near, far_full - steepest * travel.path_full, far_proper - steepest * travel.path_proper)


@inlined_kernel
def all_near(near: Indices, n: int) -> Screen:
    """List all of n rows in `near`."""
    for j in range(n):
        near[j] = j
    return Screen(n, np.inf, np.inf)


@inlined_kernel
def far_rows_may_reach(screen: Screen, floor: float, steepest: float, travel: Travel) -> bool:
    """Return whether a row that is not near may have reached a floor."""
    full, proper = screen.far_full + steepest * travel.path_full, screen.far_proper + steepest * travel.path_proper
    return floor <= full or floor <= proper
