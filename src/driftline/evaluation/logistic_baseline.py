"""A plain logistic regression that is run beside a classifier, to compare it with."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from driftline.kernels.logistic import predict_row, predict_then_learn
from driftline.types import LabelArray, Labels, Matrix, Vector

MAX_WEIGHTS = 10_000_000
"""With more classes × columns than this, the regression is given up."""


@dataclass(slots=True)
class LogisticBaseline:
    """One logistic regression for each class, by stochastic gradient descent on columns standardised online.

    A missing value is taken as the running mean of its column. A row that is predicted before any label has arrived is
    a mistake.

    Parameters
    ----------
    n_columns
        Number of columns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=500)
    >>> baseline = LogisticBaseline(1)
    >>> _ = baseline.predict_then_learn(1000.0 * (y[:, np.newaxis] + rng.normal(0.0, 0.1, (500, 1))), y)
    >>> baseline.mistakes < 25
    True
    """

    n_columns: int
    mistakes: int = 0
    n_rows: int = 0
    is_given_up: bool = False
    classes: dict[Any, int] = field(default_factory=dict)
    weights: Matrix = field(init=False)
    moments: tuple[Vector, Vector, Vector] = field(init=False)
    """Number of known values of each column, their means, and the sums of their squared deviations."""

    def __post_init__(self) -> None:
        self.weights = np.zeros((0, self.n_columns + 1))
        self.moments = np.zeros(self.n_columns), np.zeros(self.n_columns), np.zeros(self.n_columns)

    @property
    def error(self) -> float | None:
        """Share of wrong predictions; None if there were too many classes and columns."""
        return None if self.is_given_up or self.n_rows == 0 else self.mistakes / self.n_rows

    def predict_then_learn(self, rows: Matrix, labels: LabelArray) -> list[Any]:
        """Predict rows whose labels each arrive before the next row is predicted; None where no class is known."""
        n_known = len(self.classes)
        places = self._places(labels)
        if self.is_given_up:
            return [None] * len(rows)
        predicted = predict_then_learn(_plain(rows), places, self.weights, n_known, *self.moments)
        self._count(predicted != places)
        return self._labels(predicted.tolist())

    def predict(self, row: Vector, label: Any) -> Any:
        """Predict a row, None if no class is known; `label` is its label, which has not arrived yet."""
        if self.is_given_up:
            return None
        predicted = predict_row(_plain(row), self.weights, len(self.classes), *self.moments)
        self._count(np.array([predicted == -1 or predicted != self.classes.get(label)]))
        return self._labels([predicted])[0]

    def learn(self, rows: Matrix, labels: LabelArray) -> None:
        """Learn rows whose labels have arrived, in this order."""
        n_known = len(self.classes)
        places = self._places(labels)
        if not self.is_given_up:
            predict_then_learn(_plain(rows), places, self.weights, n_known, *self.moments)

    def _count(self, wrong: Any) -> None:
        self.mistakes += int(np.count_nonzero(wrong))
        self.n_rows += len(wrong)

    def _labels(self, places: list[int]) -> list[Any]:
        """Return the labels with these numbers; None for -1."""
        labels = [*self.classes, None]
        return [labels[place] for place in places]

    def _places(self, labels: LabelArray) -> Labels:
        """Return the numbers of labels, after adding the new ones; gives up if there are too many."""
        values = labels.tolist()
        for label in dict.fromkeys(values):
            self.classes.setdefault(label, len(self.classes))
        if len(self.classes) * self.weights.shape[1] > MAX_WEIGHTS:
            self.is_given_up = True
            self.weights = np.zeros((0, self.n_columns + 1))
        elif len(self.classes) > len(self.weights):
            self.weights = np.pad(self.weights, ((0, len(self.classes) - len(self.weights)), (0, 0)))
        return np.fromiter(map(self.classes.__getitem__, values), np.int64, len(values))


def _plain(rows: Any) -> Any:
    """Return rows as a writable contiguous array of doubles, so that the kernels are compiled for one type."""
    return np.require(rows, np.float64, ("C", "W"))
