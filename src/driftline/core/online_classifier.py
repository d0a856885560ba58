"""What all classifiers share: scikit-learn's interface around a learner."""

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from driftline.core.checkpoint import read_checkpoint, write_checkpoint
from driftline.core.class_list import ClassList
from driftline.core.features import is_feature_map
from driftline.core.protocols import Learner
from driftline.errors import CheckpointError, ConfigError, DataError
from driftline.types import Answers, Block, LabelArray, Labels, Matrix, Predicted, State
from driftline.utils.interrupts import held_back
from driftline.utils.validation import check_columns, read_labels, read_rows, read_times

AT_ONCE = 256
"""How many rows a learner is given at once, where nobody looks at them one by one."""
FIRST_KIND = "PaperAMRC"
"""What the first files, which do not say so, hold."""

S = TypeVar("S", bound=Predicted)


class OnlineClassifier(ClassifierMixin, BaseEstimator, Generic[S]):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that follows a stream: all but the parameters and the learner."""

    n_features_in_: int
    feature_names_in_: LabelArray
    _learner: Learner[S]
    _also_reads: "tuple[type[OnlineClassifier[Any]], ...]" = ()
    """Other kinds whose files `load` reads."""
    _at_once = AT_ONCE
    _may_change: tuple[str, ...] = ()
    """Parameters that a learner does not depend on."""

    @abstractmethod
    def _checked_parameters(self) -> dict[str, Any]:
        """Return the parameters as plain Python values, or refuse those that cannot work."""

    @abstractmethod
    def _assemble(self, parameters: Mapping[str, Any], rows: Matrix, seed: int) -> Learner[S]:
        """Build a learner, without classes yet, for instances like `rows`, the first block of the stream."""

    def _widen(self, n: int) -> None:
        """Make room for n more columns."""
        raise ConfigError(f"{type(self).__name__} keeps the columns that it began with")

    # Learning -----------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, timestamps: Any = None) -> Self:
        """Forget everything, then learn from the rows of X in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances in stream order; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Labels.
        timestamps : array-like of shape (n_samples,), optional
            Times of the instances that never decrease, as numbers or dates (counted in seconds). Choose the
            unit so that usual increments are around one. Without them each step takes one unit. Classifiers that
            do not track time check them, and no more.

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
        except BaseException:  # of a feature map that refuses a row, or an interruption
            self.__dict__ = before
            raise
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, timestamps: Any = None) -> Self:
        """Learn from the rows of X in order, continuing.

        Parameters
        ----------
        X, y
            As in `fit`.
        classes : array-like, optional
            At the first call: the classes to expect. Others may come; each joins at its first row.
        timestamps
            As in `fit`.

        Returns
        -------
        OnlineClassifier
            The estimator itself.
        """
        with self._begun_if_accepted():
            for _ in self._advance(self._begin(X, y, classes, timestamps)):
                pass
        return self

    @contextmanager
    def _begun_if_accepted(self) -> Iterator[None]:
        """Be as before if this is the first call and all of it is refused, by a feature map of the user's own."""
        before, is_first = self.__dict__.copy(), not hasattr(self, "_learner")
        try:
            yield
        except BaseException:
            if is_first and not (hasattr(self, "_learner") and self._learner.n_steps):
                self.__dict__ = before
            raise

    def _begin(self, X: Any, y: Any, classes: Any, timestamps: Any) -> Block:
        """Check some rows, and start if they are the first; learns nothing."""
        fresh = not hasattr(self, "_learner")
        block = self._read(X, y, timestamps, fresh=fresh)
        expected = block.labels[:0] if classes is None else np.unique(read_labels(classes, name="classes"))
        if fresh:
            ClassList(expected).check(block.labels)
            self._start(X, block.rows, expected)
        elif expected.size and not np.isin(expected, self._classes.labels).all():
            raise DataError(
                f"classes {expected.tolist()} were not all announced at the first call, which knew "
                f"{self._classes.labels.tolist()}; leave `classes` out, and new ones join as they come"
            )
        return block

    def prequential(self, X: Any, y: Any, classes: Any = None, timestamps: Any = None) -> Answers:
        """Predict, then learn, row by row.

        Parameters
        ----------
        X, y, classes, timestamps
            As in `partial_fit`.

        Returns
        -------
        Answers
            What was said of each row before its label was used.
        """
        with self._begun_if_accepted():
            begun = self._begin(X, y, classes, timestamps)
            return Answers.joined([self._answers(said) for said in self._advance(begun)])

    def _read(self, X: Any, y: Any, timestamps: Any, *, fresh: bool) -> Block:
        """Check everything about a block of rows, and copy it; changes nothing."""
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
        """Refuse to go on with other parameters than those that the learner was made from."""
        made = self._parameters
        if all(getattr(self, name) is value for name, value in made.items()):  # as a rule, and checking takes its time
            return
        given = self._checked_parameters()
        changed = [
            name for name in made if given[name] is not made[name] != given[name] and name not in self._may_change
        ]
        if changed:
            raise ConfigError(f"{', '.join(changed)} changed since the first call; call fit to begin anew")

    def _start(self, X: Any, rows: Matrix, expected: LabelArray) -> None:
        parameters = self._checked_parameters()
        seed = int(check_random_state(parameters.get("random_state", 0)).randint(2**31 - 1))
        learner = self._assemble(parameters, rows, seed)
        check_columns(self, X, reset=True)
        for _ in expected:
            learner.add_class()
        self._parameters, self._seed, self._learner = parameters, seed, learner
        self._n_begun = rows.shape[1]
        self._classes = ClassList(expected)
        self._last_time: float | None = None
        self.__dict__.pop("notes_", None)  # they were about what is forgotten now

    def _advance(self, block: Block, at_once: int | None = None) -> Iterator[S]:
        learner, begun = self._learner, self._learner.n_steps
        before = np.nan if self._last_time is None else self._last_time
        elapsed = np.diff(block.times, prepend=before)
        elapsed[np.isnan(elapsed)] = 1.0
        labels = block.labels.tolist()
        # The user's feature map may refuse a row: those before it are learned then, however rows are grouped.
        at_once = at_once or (1 if is_feature_map(self._parameters.get("features")) else self._at_once)

        def advance() -> Iterator[S]:
            start = 0
            while start < len(labels):
                if self._learner is not learner or learner.n_steps != begun + start:
                    raise DataError("the model has learned from other rows since these steps began; begin anew")
                if self.n_features_in_ != block.rows.shape[1]:
                    raise DataError("the model has got more columns since these steps began; begin anew")
                places = self._places(labels[start : start + at_once])
                part = slice(start, start + len(places))
                with held_back():  # else the parts of the model might not have learned the same rows
                    said = learner.advance(block.rows[part], places, elapsed[part])
                    start = part.stop
                    self._classes.add(labels[start - 1])
                    time = block.times[start - 1]
                    self._last_time = None if np.isnan(time) else float(time)
                yield said

        return advance()

    def _places(self, labels: list[Any]) -> Labels:
        """Return the positions of the first labels: those of known classes, or of one that is not known alone."""
        places = [self._classes.position(label) for label in labels]
        new = next((t for t, place in enumerate(places) if place == self._learner.n_classes), len(places))
        return np.array(places[: max(new, 1)])

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
        rows = self._readable(X)
        labels: LabelArray = self.classes_[self._learner.most_likely(rows)]
        return labels

    def assess(self, X: Any, y: Any, classes: Any = None, asked: int = 0) -> Answers:
        """Return what the model says of each row now, beside its label; learns nothing.

        Before it has learned, it knows only the classes announced. If there are none, there is no prediction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, optional
            The classes to expect, if nothing was learned yet.
        asked : int, default=0
            How many rows the model was asked about since it last learned: a randomised rule draws as if they all
            came in one X.

        Returns
        -------
        Answers
            What is said of each row, and its bound if there is one. With labels that come late, that is the bound of
            the time of the last label learned.
        """
        if not self.__sklearn_is_fitted__():
            if classes is None:
                return self._answers_of_nothing_known(len(read_labels(y, len(read_rows(X)))))
            announced: Self = clone(self)
            announced._begin(X, y, classes, None)
            return announced.assess(X, y, asked=asked)
        rows = self._readable(X)
        labels = read_labels(y, len(rows))
        self._classes.check(labels)
        said = self._learner.foresee(rows, np.array([self._classes.position(label) for label in labels.tolist()]))
        return self._answers(said, asked)

    def _answers(self, said: S, asked: int | None = None) -> Answers:
        """Put what was said of rows into the form of answers: of rows just learned, or asked about, the n-th and on."""
        return Answers.without_bounds(self._labels_at(said.predictions), said.predict_seconds, said.learn_seconds)

    def _answers_of_nothing_known(self, n_rows: int) -> Answers:
        return Answers.without_bounds(np.full(n_rows, None), np.zeros(n_rows), np.zeros(n_rows))

    def _labels_at(self, positions: Labels) -> LabelArray:
        """Return the labels at some positions; None where it is -1, of a classifier that knew no class."""
        labels = self._classes.labels
        if -1 in positions:
            labels = np.array([*labels.tolist(), None], dtype=object)
        there: LabelArray = labels[positions]
        return there

    def _readable(self, X: Any) -> Matrix:
        check_is_fitted(self)
        rows = read_rows(X)
        check_columns(self, X)
        return rows

    @property
    def _fitted(self) -> Learner[S]:
        check_is_fitted(self)
        return self._learner

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether there is a class to predict."""
        return hasattr(self, "_learner") and self._learner.n_classes > 0

    @property
    def classes_(self) -> LabelArray:
        """The classes: those announced, sorted, then others as they came; so are the columns of probabilities."""
        check_is_fitted(self)
        return self._classes.labels.copy()

    @property
    def n_steps_(self) -> int:
        """Number of labelled instances learned from."""
        return self._fitted.n_steps

    @property
    def n_missing_(self) -> int:
        """Number of missing values met in the rows learned from."""
        return self._fitted.n_missing

    # Files --------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], notes: Mapping[str, Any] | None = None) -> None:
        """Write the model to one file, atomically.

        Parameters
        ----------
        path : path-like
            Where to. What was there stays until the new file is complete.
        notes : mapping, optional
            What else to keep with the model, as JSON knows it, such as where its rows came from. `load` gives it back
            as the attribute `notes_`; by default that is kept, if there is one.
        """
        check_is_fitted(self)
        content = {
            "estimator": type(self).__name__,
            "parameters": self._plain_parameters(),
            "classes": self._classes.to_json(),
            "columns": [self.n_features_in_, list(getattr(self, "feature_names_in_", []))],
            "columns_begun": self._n_begun,
            "seed": self._seed,
            "last_time": self._last_time,
            "notes": dict(getattr(self, "notes_", {}) if notes is None else notes),
        }
        write_checkpoint(path, content, self._learner.state())

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters as values that JSON knows."""
        state = self._parameters.get("random_state")
        if "random_state" not in self._parameters or isinstance(state, int):
            return self._parameters
        # A generator has moved on since; the seed that it gave is kept.
        return self._parameters | {"random_state": int(state) if isinstance(state, np.integer) else None}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "OnlineClassifier[S]":
        """Read a model that `save` wrote; it continues as if it had never stopped.

        Parameters
        ----------
        path : path-like
            A file written by `save`.

        Returns
        -------
        OnlineClassifier
            The model, of the kind that was saved.
        """
        content, arrays = read_checkpoint(path)
        return cls._revived(path, content, arrays, {})

    @classmethod
    def _revived(
        cls, path: str | os.PathLike[str], content: Mapping[str, Any], arrays: State, instead: Mapping[str, Any]
    ) -> "OnlineClassifier[S]":
        """Return the model of a checkpoint, with some parameters given here."""
        kind = cls._kind(content.get("estimator", FIRST_KIND), path)
        model = kind(**content["parameters"] | instead)
        n_columns, names = content["columns"]
        model.n_features_in_ = model._n_begun = content.get("columns_begun", n_columns)
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
        if n_columns > model._n_begun:
            model._widen(n_columns - model._n_begun)
        try:
            model._learner.restore(arrays)
        except KeyError as error:
            raise CheckpointError(
                f"{path} lacks {error}: it was saved by another driftline; fit anew, and save"
            ) from error
        return model

    @classmethod
    def _kind(cls, name: str, path: str | os.PathLike[str]) -> "type[OnlineClassifier[S]]":
        """Return the estimator that a file was saved by: this one, or one whose files it also reads."""
        kinds: dict[str, type[OnlineClassifier[S]]] = {kind.__name__: kind for kind in (*cls._also_reads, cls)}
        if name not in kinds:
            raise CheckpointError(f"{path} holds a model of the kind {name}: read it with {name}.load")
        return kinds[name]

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that missing values are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
