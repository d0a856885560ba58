"""One interface for the classifiers that can be evaluated: our own, and any with scikit-learn's `partial_fit`."""

import inspect
import time
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.exceptions import NotFittedError

from driftline.errors import ConfigError, DataError
from driftline.types import Block, LabelArray, Matrix, Predictions, Vector


@runtime_checkable
class PrequentialClassifier(Protocol):
    """A classifier that takes a block of rows, and predicts each row before it learns its label."""

    def prequential(self, X: Matrix, y: LabelArray, classes: Any = None, timestamps: Any = None) -> Predictions:
        """Predict, then learn, row by row."""

    def assess(self, X: Matrix, y: LabelArray, classes: Any = None, asked: int = 0) -> Predictions:
        """Predict each row without learning; `asked` is the number of rows predicted since the last one learned."""

    def partial_fit(self, X: Matrix, y: LabelArray, classes: Any = None, timestamps: Any = None) -> Any:
        """Learn from the rows in order."""


@runtime_checkable
class ObservingClassifier(Protocol):
    """A classifier that must be told which rows were predicted, if their labels arrive later."""

    def observe(self, X: Matrix, classes: Any = None, ids: Any = None, timestamps: Any = None) -> Any:
        """Register rows whose labels arrive later; `classes` are the expected classes, if nothing was learned yet."""

    def partial_fit(
        self, X: Matrix, y: LabelArray, classes: Any = None, timestamps: Any = None, ids: Any = None
    ) -> Any:
        """Learn from the rows in order; `ids` are those that were given to `observe`."""


class ModelAdapter(Protocol):
    """The methods of a classifier that the evaluation calls. Times are in the unit of the classifier."""

    @property
    def classes(self) -> LabelArray:
        """The classes that the classifier knows now, in the order of the columns of probabilities."""

    def prequential(self, block: Block) -> Predictions:
        """Predict, then learn, row by row."""

    def assess(self, block: Block, asked: int) -> Predictions:
        """Predict each row without learning; `asked` is the number of rows predicted since the last one learned."""

    def observe(self, block: Block) -> None:
        """Register rows that were predicted and whose labels arrive later."""

    def learn(self, block: Block) -> None:
        """Learn from the rows in order."""


class PrequentialAdapter:
    """Adapter for a classifier that has `prequential` and `assess`, such as AMRC.

    Parameters
    ----------
    model : PrequentialClassifier
        The classifier.
    classes : ndarray or None
        The classes to announce; None to announce none.
    """

    def __init__(self, model: PrequentialClassifier, classes: LabelArray | None) -> None:
        self._model = model
        self._classes = classes

    @property
    def classes(self) -> LabelArray:
        """The classes that the classifier knows now, in the order of the columns of probabilities."""
        return np.asarray(getattr(self._model, "classes_", [] if self._classes is None else self._classes))

    def prequential(self, block: Block) -> Predictions:
        """Predict, then learn, row by row."""
        return self._model.prequential(
            block.rows, block.labels, classes=self._classes, timestamps=_if_known(block.times)
        )

    def assess(self, block: Block, asked: int) -> Predictions:
        """Predict each row without learning."""
        return self._model.assess(block.rows, block.labels, classes=self._classes, asked=asked)

    def observe(self, block: Block) -> None:
        """Register rows that were predicted and whose labels arrive later."""
        if isinstance(self._model, ObservingClassifier):
            times = _if_known(block.times)
            self._model.observe(block.rows, classes=self._classes, ids=block.ids, timestamps=times)

    def learn(self, block: Block) -> None:
        """Learn from the rows in order."""
        options = {"ids": block.ids} if isinstance(self._model, ObservingClassifier) else {}
        times = _if_known(block.times)
        self._model.partial_fit(block.rows, block.labels, classes=self._classes, timestamps=times, **options)


def _if_known(times: Vector) -> Vector | None:
    return None if np.isnan(times).all() else times


class PartialFitAdapter:
    """Adapter for a classifier with scikit-learn's `partial_fit`, which predicts and learns one row at a time.

    Parameters
    ----------
    model : estimator
        The classifier.
    classes : ndarray
        All classes that will occur; scikit-learn requires them at the first call.
    """

    def __init__(self, model: Any, classes: LabelArray) -> None:
        self._model = model
        self._classes = classes
        # A classifier that was fitted already would refuse other classes.
        announces = "classes" in inspect.signature(model.partial_fit).parameters and not hasattr(model, "classes_")
        self._announced = {"classes": classes} if announces else {}
        self._is_probabilistic = hasattr(model, "predict_proba")
        self._has_learned = hasattr(model, "classes_")

    @property
    def classes(self) -> LabelArray:
        """The classes that the classifier knows now, in the order of the columns of probabilities."""
        return np.asarray(getattr(self._model, "classes_", self._classes))

    def prequential(self, block: Block) -> Predictions:
        """Predict, then learn, row by row."""
        parts = []
        for t in range(len(block.rows)):
            row = block.part(slice(t, t + 1))
            try:
                predictions = self.assess(row, 0)
                start = time.perf_counter()
                self.learn(row)
            except (ValueError, TypeError) as error:
                raise DataError(f"row {t}: {_explanation(error, row)}") from error
            predictions.learn_seconds[0] = time.perf_counter() - start
            parts.append(predictions)
        return Predictions.concatenate(parts)

    def assess(self, block: Block, asked: int) -> Predictions:
        """Predict each row without learning."""
        start = time.perf_counter()
        n = len(block.rows)
        try:
            predicted = np.asarray(self._model.predict(block.rows))
            probabilities = self._probabilities(block.rows) if self._is_probabilistic else None
        except Exception as error:
            # A classifier that has learned nothing yet may raise anything.
            if self._has_learned and not isinstance(error, NotFittedError):
                raise
            predicted, probabilities = np.full(n, None), np.zeros((n, 0)) if self._is_probabilistic else None
        if predicted.size != n:
            raise DataError(f"predict returned an array of shape {predicted.shape} for {n} rows; expected ({n},)")
        predicted = predicted.reshape(n)
        took = np.full(n, (time.perf_counter() - start) / n)
        of_labels = None if probabilities is None else self._of_labels(probabilities, block.labels)
        return Predictions.without_bounds(predicted, block.labels, took, np.zeros(n), of_labels, probabilities)

    def observe(self, block: Block) -> None:
        """No-op: these classifiers ignore pending rows."""

    def _probabilities(self, rows: Matrix) -> Matrix:
        """Return the probability of each class; 0 instead of NaN."""
        probabilities: Matrix = np.nan_to_num(np.asarray(self._model.predict_proba(rows), np.float64), nan=0.0)
        return probabilities

    def _of_labels(self, probabilities: Matrix, labels: LabelArray) -> Vector:
        """Return the probability of the true label; 0 for a class that the model does not know."""
        positions = {label: j for j, label in enumerate(self.classes.tolist()[: probabilities.shape[1]])}
        columns = [positions.get(label) for label in labels.tolist()]
        return np.array([0.0 if j is None else probabilities[t, j] for t, j in enumerate(columns)])

    def learn(self, block: Block) -> None:
        """Learn from the rows in order, one at a time, because some estimators shuffle the rows of a call."""
        for t in range(len(block.rows)):
            self._model.partial_fit(block.rows[t : t + 1], block.labels[t : t + 1], **self._announced)
            self._has_learned = True


def _explanation(error: Exception, row: Block) -> str:
    if np.isnan(row.rows).any():
        return (
            f"it has missing values, and the classifier cannot use them ({str(error).splitlines()[0]}); fill them first"
        )
    return str(error)


def needs_classes(model: Any) -> bool:
    """Return whether all classes must be announced to a classifier at the start, as scikit-learn requires."""
    return not isinstance(model, PrequentialClassifier) or bool(getattr(model, "needs_classes", False))


def adapt_model(model: Any, classes: LabelArray | None) -> ModelAdapter:
    """Return the adapter for a model.

    Parameters
    ----------
    model : estimator
        The classifier.
    classes : ndarray or None
        The classes to announce; None only for classifiers that do not need it.

    Returns
    -------
    ModelAdapter
        What the evaluation calls.
    """
    if isinstance(model, PrequentialClassifier):
        return PrequentialAdapter(model, classes)
    if classes is None:
        raise ConfigError(f"{type(model).__name__} needs to know its classes; pass classes=[…]")
    return PartialFitAdapter(model, classes)
