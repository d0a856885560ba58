"""Class means tracked by several filters at once, which every component of every class weighs for itself."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftline._jit import inlined_kernel, inner_kernel, pasted_kernel
from driftline.kernels.packing import matrix_at, stack_at, vector_at
from driftline.kernels.representation import MAX_MAGNITUDE
from driftline.types import Indices, Labels, Matrix, Singles, Vector

LOG_WEIGHT_DISCOUNT = 0.98
"""Factor of the logarithm of a filter's weight from one row of a class to the next: old errors are forgotten."""
MIN_GAIN = 0.02
"""Smallest gain of the running variances and of the running times between rows."""
MIN_VARIANCE = 1e-30
"""Added to a variance before it divides."""
MIN_RATE_TIME = 1e-9
"""Up to this time since the last row of a class, no rate of change is measured."""
MAX_FORECAST_GAPS = 10.0
"""A class is forecast ahead by at most so many times the mean time between its rows."""


class FilterBank(NamedTuple):
    """Filters for the components of the class means: r filters, c classes, d components.

    A filter of order 0 is a mean with a gain; one of order 1 follows a straight line in time (the filter of Holt,
    with the gains of discounted least squares). Each component of each class weighs the filters by how well they
    forecast it: ``weight ∝ exp(-Σ error²/(2 variance))``, with forgetting.
    """

    gains: Vector
    """(2, r): gain of the level and of the rate."""
    level: Vector
    """(r, c, d)."""
    rate: Vector
    """(r, c, d): change of the level in a unit of time."""
    log_weight: Vector
    """(r, c, d): logarithm of the weight, up to a constant."""
    weight: Vector
    """(r, c, d): the weights of the filters; they sum to 1 over the filters."""
    variance: Vector
    """(c, d): of the component about its forecast."""
    largest: Vector
    """(c, d): largest absolute value of the component so far."""
    n_rows: Vector
    """(c,): rows of the class."""
    age: Vector
    """(c,): time since the last of them."""
    mean_gap: Vector
    """(c,): running mean of the time between them."""
    mean_inverse_squared_gap: Vector
    """(c,): running mean of 1/gap², which enters the variance of the rate: one measured over a short time is noisy."""


@pasted_kernel
def filters_at(buffer: NDArray[np.uint8], places: Indices, k: int) -> FilterBank:
    """Return the filters whose arrays are the ones from number k on in a buffer."""
    return FilterBank(
        gains=matrix_at(buffer, places, k, np.float64),
        level=stack_at(buffer, places, k + 1, np.float64),
        rate=stack_at(buffer, places, k + 2, np.float64),
        log_weight=stack_at(buffer, places, k + 3, np.float64),
        weight=stack_at(buffer, places, k + 4, np.float64),
        variance=matrix_at(buffer, places, k + 5, np.float64),
        largest=matrix_at(buffer, places, k + 6, np.float64),
        n_rows=vector_at(buffer, places, k + 7, np.float64),
        age=vector_at(buffer, places, k + 8, np.float64),
        mean_gap=vector_at(buffer, places, k + 9, np.float64),
        mean_inverse_squared_gap=vector_at(buffer, places, k + 10, np.float64),
    )


@inlined_kernel
def extrapolate(bank: FilterBank, r: int, y: int, j: int, horizon: float) -> float:
    """Return the forecast of filter r: level + rate · horizon, clipped to twice the largest absolute value so far.

    After uneven times a line can lead anywhere.
    """
    line: float = bank.level[r, y, j] + bank.rate[r, y, j] * horizon
    farthest: float = 2.0 * bank.largest[y, j]
    return min(max(line, -farthest), farthest)


@inlined_kernel
def forecast_horizon(bank: FilterBank, y: int, ahead: float) -> float:
    """Return the time from the last row of class y to `ahead` from now, limited by `MAX_FORECAST_GAPS`."""
    horizon: float = min(bank.age[y] + ahead, MAX_FORECAST_GAPS * max(bank.mean_gap[y], ahead))
    return horizon


@inner_kernel
def forecast(bank: FilterBank, y: int, ahead: float, centres: Singles | Matrix) -> None:
    """Set row y of `centres` to the mean of class y, as forecast for a time `ahead` of the last row of any class."""
    horizon = forecast_horizon(bank, y, ahead)
    for j in range(centres.shape[1]):
        total = 0.0
        for r in range(bank.level.shape[0]):
            total += bank.weight[r, y, j] * extrapolate(bank, r, y, j, horizon)
        centres[y, j] = total


@inner_kernel
def start_class(bank: FilterBank, x: Singles | Matrix, i: int, y: int) -> None:
    """Set the filters of class y to its first row, x_i; a missing component is 0 until it is known."""
    n_filters = bank.level.shape[0]
    for j in range(x.shape[1]):
        if np.isnan(x[i, j]):
            bank.weight[0, y, j] = 1.0
            continue
        bank.largest[y, j] = abs(x[i, j])
        for r in range(n_filters):
            bank.level[r, y, j] = x[i, j]
            bank.weight[r, y, j] = 1.0 / n_filters
    bank.n_rows[y] = 1.0
    bank.age[y] = 0.0


@inlined_kernel
def set_weights(bank: FilterBank, y: int, j: int, best: float) -> None:
    """Set the weights of the filters from their logarithms, the largest of which is `best`."""
    n_filters, total = bank.level.shape[0], 0.0
    for r in range(n_filters):
        bank.weight[r, y, j] = math.exp(bank.log_weight[r, y, j] - best)
        total += bank.weight[r, y, j]
    for r in range(n_filters):
        bank.weight[r, y, j] /= total


@inner_kernel
def update_filters(
    bank: FilterBank, x: Singles | Matrix, i: int, y: int, elapsed: float, centres: Singles | Matrix
) -> None:
    """Update the filters by row x_i of class y; row y of `centres` is its forecast. Missing components are skipped."""
    n_filters, c = bank.level.shape[0], bank.level.shape[1]
    for k in range(c):
        bank.age[k] += elapsed
    n = bank.n_rows[y]
    if n == 0.0:
        start_class(bank, x, i, y)
        return
    age, gain = bank.age[y], max(MIN_GAIN, 1.0 / n)
    horizon = min(age, MAX_FORECAST_GAPS * max(bank.mean_gap[y], elapsed))
    for j in range(x.shape[1]):
        if np.isnan(x[i, j]):
            continue
        deviation = x[i, j] - centres[y, j]
        bank.variance[y, j] += gain * (deviation * deviation - bank.variance[y, j])
        scale = 0.5 / (bank.variance[y, j] + MIN_VARIANCE)
        best = -np.inf
        for r in range(n_filters):
            farthest, level = 2.0 * bank.largest[y, j], bank.level[r, y, j]
            predicted = extrapolate(bank, r, y, j, horizon)
            error = x[i, j] - predicted
            if age > MIN_RATE_TIME:
                rate = min(max(bank.rate[r, y, j], (-farthest - level) / age), (farthest - level) / age)
                bank.rate[r, y, j] = rate + bank.gains[1, r] * error / age
            bank.level[r, y, j] = predicted + max(bank.gains[0, r], 1.0 / (n + 1.0)) * error
            bank.log_weight[r, y, j] = LOG_WEIGHT_DISCOUNT * bank.log_weight[r, y, j] - scale * error * error
            best = max(best, bank.log_weight[r, y, j])
        set_weights(bank, y, j, best)
        bank.largest[y, j] = max(bank.largest[y, j], abs(x[i, j]))
    bank.mean_gap[y] += gain * (age - bank.mean_gap[y])
    if age > MIN_RATE_TIME:
        bank.mean_inverse_squared_gap[y] += gain * (1.0 / age**2 - bank.mean_inverse_squared_gap[y])
    bank.n_rows[y] += 1.0
    bank.age[y] = 0.0


@inner_kernel
def track_columns(
    X: Matrix, labels: Labels, elapsed: Vector, origin: Vector, bank: FilterBank, shifted: Matrix, centres: Matrix
) -> None:
    """Update the filters of raw columns by all rows, in order.

    The first value of a column becomes its origin, which is subtracted from all values, so that a large offset costs no
    precision. Values are in double precision, because the first value may be far from all others. Overwrites `shifted`,
    of the shape of X, and `centres`, with a row for each class.
    """
    for t in range(X.shape[0]):
        for j in range(X.shape[1]):
            if np.isnan(origin[j]) and not np.isnan(X[t, j]):
                origin[j] = min(max(X[t, j], -MAX_MAGNITUDE), MAX_MAGNITUDE)
            x = X[t, j] - origin[j]
            shifted[t, j] = x if np.isnan(x) else min(max(x, -MAX_MAGNITUDE), MAX_MAGNITUDE)
        forecast(bank, labels[t], elapsed[t], centres)
        update_filters(bank, shifted, t, labels[t], elapsed[t], centres)
