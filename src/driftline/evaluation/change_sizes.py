"""How large a change must be to be found."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from driftline.evaluation.change_scores import ShiftKind
from driftline.evaluation.change_series import ChangeSeries
from driftline.evaluation.window_stats import WindowStats

POWER = 0.9
"""Probability with which changes of the stated sizes are found."""
MARGIN = 1.15
"""The stated sizes are larger by this factor, because a change makes the variance that is estimated larger, too."""
MAX_SHARE_RISE, MAX_SHIFT, MAX_SPREAD_RATIO = 0.4, 3.0, 5.0
"""Larger sizes are not stated."""
MIN_PARTS = 16
"""The stated sizes are those of changes that last at most this part of the rows, as long before as after."""


@dataclass(frozen=True, slots=True)
class SearchedChanges:
    """What a search for changes compared, and how large a change it would find.

    The sizes are those that are found with a probability of about 90 % in a typical column or class, the median one,
    if they last ``n_rows`` rows and nothing else changes; None if there is nothing of this kind, or if no change of
    this kind is large enough. They are computed from the same standard errors as the search.

    Attributes
    ----------
    n_windows, window_length
        Number of windows, and rows in a window.
    n_classes, n_columns
        Number of classes, and of columns.
    n_comparisons
        Number of comparisons for which the search is corrected.
    false_alarm_probability
        Probability of finding a change in a stream that does not change.
    n_rows
        How long a change lasts that would be found.
    shift
        Shift of a column in a class, in standard deviations (of normal values).
    spread_ratio
        Factor by which the standard deviation of a column in a class rises.
    missing_rise
        Rise of the share of missing values of a column.
    class_share_rise
        Rise of the share of a class.
    """

    n_windows: int
    window_length: int
    n_classes: int
    n_columns: int
    n_comparisons: int
    false_alarm_probability: float
    n_rows: int
    shift: float | None
    spread_ratio: float | None
    missing_rise: float | None
    class_share_rise: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name.

        Returns
        -------
        dict
            Only numbers and None.
        """
        return asdict(self)


def searched_changes(
    series: Sequence[ChangeSeries], windows: Sequence[WindowStats], probability: float
) -> SearchedChanges:
    """Return what a search for changes compared.

    Parameters
    ----------
    series : sequence of ChangeSeries
        All scores of the search; the first are shares of classes and missing values.
    windows : sequence of WindowStats
        The windows.
    probability : float
        Probability of finding a change in a stream that does not change.

    Returns
    -------
    SearchedChanges
        Its scope, and the sizes of the changes that it would find.
    """
    length = 2 ** max(int(math.log2(len(windows) / MIN_PARTS)), 0)
    n_rows = length * windows[0].n_rows
    kinds = series[0].scores.kinds
    sizes = {kind: _median_size(series, kind, length) for kind in ShiftKind}
    n_comparisons = round(probability / (2 * series[0].level))
    return SearchedChanges(
        n_windows=len(windows),
        window_length=windows[0].n_rows,
        n_classes=sum(kind is ShiftKind.CLASS_SHARE for kind in kinds),
        n_columns=sum(kind is ShiftKind.MISSING for kind in kinds),
        n_comparisons=n_comparisons,
        false_alarm_probability=probability,
        n_rows=n_rows,
        shift=_shift(sizes[ShiftKind.LOCATION]),
        spread_ratio=_spread_ratio(sizes[ShiftKind.SPREAD]),
        missing_rise=_share(sizes[ShiftKind.MISSING]),
        class_share_rise=_share(sizes[ShiftKind.CLASS_SHARE]),
    )


def _shift(size: float | None) -> float | None:
    """Return the shift in standard deviations that moves the mean rank of normal values by so much.

    A value that is higher by d deviations on average is the larger of two with probability Φ(d/√2).
    """
    if size is None or size >= 0.5:
        return None
    shift = math.sqrt(2.0) * float(norm.ppf(0.5 + size))
    return shift if shift <= MAX_SHIFT else None


def _spread_ratio(size: float | None) -> float | None:
    """Return the ratio of standard deviations that moves the ranks of normal values away from the middle by so much.

    Their mean distance from the middle is arctan(s)/π if the deviation is s times that to which the ranks refer.
    """
    if size is None or size >= 0.25:
        return None
    ratio = math.tan(math.pi * (0.25 + size))
    return ratio if ratio <= MAX_SPREAD_RATIO else None


def _share(size: float | None) -> float | None:
    return None if size is None or size >= MAX_SHARE_RISE else size


def _median_size(series: Sequence[ChangeSeries], kind: ShiftKind, length: int) -> float | None:
    """Return the difference of mean scores that is found in the median cell of a kind; None if there is none."""
    sizes = []
    for each in series:
        scores = each.scores
        cells = np.array([other is kind for other in scores.kinds], bool) & (scores.ranges > 0.0)
        number = scores.counts[:, cells].mean(axis=0) * length
        variance = each.variances[length][cells]
        factor = (each.critical_values[length][cells] + float(norm.ppf(POWER))) ** 2
        # A share that was 0 gets a variance of its own only by the change.
        own = 1.0 if kind is ShiftKind.MISSING else 0.0
        allowance = factor * (each.skew_weights[cells] / 3.0 + own) / np.maximum(number, 1.0) / 2.0
        size = allowance + np.sqrt(allowance**2 + factor * variance * 2.0 / np.maximum(number, 1.0))
        sizes.append(MARGIN * size[np.isfinite(size)])
    found = np.concatenate(sizes)
    return float(np.median(found)) if found.size else None
