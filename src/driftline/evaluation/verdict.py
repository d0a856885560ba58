"""Whether a classifier is better than rules that need no classifier, and than a plain logistic regression."""

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from driftline.core.costs import Costs
from driftline.evaluation.label_baselines import LabelPredictions
from driftline.evaluation.logistic_baseline import LogisticBaseline
from driftline.evaluation.significance import DifferenceTest, student_test
from driftline.types import Block, LabelArray, Labels, Matrix

BASELINES = ("majority_so_far", "last_label", "logistic_regression")
"""What a classifier is compared with, in this order; with costs, the first is `CHEAPEST` instead."""
CHEAPEST = "cheapest_label"
MAX_BATCHES = 40
"""Most batches that are compared; neighbouring ones are merged when there are twice as many."""
FIRST_LENGTH = 16
"""Rows in a batch before the first merge."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A classifier beside one baseline.

    Attributes
    ----------
    baseline : {"majority_so_far", "cheapest_label", "last_label", "logistic_regression"}
        Always predicting the most frequent of the labels that have arrived, or with costs the one that would have cost
        least so far; repeating the last of them; or a logistic regression, learned by stochastic gradient descent on
        columns standardised online.
    measure : {"error", "cost"}
        What is compared: the share of mistakes, or with costs the mean cost of a row.
    baseline_value : float
        That of the baseline.
    difference : float
        That of the classifier minus that of the baseline.
    low, high : float or None
        Confidence interval of the difference, at 95 % for the three baselines together; None if there are too few rows.
    result : {"better", "worse", "about the same"}
        Whether the interval lies below 0, above 0 or neither.
    """

    baseline: str
    measure: Literal["error", "cost"]
    baseline_value: float
    difference: float
    low: float | None
    high: float | None
    result: str


@dataclass(slots=True)
class LossBatches:
    """Mistakes or costs in consecutive batches of rows, summed, for some predictors; at most 80 batches.

    Examples
    --------
    >>> batches = LossBatches(1)
    >>> batches.add(np.ones((3000, 1)))
    >>> batches.length, batches.n_rows, len(batches.sums)
    (64, 3000, 47)
    """

    n_predictors: int
    length: int = FIRST_LENGTH
    n_rows: int = 0
    sums: Matrix = field(init=False)

    def __post_init__(self) -> None:
        self.sums = np.zeros((0, self.n_predictors))

    def add(self, losses: Matrix) -> None:
        """Add rows: what each prediction cost, 1 for a mistake without costs, with a column for each predictor."""
        done = 0
        while done < len(losses):
            n_open = self.n_rows % self.length
            part = losses[done : done + self.length - n_open].sum(axis=0)
            if n_open:
                self.sums[-1] += part
            else:
                self.sums = np.vstack([self.sums, part])
            n_new = min(self.length - n_open, len(losses) - done)
            done, self.n_rows = done + n_new, self.n_rows + n_new
            if len(self.sums) == 2 * MAX_BATCHES and self.n_rows % self.length == 0:
                self.sums, self.length = _merged(self.sums), 2 * self.length

    def means(self) -> tuple[Matrix, Labels]:
        """Return the mean of a row in each of at most 40 batches, and the number of rows in each."""
        sums, length = (
            (self.sums, self.length) if len(self.sums) <= MAX_BATCHES else (_merged(self.sums), 2 * self.length)
        )
        lengths = np.full(len(sums), length)
        lengths[-1] = self.n_rows - length * (len(sums) - 1)
        return sums / lengths[:, np.newaxis], lengths


def _merged(sums: Matrix) -> Matrix:
    """Return the sums of neighbouring batches in pairs; the last may be alone."""
    padded = np.pad(sums, ((0, len(sums) % 2), (0, 0)))
    merged: Matrix = padded[::2] + padded[1::2]
    return merged


class BaselineComparison:
    """Runs a logistic regression beside a classifier, and compares its mistakes or costs with those of the baselines.

    Parameters
    ----------
    n_columns : int
        Number of columns of the stream.
    costs : Costs or None
        What mistakes cost, if costs are to be compared.
    """

    def __init__(self, n_columns: int, costs: Costs | None = None) -> None:
        self.logistic = LogisticBaseline(n_columns)
        self._has_costs = costs is not None
        self._costs = Costs({}) if costs is None else costs  # without pairs, each mistake costs 1
        self._batches = LossBatches(1 + len(BASELINES))
        self._predicted: list[Any] = []
        """What the regression predicted, for rows that were not compared yet."""

    def predict_then_learn(self, rows: Block) -> None:
        """Let the regression predict rows whose labels each arrive before the next row is predicted."""
        self._predicted += self.logistic.predict_then_learn(rows.rows, rows.labels)

    def predict(self, row: Block) -> None:
        """Let the regression predict one row whose label has not arrived yet."""
        self._predicted.append(self.logistic.predict(row.rows[0], row.labels.tolist()[0]))

    def learn(self, rows: Block) -> None:
        """Let the regression learn rows whose labels have arrived."""
        self.logistic.learn(rows.rows, rows.labels)

    def compare(self, labels: LabelArray, predicted: LabelArray, by_labels: LabelPredictions) -> None:
        """Compare the rows that the regression predicted since the last call."""
        truth = labels.tolist()
        by_regression, self._predicted = self._predicted, []
        all_predicted = (predicted.tolist(), by_labels.cheapest, by_labels.last, by_regression)
        self._batches.add(np.column_stack([list(map(self._costs.of, truth, guesses)) for guesses in all_predicted]))

    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the classifier beside each baseline; without the regression if it was given up."""
        values, lengths = self._batches.means()
        means = lengths @ values / lengths.sum()
        names = (CHEAPEST, *BASELINES[1:]) if self._has_costs else BASELINES
        largest = math.inf if self._has_costs else 1.0
        kept = names[:-1] if self.logistic.is_given_up else names
        return tuple(
            _verdict(
                name,
                "cost" if self._has_costs else "error",
                means[0],
                means[j],
                student_test(float(means[0] - means[j]), values[:, 0] - values[:, j], lengths, len(kept), largest),
            )
            for j, name in enumerate(kept, start=1)
        )


def _verdict(
    name: str, measure: Literal["error", "cost"], value: float, baseline_value: float, test: DifferenceTest | None
) -> Verdict:
    low, high = (None, None) if test is None else (test.low, test.high)
    result = "about the same"
    if low is not None and high is not None and not low <= 0.0 <= high:
        result = "worse" if low > 0.0 else "better"
    return Verdict(name, measure, float(baseline_value), float(value - baseline_value), low, high, result)
