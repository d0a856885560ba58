"""Figures of consecutive rows of an evaluation, as sums that can be added."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from driftline.evaluation.class_counts import ClassCounts
from driftline.evaluation.summary import none_if_nan
from driftline.types import Flags, Labels, Matrix, Vector

SUMS = (
    "mistakes",
    "expected_mistakes",
    "bounds",
    "rate_bounds",
    "charges",
    "stated",
    "answered",
    "wrong_answers",
    "set_labels",
    "covered",
    "cost",
    "cost_without",
)
"""Fields of `WindowStats` that are sums over rows, in order."""
CLASS_SUMS = ("class_counts", "column_sums", "column_counts")
"""The fields after them, with one row for each class."""


@dataclass(frozen=True, slots=True, eq=False)
class WindowStats:
    """Sums over consecutive rows; the sum of two neighbouring windows is one longer window.

    Attributes
    ----------
    first, n_rows
        Position of the first row in the stream, and the number of rows.
    end_time
        Time of the last row; NaN if the stream has no times.
    by_class : ClassCounts
        Rows, predictions and probabilities of each class; see `Timeline.measure`.
    mistakes
        Number of wrong predictions.
    expected_mistakes
        Sum of the probabilities with which the randomised rule errs; NaN for a classifier without probabilities.
    bounds, rate_bounds, charges
        Sums of the bounds on the error of single steps, of the bounds that hold on average (those of `Summary`), and
        of what each step adds to the bound on accumulated mistakes; NaN for a classifier without bounds.
    stated, answered, wrong_answers, set_labels, covered
        Rows of which something was said before their label was known; those of them that were answered, at the first
        level of error; wrong ones among the answered; labels in all sets, for the first coverage; sets that contain
        the true label. See `driftline.evaluation.Summary`.
    cost, cost_without
        Cost of the predicted labels, and of those that would have been predicted without costs; NaN without costs.
    class_counts : ndarray of shape (n_classes,)
        Rows of each class. Classes that were first seen in a later window may be missing at the end.
    column_sums, column_counts : ndarray of shape (n_classes, n_columns)
        Sum and number of the known values of each column in each class. The first value of the column is subtracted
        from each value.
    """

    first: int
    n_rows: int
    end_time: float
    by_class: ClassCounts
    mistakes: float
    expected_mistakes: float
    bounds: float
    rate_bounds: float
    charges: float
    stated: float
    answered: float
    wrong_answers: float
    set_labels: float
    covered: float
    cost: float
    cost_without: float
    class_counts: Vector
    column_sums: Matrix
    column_counts: Matrix

    @property
    def error(self) -> float:
        """Share of wrong predictions."""
        return self.mistakes / self.n_rows

    @property
    def expected_error(self) -> float | None:
        """Mean probability that the randomised rule errs; None for a classifier without probabilities."""
        return none_if_nan(self.expected_mistakes / self.n_rows)

    @property
    def bound(self) -> float | None:
        """Mean of the bounds that hold on average; None for a classifier without bounds."""
        return none_if_nan(self.rate_bounds / self.n_rows)

    @property
    def answered_share(self) -> float | None:
        """Share of rows that were answered; None if nothing was said of any row."""
        return self.answered / self.stated if self.stated else None

    @property
    def answered_error(self) -> float | None:
        """Share of wrong answers among the rows answered; None if none was answered."""
        return self.wrong_answers / self.answered if self.answered else None

    @property
    def set_size(self) -> float | None:
        """Mean number of labels in a set; None if nothing was said of any row."""
        return self.set_labels / self.stated if self.stated else None

    @property
    def set_coverage(self) -> float | None:
        """Share of sets that contain the true label; None if nothing was said of any row."""
        return self.covered / self.stated if self.stated else None

    @property
    def mean_costs(self) -> tuple[float, float] | None:
        """Mean cost of a predicted label, and of one predicted without costs; None without costs."""
        return None if np.isnan(self.cost) else (self.cost / self.n_rows, self.cost_without / self.n_rows)

    def __add__(self, later: "WindowStats") -> "WindowStats":
        n_classes = len(later.class_counts)
        return WindowStats(
            self.first,
            self.n_rows + later.n_rows,
            later.end_time,
            self.by_class + later.by_class,
            *(getattr(self, name) + getattr(later, name) for name in SUMS),
            *(padded(getattr(self, name), n_classes) + getattr(later, name) for name in CLASS_SUMS),
        )

    def without_columns(self) -> "WindowStats":
        """Return the window without the sums of its columns."""
        empty = np.zeros((len(self.class_counts), 0))
        return replace(self, column_sums=empty, column_counts=empty)


def padded(counts: Vector, n_classes: int) -> Vector:
    """Return an array with one row for each class, with zeros for the classes that it does not have yet."""
    missing = n_classes - len(counts)
    return np.pad(counts, ((0, missing),) + ((0, 0),) * (counts.ndim - 1)) if missing else counts


def merge_windows(windows: Sequence[WindowStats], n: int) -> list[WindowStats]:
    """Merge each n neighbouring windows into one; the last may be of fewer."""
    return [reduce(add, windows[i : i + n]) for i in range(0, len(windows), n)]


class ColumnTotals:
    """Figures of the columns over all rows.

    Parameters
    ----------
    n_columns : int
        Number of columns.

    Attributes
    ----------
    origin : ndarray of shape (n_columns,)
        The first known value of each column; NaN if there was none. It is subtracted from the values, so that squares
        of large numbers do not cancel.
    squares, largest : ndarray of shape (n_classes, n_columns)
        Sum of the squares, and largest absolute value, of each column in each class.
    """

    def __init__(self, n_columns: int) -> None:
        self.origin: Vector = np.full(n_columns, np.nan)
        self.squares: Matrix = np.zeros((0, n_columns))
        self.largest: Matrix = np.zeros((0, n_columns))

    def set_origin(self, rows: Matrix) -> None:
        """Take the origin of columns that have none yet from their first known values."""
        unknown = np.isnan(self.origin)
        if unknown.any():
            first = rows[np.argmax(~np.isnan(rows), axis=0), np.arange(rows.shape[1])]
            self.origin = np.where(unknown, first, self.origin)

    def add(self, rows: Matrix, places: Labels, members: Matrix) -> tuple[Matrix, Flags]:
        """Add rows; return their values without the origin, with 0 for missing values, and where values are missing.

        `places` are the positions of the classes of the rows, and `members` says the same: it has a row for each
        class, with 1 for its members and 0 for others.
        """
        values = rows - self.origin
        missing = np.isnan(values)
        if missing.any():
            values[missing] = 0.0
        self.squares = padded(self.squares, len(members)) + members @ values**2
        self.largest = padded(self.largest, len(members))
        order = np.argsort(places, kind="stable")
        present, starts = np.unique(places[order], return_index=True)
        largest = np.maximum.reduceat(np.abs(values)[order], starts, axis=0)
        self.largest[present] = np.maximum(self.largest[present], largest)
        return values, missing
