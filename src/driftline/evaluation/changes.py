"""Search for the rows at which a stream changed, and for what changed there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import maximum_filter1d

from driftline.evaluation.change_levels import are_levels, are_new
from driftline.evaluation.change_scores import ShiftKind, scores_of
from driftline.evaluation.change_series import MIN_BATCHES, ChangeSeries, comparison_lengths
from driftline.evaluation.change_sizes import SearchedChanges, searched_changes
from driftline.evaluation.shifted_values import ShiftedValues
from driftline.evaluation.value_counts import ValueCounts
from driftline.evaluation.window_stats import WindowStats
from driftline.types import Flags, Labels, Matrix, Vector

FALSE_ALARM_PROBABILITY = 0.01
"""Probability of finding a change in a stream that does not change."""
MAX_ROUNDS = 3
"""Number of times that the search is repeated after changes were found."""
MAX_SHIFTS = 5
"""Number of shifts that are listed with a change."""


@dataclass(frozen=True, slots=True)
class Shift:
    """What differs before and after a change.

    Attributes
    ----------
    kind : ShiftKind
        What was compared: "location", "spread", "share", "missing" or "class share".
    feature
        Name of the column; None for the share of a class among all rows.
    label
        The class; None for missing values.
    before, after
        Location: the median of the column in the class. Spread: its interquartile range. Both are interpolated from
        counts of values. Otherwise the share, between 0 and 1.
    z
        The difference in standard errors; negative if the value fell.
    """

    kind: ShiftKind
    feature: str | None
    label: Any
    before: float
    after: float
    z: float


@dataclass(frozen=True, slots=True)
class Change:
    """A row at which a stream changed.

    Attributes
    ----------
    row
        The first row after the change, accurate to one window of the timeline if the change is sharp and large.
    time
        Time of the row before it; NaN if the stream has no times.
    found_at
        Number of rows that were known when it was found.
    n_rows
        Largest number of rows that were compared on each side.
    strength
        The first of the shifts, in standard errors.
    error_before, error_after
        Share of wrong predictions among these rows.
    shifts : tuple of Shift
        The largest shifts, the one that is clearest first.
    """

    row: int
    time: float
    found_at: int
    n_rows: int
    strength: float
    error_before: float
    error_after: float
    shifts: tuple[Shift, ...]


class ChangeSearch(NamedTuple):
    """What a search for changes found."""

    changes: list[Change]
    """The strongest first."""
    column_strengths: Matrix
    """(n_classes, n_columns): largest shift of the location of each column in each class, in standard errors."""
    searched: SearchedChanges | None
    """What was compared; None if the stream was too short, or if only new levels were searched for."""


def search_changes(
    windows: Sequence[WindowStats],
    values: ValueCounts,
    classes: Sequence[Any],
    names: Sequence[str],
    probability: float = FALSE_ALARM_PROBABILITY,
    only_new_levels: bool = False,
) -> ChangeSearch:
    """Search for changes between the windows of a timeline; `Timeline.changes` describes how.

    Parameters
    ----------
    windows : sequence of WindowStats
        The windows, in order.
    values : ValueCounts
        The values of the columns in these windows.
    classes, names : sequence
        The labels, and the names of the columns that are counted.
    probability : float, default=0.01
        Probability of finding a change in a stream that does not change.
    only_new_levels : bool, default=False
        Whether only changes to levels that last and were not there before are found, as while rows come in.

    Returns
    -------
    ChangeSearch
        All changes that were found, how strongly each column moved, and what was compared.
    """
    strengths = np.zeros((len(classes), len(names)))
    if len(windows) < MIN_BATCHES:
        return ChangeSearch([], strengths, None)
    search = _Search(windows, values.completed(), classes, names, probability, only_new_levels)
    positions = search.positions()
    lengths = {t: search.best_length(t, positions) for t in positions}
    changes = [search.change(t, length) for t, length in lengths.items() if search.ratios[length][t - length] > 1.0]
    changes.sort(key=lambda change: -change.strength)
    searched = None if only_new_levels else searched_changes(search.series, windows, probability)
    return ChangeSearch(changes, search.column_strengths, searched)


class _Search:
    """The comparison of all scores at all places.

    `ratios` has for each length the largest ratio of any score to its critical value, by place.
    """

    def __init__(
        self,
        windows: Sequence[WindowStats],
        values: ValueCounts,
        classes: Sequence[Any],
        names: Sequence[str],
        probability: float,
        only_new_levels: bool,
    ) -> None:
        self.windows, self.values, self.classes, self.names = windows, values, classes, names
        self.is_binary: Flags = values.is_binary()
        self.only_new_levels = only_new_levels
        self.lengths = comparison_lengths(len(windows))
        parts = list(scores_of(windows, values, len(classes), self.is_binary))
        n_comparisons = sum(len(part.kinds) for part in parts) * len(windows) * len(self.lengths)
        self.series = [ChangeSeries(part, probability / (2 * n_comparisons)) for part in parts]
        self.ends = np.concatenate([[0], np.cumsum([window.n_rows for window in windows])])
        self.mistakes = np.concatenate([[0.0], np.cumsum([window.mistakes for window in windows])])
        self._compare_all()

    def _compare_all(self) -> None:
        self.column_strengths = np.zeros((len(self.classes), len(self.names)))
        self.ratios = {length: self._compare(length) for length in self.lengths}

    def _compare(self, length: int) -> Vector:
        places = np.arange(length, len(self.windows) - length + 1)
        largest = np.zeros(len(places))
        for series in self.series:
            z, ratios = self._judge(series, places, length)
            largest = np.maximum(largest, ratios.max(axis=1, initial=0.0))
            scores, strongest = series.scores, np.abs(z).max(axis=0, initial=0.0)
            for kind in (ShiftKind.LOCATION, ShiftKind.SHARE):
                cells = np.array([each is kind for each in scores.kinds], bool)
                np.maximum.at(self.column_strengths, (scores.classes[cells], scores.columns[cells]), strongest[cells])
        return largest

    def _judge(self, series: ChangeSeries, places: Labels, length: int) -> tuple[Matrix, Matrix]:
        """Compare at some places, as `ChangeSeries.compare` does; the ratios of what is no change are 0.

        With `only_new_levels`, a change needs levels that are new. Then the place where a cell differs most is judged,
        because among many places near it some would look like levels by chance. Without, it needs one of the two: a
        slope whose ends keep returning is no change, but a slope to a new level is, and a jump and back.
        """
        z, ratios = series.compare(places, length)
        rows = np.flatnonzero((ratios > 1.0).any(axis=1))
        if not rows.size:
            return z, ratios
        levels, new = (judge(series, places[rows], length) for judge in (are_levels, are_new))
        if self.only_new_levels:
            highest = maximum_filter1d(ratios, length + 1, axis=0, mode="nearest")
            ratios[rows] *= levels & new & (ratios >= highest)[rows]
        else:
            ratios[rows] *= levels | new
        return z, ratios

    def positions(self) -> list[int]:
        """Return the numbers of windows before the changes.

        Once some are found, they no longer count for the variance, and the search is repeated for others.
        """
        positions: list[int] = []
        for _ in range(MAX_ROUNDS):
            found = sorted(self._positions())
            if found == positions:
                break
            positions = found
            self.series = [replace(series, changes=found) for series in self.series]
            self._compare_all()
        return positions

    def _positions(self) -> list[int]:
        """Return the numbers of windows before the changes, given the present variance.

        Short comparisons come first, so that each change is found at its place and long comparisons do not span it.
        """
        found: list[int] = []
        for length in self.lengths:
            ratios = self.ratios[length]
            for t in (length + np.argsort(-ratios, kind="stable")).tolist():
                if ratios[t - length] <= 1.0:
                    break
                if all(abs(t - other) > length for other in found):
                    found.append(t)
        return found

    def best_length(self, t: int, positions: Sequence[int]) -> int:
        """Return the number of windows at which the change at t is clearest and that contain no other change."""
        others = [0, len(self.windows), *(other for other in positions if other != t)]
        nearest = min(abs(t - other) for other in others)
        within = [length for length in self.lengths if length <= nearest]
        return max(within, key=lambda length: float(self.ratios[length][t - length]))

    def change(self, t: int, length: int) -> Change:
        """Return the change at the end of the first t windows, compared over `length` windows on each side."""
        shifts = self._shifts(t, length)
        n_before, n_after = np.diff(self.ends[[t - length, t, t + length]])
        mistakes_before, mistakes_after = np.diff(self.mistakes[[t - length, t, t + length]])
        return Change(
            row=int(self.ends[t]),
            time=self.windows[t - 1].end_time,
            found_at=int(self.ends[-1]),
            n_rows=int(max(n_before, n_after)),
            strength=abs(shifts[0].z),
            error_before=float(mistakes_before / n_before),
            error_after=float(mistakes_after / n_after),
            shifts=tuple(shifts),
        )

    def _shifts(self, t: int, length: int) -> list[Shift]:
        """Return the largest significant shifts: of each column in each class only that of location or of spread."""
        shifted = ShiftedValues(self.windows, self.values, t, length)
        largest: dict[tuple[bool, int, int], tuple[float, float, ShiftKind]] = {}
        for series in self.series:
            z, ratios = (each[0] for each in self._judge(series, np.array([t]), length))
            scores = series.scores
            for cell in np.flatnonzero(ratios > 1.0).tolist():
                kind, c, j = scores.kinds[cell], int(scores.classes[cell]), int(scores.columns[cell])
                place = (kind is ShiftKind.MISSING, c, j)
                largest[place] = max(largest.get(place, (0.0, 0.0, kind)), (ratios[cell], z[cell], kind))
        order = sorted(largest, key=lambda place: -largest[place][0])[:MAX_SHIFTS]
        return [self._shift(shifted, place[1], place[2], *largest[place][1:]) for place in order]

    def _shift(self, shifted: ShiftedValues, c: int, j: int, z: float, kind: ShiftKind) -> Shift:
        if kind in (ShiftKind.LOCATION, ShiftKind.SPREAD):
            kind = shifted.kind(c, j)
        before, after = shifted.values(kind, c, j)
        feature, label = None if j < 0 else self.names[j], None if c < 0 else self.classes[c]
        return Shift(kind, feature, label, before, after, math.copysign(float(z), after - before))
