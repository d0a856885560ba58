"""The course of an evaluation, in windows few enough to draw, however long the stream is."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from driftline.evaluation.summary import counted_bounds, differ
from driftline.types import Block, LabelArray, Labels, Matrix, Predictions, Vector

MOST_WINDOWS = 512
"""When there are as many windows, neighbours are joined, and windows are twice as long from then on."""
SHORTEST_WINDOW = 16
MOST_CELLS = 8192
"""Means of columns are kept if there are at most so many, classes times columns; they take memory in each window."""
N_BINS = 50
"""Bins of bounds between 0 and 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Sums over some consecutive rows; two that follow each other add up to one.

    Attributes
    ----------
    n_rows
        How many rows.
    end_time
        Time of the last; NaN if the stream does not say.
    mistakes, expected, bounds, rates, charges
        Sums of wrong predictions; of the randomised rule's expected mistakes; of the bounds of single steps, of those
        that are to hold on average, as in `Summary`, and of what enters the bound on mistakes. NaN for a classifier
        without.
    counts : ndarray of shape (n_classes,)
        Rows of each class; classes that come later are 0 here, or not there.
    sums, known : ndarray of shape (n_classes, n_columns)
        Sums of the columns in each class, and how many values were there.
    """

    n_rows: int
    end_time: float
    mistakes: float
    expected: float
    bounds: float
    rates: float
    charges: float
    counts: Vector
    sums: Matrix
    known: Matrix

    def __add__(self, later: "Stretch") -> "Stretch":
        n_classes = len(later.counts)
        return Stretch(
            self.n_rows + later.n_rows,
            later.end_time,
            self.mistakes + later.mistakes,
            self.expected + later.expected,
            self.bounds + later.bounds,
            self.rates + later.rates,
            self.charges + later.charges,
            _padded(self.counts, n_classes) + later.counts,
            _padded(self.sums, n_classes) + later.sums,
            _padded(self.known, n_classes) + later.known,
        )


def _padded(array: Vector, n_classes: int) -> Vector:
    missing = n_classes - len(array)
    return np.pad(array, ((0, missing),) + ((0, 0),) * (array.ndim - 1)) if missing else array


@dataclass(slots=True, eq=False)
class Course:
    """What happened while a classifier went over a stream; give a new one to `evaluate`.

    It takes a few megabytes, however long the stream is: the shortest window is 16 rows long, and whenever there are
    512 of them, they are joined in pairs.

    Parameters
    ----------
    columns : sequence of str
        Names of the stream's columns.

    Attributes
    ----------
    classes : list
        The labels, in the order in which they came.
    stretches : list of Stretch
        Windows of the same length; the last may be shorter.
    has_columns : bool
        Whether means of columns are kept; False where there are too many.
    bins : ndarray of shape (3, 50)
        Of bounds between 0 and 1: steps with such a bound, their expected mistakes, and the sum of their bounds.

    Examples
    --------
    >>> from driftline import AMRC
    >>> from driftline.evaluation import Course, evaluate
    >>> from driftline.streams import ArrayStream, MovingClass
    >>> stream = ArrayStream(*MovingClass().sample(600, seed=0))
    >>> course = Course(stream.columns)
    >>> run = evaluate(AMRC(features="linear"), stream, course=course, progress=False)
    >>> sum(stretch.n_rows for stretch in course.stretches), sorted(course.classes)
    (600, [0, 1])
    """

    columns: Sequence[str]
    classes: list[Any] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)
    has_columns: bool = True
    bins: Matrix = field(default_factory=lambda: np.zeros((3, N_BINS)))
    n_rows: int = 0
    length: int = SHORTEST_WINDOW
    origin: Vector | None = None
    """What columns are counted from, so that squares of large numbers do not cancel: their first values."""
    squares: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    """Sum of squares of each column in each class, over all rows."""
    largest: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    """Largest size of each."""

    def add(self, block: Block, predictions: Predictions) -> None:
        """Take in some rows and what was said of them.

        Parameters
        ----------
        block : Block
            Rows with labels.
        predictions : Predictions
            What the classifier said of them.
        """
        places, rates, expected = (
            self._places(block.labels),
            counted_bounds(predictions),
            1.0 - predictions.label_probabilities,
        )
        self._fill_bins(expected, rates)
        wrong = differ(predictions.predicted, block.labels)
        figures = np.array([wrong, expected, np.minimum(predictions.bounds, 1.0), rates, predictions.total_charges])
        values = self._values(block.rows, places)
        done = 0
        while done < len(places):
            part = slice(done, done + self.length - self.n_rows % self.length)
            taken = self._stretch(figures[:, part], places[part], values[part], block.times[part])
            self._append(taken)
            done += taken.n_rows

    def _places(self, labels: LabelArray) -> Labels:
        """Return the positions of labels among the classes, to which new ones are added."""
        position = {label: place for place, label in enumerate(self.classes)}
        places = np.array([position.setdefault(label, len(position)) for label in labels.tolist()])
        self.classes = list(position)
        self.has_columns = self.has_columns and len(position) * len(self.columns) <= MOST_CELLS
        return places

    def _values(self, rows: Matrix, places: Labels) -> Matrix:
        """Return the values of the columns that are kept, counted from their origin, and add up their squares."""
        if not self.has_columns:
            return np.zeros((len(rows), 0))
        origin = np.full(rows.shape[1], np.nan) if self.origin is None else self.origin
        first = rows[np.argmax(~np.isnan(rows), axis=0), np.arange(rows.shape[1])]
        self.origin = np.where(np.isnan(origin), first, origin)
        values = rows - self.origin
        c, sizes = len(self.classes), np.abs(np.nan_to_num(values))
        if self.n_rows == 0:
            self.squares, self.largest = np.zeros((c, rows.shape[1])), np.zeros((c, rows.shape[1]))
        self.squares = _padded(self.squares, c) + self._members(places) @ sizes**2
        self.largest = _padded(self.largest, c)
        np.maximum.at(self.largest, places, sizes)
        return values

    def _members(self, places: Labels) -> Matrix:
        return np.equal.outer(np.arange(len(self.classes)), places).astype(np.float64)

    def _stretch(self, figures: Matrix, places: Labels, values: Matrix, times: Vector) -> Stretch:
        members = self._members(places)
        mistakes, expected, bounds, rates, charges = figures.sum(axis=1).tolist()
        return Stretch(
            len(places),
            float(times[-1]),
            mistakes,
            expected,
            bounds,
            rates,
            charges,
            members.sum(axis=1),
            members @ np.nan_to_num(values),
            members @ ~np.isnan(values),
        )

    def _append(self, taken: Stretch) -> None:
        if not self.has_columns and self.stretches and self.stretches[-1].sums.size:
            self.stretches = [_without_columns(stretch) for stretch in self.stretches]
        if self.n_rows % self.length:
            self.stretches[-1] += taken
        else:
            self.stretches.append(taken)
        self.n_rows += taken.n_rows
        if len(self.stretches) == MOST_WINDOWS and self.n_rows % self.length == 0:
            self.stretches = joined(self.stretches, 2)
            self.length *= 2

    def _fill_bins(self, expected: Vector, bounds: Vector) -> None:
        known = ~(np.isnan(expected) | np.isnan(bounds))
        bins = np.clip(bounds[known] * N_BINS, 0, N_BINS - 1).astype(np.int64)
        for row, weights in enumerate((None, expected[known], bounds[known])):
            self.bins[row] += np.bincount(bins, weights, minlength=N_BINS)

    def windows(self, most: int) -> list[Stretch]:
        """Return the course in fewer windows.

        Parameters
        ----------
        most : int
            How many at most.

        Returns
        -------
        list of Stretch
            Windows of the same length; the last may be shorter.
        """
        return joined(self.stretches, -(-len(self.stretches) // most)) if self.stretches else []

    def deviations(self) -> Matrix:
        """Return the standard deviation of each column in each class, over the whole stream.

        Returns
        -------
        ndarray of shape (n_classes, n_columns)
            NaN where there was no value.
        """
        if not self.has_columns:
            return np.full((len(self.classes), len(self.columns)), np.nan)
        total = reduce(add, self.stretches)
        with np.errstate(invalid="ignore", divide="ignore"):
            variances = self.squares / total.known - (total.sums / total.known) ** 2
        return np.sqrt(np.maximum(variances, 0.0))

    def means(self, stretches: Sequence[Stretch]) -> Vector:
        """Return the mean of each column in each class in some stretches, in the units of the columns.

        Parameters
        ----------
        stretches : sequence of Stretch
            Of this course.

        Returns
        -------
        ndarray of shape (n_stretches, n_classes, n_columns)
            NaN where there was no value.
        """
        if not self.has_columns or self.origin is None:
            return np.full((len(stretches), len(self.classes), len(self.columns)), np.nan)
        sums, known = self.column_sums(stretches)
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Vector = self.origin + sums / known
        return means

    def column_sums(self, stretches: Sequence[Stretch]) -> tuple[Vector, Vector]:
        """Return the sums of the columns, counted from their origin, and how many values were there.

        Parameters
        ----------
        stretches : sequence of Stretch
            Of this course.

        Returns
        -------
        sums, known : ndarray of shape (n_stretches, n_classes, n_columns)
            By stretch, class and column.
        """
        c = len(self.classes)
        sums = np.array([_padded(stretch.sums, c) for stretch in stretches])
        known = np.array([_padded(stretch.known, c) for stretch in stretches])
        return sums, known

    def class_counts(self, stretches: Sequence[Stretch]) -> Matrix:
        """Return how many rows of each class some stretches have.

        Parameters
        ----------
        stretches : sequence of Stretch
            Of this course.

        Returns
        -------
        ndarray of shape (n_stretches, n_classes)
            By stretch and class.
        """
        return np.array([_padded(stretch.counts, len(self.classes)) for stretch in stretches])


def joined(stretches: Sequence[Stretch], n: int) -> list[Stretch]:
    """Return stretches joined, n at a time; the last may be of fewer."""
    return [reduce(add, stretches[i : i + n]) for i in range(0, len(stretches), n)]


def _without_columns(stretch: Stretch) -> Stretch:
    return replace(stretch, sums=stretch.sums[:, :0], known=stretch.known[:, :0])
