"""Base class of all estimators: the scikit-learn interface to a learner."""

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from driftline.core.checkpoint import read_checkpoint, write_checkpoint
from driftline.core.class_list import ClassList
from driftline.core.features import is_feature_map
from driftline.core.protocols import Learner
from driftline.errors import CheckpointError, ConfigError, DataError
from driftline.types import Block, LabelArray, Labels, Matrix, Predictions, State
from driftline.utils.interrupts import defer_interrupt
from driftline.utils.validation import check_columns, checked_notes, read_labels, read_rows, read_times

MAX_BATCH_ROWS = 256
"""Largest number of rows passed to a learner in one call."""
UNNAMED_ESTIMATOR = "PaperAMRC"
"""Class of the model in the first model files, which do not contain its name."""


class OnlineClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that learns from a stream; subclasses define the parameters and the learner."""

    n_features_in_: int
    feature_names_in_: LabelArray
    _learner: Learner
    _also_reads: "tuple[type[OnlineClassifier], ...]" = ()
    """Other classes whose files `load` reads."""
    _max_batch_rows = MAX_BATCH_ROWS
    _may_change: tuple[str, ...] = ()
    """Parameters that may change between calls, because the learner does not depend on them."""

    @abstractmethod
    def _checked_parameters(self) -> dict[str, Any]:
        """Return the parameters as plain Python values; raise ConfigError if one is invalid."""

    @abstractmethod
    def _assemble(self, parameters: Mapping[str, Any], rows: Matrix, seed: int) -> Learner:
        """Return a new learner, without classes, for a stream whose first block is `rows`."""

    def _widen(self, n: int) -> None:
        """Add n columns to the learner."""
        raise ConfigError(f"{type(self).__name__} cannot add columns to those of the first call")

    # Learning -----------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, timestamps: Any = None) -> Self:
        """Forget everything, then learn from the rows of X in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances in stream order; NaN, None or masked where a value is missing.
        y : array-like of shape (n_samples,)
            Labels.
        timestamps : array-like of shape (n_samples,), optional
            Times of the instances, which must not decrease: numbers, or dates (converted to seconds). Choose the unit
            so that typical increments are around one. Without timestamps, each step takes one unit. Classifiers that
            do not track time only check them.

        Returns
        -------
        OnlineClassifier
            The fitted estimator itself.
        """
        before = self.__dict__.copy()
        block = self._read(X, y, timestamps, fresh=True)
        try:
            self._start(X, block.rows, np.unique(block.labels))
            for _ in self._advance(block):
                pass
        except BaseException:  # from a feature map that rejects a row, or KeyboardInterrupt
            self.__dict__ = before
            raise
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, timestamps: Any = None) -> Self:
        """Continue to learn, from the rows of X in order.

        Parameters
        ----------
        X, y
            As in `fit`.
        classes : array-like, optional
            At the first call: the expected classes. Other classes are added when their first row is learned.
        timestamps
            As in `fit`.

        Returns
        -------
        OnlineClassifier
            The estimator itself.
        """
        with self._first_call_rolled_back_on_error():
            for _ in self._advance(self._check_and_start(X, y, classes, timestamps)):
                pass
        return self

    @contextmanager
    def _first_call_rolled_back_on_error(self) -> Iterator[None]:
        """Roll back a failed first call: if no row was learned, make the estimator unfitted again."""
        before, is_first = self.__dict__.copy(), not hasattr(self, "_learner")
        try:
            yield
        except BaseException:
            if is_first and not (hasattr(self, "_learner") and self._learner.n_steps):
                self.__dict__ = before
            raise

    def _check_and_start(self, X: Any, y: Any, classes: Any, timestamps: Any) -> Block:
        """Return a checked block of rows, and build the learner if it is the first block; learns nothing."""
        fresh = not hasattr(self, "_learner")
        block = self._read(X, y, timestamps, fresh=fresh)
        expected = block.labels[:0] if classes is None else np.unique(read_labels(classes, name="classes"))
        if fresh:
            ClassList(expected).check(block.labels)
            self._start(X, block.rows, expected)
        elif expected.size and not np.isin(expected, self._classes.labels).all():
            raise DataError(
                f"classes {expected.tolist()} must be among those of the first call, {self._classes.labels.tolist()}; "
                "omit `classes`: new classes are added when their first row is learned"
            )
        return block

    def prequential(self, X: Any, y: Any, classes: Any = None, timestamps: Any = None) -> Predictions:
        """Predict, then learn, row by row.

        Parameters
        ----------
        X, y, classes, timestamps
            As in `partial_fit`.

        Returns
        -------
        Predictions
            The prediction for each row before its label was used.
        """
        with self._first_call_rolled_back_on_error():
            block = self._check_and_start(X, y, classes, timestamps)
            return Predictions.concatenate([self._with_labels(part) for part in self._advance(block)])

    def _read(self, X: Any, y: Any, timestamps: Any, *, fresh: bool) -> Block:
        """Return a checked copy of a block of rows; changes nothing."""
        if fresh:
            self._checked_parameters()
            rows = read_rows(X).copy()
            return Block(rows, read_labels(y, len(rows)), read_times(timestamps, len(rows), None))
        self._check_unchanged()
        rows = read_rows(X).copy()
        labels = read_labels(y, len(rows))
        check_columns(self, X)
        self._classes.check(labels)
        if self._learner.n_steps and (timestamps is None) != (self._last_time is None):
            raise DataError("timestamps must be given either at every call or at none")
        return Block(rows, labels, read_times(timestamps, len(rows), self._last_time))

    def _check_unchanged(self) -> None:
        """Raise ConfigError if parameters differ from those that the learner was built with."""
        built_with = self._parameters
        if all(getattr(self, name) is value for name, value in built_with.items()):  # the usual case, quick to check
            return
        given = self._checked_parameters()
        changed = [
            name
            for name, value in built_with.items()
            if given[name] is not value != given[name] and name not in self._may_change
        ]
        if changed:
            raise ConfigError(f"{', '.join(changed)} changed since the first call; call fit to start again")

    def _start(self, X: Any, rows: Matrix, expected: LabelArray) -> None:
        parameters = self._checked_parameters()
        seed = int(check_random_state(parameters.get("random_state", 0)).randint(2**31 - 1))
        learner = self._assemble(parameters, rows, seed)
        check_columns(self, X, reset=True)
        for _ in expected:
            learner.add_class()
        self._parameters, self._seed, self._learner = parameters, seed, learner
        self._n_first_columns = rows.shape[1]
        self._classes = ClassList(expected)
        self._last_time: float | None = None
        self.__dict__.pop("notes_", None)  # they describe the model that is now replaced

    def _advance(self, block: Block, batch_rows: int | None = None) -> Iterator[Predictions]:
        """Return an iterator that learns batches of rows and yields their predictions, with labels as positions."""
        learner, n_before = self._learner, self._learner.n_steps
        last_time = np.nan if self._last_time is None else self._last_time
        elapsed = np.diff(block.times, prepend=last_time)
        elapsed[np.isnan(elapsed)] = 1.0
        labels = block.labels.tolist()
        # A custom feature map may reject a row: with batches of one row, all rows before it are learned.
        batch_rows = batch_rows or (1 if is_feature_map(self._parameters.get("features")) else self._max_batch_rows)

        def advance() -> Iterator[Predictions]:
            start = 0
            while start < len(labels):
                if self._learner is not learner or learner.n_steps != n_before + start:
                    raise DataError("the model has learned from other rows since these steps began; call steps again")
                if self.n_features_in_ != block.rows.shape[1]:
                    raise DataError("columns were added to the model since these steps began; call steps again")
                positions = self._leading_positions(labels[start : start + batch_rows])
                part = slice(start, start + len(positions))
                with defer_interrupt():  # so that all parts of the model learn these rows, or none
                    predictions = learner.predict_then_learn(block.rows[part], positions, elapsed[part])
                    start = part.stop
                    self._classes.add(labels[start - 1])
                    time = block.times[start - 1]
                    self._last_time = None if np.isnan(time) else float(time)
                yield predictions

        return advance()

    def _leading_positions(self, labels: list[Any]) -> Labels:
        """Return the positions of the labels before the first new class; if that comes first, its position alone."""
        positions = [self._classes.position(label) for label in labels]
        new = next((t for t, position in enumerate(positions) if position == self._learner.n_classes), len(positions))
        return np.array(positions[: max(new, 1)])

    # Prediction: reads, changes nothing ---------------------------------------------------------------

    def predict(self, X: Any) -> LabelArray:
        """Return a label for each row of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        rows = self._read_fitted(X)
        labels: LabelArray = self.classes_[self._learner.predict_indices(rows)]
        return labels

    def assess(self, X: Any, y: Any, classes: Any = None, asked: int = 0) -> Predictions:
        """Return the current predictions for rows whose labels are known; learns nothing.

        Before anything is learned, only the expected classes are known. If there are none, nothing is predicted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, optional
            The expected classes, if nothing was learned yet.
        asked : int, default=0
            Number of rows assessed since the model last learned. A randomised rule then draws the same labels as if all
            of these rows had been in one X.

        Returns
        -------
        Predictions
            The prediction for each row, with its bound if the classifier has one. If labels arrive late, this is the
            bound after the last label learned.
        """
        if not self.__sklearn_is_fitted__():
            if classes is None:
                return self._predictions_without_classes(read_labels(y, len(read_rows(X))))
            announced: Self = clone(self)
            announced._check_and_start(X, y, classes, None)
            return announced.assess(X, y, asked=asked)
        rows = self._read_fitted(X)
        labels = read_labels(y, len(rows))
        self._classes.check(labels)
        positions = np.array([self._classes.position(label) for label in labels.tolist()])
        return replace(self._with_labels(self._learner.score_batch(rows, positions), asked), labels=labels)

    def _with_labels(self, predictions: Predictions, asked: int | None = None) -> Predictions:
        """Return predictions with positions converted to labels.

        `asked` is the number of rows assessed before these; None if these rows were learned.
        """
        labels = self._labels_at(predictions.labels) if asked is None else predictions.labels
        return replace(predictions, predicted=self._labels_at(predictions.predicted), labels=labels)

    def _predictions_without_classes(self, labels: LabelArray) -> Predictions:
        """Return the predictions of a classifier before any class is known."""
        n = len(labels)
        return Predictions.without_bounds(np.full(n, None), labels, np.zeros(n), np.zeros(n))

    def _labels_at(self, positions: Labels) -> LabelArray:
        """Return the labels at some positions; None at position -1, which means that no class was known."""
        labels = self._classes.labels
        if -1 in positions:
            labels = np.array([*labels.tolist(), None], dtype=object)
        found: LabelArray = labels[positions]
        return found

    def _read_fitted(self, X: Any) -> Matrix:
        check_is_fitted(self)
        rows = read_rows(X)
        check_columns(self, X)
        return rows

    @property
    def _fitted(self) -> Learner:
        check_is_fitted(self)
        return self._learner

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a class to predict; scikit-learn calls this."""
        return hasattr(self, "_learner") and self._learner.n_classes > 0

    @property
    def classes_(self) -> LabelArray:
        """The classes in the order of the columns of probabilities: first the expected ones, sorted, then new ones."""
        check_is_fitted(self)
        return self._classes.labels.copy()

    @property
    def n_steps_(self) -> int:
        """Number of labelled instances learned from."""
        return self._fitted.n_steps

    @property
    def n_missing_(self) -> int:
        """Number of missing values in the rows learned from."""
        return self._fitted.n_missing

    # Files --------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], notes: Mapping[str, Any] | None = None) -> None:
        """Write the model to one file, atomically.

        Parameters
        ----------
        path : path-like
            The file. An existing file is replaced only when the new one is complete.
        notes : mapping, optional
            JSON values to save with the model, such as the source of its rows. After `load` they are the attribute
            `notes_`. By default, the existing `notes_` are saved, if there are any.
        """
        check_is_fitted(self)
        content = {
            "estimator": type(self).__name__,
            "parameters": self._plain_parameters(),
            "classes": self._classes.to_json(),
            "columns": [self.n_features_in_, list(getattr(self, "feature_names_in_", []))],
            "columns_begun": self._n_first_columns,
            "seed": self._seed,
            "last_time": self._last_time,
            "notes": checked_notes(getattr(self, "notes_", {}) if notes is None else notes),
        }
        write_checkpoint(path, content, self._learner.state())

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters as JSON values."""
        state = self._parameters.get("random_state")
        if "random_state" not in self._parameters or isinstance(state, int):
            return self._parameters
        # A RandomState has changed since it was used; the seed drawn from it is saved separately.
        return self._parameters | {"random_state": int(state) if isinstance(state, np.integer) else None}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "OnlineClassifier":
        """Read a model that `save` wrote; it continues as if it had never stopped.

        Parameters
        ----------
        path : path-like
            A file written by `save`.

        Returns
        -------
        OnlineClassifier
            The model, an instance of the class that was saved.
        """
        content, arrays = read_checkpoint(path)
        return cls._restored(path, content, arrays, {})

    @classmethod
    def _restored(
        cls, path: str | os.PathLike[str], content: Mapping[str, Any], arrays: State, overrides: Mapping[str, Any]
    ) -> "OnlineClassifier":
        """Return the model of a model file, with some parameters overridden."""
        kind = cls._kind(content.get("estimator", UNNAMED_ESTIMATOR), path)
        model = kind(**content["parameters"] | overrides)
        n_columns, names = content["columns"]
        model.n_features_in_ = model._n_first_columns = content.get("columns_begun", n_columns)
        if names:
            model.feature_names_in_ = np.array(names, dtype=object)
        model._seed = content["seed"]
        model.notes_ = content.get("notes", {})
        model._last_time = content["last_time"]
        model._classes = ClassList.from_json(content["classes"])
        model._parameters = model._checked_parameters()
        model._learner = model._assemble(model._parameters, np.zeros((2, model.n_features_in_)), model._seed)
        for _ in model._classes.labels:
            model._learner.add_class()
        if n_columns > model._n_first_columns:
            model._widen(n_columns - model._n_first_columns)
        try:
            model._learner.restore(arrays)
        except KeyError as error:
            raise CheckpointError(
                f"{path} lacks {error}: it was saved by another version of driftline; fit the model again and save it"
            ) from error
        return model

    @classmethod
    def _kind(cls, name: str, path: str | os.PathLike[str]) -> "type[OnlineClassifier]":
        """Return the class of the saved model: this class, or another class whose files it reads."""
        kinds: dict[str, type[OnlineClassifier]] = {kind.__name__: kind for kind in (*cls._also_reads, cls)}
        if name not in kinds:
            raise CheckpointError(f"{path} contains a model of the class {name}: load it with {name}.load")
        return kinds[name]

    def __sklearn_tags__(self) -> Tags:
        """Return the tags for scikit-learn, which say that missing values are allowed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
