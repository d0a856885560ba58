"""The classifiers that can be examined, behind one interface: ours, and any with scikit-learn's `partial_fit`."""

import inspect
import time
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.exceptions import NotFittedError

from driftline.errors import ConfigError, DataError
from driftline.types import Block, LabelArray, Matrix, Predictions, Vector


@runtime_checkable
class PrequentialClassifier(Protocol):
    """A classifier that examines itself: it can take a block of rows, and predicts each before it learns it."""

    def prequential(self, X: Matrix, y: LabelArray, classes: Any = None, timestamps: Any = None) -> Predictions:
        """Predict, then learn, row by row."""

    def assess(self, X: Matrix, y: LabelArray, classes: Any = None, asked: int = 0) -> Predictions:
        """Return what is said of each row now; learns nothing. `asked` counts the rows since it last learned."""

    def partial_fit(self, X: Matrix, y: LabelArray, classes: Any = None, timestamps: Any = None) -> Any:
        """Learn from the rows in order."""


@runtime_checkable
class ObservingClassifier(Protocol):
    """A classifier that wants to know which rows it is asked about, if their labels come later."""

    def observe(self, X: Matrix, classes: Any = None) -> Any:
        """Take note of rows whose labels will come later; `classes` are those to expect, if it has learned nothing."""


class Examinee(Protocol):
    """What the evaluation asks of a classifier. Times are in the unit that the classifier is to count in."""

    def prequential(self, block: Block) -> Predictions:
        """Predict, then learn, row by row."""

    def assess(self, block: Block, asked: int) -> Predictions:
        """Return what is said of each row now; learns nothing. `asked` counts the rows since it last learned."""

    def observe(self, block: Block) -> None:
        """Take note of rows that were assessed and whose labels will come later."""

    def learn(self, block: Block) -> None:
        """Learn from the rows in order."""


class NativeExaminee:
    """A classifier that examines itself, such as AMRC.

    Parameters
    ----------
    model : PrequentialClassifier
        The classifier.
    classes : ndarray or None
        The classes to announce, if any.
    """

    def __init__(self, model: PrequentialClassifier, classes: LabelArray | None) -> None:
        self._model = model
        self._classes = classes

    def prequential(self, block: Block) -> Predictions:
        """Predict, then learn, row by row."""
        return self._model.prequential(block.rows, block.labels, classes=self._classes, timestamps=_given(block.times))

    def assess(self, block: Block, asked: int) -> Predictions:
        """Return what is said of each row now; learns nothing."""
        return self._model.assess(block.rows, block.labels, classes=self._classes, asked=asked)

    def observe(self, block: Block) -> None:
        """Take note of rows that were assessed and whose labels will come later."""
        is_ready = self._classes is not None or hasattr(self._model, "classes_")
        if is_ready and isinstance(self._model, ObservingClassifier):
            self._model.observe(block.rows, classes=self._classes)

    def learn(self, block: Block) -> None:
        """Learn from the rows in order."""
        self._model.partial_fit(block.rows, block.labels, classes=self._classes, timestamps=_given(block.times))


def _given(times: Vector) -> Vector | None:
    return None if np.isnan(times).all() else times


class PartialFitExaminee:
    """A classifier with scikit-learn's `partial_fit`, asked and taught one row at a time.

    Parameters
    ----------
    model : estimator
        The classifier.
    classes : ndarray
        All classes that will occur, which scikit-learn wants to know at the start.
    """

    def __init__(self, model: Any, classes: LabelArray) -> None:
        self._model = model
        self._classes = classes
        # One that knows its classes already would refuse others.
        announces = "classes" in inspect.signature(model.partial_fit).parameters and not hasattr(model, "classes_")
        self._announced = {"classes": classes} if announces else {}
        self._is_probabilistic = hasattr(model, "predict_proba")
        self._has_learned = hasattr(model, "classes_")

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
                raise DataError(f"row {t}: {_remedied(error, row)}") from error
            predictions.learn_seconds[0] = time.perf_counter() - start
            parts.append(predictions)
        return Predictions.concatenate(parts)

    def assess(self, block: Block, asked: int) -> Predictions:
        """Return what is said of each row now; learns nothing."""
        start = time.perf_counter()
        n = len(block.rows)
        try:
            predicted = np.asarray(self._model.predict(block.rows))
            probabilities = self._probabilities(block) if self._is_probabilistic else np.zeros(n)
        except Exception as error:
            # One that has learned nothing yet says so in whatever way it likes.
            if self._has_learned and not isinstance(error, NotFittedError):
                raise
            predicted, probabilities = np.full(n, None), np.zeros(n)
        if predicted.size != n:
            raise DataError(f"predict returned an array of shape {predicted.shape} for {n} rows; expected ({n},)")
        predicted = predicted.reshape(n)
        took = np.full(n, (time.perf_counter() - start) / n)
        given = probabilities if self._is_probabilistic else None
        return Predictions.without_bounds(predicted, block.labels, took, np.zeros(n), given)

    def observe(self, block: Block) -> None:
        """Take no note."""

    def _probabilities(self, block: Block) -> Vector:
        """Return the probability of the true label; 0 for a class that the model does not know, and for no number."""
        said = self._model.predict_proba(block.rows)
        known = np.asarray(getattr(self._model, "classes_", self._classes)).tolist()
        positions = {label: j for j, label in enumerate(known)}
        columns = [positions.get(label) for label in block.labels.tolist()]
        given = [0.0 if j is None else said[t, j] for t, j in enumerate(columns)]
        probabilities: Vector = np.nan_to_num(np.array(given), nan=0.0)
        return probabilities

    def learn(self, block: Block) -> None:
        """Learn from the rows in order, one at a time: some estimators shuffle what they are given at once."""
        for t in range(len(block.rows)):
            self._model.partial_fit(block.rows[t : t + 1], block.labels[t : t + 1], **self._announced)
            self._has_learned = True


def _remedied(error: Exception, row: Block) -> str:
    if np.isnan(row.rows).any():
        return (
            f"it has missing values, and the classifier cannot use them ({str(error).splitlines()[0]}); fill them first"
        )
    return str(error)


def needs_classes(model: Any) -> bool:
    """Return whether a classifier must be told all classes at the start, as those of scikit-learn must."""
    return not isinstance(model, PrequentialClassifier) or bool(getattr(model, "needs_classes", False))


def examinee(model: Any, classes: LabelArray | None) -> Examinee:
    """Return the model behind the interface of the evaluation.

    Parameters
    ----------
    model : estimator
        The classifier.
    classes : ndarray or None
        The classes to announce; None is only for classifiers that need no announcement.

    Returns
    -------
    Examinee
        What the evaluation asks.
    """
    if isinstance(model, PrequentialClassifier):
        return NativeExaminee(model, classes)
    if classes is None:
        raise ConfigError(f"{type(model).__name__} needs to know its classes; pass classes=[…]")
    return PartialFitExaminee(model, classes)
