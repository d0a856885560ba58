"""Functions with which the checks copy, fit and compare the classifier under test."""

import inspect
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from driftline.evaluation.model_adapters import PrequentialClassifier
from driftline.types import LabelArray, Matrix

MAX_PROBABILITY_DIFFERENCE = 1e-6
"""Largest accepted difference of equal probabilities: rounding may depend on the batch size."""

CHECKED_ROW_COUNTS = (1, 2, 3, 5, 8, 13, 21, 34)
"""Numbers of learned rows after which a model is checked: more often at the beginning, when little is known."""


def unfitted_copy(estimator: Any) -> Any:
    """Return an unfitted copy, with the seed 0 for each `random_state` that is None."""
    model = clone(estimator)
    unseeded = [
        name
        for name, value in model.get_params().items()
        if name.rpartition("__")[2] == "random_state" and value is None
    ]
    return model.set_params(**dict.fromkeys(unseeded, 0))


def learn(model: Any, X: Matrix, y: LabelArray, classes: Any = None) -> Any:
    """Call `partial_fit`, with the classes if it has that parameter; return the model."""
    takes_classes = "classes" in inspect.signature(model.partial_fit).parameters
    model.partial_fit(X, y, **({"classes": classes} if takes_classes and classes is not None else {}))
    return model


def fitted_copy(estimator: Any, X: Matrix, y: LabelArray) -> Any:
    """Return a copy that has learned some rows, with their classes announced."""
    return learn(unfitted_copy(estimator), X, y, np.unique(y))


def learn_one_by_one(model: Any, X: Matrix, y: LabelArray, classes: Any = None) -> Iterator[int]:
    """Call `partial_fit` for each row; yield the number of learned rows at `CHECKED_ROW_COUNTS` and at the end."""
    for t in range(1, len(X) + 1):
        learn(model, X[t - 1 : t], y[t - 1 : t], classes)
        if t in CHECKED_ROW_COUNTS or t == len(X):
            yield t


def accepts_new_classes(estimator: Any) -> bool:
    """Return whether classes need not be announced: a classifier promises that by the methods that `evaluate` uses."""
    return isinstance(estimator, PrequentialClassifier)


def is_multi_class(estimator: Any) -> bool:
    """Return whether there may be more than two classes."""
    return bool(get_tags(estimator).classifier_tags.multi_class)


class LabelsAndProbabilities(NamedTuple):
    """The results of `predict` and `predict_proba`."""

    labels: LabelArray
    probabilities: Matrix | None
    """None if the model has no `predict_proba`."""


def predict_rows(model: Any, X: Matrix) -> LabelsAndProbabilities:
    """Return the predicted labels and probabilities of some rows."""
    probabilities = model.predict_proba(X) if hasattr(model, "predict_proba") else None
    return LabelsAndProbabilities(np.asarray(model.predict(X)), probabilities)


def assert_same_predictions(got: LabelsAndProbabilities, expected: LabelsAndProbabilities, situation: str) -> None:
    """Raise an AssertionError unless the predictions for all rows are the same."""
    if got.labels.tolist() != expected.labels.tolist():
        pairs = zip(got.labels.tolist(), expected.labels.tolist(), strict=True)
        row, (actual, wanted) = next((t, pair) for t, pair in enumerate(pairs) if pair[0] != pair[1])
        raise AssertionError(f"{situation}: expected the same predictions; for row {row}, {wanted!r} became {actual!r}")
    if got.probabilities is None or expected.probabilities is None:
        return
    if got.probabilities.shape != expected.probabilities.shape:
        shapes = f"{expected.probabilities.shape} became {got.probabilities.shape}"
        raise AssertionError(f"{situation}: expected the same probabilities; their shape {shapes}")
    if not np.allclose(
        got.probabilities, expected.probabilities, rtol=0, atol=MAX_PROBABILITY_DIFFERENCE, equal_nan=True
    ):
        worst = np.nanmax(np.abs(got.probabilities - expected.probabilities))
        raise AssertionError(f"{situation}: expected the same probabilities; they differ by up to {worst:g}")


def assert_valid_predictions(model: Any, X: Matrix, classes: LabelArray, situation: str) -> None:
    """Raise an AssertionError unless all predictions are known labels, and all probabilities are valid."""
    predictions = predict_rows(model, X)
    if predictions.labels.shape != (len(X),):
        raise AssertionError(
            f"{situation}: expected a label for each of {len(X)} rows; got shape {predictions.labels.shape}"
        )
    unknown = set(predictions.labels.tolist()) - set(classes.tolist())
    if unknown:
        raise AssertionError(f"{situation}: expected labels in {classes.tolist()}; got {sorted(unknown, key=str)}")
    h = predictions.probabilities
    if h is None:
        return
    if h.shape != (len(X), len(model.classes_)):
        expected = (len(X), len(model.classes_))
        raise AssertionError(f"{situation}: expected probabilities of shape {expected}; got {h.shape}")
    wrong = ~(
        np.isfinite(h).all(axis=1) & (h >= 0).all(axis=1) & (np.abs(h.sum(axis=1) - 1) <= MAX_PROBABILITY_DIFFERENCE)
    )
    if wrong.any():
        row = np.flatnonzero(wrong)[0]
        raise AssertionError(
            f"{situation}: expected probabilities of 0 or more that sum to 1; for row {row} got {h[row].tolist()}"
        )


class Snapshot:
    """A record of a model's pickled state and its predictions, to find out later whether it has changed.

    Parameters
    ----------
    model : estimator
        The model.
    X : ndarray
        The rows to predict.
    """

    def __init__(self, model: Any, X: Matrix) -> None:
        self._model, self._X = model, X.copy()
        self._predictions, self._state = predict_rows(model, X), pickle.dumps(model)

    def assert_unchanged(self, situation: str) -> None:
        """Raise an AssertionError if the model has changed."""
        changed = pickle.dumps(self._model) != self._state
        assert_same_predictions(predict_rows(self._model, self._X), self._predictions, situation)
        if changed:
            raise AssertionError(f"{situation}: expected the state to stay the same; the pickled model has changed")


@contextmanager
def expect_value_error(situation: str) -> Iterator[None]:
    """Raise an AssertionError unless the block raises a ValueError."""
    try:
        yield
    except ValueError:
        return
    except Exception as error:
        raise AssertionError(f"{situation}: expected a ValueError; got {type(error).__name__} ({error})") from error
    raise AssertionError(f"{situation}: expected a ValueError; nothing was raised")
