"""Widening uncertainty sets so that they are never empty."""

import numpy as np

from driftline.core.schema import ArraySpec, Schema, whole_numbers
from driftline.kernels.simplex import support_value
from driftline.types import LARGEST_VALUE, Rule, Solution, State, Status, UncertaintySet, Vector


class LabelledWindow:
    """The last labelled instances; widens uncertainty sets so that they contain the distribution of these instances.

    With τ' the mean of Φ over the window, λ becomes max(λ, |τ - τ'|). If φ also covers the instances of the window,
    the worst-case error is at least the error on the window, and therefore never negative; if it exceeds 1 - 1/c, the
    rule is replaced by guessing, whose worst-case error is 1 - 1/c.

    Parameters
    ----------
    n_features : int
        Number d of instance features.
    n_instances : int
        Number of instances in the window.

    Examples
    --------
    >>> import numpy as np
    >>> window = LabelledWindow(1, n_instances=2)
    >>> window.add_classes(2)
    >>> window.observe(np.array([1.0]), 0); window.observe(np.array([-1.0]), 1)
    >>> window.widened(UncertaintySet(mean=np.array([[0.5], [0.5]]), width=np.zeros((2, 1)))).width.ravel()
    array([0., 1.])
    """

    def __init__(self, n_features: int, *, n_instances: int) -> None:
        self._rows = np.zeros((n_instances, n_features))
        self._labels = np.zeros(n_instances, np.int64)
        self._seen = 0
        self._n_classes = 0

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""
        self._n_classes += n

    def observe(self, psi: Vector, label: int) -> None:
        """Add a labelled instance."""
        place = self._seen % len(self._labels)
        self._rows[place], self._labels[place] = psi, label
        self._seen += 1

    def widened(self, uncertainty: UncertaintySet) -> UncertaintySet:
        """Return a set with the same means, and widths increased until it contains the distribution of the window."""
        n = min(self._seen, len(self._labels))
        mean = np.zeros_like(uncertainty.mean)
        np.add.at(mean, self._labels[:n], self._rows[:n] / n)
        return UncertaintySet(uncertainty.mean, np.maximum(uncertainty.width, np.abs(uncertainty.mean - mean)))

    def covered(self, solution: Solution, uncertainty: UncertaintySet) -> Solution:
        """Return the rule with φ raised to cover the window, and its risk; or guessing, if that has less risk."""
        n = min(self._seen, len(self._labels))
        weights = solution.rule.weights
        scores = self._rows[:n] @ weights.T
        offset = max([solution.rule.offset, *map(support_value, scores)])
        spread = np.sum(uncertainty.width[weights != 0.0] * np.abs(weights[weights != 0.0]))
        risk = float(1.0 - np.sum(uncertainty.mean * weights) + spread + offset)
        guess = 1.0 - 1.0 / self._n_classes
        if not risk <= guess:  # also if it is NaN
            return Solution(Rule(np.zeros_like(weights), -1.0 / self._n_classes), guess, Status.OK)
        return Solution(Rule(weights, offset), max(risk, 0.0), Status.OK)  # below 0 only by rounding

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        return {"rows": self._rows, "labels": self._labels, "seen": np.array([self._seen])}

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        return {
            "rows": ArraySpec(self._rows.shape, low=-LARGEST_VALUE, high=LARGEST_VALUE),
            "labels": whole_numbers(self._labels.shape, max(self._n_classes - 1, 0)),
            "seen": whole_numbers((1,)),
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        self._rows, self._labels = state["rows"].astype(np.float64), state["labels"].astype(np.int64)
        self._seen = int(state["seen"][0])
