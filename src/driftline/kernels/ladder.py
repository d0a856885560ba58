"""Class means tracked by a ladder of filters, from which every component chooses for itself."""

import math
from typing import NamedTuple

import numpy as np

from driftline._jit import inlined_kernel, inner_kernel, kernel
from driftline.types import Labels, Matrix, Singles, Vector

FORGETTING = 0.98
"""What a filter's record of forecasts keeps from one row of a class to the next."""
VARIANCE_GAIN = 0.02
"""Gain of the variance of a component about its forecast, once it has seen some rows."""
SMALLEST = 1e-30
"""A variance below which a component counts as constant."""


class Ladder(NamedTuple):
    """Filters for the components of the class means: r filters, c classes, d components.

    A filter of order 0 is a mean with a gain; one of order 1 follows a straight line in time (the filter of Holt,
    with the gains of discounted least squares). Each component of each class weighs the filters by how well they
    forecast it: ``share ∝ exp(-Σ error²/(2 variance))``, with forgetting.
    """

    gains: Vector
    """(2, r): gain of the level and of the rate."""
    level: Vector
    """(r, c, d)."""
    rate: Vector
    """(r, c, d): change of the level in a unit of time."""
    record: Vector
    """(r, c, d): logarithm of the weight, up to a constant."""
    share: Vector
    """(r, c, d): weight; they sum to 1 over the filters."""
    variance: Vector
    """(c, d): of the component about its forecast."""
    largest: Vector
    """(c, d): largest size of the component so far."""
    n_rows: Vector
    """(c,): rows of the class."""
    age: Vector
    """(c,): time since the last of them."""
    gap: Vector
    """(c,): mean time between them, lately."""
    haste: Vector
    """(c,): mean of 1 over its square: rates that are measured over short times are noisy."""


SHORTEST = 1e-9
"""Time in which no rate is measured."""
FARTHEST_AHEAD = 10.0
"""How many times the usual time between its rows a class is forecast ahead at most."""


@inlined_kernel
def extrapolated(ladder: Ladder, r: int, y: int, j: int, horizon: float) -> float:
    """Return what a filter forecasts: its line, up to twice the largest size of the component.

    After uneven times a line can lead anywhere.
    """
    line: float = ladder.level[r, y, j] + ladder.rate[r, y, j] * horizon
    farthest: float = 2.0 * ladder.largest[y, j]
    return min(max(line, -farthest), farthest)


@inlined_kernel
def horizon_of(ladder: Ladder, y: int, ahead: float) -> float:
    """Return how far ahead of its last row a class is forecast: not much farther than rows of it are apart."""
    horizon: float = min(ladder.age[y] + ahead, FARTHEST_AHEAD * max(ladder.gap[y], ahead))
    return horizon


@inner_kernel
def forecast(ladder: Ladder, y: int, ahead: float, centres: Singles | Matrix) -> None:
    """Set the centre of class y to its mean, as forecast `ahead` of the last row of any class."""
    horizon = horizon_of(ladder, y, ahead)
    for j in range(centres.shape[1]):
        total = 0.0
        for r in range(ladder.level.shape[0]):
            total += ladder.share[r, y, j] * extrapolated(ladder, r, y, j, horizon)
        centres[y, j] = total


@inner_kernel
def absorb(ladder: Ladder, x: Singles | Matrix, i: int, y: int, elapsed: float, centres: Singles | Matrix) -> None:
    """Take row i of x, of class y, into the filters; `centres` is what was forecast for it."""
    n_filters, c = ladder.level.shape[0], ladder.level.shape[1]
    for k in range(c):
        ladder.age[k] += elapsed
    n = ladder.n_rows[y]
    if n == 0.0:
        begin(ladder, x, i, y)
        return
    age = ladder.age[y]
    horizon = min(age, FARTHEST_AHEAD * max(ladder.gap[y], elapsed))
    gain = max(VARIANCE_GAIN, 1.0 / n)
    for j in range(x.shape[1]):
        if np.isnan(x[i, j]):
            continue
        deviation = x[i, j] - centres[y, j]
        ladder.variance[y, j] += gain * (deviation * deviation - ladder.variance[y, j])
        scale = 0.5 / (ladder.variance[y, j] + SMALLEST)
        best = -np.inf
        for r in range(n_filters):
            farthest, level = 2.0 * ladder.largest[y, j], ladder.level[r, y, j]
            foreseen = extrapolated(ladder, r, y, j, horizon)
            error = x[i, j] - foreseen
            if age > SHORTEST:
                rate = min(max(ladder.rate[r, y, j], (-farthest - level) / age), (farthest - level) / age)
                ladder.rate[r, y, j] = rate + ladder.gains[1, r] * error / age
            ladder.level[r, y, j] = foreseen + max(ladder.gains[0, r], 1.0 / (n + 1.0)) * error
            ladder.record[r, y, j] = FORGETTING * ladder.record[r, y, j] - scale * error * error
            best = max(best, ladder.record[r, y, j])
        total = 0.0
        for r in range(n_filters):
            ladder.share[r, y, j] = math.exp(ladder.record[r, y, j] - best)
            total += ladder.share[r, y, j]
        for r in range(n_filters):
            ladder.share[r, y, j] /= total
        ladder.largest[y, j] = max(ladder.largest[y, j], abs(x[i, j]))
    ladder.gap[y] += max(VARIANCE_GAIN, 1.0 / n) * (age - ladder.gap[y])
    if age > SHORTEST:
        ladder.haste[y] += max(VARIANCE_GAIN, 1.0 / n) * (1.0 / age**2 - ladder.haste[y])
    ladder.n_rows[y] += 1.0
    ladder.age[y] = 0.0


@inner_kernel
def begin(ladder: Ladder, x: Singles | Matrix, i: int, y: int) -> None:
    """Begin a class with its first row."""
    n_filters = ladder.level.shape[0]
    for j in range(x.shape[1]):
        if np.isnan(x[i, j]):
            ladder.share[0, y, j] = 1.0  # until it is known, it is 0
            continue
        ladder.largest[y, j] = abs(x[i, j])
        for r in range(n_filters):
            ladder.level[r, y, j] = x[i, j]
            ladder.share[r, y, j] = 1.0 / n_filters
    ladder.n_rows[y] = 1.0
    ladder.age[y] = 0.0


@kernel
def watch(X: Matrix, labels: Labels, elapsed: Vector, ladder: Ladder, centres: Matrix) -> None:
    """Take rows into the filters, in order."""
    for t in range(labels.size):
        forecast(ladder, labels[t], elapsed[t], centres)
        absorb(ladder, X, t, labels[t], elapsed[t], centres)
