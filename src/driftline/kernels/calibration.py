"""A bound on the error of the next step, from the expected mistakes of the steps before it."""

import math
from typing import NamedTuple

from driftline._jit import inner_kernel, kernel
from driftline.types import Vector

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
"""After so many steps the mistakes are compared with the bounds."""
STRETCH_STEP = 0.25
"""How much a window with more mistakes than bounds adds to the logarithm of the margin."""

N, MEAN, FAST_MEAN, COVARIANCE, VARIANCE, LAST_DEVIATION, MISTAKES, BOUNDS, STRETCH, RATES, RATE_STRETCH = range(11)
"""Positions in the state. STRETCH and RATE_STRETCH are logarithms of factors; the others in capitals are sums over a
window (MISTAKES, BOUNDS, RATES) or running figures."""
STATE_SIZE = 11
STATE_RANGES = (
    (0.0, 2.0**53),
    (0.0, 1.0),
    (0.0, 1.0),
    (-1.0, 1.0),
    (0.0, 1.0),
    (-1.0, 1.0),
    (0.0, WINDOW_STEPS),
    (0.0, WINDOW_STEPS),
    (0.0, 100.0),
    (0.0, WINDOW_STEPS),
    (0.0, 100.0),
)
"""Range of each figure of the state."""


class CalibrationTarget(NamedTuple):
    """What the bound aims at."""

    coverage: float
    """The share of steps at which it is to hold."""
    multiplier: float
    """How many deviations above the mean it is."""


@inner_kernel
def step_bound(state: Vector, multiplier: float, guessing: float) -> float:
    """Return the bound that is to hold at the next step: the mean, plus a multiple of the deviation from it.

    The squared deviation of the error is the covariance of neighbouring steps (their noise is independent, the error
    they share is not), plus that of the mean itself, plus what noise hides. The bound is at most `guessing`, the error
    of guessing.
    """
    if state[N] == 0.0:
        return guessing
    gain = max(MEAN_GAIN, 2.0 / (state[N] + 2.0))
    unseen = max(min(UNSEEN_DEVIATION, 1.5 * state[MEAN]), MIN_DEVIATION)
    variance = COVARIANCE_FACTOR * max(state[COVARIANCE], 0.0) + 0.5 * gain * state[VARIANCE] + unseen * unseen
    margin = multiplier * math.exp(state[STRETCH]) * math.sqrt(variance)
    bound: float = min(max(state[FAST_MEAN], state[MEAN] + margin), guessing)
    return bound


@inner_kernel
def rate_bound(state: Vector, guessing: float) -> float:
    """Return the bound that is to hold on average: the mean, plus its own standard error; at most `guessing`."""
    if state[N] == 0.0:
        return guessing
    gain = max(MEAN_GAIN, 2.0 / (state[N] + 2.0))
    error = math.sqrt(0.5 * gain * state[VARIANCE] + MIN_DEVIATION * MIN_DEVIATION)
    rate: float = min(state[MEAN] + math.exp(state[RATE_STRETCH]) * error, guessing)
    return rate


@inner_kernel
def adapt_stretch(state: Vector, bounds: int, stretch: int, multiplier: float, allowed: float) -> None:
    """Raise a stretch if the mistakes of the window exceed the sum of the bounds, else lower it; set the sum to 0.

    `bounds` and `stretch` are positions in the state. At a share `allowed` of such windows it stays where it is.
    """
    failed = 1.0 if state[MISTAKES] > state[bounds] else 0.0
    widest = math.log(1.0 / (multiplier * MIN_DEVIATION)) + STRETCH_STEP
    state[stretch] = min(max(state[stretch] + STRETCH_STEP * (failed - allowed), 0.0), widest)
    state[bounds] = 0.0


@inner_kernel
def update_state(
    state: Vector, loss: float, bound: float, rate: float, target: CalibrationTarget, guessing: float
) -> None:
    """Update the state by the expected mistake of a step and its two bounds; adapt the stretches after a window."""
    if state[N] == 0.0:
        state[MEAN] = state[FAST_MEAN] = guessing
        state[VARIANCE] = guessing * guessing
    n = state[N]
    deviation = loss - state[MEAN]
    # At first the gains are larger, which forgets the start.
    gain, variance_gain = max(MEAN_GAIN, 2.0 / (n + 2.0)), max(VARIANCE_GAIN, 3.0 / (n + 3.0))
    state[MEAN] += gain * deviation
    state[FAST_MEAN] += max(FAST_MEAN_GAIN, 2.0 / (n + 2.0)) * (loss - state[FAST_MEAN])
    state[COVARIANCE] += variance_gain * (deviation * state[LAST_DEVIATION] - state[COVARIANCE])
    state[VARIANCE] += variance_gain * (deviation * deviation - state[VARIANCE])
    state[LAST_DEVIATION] = deviation
    state[N] += 1.0
    state[MISTAKES] += loss
    state[BOUNDS] += bound
    state[RATES] += rate
    if state[N] % WINDOW_STEPS == 0.0:
        adapt_stretch(state, BOUNDS, STRETCH, target.multiplier, 1.0 - target.coverage)
        adapt_stretch(state, RATES, RATE_STRETCH, 1.0, 1.0 - target.coverage)
        state[MISTAKES] = 0.0


@kernel
def next_bounds(state: Vector, target: CalibrationTarget, guessing: float) -> tuple[float, float]:
    """Return the two bounds on the next step: the one at a step and the one on average."""
    return step_bound(state, target.multiplier, guessing), rate_bound(state, guessing)


@kernel
def calibrate(
    losses: Vector, bounds: Vector, rates: Vector, state: Vector, target: CalibrationTarget, guessing: float
) -> None:
    """Set both bounds of each step, then update the state by its expected mistake."""
    for t in range(losses.size):
        bounds[t], rates[t] = step_bound(state, target.multiplier, guessing), rate_bound(state, guessing)
        update_state(state, losses[t], bounds[t], rates[t], target, guessing)
