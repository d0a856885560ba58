"""What an evaluation comes to: sums kept while it runs, and the figures they give."""

from array import array
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from driftline.core.bounds import MistakeBound
from driftline.types import Flags, LabelArray, Matrix, Predictions, Status, Vector

ROUNDING = 1e-9
"""What sums of the same figures may differ by."""


@dataclass(frozen=True, slots=True)
class Window:
    """Means over some consecutive steps.

    Attributes
    ----------
    first, n_rows
        The first step, and how many.
    error
        Share of wrong predictions.
    expected_error
        Mean probability that the randomised rule errs; None for a classifier without probabilities.
    bound
        Mean bound, as in `Summary`; None for a classifier without bounds.
    """

    first: int
    n_rows: int
    error: float
    expected_error: float | None
    bound: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of an evaluation. Those that a classifier has no part in are None.

    Attributes
    ----------
    stream, model
        What was evaluated on what.
    n_rows, n_classes
        Rows evaluated, and classes that occurred among them.
    error, expected_error
        Share of wrong predictions, and expected share of those of the randomised rule.
    majority_error, no_change_error
        For scale: errors of always naming the most frequent class (known in hindsight), and of naming the
        previous row's label (whether or not it would have come by then).
    kappa, kappa_no_change
        Agreement beyond chance (Cohen), and the share of the no-change predictor's mistakes that is avoided.
    mean_bound, bound_statuses
        Mean of the bounds that enter that on mistakes; and how many steps had a bound of each status. Of AMRC they are
        the rate bounds; of the paper's method R(U_t) plus the excess of its instance, at most 1, and negative where
        the set was empty.
    window, windows_above_bound, windows_above_bound_deterministic
        Rows in a window; share of the windows in which the mean expected error of the randomised rule, to which
        the bound applies, or the error of the predictions, is above the mean bound.
    mistakes, expected_mistakes, mistake_bound, delta
        Wrong predictions; expected mistakes of the randomised rule, and their bound with probability 1 - delta. There
        is none if labels come late and the classifier takes no note of the rows that wait: its bounds are those of
        the last label learned, not of the row predicted.
    n_unlearned
        Labels that had not arrived at the end.
    n_skipped
        Malformed rows that the stream left out of the blocks that were read.
    seconds, predict_seconds, learn_seconds, rows_per_second
        Time in all, and in the classifier; throughput of the whole.
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
    delta: float
    n_unlearned: int
    n_skipped: int
    seconds: float
    predict_seconds: float
    learn_seconds: float
    rows_per_second: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON.

        Returns
        -------
        dict
            Numbers, text and None.
        """
        return asdict(self)

    def __str__(self) -> str:
        def percent(value: float | None) -> str:
            return "–" if value is None else f"{value:.1%}"

        def number(value: float | None) -> str:
            return "–" if value is None else f"{value:,.0f}"

        lines = {
            "rows, classes": f"{self.n_rows:,}, {self.n_classes}",
            "error": f"{percent(self.error)}   (majority {percent(self.majority_error)}, "
            f"no change {percent(self.no_change_error)})",
            "kappa": "–"
            if self.kappa is None
            else f"{self.kappa:.3f}   (against no change "
            f"{'–' if self.kappa_no_change is None else f'{self.kappa_no_change:.3f}'})",
            "randomised rule": f"error {percent(self.expected_error)}, mean bound {percent(self.mean_bound)}",
            "above the bound": f"{percent(self.windows_above_bound)} of windows of {self.window} rows",
            "mistakes": f"{number(self.expected_mistakes)} expected of the randomised rule, "
            f"at most {number(self.mistake_bound)} (δ = {self.delta:g})",
            "speed": f"{self.rows_per_second:,.0f} rows/s",
        }
        if self.windows_above_bound is None:
            del lines["above the bound"]
        if self.mistake_bound is None:
            del lines["mistakes"]
        if self.n_unlearned or self.n_skipped:
            lines["left out"] = f"{self.n_unlearned:,} labels that came too late, {self.n_skipped:,} malformed rows"
        width = max(map(len, lines))
        body = "\n".join(f"  {name:<{width}}  {text}" for name, text in lines.items())
        return f"{self.model} on {self.stream}\n{body}"


@dataclass(slots=True)
class Tally:
    """Sums over the steps so far.

    Parameters
    ----------
    window
        Rows in a window.
    """

    window: int
    n_rows: int = 0
    mistakes: int = 0
    labels: Counter[Any] = field(default_factory=Counter)
    predictions: Counter[Any] = field(default_factory=Counter)
    changes: int = 0
    last_label: Any = None
    statuses: Counter[str] = field(default_factory=Counter)
    sums: Vector = field(default_factory=lambda: np.zeros(5))
    """Of expected mistakes, bounds, charges, seconds predicting and learning."""
    closed: "array[float]" = field(default_factory=lambda: array("d"))
    """Of each window that is full: mistakes, sum of expected mistakes, sum of bounds."""
    open: Vector = field(default_factory=lambda: np.zeros(3))
    """The same, of the one under way."""
    seconds: float = 0.0

    def add(self, labels: LabelArray, predictions: Predictions) -> None:
        """Count some steps."""
        said, truth = predictions.predicted.tolist(), labels.tolist()
        wrong = differ(predictions.predicted, labels)
        expected, bounds = 1.0 - predictions.label_probabilities, counted_bounds(predictions)
        self._add_to_windows(np.column_stack([wrong, expected, bounds]))
        self.changes += int(np.count_nonzero(differ(labels[1:], labels[:-1])))
        self.changes += self.n_rows > 0 and truth[0] != self.last_label
        self.last_label = truth[-1]
        self.n_rows += len(truth)
        self.mistakes += int(np.count_nonzero(wrong))
        self.labels.update(truth)
        self.predictions.update(said)
        self.statuses.update(str(status) for status in predictions.statuses.tolist() if status is not None)
        columns = expected, bounds, predictions.total_charges, predictions.predict_seconds, predictions.learn_seconds
        self.sums = _added(self.sums, np.column_stack(columns))

    def _add_to_windows(self, rows: Matrix) -> None:
        done, there = 0, self.n_rows % self.window
        while done < len(rows):
            part = rows[done : done + self.window - there]
            self.open = _added(self.open, part)
            done, there = done + len(part), there + len(part)
            if there == self.window:
                self.closed.extend(self.open.tolist())
                self.open, there = np.zeros(3), 0

    @property
    def error(self) -> float:
        """Share of wrong predictions so far."""
        return self.mistakes / max(self.n_rows, 1)

    def course(self) -> list[Window]:
        """Return the windows; the last may be shorter."""
        left = self.n_rows % self.window
        rows = [*self._whole().tolist(), *([self.open.tolist()] if left else [])]
        lengths = [self.window] * (len(rows) - bool(left)) + [left] * bool(left)
        return [
            Window(i * self.window, n, wrong / n, _known(expected / n), _known(bound / n))
            for i, (n, (wrong, expected, bound)) in enumerate(zip(lengths, rows, strict=True))
        ]

    def _whole(self) -> Matrix:
        return np.array(self.closed).reshape(-1, 3)

    def summary(
        self, stream: str, model: str, delta: float, *, n_unlearned: int, n_skipped: int, bounds_are_late: bool
    ) -> Summary:
        """Return the figures."""
        n, error = self.n_rows, self.error
        expected, bounds, charges, predicting, learning = self.sums.tolist()
        no_change = self.changes / (n - 1) if n > 1 else None
        whole = self._whole()
        has_bound = _known(bounds) is not None
        ledger = MistakeBound(n_steps=n, total_bound=charges)
        return Summary(
            stream=stream,
            model=model,
            n_rows=n,
            n_classes=len(self.labels),
            error=error,
            expected_error=_known(expected / n),
            majority_error=1.0 - max(self.labels.values()) / n,
            no_change_error=no_change,
            kappa=self._kappa(),
            kappa_no_change=None if not no_change else 1.0 - error / no_change,
            mean_bound=_known(bounds / n),
            bound_statuses=dict(self.statuses),
            window=self.window,
            windows_above_bound=_share_above(whole[:, 1], whole[:, 2]) if has_bound else None,
            windows_above_bound_deterministic=_share_above(whole[:, 0], whole[:, 2]) if has_bound else None,
            mistakes=self.mistakes,
            expected_mistakes=_known(expected),
            mistake_bound=ledger.mistakes(delta) if has_bound and not bounds_are_late else None,
            delta=delta,
            n_unlearned=n_unlearned,
            n_skipped=n_skipped,
            seconds=self.seconds,
            predict_seconds=predicting,
            learn_seconds=learning,
            rows_per_second=n / max(self.seconds, 1e-9),
        )

    def _kappa(self) -> float | None:
        n = self.n_rows
        by_chance = sum(count * self.predictions[label] for label, count in self.labels.items()) / n**2
        return None if by_chance == 1.0 else (1.0 - self.error - by_chance) / (1.0 - by_chance)


def counted_bounds(predictions: Predictions) -> Vector:
    """Return the bounds with their excess, at most 1; where the set was empty, the negative number, which is none."""
    is_empty = predictions.statuses == Status.EMPTY
    return np.where(
        is_empty, np.minimum(np.nan_to_num(predictions.bounds), 0.0), np.minimum(predictions.total_charges, 1.0)
    )


def _added(total: Vector, rows: Matrix) -> Vector:
    """Return a sum with rows added one after the other, the same however they were cut into slices."""
    sums: Vector = np.cumsum(np.vstack([total, rows]), axis=0)[-1]
    return sums


def differ(one: LabelArray, other: LabelArray) -> Flags:
    """Compare labels of perhaps different types, None included."""
    return np.asarray(one != other, dtype=bool)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _share_above(sums: Vector, bounds: Vector) -> float | None:
    """Return in how many windows a sum is above its bound, by more than rounding; None if there is no window."""
    return float(np.mean(sums > bounds + ROUNDING * (1.0 + np.abs(bounds)))) if len(sums) else None
