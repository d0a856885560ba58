"""Columns whose recent values no longer fit their mean and deviation, because their unit or their sensor changed."""

import math

import numpy as np

from driftline._jit import kernel
from driftline.types import LARGEST_VALUE, Matrix, Vector

MAX_DEVIATIONS = 4.0
"""Standardised values are clipped at so many standard deviations."""
MEMORY_VALUES = 10_000.0
"""After so many values of a column, old ones are forgotten."""
RECENT_VALUES = 32
"""Values of a column are looked at in groups of so many; a value that repeats the one before it is left out."""
IGNORED_VALUES = 5
"""So many of the largest and of the smallest values of a group, which may be outliers, do not count for its width."""
DEVIATIONS_PER_WIDTH = 2.0
"""Width of a group of normal values, in standard deviations."""
NEW_SPREAD = math.log(4.0)
"""The spread of a group, the logarithm of its width, is unusual if it is so far outside the range of earlier ones."""
RANGE_GAIN = RECENT_VALUES / MEMORY_VALUES
"""By such a share of the distance, the ranges of earlier groups shrink towards each group, so that they forget."""
MAX_UNUSUAL = 4.0
"""A column restarts after so many unusual groups in succession: sooner, and it would follow bursts and short nights."""
CLIPPED_SHARE = 0.75
"""A group does not fit the scale of its column if such a share of its distinct values, or of all, is clipped."""
MAX_LEAD = 6.0
"""The lead of clipped values stays between this and its negative: 25 clipped values in succession make it positive."""
SMALLEST_WIDTH = 1e-300
"""Smaller widths count as this one."""

N_RECENT = 0
"""Row of the figures of columns: the number of values in the group that is being filled."""
CLIPPED_LEAD = 1
"""Positive if `CLIPPED_SHARE` of the last values were clipped; here the values that repeat others count too."""
N_UNUSUAL = 2
"""Number of unusual groups in succession."""
IS_MISFIT = 3
"""Whether one of them did not fit the scale of the column."""
LEAST_SPREAD, MOST_SPREAD = 4, 5
"""Range of the spreads of earlier groups; before the first group, the least is above the most."""
LEAST_MEDIAN, MOST_MEDIAN = 6, 7
"""Range of the medians of earlier groups."""
LAST_SPREAD, LAST_MEDIAN = 8, 9
"""Spread and median of the last usual group, which is not in the ranges yet: it may be half before and half after a
change."""
SPREADS, MEDIANS = (-700.0, 100.0), (-LARGEST_VALUE, LARGEST_VALUE)
FIGURE_RANGES = (
    (0.0, RECENT_VALUES - 1.0),
    (-MAX_LEAD, MAX_LEAD),
    (0.0, MAX_UNUSUAL),
    (0.0, 1.0),
    *(SPREADS, SPREADS, MEDIANS, MEDIANS),
    *(SPREADS, MEDIANS),
)
"""Smallest and largest value of each figure."""


def new_figures(n_columns: int) -> Matrix:
    """Return the figures of columns that have no values yet."""
    figures = np.zeros((len(FIGURE_RANGES), n_columns))
    figures[LEAST_SPREAD] = 1.0
    return figures


@kernel
def note_value(
    x: float, is_clipped: bool, j: int, count: Vector, mean: Vector, squares: Vector, recent: Matrix, figures: Matrix
) -> None:
    """Add a value of column j to its recent ones; restart its statistics if the values no longer fit them."""
    lead = figures[CLIPPED_LEAD, j] + (1.0 if is_clipped else 0.0) - CLIPPED_SHARE
    figures[CLIPPED_LEAD, j] = min(max(lead, -MAX_LEAD), MAX_LEAD)
    n = int(figures[N_RECENT, j])
    if x == recent[n - 1, j]:  # a sensor that is stuck, or a column of many zeros, says nothing of its unit
        return
    recent[n, j] = x
    figures[N_RECENT, j] = n + 1.0
    if n + 1 == RECENT_VALUES:
        judge_group(j, count, mean, squares, recent, figures)
        figures[N_RECENT, j] = 0.0


@kernel
def judge_group(j: int, count: Vector, mean: Vector, squares: Vector, recent: Matrix, figures: Matrix) -> None:
    """Compare the group of column j, which is full, with earlier ones, and restart the column if it has to be.

    It restarts after `MAX_UNUSUAL` unusual groups in succession if one of them did not fit its scale: if most values
    were clipped, or if their spread was far below the deviation of the column.
    """
    group = np.sort(recent[:, j])
    width = max(group[RECENT_VALUES - 1 - IGNORED_VALUES] - group[IGNORED_VALUES], SMALLEST_WIDTH)
    spread, median = math.log(width), 0.5 * (group[RECENT_VALUES // 2 - 1] + group[RECENT_VALUES // 2])
    is_first = figures[LEAST_SPREAD, j] > figures[MOST_SPREAD, j]
    is_narrow = is_first or spread < figures[LEAST_SPREAD, j] - NEW_SPREAD
    is_wide = spread > figures[MOST_SPREAD, j] + NEW_SPREAD
    reach = math.exp(figures[MOST_SPREAD, j])
    is_elsewhere = median < figures[LEAST_MEDIAN, j] - reach or median > figures[MOST_MEDIAN, j] + reach
    deviation = math.sqrt(squares[j] / count[j])
    is_tiny = is_narrow and math.exp(spread + NEW_SPREAD) < deviation
    is_beyond = not is_first and mostly_beyond(group, mean[j], MAX_DEVIATIONS * deviation)
    was_usual = figures[N_UNUSUAL, j] == 0.0
    figures[N_UNUSUAL, j] += 1.0
    if is_tiny or is_beyond or figures[CLIPPED_LEAD, j] > 0.0:
        figures[IS_MISFIT, j] = 1.0
    if not (is_narrow or is_wide or is_elsewhere):
        if was_usual:
            extend_ranges(j, figures[LAST_SPREAD, j], figures[LAST_MEDIAN, j], figures)
        keep_group(j, spread, median, figures)
    elif is_first and figures[IS_MISFIT, j] == 0.0:
        start_ranges(j, spread, median, figures)
    elif figures[N_UNUSUAL, j] >= MAX_UNUSUAL and figures[IS_MISFIT, j] == 1.0:
        farthest = MAX_DEVIATIONS * width / DEVIATIONS_PER_WIDTH
        group = np.minimum(np.maximum(group, median - farthest), median + farthest)
        count[j] = RECENT_VALUES
        mean[j] = np.mean(group)
        squares[j] = np.sum((group - mean[j]) ** 2)
        start_ranges(j, spread, median, figures)
    elif figures[N_UNUSUAL, j] >= MAX_UNUSUAL:
        extend_ranges(j, spread, median, figures)
        keep_group(j, spread, median, figures)


@kernel
def mostly_beyond(group: Vector, centre: float, farthest: float) -> bool:
    """Return whether `CLIPPED_SHARE` of the distinct values of a sorted group are farther than that from a centre."""
    n_distinct, n_beyond = 0, 0
    for i in range(group.size):
        if i == 0 or group[i] != group[i - 1]:
            n_distinct += 1
            n_beyond += abs(group[i] - centre) > farthest
    return n_beyond >= CLIPPED_SHARE * n_distinct


@kernel
def start_ranges(j: int, spread: float, median: float, figures: Matrix) -> None:
    """Let the ranges of column j begin with one group."""
    figures[LEAST_SPREAD, j], figures[MOST_SPREAD, j] = spread, spread
    figures[LEAST_MEDIAN, j], figures[MOST_MEDIAN, j] = median, median
    keep_group(j, spread, median, figures)


@kernel
def extend_ranges(j: int, spread: float, median: float, figures: Matrix) -> None:
    """Shrink the ranges of column j a little towards a group, and extend them to contain it."""
    for least, most, value in ((LEAST_SPREAD, MOST_SPREAD, spread), (LEAST_MEDIAN, MOST_MEDIAN, median)):
        low, high = figures[least, j], figures[most, j]
        figures[least, j] = min(value, low + RANGE_GAIN * (value - low))
        figures[most, j] = max(value, high + RANGE_GAIN * (value - high))


@kernel
def keep_group(j: int, spread: float, median: float, figures: Matrix) -> None:
    """Let this be the last usual group of column j, after which unusual ones are counted."""
    figures[LAST_SPREAD, j], figures[LAST_MEDIAN, j] = spread, median
    figures[N_UNUSUAL, j], figures[IS_MISFIT, j] = 0.0, 0.0
