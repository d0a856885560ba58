"""Predictors that only know labels: the last that has arrived, the most frequent one, and the cheapest one."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from driftline.core.costs import Costs
from driftline.types import LabelArray


@dataclass(frozen=True, slots=True, eq=False)
class LabelPredictions:
    """What the predictors predicted for some rows; None before any label had arrived.

    Attributes
    ----------
    last, majority
        The last label and the most frequent label.
    cheapest
        The label that, always predicted, would have cost least; without costs the most frequent label.
    """

    last: list[Any]
    majority: list[Any]
    cheapest: list[Any]


@dataclass(slots=True)
class LabelBaselines:
    """Predicts from labels alone, and counts mistakes; a row predicted before any label has arrived is a mistake.

    Of labels that are equally frequent or equally cheap, the one that has been so for longer is predicted.

    Parameters
    ----------
    costs : Costs or None
        What mistakes cost; by default 1 each.

    Examples
    --------
    >>> import numpy as np
    >>> baselines = LabelBaselines()
    >>> predicted = baselines.predict_then_learn(np.array(["a", "b", "b", "a"]))
    >>> predicted.last, predicted.majority, baselines.last_mistakes, baselines.majority_mistakes
    ([None, 'a', 'b', 'b'], [None, 'a', 'a', 'b'], 3, 4)
    """

    costs: Costs | None = None
    last: Any = None
    majority: Any = None
    cheapest: Any = None
    totals: dict[Any, float] = field(default_factory=dict)
    """What predicting each label would have cost so far, with costs."""
    counts: Counter[Any] = field(default_factory=Counter)
    last_mistakes: int = 0
    majority_mistakes: int = 0

    def predict(self, label: Any) -> LabelPredictions:
        """Predict one row, and count the mistakes; `label` is its label, which has not arrived yet."""
        self.last_mistakes += self.last != label
        self.majority_mistakes += self.majority != label
        return LabelPredictions([self.last], [self.majority], [self.cheapest])

    def learn(self, labels: LabelArray) -> None:
        """Note labels that have arrived, in this order."""
        for label in labels.tolist():
            self.last = label
            if self.costs is not None:
                self._add_costs(label, self.costs)
            self.counts[label] += 1
            if self.counts[label] > self.counts[self.majority]:
                self.majority = label
            if self.costs is None:
                self.cheapest = self.majority

    def _add_costs(self, label: Any, costs: Costs) -> None:
        """Add what predicting each known label costs on a row of this one, and note the cheapest."""
        if label not in self.totals:
            self.totals[label] = sum(n * costs.of(other, label) for other, n in self.counts.items())
        for known in self.totals:
            self.totals[known] += costs.of(label, known)
        best = min(self.totals, key=self.totals.__getitem__)
        if self.cheapest not in self.totals or self.totals[best] < self.totals[self.cheapest]:
            self.cheapest = best

    def predict_then_learn(self, labels: LabelArray) -> LabelPredictions:
        """Predict rows whose labels each arrive before the next row is predicted."""
        predicted = []
        for t, label in enumerate(labels.tolist()):
            predicted.append(self.predict(label))
            self.learn(labels[t : t + 1])
        return join_label_predictions(predicted)


def join_label_predictions(parts: list[LabelPredictions]) -> LabelPredictions:
    """Return the predictions of several parts of a stream as one."""
    return LabelPredictions(
        [label for part in parts for label in part.last],
        [label for part in parts for label in part.majority],
        [label for part in parts for label in part.cheapest],
    )
