"""Base class of all estimators: the scikit-learn interface to a learner."""

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from operator import is_
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from driftline.core.class_list import ClassList
from driftline.core.features import is_feature_map
from driftline.core.protocols import Learner
from driftline.core.saved_classifier import SavedClassifier
from driftline.core.state import independent_copy
from driftline.errors import ConfigError, DataError
from driftline.types import Block, LabelArray, Labels, Matrix, Predictions, Vector
from driftline.utils.interrupts import defer_interrupt
from driftline.utils.validation import check_columns, filled, read_ids, read_labels, read_rows, read_times, read_weights

T = TypeVar("T")
MAX_BATCH_ROWS = 256
"""Largest number of rows passed to a learner in one call."""
DOES_NOTHING = nullcontext()


class OnlineClassifier(ClassifierMixin, SavedClassifier):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that learns from a stream; subclasses define the parameters and the learner.

    Any number of threads may predict, and read bounds and other attributes, while one thread learns: each call uses the
    model as it was before or after a batch of rows, never in between. Threads that learn wait for one another.
    """

    _max_batch_rows = MAX_BATCH_ROWS
    _may_change: tuple[str, ...] = ()
    """Parameters that may change between calls, because the learner does not depend on them."""

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
        self._fit_rows(X, y, timestamps)
        return self

    def _fit_rows(self, X: Any, y: Any, timestamps: Any, sample_weight: Any = None) -> None:
        with self._lock:
            before = self.__dict__.copy()
            block = _weighted(self._read(X, y, timestamps, fresh=True), sample_weight)
            if not len(block.rows):
                raise DataError("sample_weight is zero for all rows; give at least one row a positive weight")
            try:
                self._start(X, block.rows, np.unique(block.labels))
                self._learn_block(block)
            except BaseException:  # from a feature map that rejects a row, or KeyboardInterrupt
                self.__dict__ = before
                self._access.is_stale = True
                raise

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
        self._learn_rows(X, y, classes, timestamps)
        return self

    def _learn_rows(
        self, X: Any, y: Any, classes: Any, timestamps: Any, ids: Any = None, sample_weight: Any = None
    ) -> None:
        """Check rows, then learn them in order; a learner that does not match late labels ignores the ids."""
        with self._lock, self._first_call_rolled_back_on_error():
            self._learn_block(self._check_and_start(X, y, classes, timestamps, ids, sample_weight))

    def _first_call_rolled_back_on_error(self) -> AbstractContextManager[None]:
        """Roll back a failed first call: if no row was learned, make the estimator unfitted again."""
        return DOES_NOTHING if "_learner" in self.__dict__ else self._first_call_rolled_back()

    @contextmanager
    def _first_call_rolled_back(self) -> Iterator[None]:
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            if not (hasattr(self, "_learner") and self._learner.n_steps):
                self.__dict__ = before
            raise

    def _check_and_start(
        self, X: Any, y: Any, classes: Any, timestamps: Any, ids: Any = None, sample_weight: Any = None
    ) -> Block:
        """Return a checked block of rows, and build the learner if it is the first block; learns nothing."""
        fresh = not hasattr(self, "_learner")
        block = self._read(X, y, timestamps, fresh=fresh)
        if ids is not None:
            block = replace(block, ids=read_ids(ids, len(block.rows)))
        block = _weighted(block, sample_weight)
        expected = block.labels[:0] if classes is None else np.unique(read_labels(classes, name="classes"))
        if fresh:
            ClassList(expected).check(block.labels)
            self._start(X, block.rows, expected)
        else:
            self._check_expected(expected)
        return block

    def _check_expected(self, expected: LabelArray) -> None:
        """Raise DataError if classes are announced that were not announced at the first call."""
        if expected.size and not np.isin(expected, self._classes.labels).all():
            raise DataError(
                f"classes {expected.tolist()} must be among those of the first call, {self._classes.labels.tolist()}; "
                "omit `classes`: new classes are added when their first row is learned"
            )

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
        with self._lock, self._first_call_rolled_back_on_error():
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
        if self._is_unchanged:
            return
        built_with = self._parameters
        given = self._checked_parameters()
        changed = [
            name
            for name, value in built_with.items()
            if given[name] is not value != given[name] and name not in self._may_change
        ]
        if changed:
            raise ConfigError(f"{', '.join(changed)} changed since the first call; call fit to start again")

    @property
    def _is_unchanged(self) -> bool:
        """Whether all parameters are the objects that the learner was built with, which is quick to check."""
        built_with = self._parameters
        return all(map(is_, map(self.__dict__.get, built_with), built_with.values()))

    def _start(self, X: Any, rows: Matrix, expected: LabelArray) -> None:
        parameters = self._checked_parameters()
        seed = int(check_random_state(parameters.get("random_state", 0)).randint(2**31 - 1))
        self._plan_version = type(self)._plan_version  # a loaded model may have had an older one
        learner = self._assemble(parameters, rows, seed)
        check_columns(self, X, reset=True)
        if expected.size:
            learner.add_classes(expected.size)
        self._parameters, self._seed, self._learner = parameters, seed, learner
        self._n_first_columns = rows.shape[1]
        self._classes = ClassList(expected)
        self._last_time: float | None = None
        self.__dict__.pop("notes_", None)  # they describe the model that is now replaced
        self._replace_learner(learner)

    def _learn_block(self, block: Block) -> None:
        """Learn a block of rows in batches; the lock must be held."""
        if not len(block.labels):  # all rows had weight 0
            return
        elapsed, labels, batch_rows = self._elapsed(block.times), block.labels.tolist(), self._batch_rows
        start = 0
        while start < len(labels):
            with defer_interrupt():  # so that all parts of the model learn these rows, or none
                rows = slice(start, start + batch_rows)
                start += self._learn_next(block, labels, elapsed, rows, self._learn_batch)[0]

    def _advance(self, block: Block, batch_rows: int | None = None) -> Iterator[Predictions]:
        """Return an iterator that learns batches of rows and yields their predictions, with labels as positions."""
        parameters, n_before = self._parameters, self._learner.n_steps  # `fit` replaces the parameters too
        elapsed, labels = self._elapsed(block.times), block.labels.tolist()
        batch_rows = batch_rows or self._batch_rows

        def advance() -> Iterator[Predictions]:
            start = 0
            while start < len(labels):
                with self._lock, defer_interrupt():
                    if self._parameters is not parameters or self._learner.n_steps != n_before + start:
                        raise DataError(
                            "the model has learned from other rows since these steps began; call steps again"
                        )
                    if self.n_features_in_ != block.rows.shape[1]:
                        raise DataError("columns were added to the model since these steps began; call steps again")
                    rows = slice(start, start + batch_rows)
                    n_learned, predictions = self._learn_next(block, labels, elapsed, rows, self._predict_then_learn)
                start += n_learned
                yield predictions

        return advance()

    @property
    def _batch_rows(self) -> int:
        """Number of rows in a batch: a custom feature map may reject a row, before which all others are learned."""
        return 1 if is_feature_map(self._parameters.get("features")) else self._max_batch_rows

    def _elapsed(self, times: Vector) -> Vector:
        """Return the time between the previous row and each row of a block; 1 if it is not known."""
        if self._last_time is None and math.isnan(times[0]):
            return filled(len(times), 1.0)
        last_time = np.nan if self._last_time is None else self._last_time
        elapsed: Vector = times - np.concatenate([[last_time], times[:-1]])
        elapsed[np.isnan(elapsed)] = 1.0
        return elapsed

    def _learn_next(
        self, block: Block, labels: list[Any], elapsed: Vector, rows: slice, learn: Callable[..., T]
    ) -> tuple[int, T]:
        """Learn some rows of a block, up to the first new class, or that one alone.

        Return their number and what `learn` returned. If adding a new class fails, the model stays as it was.
        """
        positions = self._leading_positions(labels[rows])
        n_learned, n_classes = len(positions), self._learner.n_classes
        if n_learned < len(labels):
            part = slice(rows.start, rows.start + n_learned)
            block, elapsed, labels = block.part(part), elapsed[part], labels[part]
        learner = independent_copy(self._learner) if positions[0] == n_classes else self._learner
        learned = learn(learner, block, positions, elapsed)
        time = block.times[-1].item()
        if learner is self._learner and math.isnan(time):
            self._mark_changed()
        else:
            classes = self._classes.with_label(labels[-1])
            self._replace_learner(learner, _classes=classes, _last_time=None if math.isnan(time) else time)
        return n_learned, learned

    def _predict_then_learn(self, learner: Any, block: Block, positions: Labels, elapsed: Vector) -> Predictions:
        """Let a learner predict and learn a batch of rows."""
        predictions: Predictions = learner.predict_then_learn(block.rows, positions, elapsed)
        return predictions

    def _learn_batch(self, learner: Any, block: Block, positions: Labels, elapsed: Vector) -> None:
        """Let a learner learn a batch of rows."""
        self._predict_then_learn(learner, block, positions, elapsed)

    def _leading_positions(self, labels: list[Any]) -> Labels:
        """Return the positions of the labels before the first new class; if that comes first, its position alone."""
        positions, n_classes = [self._classes.position(label) for label in labels], self._learner.n_classes
        n_leading = max(positions.index(n_classes), 1) if n_classes in positions else len(positions)
        return np.array(positions[:n_leading])

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
        model = self._current
        labels: LabelArray = model._classes.labels[model._learner.predict_indices(model._read_columns(X))]
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
        model = self._current
        rows = model._read_columns(X)
        labels = read_labels(y, len(rows))
        model._classes.check(labels)
        positions = np.array([model._classes.position(label) for label in labels.tolist()])
        scored = self._drawn(model._learner.score_batch(rows, positions), model, asked)
        return replace(scored, predicted=model._labels_at(scored.predicted), labels=labels)

    def _with_labels(self, predictions: Predictions) -> Predictions:
        """Return predictions of rows that were just learned, with positions converted to labels."""
        drawn = self._drawn(predictions, self, None)
        return replace(drawn, predicted=self._labels_at(drawn.predicted), labels=self._labels_at(drawn.labels))

    def _drawn(self, predictions: Predictions, model: Self, asked: int | None) -> Predictions:
        """Return the predictions of a model, with labels drawn from the probabilities if the rule is randomised.

        `asked` is the number of rows assessed before these; None if these rows were learned.
        """
        return predictions

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

    def _read_columns(self, X: Any) -> Matrix:
        """Return X as a matrix; raise DataError if it does not have the columns of the model."""
        rows = read_rows(X)
        check_columns(self, X)
        return rows

    @property
    def _current(self) -> Self:
        """The model for readers, which does not change while it is used; raises NotFittedError.

        It is a copy, or the model itself if this is the only thread, or has the model for itself, so that nobody can
        learn meanwhile.
        """
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # raises, unless another thread has learned the first row in this moment
        if self._access.holder == threading.get_ident():
            return self
        if self._access.is_stale:
            if threading.active_count() == 1:
                return self
            self._wait_for_copy()
        copy: Self = self._access.copy
        return copy

    @property
    def _fitted(self) -> Learner:
        """The learner of the published copy of the model, for all that only reads."""
        return self._current._learner

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a class to predict; scikit-learn calls this."""
        return hasattr(self, "_learner") and self._learner.n_classes > 0

    @property
    def last_time_(self) -> float | None:
        """The time of the last row learned; None without timestamps."""
        return self._last_time

    @property
    def classes_(self) -> LabelArray:
        """The classes in the order of the columns of probabilities: first the expected ones, sorted, then new ones."""
        return self._current._classes.labels.copy()

    @property
    def n_steps_(self) -> int:
        """Number of labelled instances learned from."""
        return self._fitted.n_steps

    @property
    def n_missing_(self) -> int:
        """Number of missing values in the rows learned from."""
        return self._fitted.n_missing

    def __sklearn_tags__(self) -> Tags:
        """Return the tags for scikit-learn, which say that missing values are allowed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _weighted(block: Block, sample_weight: Any) -> Block:
    """Return a block with the weights of its rows, without the rows of weight 0."""
    weights = read_weights(sample_weight, len(block.rows))
    if weights is None:
        return block
    return replace(block, weights=weights).part(weights > 0.0)
