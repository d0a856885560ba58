"""AMRC for features by name and labels of any type."""

import warnings
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from driftline.adapters.river.feature_rows import FeatureRows
from driftline.ensemble import AMRC
from driftline.ensemble.pending_rows import MAX_PENDING_ROWS
from driftline.errors import DataError
from driftline.types import Matrix
from driftline.utils.interrupts import defer_interrupt

Features = dict[Any, Any]
NO_WEIGHTS: Mapping[str, float] = {}

UNEXPECTED_LABEL = (
    "a label arrived for a row that is not pending: it counts as a label that arrives at once, and if it is late, the "
    "bounds become too small. With late_labels=True, predict each row once, then learn it with the same values; a "
    "transformer that learns in between changes them (AMRC needs no scaler)"
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
        self._early: deque[Features] = deque(maxlen=MAX_PENDING_ROWS)
        """Rows predicted before any class was known; they are pending as soon as the columns are known."""
        self._has_warned = False
        self._is_weighted = False

    # Learning -----------------------------------------------------------------------------------------

    def learn_one(self, x: Features, y: Any, weight: float = 1.0) -> None:
        """Learn the label of a row; once a row had another weight than 1, weights count."""
        position = self._position(y)
        self._is_weighted |= weight != 1.0
        weights = {"sample_weight": weight} if self._is_weighted else {}
        row = self._row(x, adds_columns=True)
        if position is None:
            self._learn(row, [y], weights)
        else:
            self._learn_known(row, position, weights)

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

    def _learn(self, rows: Matrix, labels: list[Any], weights: Mapping[str, float] = NO_WEIGHTS) -> None:
        """Learn rows that may have new labels."""
        known = list(dict.fromkeys([*self.labels, *labels]))
        positions = {label: j for j, label in enumerate(known)}
        try:
            self._learn_known(rows, np.array([positions[label] for label in labels]), weights)
        finally:  # after an interrupt, or an error of a feature map, some of the rows may have been learned
            if hasattr(self.model, "classes_"):
                self.labels = known[: len(self.model.classes_)]
                self._positions = {label: np.array([j]) for j, label in enumerate(self.labels)}
            else:  # not even the first row was learned
                self.model = clone(self.model)

    def _learn_known(self, rows: Matrix, positions: Any, weights: Mapping[str, float] = NO_WEIGHTS) -> None:
        """Learn rows by the positions of their labels."""
        if self._early:
            self._observe_early()
        n_pending, n_before = self._counts()
        try:
            self.model.partial_fit(rows, positions, **weights)
        except DataError:
            self.rows.check(rows)  # raises an error with the name of the feature
            raise
        self._early.clear()
        n_found = n_before - self._counts()[1]
        if n_pending and n_found < len(rows) and not self._has_warned:
            self._has_warned = True
            warnings.warn(UNEXPECTED_LABEL, stacklevel=4)

    # Prediction ---------------------------------------------------------------------------------------

    def call_for_row(self, method: str, x: Features) -> Any:
        """Return the result of a prediction method for a row; None if no class is known."""
        if not self.labels:
            return self._keep_early([x])
        return self._call(method, self._row(x, adds_columns=self._late_labels))[0]

    def call_for_table(self, method: str, X: Any) -> Any:
        """Return the results of a prediction method for a table; None if it has no rows, or no class is known."""
        if not self.labels or not len(_table(X)):
            return self._keep_early(_table(X).to_dict("records") if self._late_labels else [])
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
        return self.model.n_waiting_ if self.labels else len(self._early)

    @property
    def n_expired(self) -> int:
        """Number of pending rows that were given up."""
        return self.model.n_expired_ if self.labels else 0

    def _keep_early(self, rows: Iterable[Features]) -> None:
        """Keep rows that are predicted before any class is known."""
        if self._late_labels and not self.labels:
            self._early.extend(dict(x) for x in rows if hasattr(x, "keys"))

    def _observe_early(self) -> None:
        """Let the model observe the early rows; those with values that cannot be used are left out."""
        rows = []
        for x in self._early:
            try:
                row = self.rows.of(x)
                self.rows.check(row)
            except DataError:
                continue
            rows.append(row)
        if rows:
            self.model.observe(np.concatenate(rows))

    def _counts(self) -> tuple[int, int]:
        """Return the number of pending rows, and of pending rows and those given up; 0 without late labels."""
        if not self._late_labels or not hasattr(self.model, "n_waiting_"):
            return 0, 0
        return self.model.n_waiting_, self.model.n_waiting_ + self.model.n_expired_

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
        with defer_interrupt():
            n_new = rows.n_columns - self.rows.n_columns
            if self.labels and n_new:
                self.model.add_columns(n_new)
            self.rows = rows
        return numbers


def _table(X: Any) -> Any:
    if not hasattr(X, "columns") or not hasattr(X, "index"):
        raise DataError(f"X is of the type {type(X).__name__}; expected a pandas DataFrame")
    return X
