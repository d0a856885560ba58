"""A bound on the error of the next step, from the expected mistakes of the steps before it."""

import math
from typing import NamedTuple

from driftline._jit import inner_kernel, kernel
from driftline.types import Matrix, Vector

MEAN_GAIN, FAST_MEAN_GAIN = 0.02, 0.05
"""Gain of the mean that the bound is built on, and of one that only lifts the bound after a sudden rise."""
VARIANCE_GAIN = 0.002
"""Gain of the variance and of the covariance."""
COVARIANCE_FACTOR = 2.0
"""Factor of the covariance of neighbouring steps: it is smaller than the variance of the error itself."""
UNSEEN_DEVIATION = 0.025
"""A deviation that the noise of the labels can hide at any length of stream; less where mistakes are few."""
MIN_DEVIATION = 0.001
"""The smallest deviation that a margin is made from."""
WINDOW_STEPS = 100
"""After each step, the mistakes of so many steps are compared with the bounds that were given for them."""
STRETCH_STEP = 0.25
"""How much a window with more mistakes than bounds adds to the logarithm of a factor of the margin."""

N, MEAN, FAST_MEAN, COVARIANCE, VARIANCE, LAST_DEVIATION = range(6)
"""Positions in `CalibrationState.figures`: the number of steps, and running figures of the expected mistakes."""
N_FIGURES = 6
LOSSES, STEP_BOUNDS, RATE_BOUNDS = range(3)
"""Rows of `CalibrationState.window`."""
STEP, RATE = range(2)
"""Rows of `CalibrationState.stretches`: of the bound at a step, and of the bound on average."""


class CalibrationTarget(NamedTuple):
    """What the bound aims at."""

    coverage: float
    """The share of steps at which it is to hold."""
    multiplier: float
    """How many deviations above the mean it is."""


class CalibrationState(NamedTuple):
    """What the bounds are computed from; step t belongs to column t % 100 of the last two arrays."""

    figures: Vector
    """(6,): the number of steps, and running figures."""
    window: Matrix
    """(3, 100): the expected mistakes and both bounds of the last 100 steps; no mistakes and bounds of 1 for steps that
    have not happened yet."""
    stretches: Matrix
    """(2, 100): the logarithms of the factors of both margins that the windows ending in a column ask for."""


@inner_kernel
def largest_stretch(state: CalibrationState, row: int) -> float:
    """Return the logarithm of the factor of a margin: the largest that any column asks for."""
    largest = 0.0
    for place in range(WINDOW_STEPS):
        largest = max(largest, state.stretches[row, place])
    return largest


@inner_kernel
def window_sum(state: CalibrationState, row: int) -> float:
    """Return the sum over the last 100 steps, computed afresh so that rounding does not accumulate."""
    total = 0.0
    for place in range(WINDOW_STEPS):
        total += state.window[row, place]
    return total


@inner_kernel
def largest_bound(state: CalibrationState, stretch: float, multiplier: float, guessing: float) -> float:
    """Return the limit of a bound: the error of guessing, or more if the rule has been worse than guessing.

    It is the mean of the last 100 expected mistakes if that is above `guessing`. If the stretch is larger than any
    margin needs, mistakes have exceeded bounds that were at this limit: the rest of the stretch is added to it.
    """
    rest = max(stretch - math.log(1.0 / (multiplier * MIN_DEVIATION)), 0.0)
    return min(max(guessing, window_sum(state, LOSSES) / WINDOW_STEPS) + rest, 1.0)


@inner_kernel
def step_bound(state: CalibrationState, multiplier: float, guessing: float) -> float:
    """Return the bound that is to hold at the next step: the mean, plus a multiple of the deviation from it.

    The squared deviation of the error is the covariance of neighbouring steps (their noise is independent, the error
    they share is not), plus that of the mean itself, plus what noise hides. The bound is at most `largest_bound`.
    """
    figures = state.figures
    if figures[N] == 0.0:
        return guessing
    gain = max(MEAN_GAIN, 2.0 / (figures[N] + 2.0))
    unseen = max(min(UNSEEN_DEVIATION, 1.5 * figures[MEAN]), MIN_DEVIATION)
    variance = COVARIANCE_FACTOR * max(figures[COVARIANCE], 0.0) + 0.5 * gain * figures[VARIANCE] + unseen * unseen
    stretch = largest_stretch(state, STEP)
    margin = multiplier * math.exp(stretch) * math.sqrt(variance)
    limit = largest_bound(state, stretch, multiplier, guessing)
    bound: float = min(max(figures[FAST_MEAN], figures[MEAN] + margin), limit)
    return bound


@inner_kernel
def rate_bound(state: CalibrationState, guessing: float) -> float:
    """Return the bound that is to hold on average: the mean, plus its own standard error; at most `largest_bound`."""
    figures = state.figures
    if figures[N] == 0.0:
        return guessing
    gain = max(MEAN_GAIN, 2.0 / (figures[N] + 2.0))
    error = math.sqrt(0.5 * gain * figures[VARIANCE] + MIN_DEVIATION * MIN_DEVIATION)
    stretch = largest_stretch(state, RATE)
    rate: float = min(figures[MEAN] + math.exp(stretch) * error, largest_bound(state, stretch, 1.0, guessing))
    return rate


@inner_kernel
def update_figures(figures: Vector, loss: float, guessing: float) -> None:
    """Update the running figures by the expected mistake of a step."""
    n = figures[N]
    if n == 0.0:
        figures[MEAN] = figures[FAST_MEAN] = guessing
        figures[VARIANCE] = guessing * guessing
    deviation = loss - figures[MEAN]
    # At first the gains are larger, which forgets the start.
    gain, variance_gain = max(MEAN_GAIN, 2.0 / (n + 2.0)), max(VARIANCE_GAIN, 3.0 / (n + 3.0))
    figures[MEAN] += gain * deviation
    figures[FAST_MEAN] += max(FAST_MEAN_GAIN, 2.0 / (n + 2.0)) * (loss - figures[FAST_MEAN])
    figures[COVARIANCE] += variance_gain * (deviation * figures[LAST_DEVIATION] - figures[COVARIANCE])
    figures[VARIANCE] += variance_gain * (deviation * deviation - figures[VARIANCE])
    figures[LAST_DEVIATION] = deviation
    figures[N] += 1.0


@inner_kernel
def adapt_stretch(state: CalibrationState, stretch: int, bounds: int, place: int, allowed: float) -> None:
    """Raise the stretch of a column if the mistakes of the last 100 steps exceed their bounds in sum, else lower it.

    `stretch` and `bounds` are rows. At a share `allowed` of such windows the stretch stays where it is. Mistakes and
    bounds are added in the same order, so that rounding cannot make the sum of smaller numbers the larger one.
    """
    failed = 1.0 if window_sum(state, LOSSES) > window_sum(state, bounds) else 0.0
    moved = state.stretches[stretch, place] + STRETCH_STEP * (failed - allowed)
    state.stretches[stretch, place] = max(moved, 0.0)


@kernel
def next_bounds(
    figures: Vector, window: Matrix, stretches: Matrix, target: CalibrationTarget, guessing: float
) -> tuple[float, float]:
    """Return the two bounds on the next step: the one at a step and the one on average."""
    state = CalibrationState(figures, window, stretches)  # passing it from Python would take several times as long
    return step_bound(state, target.multiplier, guessing), rate_bound(state, guessing)


@kernel
def calibrate(
    losses: Vector,
    bounds: Vector,
    rates: Vector,
    figures: Vector,
    window: Matrix,
    stretches: Matrix,
    target: CalibrationTarget,
    guessing: float,
) -> None:
    """Set both bounds of each step, then update figures, window and stretches by its expected mistake."""
    state, allowed = CalibrationState(figures, window, stretches), 1.0 - target.coverage
    for t in range(losses.size):
        bounds[t], rates[t] = step_bound(state, target.multiplier, guessing), rate_bound(state, guessing)
        place = int(figures[N]) % WINDOW_STEPS
        window[LOSSES, place], window[STEP_BOUNDS, place], window[RATE_BOUNDS, place] = losses[t], bounds[t], rates[t]
        update_figures(figures, losses[t], guessing)
        adapt_stretch(state, STEP, STEP_BOUNDS, place, allowed)
        adapt_stretch(state, RATE, RATE_BOUNDS, place, allowed)
