"""Predictions that need no instances: what any method should beat."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags

from driftline._jit import kernel
from driftline.baselines.base import Baseline, Keeping
from driftline.baselines.columns import RawColumns
from driftline.types import Indices, Labels, Matrix


class Floor(Baseline):
    """A rule that looks at labels only: all but the parameters and the rule."""

    def _preparation(self, parameters: Mapping[str, Any], n_columns: int) -> RawColumns:
        return RawColumns(n_columns)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that not much is to be expected."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class NoChange(Floor):
    """The rule that predicts the last label; before there is one, the first class known.

    Examples
    --------
    >>> from driftline.baselines import NoChange
    >>> NoChange().prequential([[0], [0], [0], [0]], ["b", "b", "a", "a"], classes=["a", "b"]).predictions
    array(['a', 'b', 'b', 'a'], dtype='<U1')
    """

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "LastLabel":
        return LastLabel()


class Majority(Floor):
    """The rule that predicts the most frequent label so far, the earliest class on ties and before there is one.

    Examples
    --------
    >>> from driftline.baselines import Majority
    >>> Majority().prequential([[0], [0], [0], [0]], ["b", "b", "a", "a"], classes=["a", "b"]).predictions
    array(['a', 'b', 'b', 'b'], dtype='<U1')
    """

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "CountedLabels":
        return CountedLabels(window=0)


class WindowedMajority(Floor):
    """The rule that predicts the most frequent of the last labels, the earliest class on ties and before there is one.

    Parameters
    ----------
    window : int, default=200
        How many of them.

    Examples
    --------
    >>> from driftline.baselines import WindowedMajority
    >>> X, y = [[0]] * 6, [0, 0, 0, 1, 1, 1]
    >>> WindowedMajority(window=3).prequential(X, y).predictions.tolist()
    [None, 0, 0, 0, 0, 1]
    """

    def __init__(self, *, window: int = 200) -> None:
        self.window = window

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "CountedLabels":
        return CountedLabels(parameters["window"])


class LastLabel(Keeping):
    """The method: see `NoChange`."""

    _kept: ClassVar[tuple[str, ...]] = ("last",)

    def __init__(self) -> None:
        self._last: Labels = np.zeros(1, np.int64)

    def add_class(self) -> None:
        """Need no room."""

    def predict(self, Z: Matrix) -> Labels:
        """Return the last label for each row."""
        return np.repeat(self._last, len(Z))

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each label by the one before it."""
        known = np.concatenate([self._last, labels])
        self._last = known[-1:].copy()
        return known[:-1]


class CountedLabels(Keeping):
    """The method: see `Majority` and `WindowedMajority`.

    Parameters
    ----------
    window : int
        How many of the last labels count; 0 for all.
    """

    _kept: ClassVar[tuple[str, ...]] = ("counts", "recent", "n_rows")

    def __init__(self, window: int) -> None:
        self._counts: Indices = np.zeros(0, np.int64)
        self._recent: Labels = np.zeros(window, np.int64)
        """The last labels: that of row n has place n modulo the window."""
        self._n_rows: Indices = np.zeros(1, np.int64)

    def add_class(self) -> None:
        """Make room for one more class, with no label yet."""
        self._counts = np.append(self._counts, 0)

    def predict(self, Z: Matrix) -> Labels:
        """Return the most frequent label for each row."""
        return np.full(len(Z), np.argmax(self._counts))

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each label by those before it."""
        return advance(labels, self._counts, self._recent, self._n_rows)


@kernel
def advance(labels: Labels, counts: Indices, recent: Labels, n_rows: Indices) -> Labels:
    """Predict the most frequent label, then count the true one, in the place of the oldest if there is a window."""
    predictions = np.empty(labels.size, np.int64)
    for t in range(labels.size):
        predictions[t] = np.argmax(counts)
        counts[labels[t]] += 1
        if recent.size:
            place = n_rows[0] % recent.size
            if n_rows[0] >= recent.size:
                counts[recent[place]] -= 1
            recent[place] = labels[t]
        n_rows[0] += 1
    return predictions
