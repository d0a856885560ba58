"""AMRC on features by name and labels of any kind."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from driftline.adapters.river.rows import FeatureRows
from driftline.ensemble import AMRC
from driftline.errors import DataError
from driftline.types import Matrix
from driftline.utils.interrupts import held_back

Features = dict[Any, Any]

STRANGER = (
    "a label came for a row that does not wait for one: it is learned, but does not count for the bounds. With "
    "late_labels=True, predict each row once, then learn it with the same values; a transformer that learns in between "
    "changes them (AMRC needs no scaler)"
)


class NamedAMRC:
    """An AMRC whose columns have names, and are added as they come; its classes are the positions of labels.

    Parameters
    ----------
    model : AMRC
        The estimator, fresh.
    late_labels : bool
        Whether rows that are asked about wait for their labels.
    """

    def __init__(self, model: AMRC, *, late_labels: bool) -> None:
        self.model = model
        self.labels: list[Any] = []
        self.rows = FeatureRows()
        self._late_labels = late_labels
        self._places: dict[Any, Any] = {}
        """For each label its position, as the model wants it."""
        self._n_early = 0
        """How many rows were asked about when no class was known, and cannot wait; -1 after the warning."""

    # Learning -----------------------------------------------------------------------------------------

    def learn_one(self, x: Features, y: Any) -> None:
        """Learn the label of a row."""
        place = self._place(y)
        row = self._row(x, keeps=True)
        if place is None:
            self._learn(row, [y])
        else:
            self._follow(row, place)

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the labels of the rows of a table, in order."""
        labels = list(y)
        if len(labels) != len(_table(X)):
            raise DataError(f"X has {len(X)} rows and y {len(labels)} labels; each row needs one label")
        for label in labels:
            self._place(label)
        if labels:
            self._learn(self._rows_of(X, keeps=True), labels)

    def _place(self, label: Any) -> Any:
        """Return the position of a label; None if it is new. Refuses what cannot be one."""
        try:
            place = self._places.get(label)
        except TypeError as error:
            raise DataError(f"y is {label!r}; expected a label that is hashable, such as text or a number") from error
        if place is None and (label is None or label != label):  # noqa: PLR0124  # NaN does not equal itself
            raise DataError(f"y is {label!r}; expected a label: leave rows without one out")
        return place

    def _learn(self, rows: Matrix, labels: list[Any]) -> None:
        """Learn rows, some of which may be of new classes."""
        known = list(dict.fromkeys([*self.labels, *labels]))
        places = {label: j for j, label in enumerate(known)}
        try:
            self._follow(rows, np.array([places[label] for label in labels]))
        finally:  # an interruption, or a feature map that refuses a row, may leave some of the rows learned
            if hasattr(self.model, "classes_"):
                self.labels = known[: len(self.model.classes_)]
                self._places = {label: np.array([j]) for j, label in enumerate(self.labels)}
            else:  # not even the first: any other may be the first
                self.model = clone(self.model)

    def _follow(self, rows: Matrix, places: Any) -> None:
        waiting = self.n_waiting if self._late_labels else 0
        try:
            self.model.partial_fit(rows, places)
        except DataError:
            self.rows.check(rows)
            raise
        if self._late_labels:
            self._account_for(len(rows), waiting)

    # Prediction ---------------------------------------------------------------------------------------

    def ask_one(self, method: str, x: Features) -> Any:
        """Return what a method of the model says of a row; None as long as no class is known."""
        if not self.labels:
            return self._too_early(1)
        return self._ask(method, self._row(x, keeps=self._late_labels))[0]

    def ask_many(self, method: str, X: Any) -> Any:
        """Return what a method of the model says of the rows of a table; None if there is none, or no class known."""
        if not self.labels or not len(_table(X)):
            return self._too_early(len(_table(X)))
        rows = self._rows_of(X, keeps=self._late_labels)
        if not self._late_labels:
            return self._ask(method, rows)
        return np.concatenate([self._ask(method, row[None]) for row in rows])  # each waits before the next is asked

    def _ask(self, method: str, rows: Matrix) -> Any:
        try:
            said = getattr(self.model, method)(rows)
        except DataError:
            self.rows.check(rows)
            raise
        if self._late_labels:
            self.model.observe(rows)
        return said

    # Labels that come late ----------------------------------------------------------------------------

    @property
    def n_waiting(self) -> int:
        """Number of rows that wait for their labels."""
        return self.model.n_waiting_ if self.labels else 0

    def _too_early(self, n_rows: int) -> None:
        """Count rows that cannot wait, because no class is known."""
        if self._late_labels and not self.labels and self._n_early >= 0:
            self._n_early += n_rows

    def _account_for(self, n_rows: int, waiting: int) -> None:
        """Warn, once, if rows were learned that should have waited and did not."""
        n_strangers = n_rows - (waiting - self.n_waiting)
        if self._n_early < 0:
            return
        if waiting and n_strangers > self._n_early:
            self._n_early = -1
            warnings.warn(STRANGER, stacklevel=5)
        else:
            self._n_early = max(self._n_early - n_strangers, 0)

    # Columns ------------------------------------------------------------------------------------------

    def _row(self, x: Features, *, keeps: bool) -> Matrix:
        """Return a row of numbers; of features that are new too, if it is one to keep."""
        if not hasattr(x, "keys"):
            raise DataError(f"x is {x!r}; expected a dictionary of numbers by name of feature")
        if not keeps or (self.labels and x.keys() <= self.rows.places.keys()):
            return self.rows.of(x)
        rows = self._with_columns(x)
        return self._kept(rows, rows.of(x))

    def _rows_of(self, X: Any, *, keeps: bool) -> Matrix:
        """Return the rows of a table; with columns that are new too, if they are to keep."""
        rows = self._with_columns(X.columns) if keeps else self.rows
        return self._kept(rows, rows.of_table(X))

    def _with_columns(self, names: Any) -> FeatureRows:
        """Return rows with a column for each of some features; those of the first row if nothing was learned."""
        return (self.rows if self.labels else FeatureRows()).with_names(names)

    def _kept(self, rows: FeatureRows, numbers: Matrix) -> Matrix:
        """Return numbers, after the model was given the columns that they need."""
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
