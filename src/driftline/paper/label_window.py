"""Label probabilities from the most recent labels."""

from collections.abc import Callable

import numpy as np

from driftline.core.schema import Length, Schema, probabilities, whole_numbers
from driftline.types import State, Vector

VARIANCES: dict[str, Callable[["LabelWindow"], Vector]] = {
    "binomial": lambda window: window.probabilities * (1.0 - window.probabilities) / window.n_labels,
    "sample": lambda window: window.history_variance(),
    "printed": lambda window: window.probabilities * (1.0 - window.probabilities),
}


class LabelWindow:
    """Relative frequencies of the classes among the last labels, and the variance of these estimates.

    Parameters
    ----------
    size : int
        W, the number of labels in the window.
    variance : {"binomial", "sample", "printed"}
        Var(p̂): the closed form p(1-p)/n; the sample variance of the last W values of p̂, as in the
        authors' code; or p(1-p), which follows from eq. (lambda) as printed in the paper (the
        uncertainty set then contains 0 wherever p ≤ 1/2, and the rule always guesses).

    Examples
    --------
    >>> window = LabelWindow(4, "binomial")
    >>> window.add_classes(2)
    >>> for label in [0, 0, 1, 1, 1]:
    ...     window.push(label)
    >>> window.probabilities
    array([0.25, 0.75])
    """

    def __init__(self, size: int, variance: str) -> None:
        self._size = size
        self._variance = variance
        self._labels = np.empty(0, dtype=np.int64)
        self._history = np.empty((0, 0))

    @property
    def n_labels(self) -> int:
        """Number of labels in the window."""
        return int(self._labels.size)

    @property
    def probabilities(self) -> Vector:
        """The fraction of each class in the window, p̂."""
        latest: Vector = self._history[-1]
        return latest

    @property
    def variance(self) -> Vector:
        """Var(p̂), by the chosen formula."""
        return VARIANCES[self._variance](self)

    def history_variance(self) -> Vector:
        """Return the unbiased sample variance of the last W values of p̂; 0 if there is only one value."""
        if len(self._history) < 2:
            return np.zeros(self._history.shape[1])
        return np.asarray(self._history.var(axis=0, ddof=1))

    def add_classes(self, n: int) -> None:
        """Add n classes, with frequency 0 so far."""
        self._history = np.pad(self._history, ((0, 0), (0, n)))

    def push(self, label: int) -> None:
        """Add a label, and remove the oldest if the window is full."""
        self._labels = np.append(self._labels, label)[-self._size :]
        frequencies = np.bincount(self._labels, minlength=self._history.shape[1]) / self._labels.size
        self._history = np.vstack([self._history, frequencies])[-self._size :]

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        return {"labels": self._labels, "history": self._history}

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        n, c = Length("labels", self._size), self._history.shape[1]
        return {"labels": whole_numbers((n,), max(c - 1, 0)), "history": probabilities((n, c))}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        self._labels = state["labels"].astype(np.int64)
        self._history = state["history"].astype(np.float64)
