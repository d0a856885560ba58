"""The base class of classifiers from libraries that learn one row at a time, each in its own format."""

import inspect
import math
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from driftline.core.online_classifier import OnlineClassifier
from driftline.core.schema import Schema
from driftline.errors import CheckpointError, ConfigError, DataError, DriftlineError
from driftline.types import LabelArray, Labels, Matrix, Predictions, State, Vector


class ForeignModel(Protocol):
    """A model of another library that takes one row at a time and the positions of classes."""

    name: str
    """Name of the model in messages."""
    classes: list[Any]
    """The labels; a label's position in the list is the position of its class."""

    @property
    def trained(self) -> Any:
        """The library's own object."""

    def check_can_add_class(self) -> None:
        """Raise a DataError if the model cannot learn one more class."""

    def to_instance(self, row: list[float]) -> Any:
        """Convert a row, with NaN for missing values, to the library's format."""

    def predict(self, instance: Any) -> tuple[int, list[float] | None]:
        """Return the predicted class position (-1 for none) and the probabilities of all classes, None if unknown."""

    def learn(self, instance: Any, label: int) -> None:
        """Learn the label of an instance."""


class RowLearner:
    """A learner that passes rows to a foreign model one at a time.

    Parameters
    ----------
    model : ForeignModel
        The model.
    """

    def __init__(self, model: ForeignModel) -> None:
        self.model = model
        self.new_label: Any = None
        """The label of the class that `add_classes` adds."""
        self.predicts_first = True
        """Whether it predicts rows before it learns them; `partial_fit` switches that off to save time."""
        self.n_steps = 0
        self.n_missing = 0

    @property
    def n_classes(self) -> int:
        """Number of classes known."""
        return len(self.model.classes)

    def snapshot(self) -> "RowLearner":
        """Return the learner itself: a model of another library cannot be copied at every row."""
        return self

    def add_classes(self, n: int) -> None:
        """Make room for n more classes."""
        self.model.check_can_add_class()
        self.model.classes.extend([self.new_label] * n)

    def predict_indices(self, X: Matrix) -> Labels:
        """Return the position of the class predicted for each row."""
        return np.array(self._predict_and_learn(X, None)[0])

    def probabilities(self, X: Matrix) -> Matrix:
        """Return the probability of each class for each row; raise a ConfigError if the model has none."""
        shares = self._predict_and_learn(X, None)[1]
        if None in shares:
            raise ConfigError(f"{self.model.name} has no probabilities; use predict")
        return np.array(shares)

    def score_batch(self, X: Matrix, labels: Labels) -> Predictions:
        """Return the predictions for rows, with their labels beside them; changes nothing."""
        return _in_columns(labels, *self._predict_and_learn(X, None))

    def predict_then_learn(self, X: Matrix, labels: Labels, elapsed: Vector) -> Predictions:  # time does not matter
        """Predict each row, then learn its label; a label beyond the known classes, alone in its call, adds one."""
        return _in_columns(labels, *self._predict_and_learn(X, labels.tolist()))

    def _predict_and_learn(
        self, X: Matrix, labels: list[int] | None
    ) -> tuple[list[int], list[list[float] | None], list[float], list[float]]:
        """Return, for each row, the prediction, the probabilities, and the seconds for predicting and learning."""
        predicted, probabilities, predict_seconds, learn_seconds = [], [], [], []
        missing = np.isnan(X).sum(axis=1).tolist()
        clock, model, known = time.perf_counter, self.model, self.n_classes
        for t, row in enumerate(X.tolist()):
            start = clock()
            try:
                instance = model.to_instance(row)
                position, shares = self._predict(instance) if self.predicts_first or labels is None else (-1, None)
                middle = clock()
                if labels is not None:
                    if labels[t] == self.n_classes:
                        self.add_classes(1)
                    model.learn(instance, labels[t])
                    self.n_steps += 1
                    self.n_missing += missing[t]
            except Exception as error:  # whatever the library raises
                del model.classes[known:]  # a row with a new class is alone in its batch, and was not learned
                if isinstance(error, DriftlineError):
                    raise
                place = f"row {t} of X" if labels is None else f"the row that follows the {self.n_steps} learned"
                remedy = "; it has missing values: fill them first" if missing[t] else ""
                raise DataError(f"{model.name} cannot use {place} ({type(error).__name__}: {error}){remedy}") from error
            predicted.append(position)
            probabilities.append(shares)
            predict_seconds.append(middle - start)
            learn_seconds.append(0.0 if labels is None else clock() - middle)
        return predicted, probabilities, predict_seconds, learn_seconds

    def _predict(self, instance: Any) -> tuple[int, list[float] | None]:
        """Return prediction and probabilities, scaled to sum to 1; equal ones if the model gives no usable ones."""
        n = self.n_classes
        if n == 0:
            return -1, []
        position, shares = self.model.predict(instance)
        if shares is not None:
            total = sum(shares)
            shares = [share / total for share in shares] if 0.0 < total < math.inf else [1.0 / n] * n
        return max(position, 0), shares

    def state(self) -> State:
        """Raise a CheckpointError: only the library knows the arrays of its model."""
        raise CheckpointError(f"{self.model.name} cannot be saved in a driftline file; pickle the classifier instead")

    def schema(self) -> Schema:
        """Return no descriptions: such a model is never saved."""
        return {}

    def restore(self, state: State) -> None:
        """Raise a CheckpointError: such a model is never saved."""
        raise CheckpointError(
            f"{self.model.name} cannot be loaded from a driftline file; unpickle the classifier instead"
        )


def _in_columns(
    labels: Labels,
    predicted: list[int],
    probabilities: list[list[float] | None],
    predict_seconds: list[float],
    learn_seconds: list[float],
) -> Predictions:
    """Return the predictions as arrays; a row for which the model has no probabilities has zeros."""
    pairs = zip(probabilities, labels.tolist(), strict=True)
    of_labels = [math.nan if h is None else h[label] if label < len(h) else 0.0 for h, label in pairs]
    n_classes = max((len(h) for h in probabilities if h is not None), default=0)
    return Predictions.without_bounds(
        np.array(predicted),
        labels,
        np.array(predict_seconds),
        np.array(learn_seconds),
        np.array(of_labels),
        np.array([[0.0] * n_classes if h is None else h for h in probabilities]).reshape(len(labels), n_classes),
    )


class ForeignClassifier(OnlineClassifier):
    """Base class of classifiers from other libraries: everything but the parameters and the model."""

    _learner: RowLearner
    _columns: list[str]
    _max_batch_rows = 1  # the library may refuse a row: those before it are learned then

    def _start(self, X: Any, rows: Matrix, expected: LabelArray) -> None:
        names: Iterable[Any] = getattr(X, "columns", (f"x{j}" for j in range(rows.shape[1])))
        self._columns = [str(name) for name in names]
        super()._start(X, rows, expected)
        self._learner.model.classes[:] = expected.tolist()

    def partial_fit(self, X: Any, y: Any, classes: Any = None, timestamps: Any = None) -> Self:
        """Learn from the rows of X in order, continuing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances in stream order; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like, optional
            At the first call: the classes that will occur.
        timestamps : array-like of shape (n_samples,), optional
            Times of the instances, which never decrease; they have no effect.

        Returns
        -------
        ForeignClassifier
            The estimator itself.
        """
        with self._lock:
            block = self._check_and_start(X, y, classes, timestamps)
            self._learner.predicts_first = False
            try:
                self._learn_block(block)
            finally:
                self._learner.predicts_first = True
        return self

    def _leading_positions(self, labels: list[Any]) -> Labels:
        self._learner.new_label = labels[0]
        return super()._leading_positions(labels)

    @property
    def model_(self) -> Any:
        """The library's own object, fitted."""
        check_is_fitted(self)
        return self._learner.model.trained

    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each class for each row of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, columns in the order of `classes_`.
        """
        model = self._current
        return model._learner.probabilities(model._read_columns(X))

    def _predictions_without_classes(self, labels: LabelArray) -> Predictions:
        return replace(super()._predictions_without_classes(labels), label_probabilities=np.zeros(len(labels)))


def column_positions(columns: list[str], wanted: Iterable[Any]) -> list[int]:
    """Return the positions of columns that are given by name or by position."""
    found = []
    for column in wanted:
        if isinstance(column, str) and column in columns:
            found.append(columns.index(column))
        elif isinstance(column, int | np.integer) and 0 <= column < len(columns):
            found.append(int(column))
        else:
            known = ", ".join(columns[:20]) + (", …" if len(columns) > 20 else "")
            raise ConfigError(
                f"nominal contains {column!r}; expected names of columns ({known}) or their positions, "
                f"from 0 to {len(columns) - 1}"
            )
    return found


def copy_signature(
    make: Callable[..., Any],
    model: Callable[..., Any],
    *,
    seed: str = "random_state",
    without: Collection[str] = (),
    extra: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Set the signature and docstring of a function to those of the class that it makes instances of.

    Parameters
    ----------
    make : callable
        The function, which takes the parameters by name.
    model : callable
        A class of another library.
    seed : str
        The library's name for the seed, which becomes `random_state`.
    without : collection of str
        Parameters to leave out.
    extra : callable, optional
        A second source of parameters: those with a default are added.

    Returns
    -------
    callable
        The same function.
    """
    listed = {
        "random_state" if name == seed else name: parameter
        for source in (model, extra)
        if source is not None
        for name, parameter in inspect.signature(source).parameters.items()
        if name not in without and parameter.default is not inspect.Parameter.empty
    }
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, kind, default=parameter.default) for name, parameter in listed.items()]
    make.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # inspect looks for it
    make.__doc__ = inspect.getdoc(model)
    return make
