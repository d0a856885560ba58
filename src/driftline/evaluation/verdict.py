"""Whether a classifier is better than rules that need no classifier, and than a plain logistic regression."""

from dataclasses import dataclass, field

import numpy as np

from driftline.evaluation.label_baselines import LabelPredictions
from driftline.evaluation.logistic_baseline import LogisticBaseline
from driftline.evaluation.significance import DifferenceTest, student_test
from driftline.evaluation.summary import differ
from driftline.types import Block, LabelArray, Labels, Matrix

BASELINES = ("majority_so_far", "last_label", "logistic_regression")
"""What a classifier is compared with, in this order."""
MAX_BATCHES = 40
"""Most batches that are compared; neighbouring ones are merged when there are twice as many."""
FIRST_LENGTH = 16
"""Rows in a batch before the first merge."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A classifier beside one baseline.

    Attributes
    ----------
    baseline : {"majority_so_far", "last_label", "logistic_regression"}
        Always predicting the most frequent of the labels that have arrived; repeating the last of them; or a logistic
        regression, learned by stochastic gradient descent on columns standardised online.
    baseline_error : float
        Its error.
    difference : float
        The error of the classifier minus that of the baseline.
    low, high : float or None
        Confidence interval of the difference, at 95 % for the three baselines together; None if there are too few rows.
    result : {"better", "worse", "about the same"}
        Whether the interval lies below 0, above 0 or neither.
    """

    baseline: str
    baseline_error: float
    difference: float
    low: float | None
    high: float | None
    result: str


@dataclass(slots=True)
class MistakeBatches:
    """Numbers of mistakes in consecutive batches of rows, for some predictors; at most 80 batches.

    Examples
    --------
    >>> batches = MistakeBatches(1)
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

    def add(self, wrong: Matrix) -> None:
        """Add rows: 1 for each mistake, else 0, with a column for each predictor."""
        done = 0
        while done < len(wrong):
            n_open = self.n_rows % self.length
            part = wrong[done : done + self.length - n_open].sum(axis=0)
            if n_open:
                self.sums[-1] += part
            else:
                self.sums = np.vstack([self.sums, part])
            n_new = min(self.length - n_open, len(wrong) - done)
            done, self.n_rows = done + n_new, self.n_rows + n_new
            if len(self.sums) == 2 * MAX_BATCHES and self.n_rows % self.length == 0:
                self.sums, self.length = _merged(self.sums), 2 * self.length

    def errors(self) -> tuple[Matrix, Labels]:
        """Return the share of mistakes in each of at most 40 batches, and the number of rows in each."""
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
    """Runs a logistic regression beside a classifier, and compares the mistakes of the classifier with the baselines'.

    Parameters
    ----------
    n_columns : int
        Number of columns of the stream.
    """

    def __init__(self, n_columns: int) -> None:
        self.logistic = LogisticBaseline(n_columns)
        self._batches = MistakeBatches(1 + len(BASELINES))
        self._wrong: list[int] = []
        """Whether the regression was wrong, for rows that were not compared yet."""

    def predict_then_learn(self, rows: Block) -> None:
        """Let the regression predict rows whose labels each arrive before the next row is predicted."""
        self._wrong += self.logistic.predict_then_learn(rows.rows, rows.labels).tolist()

    def predict(self, row: Block) -> None:
        """Let the regression predict one row whose label has not arrived yet."""
        self._wrong.append(self.logistic.predict(row.rows[0], row.labels.tolist()[0]))

    def learn(self, rows: Block) -> None:
        """Let the regression learn rows whose labels have arrived."""
        self.logistic.learn(rows.rows, rows.labels)

    def compare(self, labels: LabelArray, predicted: LabelArray, by_labels: LabelPredictions) -> None:
        """Compare the rows that the regression predicted since the last call."""
        truth = labels.tolist()
        majority, last = (
            [guess != label for guess, label in zip(guesses, truth, strict=True)]
            for guesses in (by_labels.majority, by_labels.last)
        )
        wrong, self._wrong = self._wrong, []
        self._batches.add(np.column_stack([differ(predicted, labels), majority, last, wrong]).astype(np.float64))

    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the classifier beside each baseline; without the regression if it was given up."""
        errors, lengths = self._batches.errors()
        means = lengths @ errors / lengths.sum()
        kept = BASELINES[:-1] if self.logistic.is_given_up else BASELINES
        return tuple(
            _verdict(
                name,
                means[0],
                means[j],
                student_test(float(means[0] - means[j]), errors[:, 0] - errors[:, j], lengths, len(kept)),
            )
            for j, name in enumerate(kept, start=1)
        )


def _verdict(name: str, error: float, baseline_error: float, test: DifferenceTest | None) -> Verdict:
    low, high = (None, None) if test is None else (test.low, test.high)
    result = "about the same"
    if low is not None and high is not None and not low <= 0.0 <= high:
        result = "worse" if low > 0.0 else "better"
    return Verdict(name, float(baseline_error), float(error - baseline_error), low, high, result)
