"""Search for the rows at which a stream changed, and for the columns of the classes that moved."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from driftline.evaluation.window_stats import ColumnTotals, WindowStats, padded
from driftline.types import Flags, Matrix, Vector

FALSE_ALARM_PROBABILITY = 0.01
"""Probability of finding a change in a stream of independent rows that does not change."""
MIN_VALUES = 8
"""Number of values from which on a mean is compared."""
MAX_SHIFTS = 5
"""Number of shifts that are listed with a change."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A mean that differs before and after a change.

    Attributes
    ----------
    feature
        Name of the column; None for the share of a class among all rows.
    label
        The class.
    before, after
        The mean of the column in the class, in the units of the column, or the share.
    z
        The difference in standard errors.
    """

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
        The first row after the change, accurate to one window of the timeline.
    time
        Time of the row before it; NaN if the stream has no times.
    n_rows
        Largest number of rows that were compared on each side.
    strength
        The largest shift, in standard errors.
    error_before, error_after
        Share of wrong predictions among these rows.
    shifts : tuple of Shift
        The largest shifts, the largest first.
    """

    row: int
    time: float
    n_rows: int
    strength: float
    error_before: float
    error_after: float
    shifts: tuple[Shift, ...]


class ChangeSearch(NamedTuple):
    """What a search for changes found."""

    changes: list[Change]
    """The strongest first."""
    column_strengths: Vector
    """Largest shift of each column, class by class, in standard errors."""


def search_changes(
    windows: Sequence[WindowStats], classes: Sequence[Any], names: Sequence[str], columns: ColumnTotals
) -> ChangeSearch:
    """Search for changes between the windows of a timeline; `Timeline.changes` describes how.

    Parameters
    ----------
    windows : sequence of WindowStats
        The windows, in order.
    classes, names : sequence
        The labels, and the names of the columns that are summed in the windows.
    columns : ColumnTotals
        Figures of these columns over all rows.

    Returns
    -------
    ChangeSearch
        All changes that were found, and how strongly each column moved.
    """
    if not windows:
        return ChangeSearch([], np.zeros(0))
    series = _WindowSeries.of(windows, classes, names, columns)
    positions: list[int] = []  # numbers of windows before the changes
    strengths = np.zeros(series.deviations.size)
    for length in series.lengths:
        shifts = np.abs(series.compare(length))
        strengths = np.maximum(strengths, shifts.max(axis=0, initial=0.0))
        strongest = shifts.max(axis=1, initial=0.0)
        for t in (length + np.argsort(-strongest, kind="stable")).tolist():
            if strongest[t - length] > series.threshold and all(abs(t - other) >= length for other in positions):
                positions.append(t)
    changes = [series.change(t, series.best_length(t, positions)) for t in positions]
    changes.sort(key=lambda change: -change.strength)
    return ChangeSearch(changes, strengths[: len(classes) * len(names)])


@dataclass(frozen=True, slots=True, eq=False)
class _WindowSeries:
    """The means that are compared, as cumulative sums over windows.

    A cell is a column of a class, or the share of a class: first all columns of the first class, and so on, then the
    shares.
    """

    windows: Sequence[WindowStats]
    classes: Sequence[Any]
    names: Sequence[str]
    origin: Vector
    sums: Matrix
    """(n_windows + 1, n_cells): sum of the cell over the first windows."""
    counts: Matrix
    """(n_windows + 1, n_cells): number of values in that sum."""
    deviations: Vector
    """(n_cells,): standard deviation of a single value, estimated from neighbouring windows."""
    largest: Vector
    """(n_cells,): largest distance of a single value from the mean."""
    ends: Vector
    """(n_windows + 1,): number of rows in the first windows."""
    mistakes: Vector
    """(n_windows + 1,): number of wrong predictions in the first windows."""

    @classmethod
    def of(
        cls, windows: Sequence[WindowStats], classes: Sequence[Any], names: Sequence[str], columns: ColumnTotals
    ) -> "_WindowSeries":
        c = len(classes)
        shares = np.array([padded(window.class_counts, c) for window in windows])
        rows = np.repeat(shares.sum(axis=1, keepdims=True), c, axis=1)
        sums = np.array([padded(window.column_sums, c).ravel() for window in windows])
        known = np.array([padded(window.column_counts, c).ravel() for window in windows])
        cells, counts = np.concatenate([sums, shares], axis=1), np.concatenate([known, rows], axis=1)
        return cls(
            windows,
            classes,
            names,
            columns.origin,
            sums=_cumulative(cells),
            counts=_cumulative(counts),
            deviations=_deviations(cells, counts),
            largest=np.concatenate([2.0 * columns.largest.ravel(), np.ones(c)]),
            ends=_cumulative(np.array([window.n_rows for window in windows])),
            mistakes=_cumulative(np.array([window.mistakes for window in windows])),
        )

    @property
    def lengths(self) -> list[int]:
        """Numbers of windows over which means are compared."""
        n = len(self.windows)
        return [2**k for k in range(n.bit_length()) if 2 ** (k + 1) <= n]

    def best_length(self, t: int, positions: Sequence[int]) -> int:
        """Return the number of windows at which the change at t is clearest and that contain no other change."""
        others = [0, len(self.windows), *(other for other in positions if other != t)]
        nearest = min(abs(t - other) for other in others)
        within = [length for length in self.lengths if length <= nearest]
        return max(within, key=lambda length: float(np.abs(self._shifts(t, length)).max()))

    @property
    def threshold(self) -> float:
        """Standard errors from which on a shift counts, corrected for the number of comparisons."""
        n_comparisons = max(self.deviations.size * len(self.windows) * len(self.lengths), 1)
        return float(norm.isf(FALSE_ALARM_PROBABILITY / (2 * n_comparisons)))

    def means(self, first: Any, end: Any) -> tuple[Matrix, Matrix]:
        """Return the means of the cells over the windows from `first` to before `end`, and their numbers of values."""
        counts = self.counts[end] - self.counts[first]
        with np.errstate(invalid="ignore", divide="ignore"):
            return (self.sums[end] - self.sums[first]) / counts, counts

    def compare(self, length: int) -> Matrix:
        """Return the shift of each cell between any `length` windows and the next `length`, in standard errors."""
        return self._shifts(np.arange(length, len(self.windows) - length + 1), length)

    def _shifts(self, t: Any, length: int) -> Matrix:
        """Return the shifts at the end of the first t windows, in standard errors; 0 where values are too few.

        The standard error has an allowance for the largest values, by Bernstein's inequality: the mean of rare events,
        or of values with heavy tails, is less accurate than that of normal values.
        """
        before, n_before = self.means(t - length, t)
        after, n_after = self.means(t, t + length)
        shift = after - before
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = self.deviations**2 * (1.0 / n_before + 1.0 / n_after)
            weight = self.largest / np.minimum(n_before, n_after)  # of a single value, in the mean
            z = shift / np.sqrt(variance + weight * np.abs(shift) / 3.0)
        enough: Flags = (n_before >= MIN_VALUES) & (n_after >= MIN_VALUES) & np.isfinite(z)
        return np.where(enough, z, 0.0)

    def change(self, t: int, length: int) -> Change:
        """Return the change at the end of the first t windows, compared over `length` windows on each side."""
        z = self._shifts(t, length)
        largest = np.argsort(-np.abs(z), kind="stable")[:MAX_SHIFTS]
        before, after = (self.means(t - length, t)[0], self.means(t, t + length)[0])
        n_before, n_after = np.diff(self.ends[[t - length, t, t + length]])
        mistakes_before, mistakes_after = np.diff(self.mistakes[[t - length, t, t + length]])
        return Change(
            row=int(self.ends[t]),
            time=self.windows[t - 1].end_time,
            n_rows=int(max(n_before, n_after)),
            strength=float(np.abs(z[largest[0]])),
            error_before=float(mistakes_before / n_before),
            error_after=float(mistakes_after / n_after),
            shifts=tuple(self._shift(int(cell), before, after, z) for cell in largest if abs(z[cell]) > self.threshold),
        )

    def _shift(self, cell: int, before: Vector, after: Vector, z: Vector) -> Shift:
        d = len(self.names)
        n_column_cells = d * len(self.classes)
        if cell >= n_column_cells:
            label, feature, origin = self.classes[cell - n_column_cells], None, 0.0
        else:
            label, feature, origin = self.classes[cell // d], self.names[cell % d], float(self.origin[cell % d])
        return Shift(feature, label, origin + float(before[cell]), origin + float(after[cell]), float(z[cell]))


def _cumulative(values: Vector) -> Vector:
    """Return cumulative sums that begin with 0."""
    return np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])


def _deviations(sums: Matrix, counts: Matrix) -> Vector:
    """Return the standard deviation of a single value, from the differences between the means of neighbouring windows.

    Such a difference has the variance σ²(1/n + 1/n'); where the values of a window are correlated, σ is larger.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        means, precision = sums / counts, 1.0 / counts
        scaled = np.diff(means, axis=0) ** 2 / (precision[1:] + precision[:-1])
    enough = np.isfinite(scaled)
    total = np.where(enough, scaled, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        deviations: Vector = np.sqrt(total / enough.sum(axis=0))
    return deviations
