"""A bound on the error of the next step, from the expected mistakes of the steps before it."""

import math
from typing import NamedTuple

from driftline._jit import inner_kernel, kernel
from driftline.types import Vector

SLOW, FAST = 0.02, 0.05
"""Gains of the mean that the bound is built on, and of one that only lifts it after a sudden rise."""
SLOWEST = 0.002
"""Gain of the variances."""
UNSEEN = 2.0
"""Factor of the variance that is seen between neighbouring steps: some of it is gone from one to the next."""
HIDDEN = 0.025
"""A deviation that the noise of the labels can hide at any length of stream; less where there are few mistakes."""
SMALLEST = 0.001
"""The smallest margin, in units of the multiplier."""
WINDOW = 100
"""Steps after which it is judged whether the bound held."""
LEARNING = 0.25
"""By how much a window at which it did not moves the logarithm of the multiplier."""

N, MEAN, RECENT, COVARIANCE, VARIANCE, LAST, MISTAKES, BOUNDS, STRETCH, RATES, RATE_STRETCH = range(11)
"""Places in the state."""
N_PLACES = 11


class Aim(NamedTuple):
    """What a certificate aims at."""

    coverage: float
    multiplier: float
    """Deviations above the mean."""


@inner_kernel
def bound_of(state: Vector, multiplier: float, top: float) -> float:
    """Return the bound on the next step: mean, plus a multiple of how far the error strays from it; at most `top`.

    The error strays by what neighbouring steps have in common (their noise is independent, the error they share is
    not), by the error of the mean itself, and by what noise hides.
    """
    if state[N] == 0.0:
        return top
    gain = max(SLOW, 2.0 / (state[N] + 2.0))
    hidden = max(min(HIDDEN, 1.5 * state[MEAN]), SMALLEST)
    strays = UNSEEN * max(state[COVARIANCE], 0.0) + 0.5 * gain * state[VARIANCE] + hidden * hidden
    margin = multiplier * math.exp(state[STRETCH]) * math.sqrt(strays)
    bound: float = min(max(state[RECENT], state[MEAN] + margin), top)
    return bound


@inner_kernel
def rate_of(state: Vector, top: float) -> float:
    """Return a bound on the next step that is to hold on average: the mean, plus its own standard error."""
    if state[N] == 0.0:
        return top
    gain = max(SLOW, 2.0 / (state[N] + 2.0))
    error = math.sqrt(0.5 * gain * state[VARIANCE] + SMALLEST * SMALLEST)
    rate: float = min(state[MEAN] + math.exp(state[RATE_STRETCH]) * error, top)
    return rate


@inner_kernel
def judge(state: Vector, sums: int, stretch: int, multiplier: float, allowed: float) -> None:
    """Stretch a margin if the mistakes of a window exceeded their bounds; else relax it a little."""
    failed = 1.0 if state[MISTAKES] > state[sums] else 0.0
    widest = math.log(1.0 / (multiplier * SMALLEST)) + LEARNING
    state[stretch] = min(max(state[stretch] + LEARNING * (failed - allowed), 0.0), widest)
    state[sums] = 0.0


@inner_kernel
def take(state: Vector, loss: float, bound: float, rate: float, aim: Aim, top: float) -> None:
    """Take the expected mistake of a step into the state, and at the end of a window judge the bounds."""
    if state[N] == 0.0:
        state[MEAN] = state[RECENT] = top
        state[VARIANCE] = top * top
    n = state[N]
    deviation = loss - state[MEAN]
    gain, slowest = max(SLOW, 2.0 / (n + 2.0)), max(SLOWEST, 3.0 / (n + 3.0))  # which forgets the start
    state[MEAN] += gain * deviation
    state[RECENT] += max(FAST, 2.0 / (n + 2.0)) * (loss - state[RECENT])
    state[COVARIANCE] += slowest * (deviation * state[LAST] - state[COVARIANCE])
    state[VARIANCE] += slowest * (deviation * deviation - state[VARIANCE])
    state[LAST] = deviation
    state[N] += 1.0
    state[MISTAKES] += loss
    state[BOUNDS] += bound
    state[RATES] += rate
    if state[N] % WINDOW == 0.0:
        judge(state, BOUNDS, STRETCH, aim.multiplier, 1.0 - aim.coverage)
        judge(state, RATES, RATE_STRETCH, 1.0, 1.0 - aim.coverage)
        state[MISTAKES] = 0.0


@kernel
def next_bounds(state: Vector, aim: Aim, top: float) -> tuple[float, float]:
    """Return the two bounds on the next step."""
    return bound_of(state, aim.multiplier, top), rate_of(state, top)


@kernel
def calibrate(losses: Vector, bounds: Vector, rates: Vector, state: Vector, aim: Aim, top: float) -> None:
    """Set the bounds of each step before its expected mistake is taken into the state."""
    for t in range(losses.size):
        bounds[t], rates[t] = bound_of(state, aim.multiplier, top), rate_of(state, top)
        take(state, losses[t], bounds[t], rates[t], aim, top)
