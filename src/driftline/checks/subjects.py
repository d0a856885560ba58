"""The classifier under test: how it is made, taught, asked and compared."""

import inspect
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from driftline.evaluation.model_adapters import PrequentialClassifier
from driftline.types import LabelArray, Matrix

CLOSE = 1e-6
"""By how much probabilities may differ that should be equal: sums may be rounded otherwise in another grouping."""

MOMENTS = (1, 2, 3, 5, 8, 13, 21, 34)
"""After how many rows a model is looked at: often in the beginning, when little is known."""


def fresh(estimator: Any) -> Any:
    """Return an unfitted copy, with a seed wherever it has none."""
    model = clone(estimator)
    unseeded = [
        name
        for name, value in model.get_params().items()
        if name.rpartition("__")[2] == "random_state" and value is None
    ]
    return model.set_params(**dict.fromkeys(unseeded, 0))


def learn(model: Any, X: Matrix, y: LabelArray, classes: Any = None) -> Any:
    """Teach a model some rows; announce the classes if it takes announcements."""
    takes_classes = "classes" in inspect.signature(model.partial_fit).parameters
    model.partial_fit(X, y, **({"classes": classes} if takes_classes and classes is not None else {}))
    return model


def taught(estimator: Any, X: Matrix, y: LabelArray) -> Any:
    """Return an unfitted copy, taught some rows of classes that were announced."""
    return learn(fresh(estimator), X, y, np.unique(y))


def learn_one_by_one(model: Any, X: Matrix, y: LabelArray, classes: Any = None) -> Iterator[int]:
    """Teach a model one row after the other; at some moments, and at the end, yield how many it has had."""
    for t in range(1, len(X) + 1):
        learn(model, X[t - 1 : t], y[t - 1 : t], classes)
        if t in MOMENTS or t == len(X):
            yield t


def takes_any_class(estimator: Any) -> bool:
    """Return whether classes need no announcement: promised by the methods that `evaluate` hands such streams to."""
    return isinstance(estimator, PrequentialClassifier)


def is_multi_class(estimator: Any) -> bool:
    """Return whether there may be more than two classes."""
    return bool(get_tags(estimator).classifier_tags.multi_class)


@dataclass(frozen=True, slots=True, eq=False)
class Replies:
    """What a model says of some rows."""

    labels: LabelArray
    probabilities: Matrix | None


def ask(model: Any, X: Matrix) -> Replies:
    """Return what a model says of some rows."""
    probabilities = model.predict_proba(X) if hasattr(model, "predict_proba") else None
    return Replies(np.asarray(model.predict(X)), probabilities)


def assert_alike(got: Replies, expected: Replies, situation: str) -> None:
    """Fail unless two models say the same of all rows."""
    if got.labels.tolist() != expected.labels.tolist():
        pairs = zip(got.labels.tolist(), expected.labels.tolist(), strict=True)
        row, (came, wanted) = next((t, pair) for t, pair in enumerate(pairs) if pair[0] != pair[1])
        raise AssertionError(f"{situation}: expected the same predictions; of row {row}, {wanted!r} became {came!r}")
    if got.probabilities is None or expected.probabilities is None:
        return
    if got.probabilities.shape != expected.probabilities.shape:
        shapes = f"{expected.probabilities.shape} became {got.probabilities.shape}"
        raise AssertionError(f"{situation}: expected the same probabilities; their shape {shapes}")
    if not np.allclose(got.probabilities, expected.probabilities, rtol=0, atol=CLOSE, equal_nan=True):
        worst = np.nanmax(np.abs(got.probabilities - expected.probabilities))
        raise AssertionError(f"{situation}: expected the same probabilities; they differ by up to {worst:g}")


def assert_valid(model: Any, X: Matrix, classes: LabelArray, situation: str) -> None:
    """Fail unless a model says of all rows what can be: known labels, and probabilities that are some."""
    replies = ask(model, X)
    if replies.labels.shape != (len(X),):
        raise AssertionError(
            f"{situation}: expected a label for each of {len(X)} rows; got shape {replies.labels.shape}"
        )
    strange = set(replies.labels.tolist()) - set(classes.tolist())
    if strange:
        raise AssertionError(f"{situation}: expected labels out of {classes.tolist()}; got {sorted(strange, key=str)}")
    h = replies.probabilities
    if h is None:
        return
    if h.shape != (len(X), len(model.classes_)):
        expected = (len(X), len(model.classes_))
        raise AssertionError(f"{situation}: expected probabilities of shape {expected}; got {h.shape}")
    wrong = ~(np.isfinite(h).all(axis=1) & (h >= 0).all(axis=1) & (np.abs(h.sum(axis=1) - 1) <= CLOSE))
    if wrong.any():
        row = np.flatnonzero(wrong)[0]
        raise AssertionError(
            f"{situation}: expected probabilities from 0 up that sum to 1; of row {row} got {h[row].tolist()}"
        )


class Snapshot:
    """A model as it is now: its pickled state, and what it says of some rows.

    Parameters
    ----------
    model : estimator
        The model.
    X : ndarray
        The rows.
    """

    def __init__(self, model: Any, X: Matrix) -> None:
        self._model, self._X = model, X.copy()
        self._replies, self._state = ask(model, X), pickle.dumps(model)

    def assert_unchanged(self, situation: str) -> None:
        """Fail unless the model is still the same."""
        changed = pickle.dumps(self._model) != self._state
        assert_alike(ask(self._model, self._X), self._replies, situation)
        if changed:
            raise AssertionError(f"{situation}: expected the state to stay as it was; the pickled model is another one")


@contextmanager
def refusing(situation: str) -> Iterator[None]:
    """Fail unless what is done within raises a ValueError."""
    try:
        yield
    except ValueError:
        return
    except Exception as error:
        raise AssertionError(f"{situation}: expected a ValueError; got {type(error).__name__} ({error})") from error
    raise AssertionError(f"{situation}: expected a ValueError; nothing was raised")
