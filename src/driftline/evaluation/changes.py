"""When a stream changed, and which columns of which classes did it: found in the course of an evaluation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from driftline.evaluation.course import Course
from driftline.types import Flags, Matrix, Vector

FALSE_ALARMS = 0.01
"""Probability with which a change is found in a stream of independent rows that does not change."""
LEAST_VALUES = 8
"""Values that a mean must be of to be compared."""
MOST_SHIFTS = 5
"""Shifts that are named with a change, the largest."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A mean that is another after a change than before it.

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
    """A moment at which a stream changed.

    Attributes
    ----------
    row
        The first row after it, to within a window of the course.
    time
        Time of the row before it; NaN if the stream does not say.
    n_rows
        How many rows on each side were compared, at most.
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


def find_changes(course: Course, most: int = 5) -> list[Change]:
    """Return the moments at which a stream changed most, by comparing the rows before and after each.

    For each column of each class, and for the share of each class, the mean over some windows before a moment is
    compared with that over as many after it, for 1, 2, 4, … windows. The error of a mean is estimated from the
    differences between neighbouring windows, which a change here and there, or a slow one, hardly adds to. A moment
    counts if the largest shift is one that chance would bring about in one stream of a hundred, were rows
    independent of each other. What swings slowly beside the windows, such as seasons, or wanders, is a change here:
    before and after such a moment the stream is another one. Short comparisons go first, so that each moment is found
    where it is, and long ones do not span it.

    Parameters
    ----------
    course : Course
        The course of an evaluation.
    most : int, default=5
        How many moments at most.

    Returns
    -------
    list of Change
        The strongest, in the order of time.

    Examples
    --------
    >>> from driftline.evaluation import Course, evaluate, find_changes
    >>> from driftline.registry import create
    >>> from driftline.streams import AbruptDrift, ArrayStream, GaussianClasses
    >>> stream = AbruptDrift([GaussianClasses([[0, 0], [2, 0]]), GaussianClasses([[0, 3], [2, 0]])], at=[1000])
    >>> stream = ArrayStream(*stream.sample(2000, seed=0))
    >>> course = Course(stream.columns)
    >>> run = evaluate(create("dwm"), stream, course=course, progress=False)
    >>> (change,) = find_changes(course)
    >>> abs(change.row - 1000) <= 32, change.shifts[0].feature, change.shifts[0].label
    (True, 'x1', 0)
    """
    if course.n_rows == 0:
        return []
    series = _Series.of(course)
    moments: list[int] = []
    for length in series.lengths:
        strongest = np.abs(series.compared(length)).max(axis=1, initial=0.0)
        for t in (length + np.argsort(-strongest, kind="stable")).tolist():
            if strongest[t - length] > series.threshold and all(abs(t - other) >= length for other in moments):
                moments.append(t)
    changes = (series.change(t, series.best_length(t, moments)) for t in moments)
    strongest_changes = sorted(changes, key=lambda change: -change.strength)[:most]
    return sorted(strongest_changes, key=lambda change: change.row)


@dataclass(frozen=True, slots=True, eq=False)
class _Series:
    """What is compared: cells (columns of classes, then shares of classes), window by window, as cumulative sums."""

    course: Course
    sums: Matrix
    """(n_windows + 1, n_cells): the sum of a cell over the windows before."""
    counts: Matrix
    """The same, of how many values there were."""
    deviations: Vector
    """(n_cells,): of a single value, as the differences between neighbouring windows tell."""
    largest: Vector
    """(n_cells,): how far a single value can be from the mean."""
    ends: Vector
    mistakes: Vector

    @classmethod
    def of(cls, course: Course) -> "_Series":
        windows = course.stretches
        n, c = len(windows), len(course.classes)
        shares = course.class_counts(windows)
        rows = np.repeat(shares.sum(axis=1, keepdims=True), c, axis=1)
        sums, known = course.column_sums(windows)
        cells = np.concatenate([sums.reshape(n, -1), shares], axis=1)
        counts = np.concatenate([known.reshape(n, -1), rows], axis=1)
        lengths = [window.n_rows for window in windows]
        return cls(
            course,
            _accumulated(cells),
            _accumulated(counts),
            _deviations(cells, counts),
            np.concatenate([2.0 * course.largest.ravel() if course.has_columns else [], np.ones(c)]),
            np.cumsum(lengths),
            _accumulated(np.array([window.mistakes for window in windows])),
        )

    @property
    def lengths(self) -> list[int]:
        """Over how many windows means are compared."""
        n = len(self.ends)
        return [2**k for k in range(n.bit_length()) if 2 ** (k + 1) <= n]

    def best_length(self, t: int, moments: Sequence[int]) -> int:
        """Return over how many windows a moment is clearest, of those within which nothing else changed."""
        there = [0, len(self.ends), *(other for other in moments if other != t)]
        nearest = min(abs(t - other) for other in there)
        within = [length for length in self.lengths if length <= nearest]
        return max(within, key=lambda length: float(np.abs(self._shifts(t, length)).max()))

    @property
    def threshold(self) -> float:
        """How many standard errors a shift must have to count, among so many that are looked at."""
        looks = max(self.deviations.size * len(self.ends) * len(self.lengths), 1)
        return float(norm.isf(FALSE_ALARMS / (2 * looks)))

    def means(self, first: Any, end: Any) -> tuple[Matrix, Matrix]:
        """Return the means of the cells from some windows to before others, and of how many values they are."""
        counts = self.counts[end] - self.counts[first]
        with np.errstate(invalid="ignore", divide="ignore"):
            return (self.sums[end] - self.sums[first]) / counts, counts

    def compared(self, length: int) -> Matrix:
        """Return the shift of each cell at each moment, in standard errors; 0 where there are too few values.

        The standard error allows, by Bernstein's inequality, for the largest values, which may be few: a mean of rare
        events, or of values with heavy tails, is not as good as normal.
        """
        moments = np.arange(length, len(self.ends) - length + 1)
        return self._shifts(moments, length)

    def _shifts(self, moments: Any, length: int) -> Matrix:
        before, n_before = self.means(moments - length, moments)
        after, n_after = self.means(moments, moments + length)
        shift = after - before
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = self.deviations**2 * (1.0 / n_before + 1.0 / n_after)
            weight = self.largest / np.minimum(n_before, n_after)  # of a single value, in the mean
            z = shift / np.sqrt(variance + weight * np.abs(shift) / 3.0)
        enough: Flags = (n_before >= LEAST_VALUES) & (n_after >= LEAST_VALUES) & np.isfinite(z)
        return np.where(enough, z, 0.0)

    def change(self, t: int, length: int) -> Change:
        """Return what is known of a moment: between which windows it is, and over how many they were compared."""
        z = self._shifts(t, length)
        largest = np.argsort(-np.abs(z), kind="stable")[:MOST_SHIFTS]
        before, after = (self.means(t - length, t)[0], self.means(t, t + length)[0])
        ends = np.concatenate([[0], self.ends])
        errors = [
            float((self.mistakes[j] - self.mistakes[i]) / (ends[j] - ends[i]))
            for i, j in ((t - length, t), (t, t + length))
        ]
        return Change(
            row=int(ends[t]),
            time=self.course.stretches[t - 1].end_time,
            n_rows=int(max(ends[t] - ends[t - length], ends[t + length] - ends[t])),
            strength=float(np.abs(z[largest[0]])),
            error_before=errors[0],
            error_after=errors[1],
            shifts=tuple(self._shift(int(cell), before, after, z) for cell in largest if abs(z[cell]) > self.threshold),
        )

    def _shift(self, cell: int, before: Vector, after: Vector, z: Vector) -> Shift:
        course, d = self.course, len(self.course.columns) if self.course.has_columns else 0
        n_column_cells = d * len(course.classes)
        if cell >= n_column_cells:
            label, feature, origin = course.classes[cell - n_column_cells], None, 0.0
        else:
            label, feature = course.classes[cell // d], course.columns[cell % d]
            origin = 0.0 if course.origin is None else float(course.origin[cell % d])
        return Shift(feature, label, origin + float(before[cell]), origin + float(after[cell]), float(z[cell]))


def _accumulated(values: Vector) -> Vector:
    return np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])


def _deviations(sums: Matrix, counts: Matrix) -> Vector:
    """Return the deviation of a single value, from the differences between the means of neighbouring windows.

    Such a difference has the variance σ²(1/n + 1/n'); where values of a window go together, σ comes out larger.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        means, precision = sums / counts, 1.0 / counts
        scaled = np.diff(means, axis=0) ** 2 / (precision[1:] + precision[:-1])
    enough = np.isfinite(scaled)
    total = np.where(enough, scaled, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        deviations: Vector = np.sqrt(total / enough.sum(axis=0))
    return deviations


def columns_by_strength(course: Course, most: int) -> list[tuple[int, int]]:
    """Return the classes and columns whose means moved most, as positions, the strongest first.

    Parameters
    ----------
    course : Course
        The course of an evaluation.
    most : int
        How many at most.

    Returns
    -------
    list of (int, int)
        Positions of class and column.
    """
    if not course.has_columns:
        return []
    series, d = _Series.of(course), len(course.columns)
    n_cells = d * len(course.classes)
    strongest = np.zeros(n_cells)
    for length in series.lengths:
        strongest = np.maximum(strongest, np.abs(series.compared(length)[:, :n_cells]).max(axis=0, initial=0.0))
    order: Sequence[int] = np.argsort(-strongest, kind="stable")[:most].tolist()
    return [(cell // d, cell % d) for cell in order if strongest[cell] > 0.0]
