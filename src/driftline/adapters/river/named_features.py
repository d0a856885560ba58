"""AMRC for features by name and labels of any type."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from driftline.adapters.river.feature_rows import FeatureRows
from driftline.ensemble import AMRC
from driftline.errors import DataError
from driftline.types import Matrix
from driftline.utils.interrupts import held_back

Features = dict[Any, Any]

UNEXPECTED_LABEL = (
    "a label arrived for a row that is not pending: the row is learned, but does not count for the bounds. With "
    "late_labels=True, predict each row once, then learn it with the same values; a transformer that learns in between "
    "changes them (AMRC needs no scaler)"
)


class NamedAMRC:
    """An AMRC estimator with named columns, which are added when they first occur, and labels of any type.

    The estimator itself sees rows of numbers, and the positions of the labels in `labels`.

    Parameters
    ----------
    model : AMRC
        The estimator, not fitted.
    late_labels : bool
        Whether predicted rows are pending until their labels arrive.
    """

    def __init__(self, model: AMRC, *, late_labels: bool) -> None:
        self.model = model
        self.labels: list[Any] = []
        self.rows = FeatureRows()
        self._late_labels = late_labels
        self._positions: dict[Any, Any] = {}
        """Position of each label, as an array of length 1 for `partial_fit`."""
        self._n_early = 0
        """Number of rows predicted before any class was known, which cannot be pending; -1 after the warning."""

    # Learning -----------------------------------------------------------------------------------------

    def learn_one(self, x: Features, y: Any) -> None:
        """Learn the label of a row."""
        position = self._position(y)
        row = self._row(x, adds_columns=True)
        if position is None:
            self._learn(row, [y])
        else:
            self._learn_known(row, position)

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the labels of the rows of a table, in order."""
        labels = list(y)
        if len(labels) != len(_table(X)):
            raise DataError(f"X has {len(X)} rows and y {len(labels)} labels; each row needs one label")
        for label in labels:
            self._position(label)
        if labels:
            self._learn(self._rows_of(X, adds_columns=True), labels)

    def _position(self, label: Any) -> Any:
        """Return the position of a label, None if it is new; raise a DataError if it cannot be a label."""
        try:
            position = self._positions.get(label)
        except TypeError as error:
            raise DataError(f"y is {label!r}; expected a label that is hashable, such as text or a number") from error
        if position is None and (label is None or label != label):  # noqa: PLR0124  # NaN does not equal itself
            raise DataError(f"y is {label!r}; expected a label: leave out rows without one")
        return position

    def _learn(self, rows: Matrix, labels: list[Any]) -> None:
        """Learn rows that may have new labels."""
        known = list(dict.fromkeys([*self.labels, *labels]))
        positions = {label: j for j, label in enumerate(known)}
        try:
            self._learn_known(rows, np.array([positions[label] for label in labels]))
        finally:  # after an interrupt, or an error of a feature map, some of the rows may have been learned
            if hasattr(self.model, "classes_"):
                self.labels = known[: len(self.model.classes_)]
                self._positions = {label: np.array([j]) for j, label in enumerate(self.labels)}
            else:  # not even the first row was learned
                self.model = clone(self.model)

    def _learn_known(self, rows: Matrix, positions: Any) -> None:
        """Learn rows by the positions of their labels."""
        n_pending = self.n_waiting if self._late_labels else 0
        try:
            self.model.partial_fit(rows, positions)
        except DataError:
            self.rows.check(rows)  # raises an error with the name of the feature
            raise
        if self._late_labels:
            self._warn_of_unexpected_labels(len(rows), n_pending)

    # Prediction ---------------------------------------------------------------------------------------

    def call_for_row(self, method: str, x: Features) -> Any:
        """Return the result of a prediction method for a row; None if no class is known."""
        if not self.labels:
            return self._count_early(1)
        return self._call(method, self._row(x, adds_columns=self._late_labels))[0]

    def call_for_table(self, method: str, X: Any) -> Any:
        """Return the results of a prediction method for a table; None if it has no rows, or no class is known."""
        if not self.labels or not len(_table(X)):
            return self._count_early(len(_table(X)))
        rows = self._rows_of(X, adds_columns=self._late_labels)
        if not self._late_labels:
            return self._call(method, rows)
        return np.concatenate([self._call(method, row[None]) for row in rows])  # each is pending before the next

    def _call(self, method: str, rows: Matrix) -> Any:
        try:
            result = getattr(self.model, method)(rows)
        except DataError:
            self.rows.check(rows)  # raises an error with the name of the feature
            raise
        if self._late_labels:
            self.model.observe(rows)
        return result

    # Late labels --------------------------------------------------------------------------------------

    @property
    def n_waiting(self) -> int:
        """Number of pending rows."""
        return self.model.n_waiting_ if self.labels else 0

    def _count_early(self, n_rows: int) -> None:
        """Count rows that cannot be pending, because no class is known."""
        if self._late_labels and not self.labels and self._n_early >= 0:
            self._n_early += n_rows

    def _warn_of_unexpected_labels(self, n_rows: int, n_pending: int) -> None:
        """Warn, once, if rows were learned that should have been pending and were not; `n_pending` were before."""
        n_unexpected = n_rows - (n_pending - self.n_waiting)
        if self._n_early < 0:
            return
        if n_pending and n_unexpected > self._n_early:
            self._n_early = -1
            warnings.warn(UNEXPECTED_LABEL, stacklevel=5)
        else:
            self._n_early = max(self._n_early - n_unexpected, 0)

    # Columns ------------------------------------------------------------------------------------------

    def _row(self, x: Features, *, adds_columns: bool) -> Matrix:
        """Return a row of numbers; `adds_columns` adds columns for new features to the model."""
        if not hasattr(x, "keys"):
            raise DataError(f"x is {x!r}; expected a dictionary of numbers by name of feature")
        if not adds_columns or (self.labels and x.keys() <= self.rows.positions.keys()):
            return self.rows.of(x)
        rows = self._with_columns(x)
        return self._add_columns(rows, rows.of(x))

    def _rows_of(self, X: Any, *, adds_columns: bool) -> Matrix:
        """Return the rows of a table; `adds_columns` adds columns for new features to the model."""
        rows = self._with_columns(X.columns) if adds_columns else self.rows
        return self._add_columns(rows, rows.of_table(X))

    def _with_columns(self, names: Any) -> FeatureRows:
        """Return a converter with columns for some features too, and only for these if nothing was learned."""
        return (self.rows if self.labels else FeatureRows()).with_names(names)

    def _add_columns(self, rows: FeatureRows, numbers: Matrix) -> Matrix:
        """Add the new columns of a converter to the model, store the converter, and return its numbers."""
        if rows is self.rows:
            return numbers
        rows.check(numbers)
        with held_back():
            n_new = rows.n_columns - self.rows.n_columns
            if self.labels and n_new:
                self.model.add_columns(n_new)
            self.rows = rows
        return numbers


def _table(X: Any) -> Any:
    if not hasattr(X, "columns") or not hasattr(X, "index"):
        raise DataError(f"X is of the type {type(X).__name__}; expected a pandas DataFrame")
    return X
