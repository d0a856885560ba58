"""Baselines that ignore the features and predict from past labels only."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import Tags

from driftline._jit import kernel
from driftline.baselines.base import Baseline
from driftline.core.columns import RawColumns
from driftline.core.schema import Schema, whole_numbers
from driftline.core.state import ArrayState
from driftline.types import Indices, Labels, Matrix


class LabelOnlyBaseline(Baseline):
    """Base class of the classifiers that ignore the features."""

    def _column_preparer(self, parameters: Mapping[str, Any], n_columns: int) -> RawColumns:
        return RawColumns(n_columns)

    def __sklearn_tags__(self) -> Tags:
        """Return tags that tell scikit-learn to expect a poor score."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class NoChange(LabelOnlyBaseline):
    """Predict the previous label; before the first label, the first announced class.

    Examples
    --------
    >>> from driftline.baselines import NoChange
    >>> NoChange().prequential([[0], [0], [0], [0]], ["b", "b", "a", "a"], classes=["a", "b"]).predicted
    array(['a', 'b', 'b', 'a'], dtype='<U1')
    """

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "NoChangeMethod":
        return NoChangeMethod()


class Majority(LabelOnlyBaseline):
    """Predict the most frequent label so far; on ties and before the first label, the first known class.

    Examples
    --------
    >>> from driftline.baselines import Majority
    >>> Majority().prequential([[0], [0], [0], [0]], ["b", "b", "a", "a"], classes=["a", "b"]).predicted
    array(['a', 'b', 'b', 'b'], dtype='<U1')
    """

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "MajorityMethod":
        return MajorityMethod(window=0)


class WindowedMajority(LabelOnlyBaseline):
    """Predict the most frequent of the last labels; on ties and before the first label, the first known class.

    Parameters
    ----------
    window : int, default=200
        Number of last labels that are counted.

    Examples
    --------
    >>> from driftline.baselines import WindowedMajority
    >>> X, y = [[0]] * 6, [0, 0, 0, 1, 1, 1]
    >>> WindowedMajority(window=3).prequential(X, y).predicted.tolist()
    [None, 0, 0, 0, 0, 1]
    """

    def __init__(self, *, window: int = 200) -> None:
        self.window = window

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "MajorityMethod":
        return MajorityMethod(parameters["window"])


class NoChangeMethod(ArrayState):
    """The method of `NoChange` on class positions."""

    def __init__(self) -> None:
        self._last: Labels = np.zeros(1, np.int64)
        self._n_classes = 0

    def schema(self) -> Schema:
        """Return what the array must be in a file."""
        return {"last": whole_numbers((1,), max(self._n_classes - 1, 0))}

    def add_classes(self, n: int) -> None:
        """Add n classes."""
        self._n_classes += n

    def predict(self, Z: Matrix) -> Labels:
        """Return the last label for each row."""
        return np.repeat(self._last, len(Z))

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Return the label before each row, and store the last one."""
        known = np.concatenate([self._last, labels])
        self._last = known[-1:].copy()
        return known[:-1]


class MajorityMethod(ArrayState):
    """The method of `Majority` and `WindowedMajority` on class positions.

    Parameters
    ----------
    window : int
        Number of last labels that are counted; 0 for all.
    """

    def __init__(self, window: int) -> None:
        self._counts: Indices = np.zeros(0, np.int64)
        self._recent: Labels = np.zeros(window, np.int64)
        """The last labels; the label of row n is at position n modulo the window."""
        self._n_rows: Indices = np.zeros(1, np.int64)

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        n_classes = len(self._counts)
        return {
            "counts": whole_numbers((n_classes,)),
            "recent": whole_numbers(self._recent.shape, max(n_classes - 1, 0)),
            "n_rows": whole_numbers((1,)),
        }

    def add_classes(self, n: int) -> None:
        """Add n classes with count 0."""
        self._counts = np.pad(self._counts, (0, n))

    def predict(self, Z: Matrix) -> Labels:
        """Return the most frequent label for each row."""
        return np.full(len(Z), np.argmax(self._counts))

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each label from those before it, and count it."""
        return advance(labels, self._counts, self._recent, self._n_rows)


@kernel
def advance(labels: Labels, counts: Indices, recent: Labels, n_rows: Indices) -> Labels:
    """Predict the most frequent label, then count the true one; with a window, uncount the label that leaves it."""
    predictions = np.empty(labels.size, np.int64)
    for t in range(labels.size):
        predictions[t] = np.argmax(counts)
        counts[labels[t]] += 1
        if recent.size:
            oldest = n_rows[0] % recent.size
            if n_rows[0] >= recent.size:
                counts[recent[oldest]] -= 1
            recent[oldest] = labels[t]
        n_rows[0] += 1
    return predictions
