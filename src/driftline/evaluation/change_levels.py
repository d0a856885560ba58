"""Whether the rows before and after a place are at two levels, and whether these levels were seen to return.

Neither can be said of a swing while it lasts: a season of which only one half was seen is a change for all that the
rows tell. Once it has turned, its sides are no levels, and once it has been at both ends, its levels are not new.
"""

import numpy as np

from driftline.evaluation.change_series import MIN_BATCH_VALUES, ChangeSeries
from driftline.types import Flags, Labels, Matrix

MIN_QUARTER_SHARE = 0.6
"""Both sides are levels if their nearest quarters differ by at least this share of the difference of their means, and
their farthest quarters too. Of a sine wave, the smaller of the two is at most 0.59, wherever up to two cycles of it
are compared over four windows or more on each side; two windows cannot tell a wave from a switch."""
MIN_GAP_SHARE = 0.5
"""A level is new if the means before and after are apart by at least this share of the difference that is judged."""


def are_levels(series: ChangeSeries, t: Labels, length: int) -> Flags:
    """Return whether both sides of a difference are levels, and not parts of a slope or of a wave.

    Parameters
    ----------
    series : ChangeSeries
        The scores.
    t : ndarray of shape (n_places,)
        Numbers of windows before the places.
    length : int
        Number of windows that are compared on each side.

    Returns
    -------
    ndarray of shape (n_places, n_cells)
        True too where a quarter has no value.
    """
    quarter = max(length // 4, 1)
    shift = _difference(series, t - length, t, length)
    nearest = _difference(series, t - quarter, t, quarter)
    farthest = _difference(series, t - length, t + length - quarter, quarter)
    least = MIN_QUARTER_SHARE * np.abs(shift)
    flags: Flags = ~(np.fmin(nearest * np.sign(shift), farthest * np.sign(shift)) < least)
    return flags


def are_new(series: ChangeSeries, t: Labels, length: int) -> Flags:
    """Return whether the stream had never been at the level after a place, and was never again at the one before.

    The means over all stretches of `length` windows before the place must be below those over all stretches after it,
    or above them, by at least half the difference that is judged.

    Parameters
    ----------
    series : ChangeSeries
        The scores.
    t : ndarray of shape (n_places,)
        Numbers of windows before the places.
    length : int
        Number of windows that are compared on each side.

    Returns
    -------
    ndarray of shape (n_places, n_cells)
        Stretches with fewer than four values do not count.
    """
    first = np.arange(len(series.sums) - length)
    means, counts = series.means(first, first + length)
    means = np.where(counts >= MIN_BATCH_VALUES, means, np.nan)
    gap = np.fmax(_gap(means, t, length), _gap(-means, t, length))
    flags: Flags = gap >= MIN_GAP_SHARE * np.abs(means[t] - means[t - length])
    return flags


def _difference(series: ChangeSeries, first: Labels, second: Labels, length: int) -> Matrix:
    return series.means(second, second + length)[0] - series.means(first, first + length)[0]


def _gap(means: Matrix, t: Labels, length: int) -> Matrix:
    """Return by how much the smallest mean after each place is larger than the largest one before it."""
    largest = np.fmax.accumulate(means, axis=0)
    smallest = np.fmin.accumulate(means[::-1], axis=0)[::-1]
    return smallest[t] - largest[t - length]
