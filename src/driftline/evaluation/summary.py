"""The summary of an evaluation, and the sums from which it is computed."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from driftline.core.bounds import ROUNDING, MistakeBound, is_informative
from driftline.evaluation.class_counts import row_losses
from driftline.evaluation.class_figures import ClassFigures, Confusion, confusion
from driftline.evaluation.summary_table import label_hint, summary_html, summary_table
from driftline.guarantees import Alarm
from driftline.types import Flags, LabelArray, Matrix, Predictions, Status, Vector

if TYPE_CHECKING:
    from driftline.evaluation.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of an evaluation. A figure that does not apply to the classifier is None.

    Attributes
    ----------
    stream, model
        Names of the stream and of the classifier.
    n_rows, n_classes
        Number of rows, and of classes that occurred among them.
    error, expected_error
        Share of wrong predictions, and expected share of wrong predictions of the randomised rule.
    majority_error, no_change_error
        For comparison: the errors of always predicting the most frequent class (known only afterwards), and of
        predicting the label of the previous row (even if that label had not arrived yet).
    last_label_error, majority_so_far_error
        The errors of two predictors that could have been used: of repeating the last label that had arrived, and of
        predicting the most frequent of the labels that had arrived. Rows before the first label are mistakes.
    logistic_error : float or None
        Error of a plain logistic regression that was run alongside: stochastic gradient descent, one against the rest,
        on columns standardised online. None with more than ten million classes × columns.
    verdict : tuple of Verdict
        The classifier beside predicting the most frequent label so far, repeating the last label, and this regression.
    label_memory
        Whether the classifier predicts with the last labels, if it has this parameter.
    kappa, kappa_no_change
        Cohen's kappa, and the share of the no-change predictor's mistakes that the classifier avoids.
    mean_bound, bound_statuses
        Mean of the bounds that the bound on mistakes is the sum of, and the number of steps with each status. These
        are the rate bounds of AMRC; for the paper's method they are R(U_t) plus the excess of the instance, at most 1,
        and negative where the uncertainty set was empty.
    window, windows_above_bound, windows_above_bound_deterministic
        Number of rows in a window, and the share of windows in which the mean bound is exceeded by the mean expected
        error of the randomised rule, for which the bound is meant, or by the error of the predictions.
    mistakes, expected_mistakes, mistake_bound, delta
        Wrong predictions; expected mistakes of the randomised rule, and the number of mistakes that it does not exceed
        with probability 1 - delta, whatever the stream. The bound is None if labels arrive late and the classifier has
        no method `observe`: its bounds are then for the last learned row, not for the predicted one.
    bounds_held
        Whether the bounds held on average: the expected mistakes do not exceed the sum of the bounds. If they do, the
        bound on mistakes is computed from the expected mistakes instead. None if there is no such bound.
    n_unlearned
        Labels that had not arrived at the end.
    n_skipped
        Malformed rows that the stream skipped.
    seconds, predict_seconds, learn_seconds, rows_per_second
        Time of the whole evaluation, time in the classifier, and rows per second of the whole evaluation.
    error_interval, interval_delta : (low, high), float
        Limits of the error of the rows predicted so far, and the probability that they ever fail, after any number of
        rows. These and the figures below concern the rows whose labels have arrived, except those that were predicted
        before any class was known.
    error_level, answered, answered_error, answered_interval, n_tried
        If only rows are answered that are sure enough, so that at most the share ``error_level`` of the answers is
        wrong in the long run: the share of rows answered, the share of wrong answers with its limits, and the number of
        rows that were handed over because of too many mistakes, while their labels told when to answer again.
    coverage_level, set_coverage, set_size
        If sets of labels are predicted that contain the true one in a share ``coverage_level`` of rows or more:
        the share that does, and the mean number of labels in a set.
    alarms, n_alarms : tuple of Alarm, int
        The times at which the error had risen, or exceeded the tolerated level, and their number; at most 1,000 are
        listed. Their rows are counted in the order in which labels arrive, so that with late labels an alarm was
        raised later than its row. Raised alarms are noted, and armed again, every 500 rows.
    positive
        The label of the positive class: the rarer of two classes, or the one that was chosen. None with more than two
        classes, unless one was chosen.
    per_class : tuple of ClassFigures
        Precision, recall, F1 and number of rows of each class that occurred, in the order of their first rows.
    confusion : Confusion or None
        Numbers of rows by label and predicted label; None with more than 100 labels.
    balanced_accuracy, g_mean, macro_f1
        The mean and the geometric mean of the recalls of all classes, and the mean of their F1.
    log_loss, brier_score
        The means of ``-log p_y``, where a probability below 1e-15 counts as 1e-15, and of ``Σ_k (p_k - [k = y])²``,
        for probabilities p and label y. The Brier score lies between 0 and 2: with two classes it is twice the mean
        squared error of the probability of one class. A label whose class the classifier did not know has p_y = 0.
    roc_auc, average_precision
        Area under the ROC curve, and under the precision-recall curve, of the probability of the positive class;
        without a positive class, the means over all classes, each against the others.
    roc_auc_error, average_precision_error
        How far these can be, at most, from the figures of all probabilities, because only their numbers in bins are
        kept. The bins are uniform in log-odds, up to 1024 for a class.
    cost, cost_without
        Total cost of the predictions, and of the plain predictions on the same rows: the most probable labels, or what
        the classifier predicts itself. A row that was predicted before any class was known costs 1. Without costs
        both are None; for a classifier without probabilities, which cannot predict by costs, the second is.
    cost_labels_unseen : tuple of str
        Labels that the costs name and that never occurred.
    """

    stream: str
    model: str
    n_rows: int
    n_classes: int
    error: float
    expected_error: float | None
    majority_error: float
    no_change_error: float | None
    kappa: float | None
    kappa_no_change: float | None
    mean_bound: float | None
    bound_statuses: dict[str, int]
    window: int
    windows_above_bound: float | None
    windows_above_bound_deterministic: float | None
    mistakes: int
    expected_mistakes: float | None
    mistake_bound: float | None
    bounds_held: bool | None
    delta: float
    n_unlearned: int
    n_skipped: int
    seconds: float
    predict_seconds: float
    learn_seconds: float
    rows_per_second: float
    error_interval: tuple[float, float] | None = None
    interval_delta: float | None = None
    error_level: Any = None
    answered: float | None = None
    answered_error: float | None = None
    answered_interval: tuple[float, float] | None = None
    n_tried: int | None = None
    coverage_level: float | None = None
    set_coverage: float | None = None
    set_size: float | None = None
    alarms: tuple[Alarm, ...] = ()
    n_alarms: int = 0
    last_label_error: float | None = None
    majority_so_far_error: float | None = None
    label_memory: bool | None = None
    positive: Any = None
    per_class: tuple[ClassFigures, ...] = ()
    confusion: Confusion | None = None
    balanced_accuracy: float | None = None
    g_mean: float | None = None
    macro_f1: float | None = None
    log_loss: float | None = None
    brier_score: float | None = None
    roc_auc: float | None = None
    roc_auc_error: float | None = None
    average_precision: float | None = None
    average_precision_error: float | None = None
    cost: float | None = None
    cost_without: float | None = None
    cost_labels_unseen: tuple[str, ...] = ()
    logistic_error: float | None = None
    verdict: tuple["Verdict", ...] = ()

    @property
    def mean_cost(self) -> float | None:
        """Cost of a row; None without costs."""
        return None if self.cost is None else self.cost / self.n_rows

    @property
    def mean_cost_without(self) -> float | None:
        """What a row would have cost with the plain predictions; None without costs, or without probabilities."""
        return None if self.cost_without is None else self.cost_without / self.n_rows

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON.

        Returns
        -------
        dict
            Numbers, text, None, and lists of these; alarms are dicts. Later versions may add figures.
        """
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        plain |= {"mean_cost": self.mean_cost, "mean_cost_without": self.mean_cost_without}
        return plain | {"alarms": [alarm.to_dict() for alarm in self.alarms]}

    @property
    def bound_is_informative(self) -> bool:
        """Whether there is a mean bound that is clearly better than guessing."""
        return self.mean_bound is not None and is_informative(self.mean_bound, self.n_classes)

    def __str__(self) -> str:
        return "\n".join([summary_table(self), *label_hint(self, self.model)])

    def _repr_html_(self) -> str:
        return summary_html(self)


@dataclass(slots=True)
class RunningTotals:
    """Sums over all rows so far.

    Parameters
    ----------
    window
        Rows in a window.
    """

    window: int
    n_rows: int = 0
    mistakes: int = 0
    pairs: Counter[tuple[Any, Any]] = field(default_factory=Counter)
    """Numbers of rows by label and prediction."""
    label_changes: int = 0
    last_label: Any = None
    statuses: Counter[str] = field(default_factory=Counter)
    sums: Vector = field(default_factory=lambda: np.zeros(7))
    """Expected mistakes, bounds, charges, seconds of predicting and of learning, log losses, squared errors."""
    open_window: Vector = field(default_factory=lambda: np.zeros(3))
    """Mistakes, expected mistakes and bounds of the window that is not full yet."""
    n_windows: int = 0
    n_above: int = 0
    n_above_deterministic: int = 0
    seconds: float = 0.0

    def add(self, labels: LabelArray, predictions: Predictions) -> None:
        """Add rows that were predicted."""
        truth = labels.tolist()
        wrong = differ(predictions.predicted, labels)
        expected, bounds = 1.0 - predictions.label_probabilities, counted_bounds(predictions)
        self._add_to_windows(np.column_stack([wrong, expected, bounds]))
        self.label_changes += int(np.count_nonzero(differ(labels[1:], labels[:-1])))
        self.label_changes += self.n_rows > 0 and truth[0] != self.last_label
        self.last_label = truth[-1]
        self.n_rows += len(truth)
        self.mistakes += int(np.count_nonzero(wrong))
        self.pairs.update(zip(truth, predictions.predicted.tolist(), strict=True))
        self.statuses.update(str(status) for status in predictions.statuses.tolist() if status is not None)
        seconds = predictions.predict_seconds, predictions.learn_seconds
        columns = expected, bounds, predictions.total_charges, *seconds, *row_losses(predictions)
        self.sums = _added(self.sums, np.column_stack(columns))

    def _add_to_windows(self, rows: Matrix) -> None:
        done, n_open = 0, self.n_rows % self.window
        while done < len(rows):
            part = rows[done : done + self.window - n_open]
            self.open_window = _added(self.open_window, part)
            done, n_open = done + len(part), n_open + len(part)
            if n_open == self.window:
                mistakes, expected, bounds = self.open_window.tolist()
                self.n_windows += 1
                self.n_above += is_above(expected, bounds)
                self.n_above_deterministic += is_above(mistakes, bounds)
                self.open_window, n_open = np.zeros(3), 0

    @property
    def error(self) -> float:
        """Share of wrong predictions so far."""
        return self.mistakes / max(self.n_rows, 1)

    def summary(
        self, stream: str, model: str, delta: float, *, n_unlearned: int, n_skipped: int, bounds_are_late: bool
    ) -> Summary:
        """Return the figures."""
        n, error = self.n_rows, self.error
        expected, bounds, charges, predicting, learning, log_loss, squared = self.sums.tolist()
        no_change = self.label_changes / (n - 1) if n > 1 else None
        labels, predicted = self._marginals()
        has_bound = not np.isnan(bounds)
        has_windows = has_bound and self.n_windows > 0
        mistake_bound = MistakeBound(n_steps=n, total_bound=charges, total_loss=expected)
        has_mistake_bound = has_bound and not bounds_are_late
        return Summary(
            stream=stream,
            model=model,
            n_rows=n,
            n_classes=len(labels),
            error=error,
            expected_error=none_if_nan(expected / n),
            majority_error=1.0 - max(labels.values()) / n,
            no_change_error=no_change,
            kappa=self._kappa(labels, predicted),
            kappa_no_change=None if not no_change else 1.0 - error / no_change,
            mean_bound=none_if_nan(bounds / n),
            bound_statuses=dict(self.statuses),
            window=self.window,
            windows_above_bound=self.n_above / self.n_windows if has_windows else None,
            windows_above_bound_deterministic=self.n_above_deterministic / self.n_windows if has_windows else None,
            mistakes=self.mistakes,
            expected_mistakes=none_if_nan(expected),
            mistake_bound=mistake_bound.mistakes(delta) if has_mistake_bound else None,
            bounds_held=mistake_bound.holds if has_mistake_bound else None,
            delta=delta,
            n_unlearned=n_unlearned,
            n_skipped=n_skipped,
            seconds=self.seconds,
            predict_seconds=predicting,
            learn_seconds=learning,
            rows_per_second=n / max(self.seconds, 1e-9),
            confusion=confusion(self.pairs),
            log_loss=none_if_nan(log_loss / n),
            brier_score=none_if_nan(squared / n),
        )

    def _marginals(self) -> tuple[Counter[Any], Counter[Any]]:
        """Return how often each label occurred, and how often each was predicted."""
        labels, predicted = Counter[Any](), Counter[Any]()
        for (label, prediction), count in self.pairs.items():
            labels[label] += count
            predicted[prediction] += count
        return labels, predicted

    def _kappa(self, labels: Counter[Any], predicted: Counter[Any]) -> float | None:
        n = self.n_rows
        by_chance = sum(count * predicted[label] for label, count in labels.items()) / n**2
        return None if by_chance == 1.0 else (1.0 - self.error - by_chance) / (1.0 - by_chance)


def counted_bounds(predictions: Predictions) -> Vector:
    """Return the charges, at most 1; where the uncertainty set was empty, its negative bound, or 0 if that is NaN."""
    is_empty = predictions.statuses == Status.EMPTY
    at_most_0 = np.minimum(np.nan_to_num(predictions.bounds), 0.0)
    return np.where(is_empty, at_most_0, np.minimum(predictions.total_charges, 1.0))


def _added(total: Vector, rows: Matrix) -> Vector:
    """Add rows one after the other, so that the sum does not depend on how they were cut into slices."""
    sums: Vector = np.cumsum(np.vstack([total, rows]), axis=0)[-1]
    return sums


def differ(one: LabelArray, other: LabelArray) -> Flags:
    """Return where labels differ; they may be of different types, or None."""
    return np.asarray(one != other, dtype=bool)


def none_if_nan(value: float) -> float | None:
    """Return a number, or None for NaN."""
    return None if np.isnan(value) else float(value)


def is_above(total: float, bound: float) -> bool:
    """Return whether a sum is above its bound by more than rounding; False if either is NaN."""
    return total > bound + ROUNDING * (1.0 + abs(bound))
