"""Two predictors that only know labels: the last label that has arrived, and the most frequent one."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from driftline.types import LabelArray


@dataclass(frozen=True, slots=True, eq=False)
class LabelPredictions:
    """What the two predictors predicted for some rows; None before any label had arrived.

    Attributes
    ----------
    last, majority
        The last label and the most frequent label.
    """

    last: list[Any]
    majority: list[Any]


@dataclass(slots=True)
class LabelBaselines:
    """Counts the mistakes of both predictors; a row that is predicted before any label has arrived is a mistake.

    Of labels that are equally frequent, the one that has been so for longer is predicted.

    Examples
    --------
    >>> import numpy as np
    >>> baselines = LabelBaselines()
    >>> predicted = baselines.predict_then_learn(np.array(["a", "b", "b", "a"]))
    >>> predicted.last, predicted.majority, baselines.last_mistakes, baselines.majority_mistakes
    ([None, 'a', 'b', 'b'], [None, 'a', 'a', 'b'], 3, 4)
    """

    last: Any = None
    majority: Any = None
    counts: Counter[Any] = field(default_factory=Counter)
    last_mistakes: int = 0
    majority_mistakes: int = 0

    def predict(self, label: Any) -> LabelPredictions:
        """Predict one row, and count the mistakes; `label` is its label, which has not arrived yet."""
        self.last_mistakes += self.last != label
        self.majority_mistakes += self.majority != label
        return LabelPredictions([self.last], [self.majority])

    def learn(self, labels: LabelArray) -> None:
        """Note labels that have arrived, in this order."""
        for label in labels.tolist():
            self.last = label
            self.counts[label] += 1
            if self.counts[label] > self.counts[self.majority]:
                self.majority = label

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
        [label for part in parts for label in part.last], [label for part in parts for label in part.majority]
    )
