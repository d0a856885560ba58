"""Measures of how good predictions and probabilities are, computed from counts by class."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftline.errors import ConfigError, Parameter, PositiveLabelError
from driftline.evaluation.class_counts import ClassCounts
from driftline.evaluation.ranking_figures import RankingFigures, ranking_figures
from driftline.types import Flags, Indices, Vector
from driftline.utils.suggestions import close_names, did_you_mean

MAX_LISTED = 20
"""Largest number of labels in an error message."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Counts of some rows, and what else measures are computed from.

    Attributes
    ----------
    counts : ClassCounts
        Counts of some rows of a stream.
    positive : int or None
        Position of the positive class; None if there is none, because there are more than two classes.
    is_tie : ndarray of shape (n_classes, n_bins)
        Whether all probabilities of a class in a bin are equal.
    """

    counts: ClassCounts
    positive: int | None
    is_tie: Flags


def recalls(counts: ClassCounts) -> Vector:
    """Return the share of the rows of each class that were predicted as such; NaN for a class without rows."""
    return _ratio(counts.hits, counts.support)


def precisions(counts: ClassCounts) -> Vector:
    """Return the share of right predictions of each class; NaN for a class that was never predicted."""
    return _ratio(counts.hits, counts.predicted)


def f1_scores(counts: ClassCounts) -> Vector:
    """Return the harmonic mean of precision and recall of each class; NaN if it neither occurred nor was said."""
    return _ratio(2 * counts.hits, counts.support + counts.predicted)


def _ratio(part: Indices, whole: Indices) -> Vector:
    shares: Vector = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
    return shares


def ranking_of(measured: Measured, k: int) -> RankingFigures | None:
    """Return how well the probabilities of class k order its rows before the others; None if that is undefined."""
    counts = measured.counts
    if not counts.scores.shape[2] or k >= len(counts.support):
        return None
    return ranking_figures(counts.scores[0, k], counts.scores[1, k], measured.is_tie[k])


def ranking(measured: Measured) -> RankingFigures | None:
    """Return the figures of the positive class, or the means over all classes against the others.

    The mean of the limits of the errors limits the error of the mean. Classes without rows do not count.
    """
    if measured.positive is not None:
        return ranking_of(measured, measured.positive)
    found = [ranking_of(measured, k) for k in np.flatnonzero(measured.counts.support).tolist()]
    each = [figures for figures in found if figures is not None]
    if not each:
        return None
    names = RankingFigures.__slots__
    return RankingFigures(*(float(np.mean([getattr(figures, name) for figures in each])) for name in names))


def _error(measured: Measured) -> float:
    return 1.0 - int(measured.counts.hits.sum()) / measured.counts.n_rows


def _kappa(measured: Measured) -> float:
    counts = measured.counts
    by_chance = float(counts.support @ counts.predicted) / counts.n_rows**2
    return np.nan if by_chance == 1.0 else 1.0 - _error(measured) / (1.0 - by_chance)


def _of_occurring(measured: Measured) -> Vector:
    return recalls(measured.counts)[measured.counts.support > 0]


def _balanced_accuracy(measured: Measured) -> float:
    return float(np.mean(_of_occurring(measured)))


def _g_mean(measured: Measured) -> float:
    each = _of_occurring(measured)
    return float(np.prod(each ** (1.0 / len(each))))


def _macro_f1(measured: Measured) -> float:
    return float(np.nanmean(f1_scores(measured.counts)))


def _of_positive(figures: Callable[[ClassCounts], Vector], measured: Measured) -> float:
    k = measured.positive
    return float(figures(measured.counts)[k]) if k is not None and k < len(measured.counts.support) else np.nan


def _area(name: str, measured: Measured) -> float:
    figures = ranking(measured)
    return np.nan if figures is None else float(getattr(figures, name))


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure by which classifiers can be ranked.

    Attributes
    ----------
    name : str
        Its name, in words.
    larger_is_better : bool
        Whether a larger value is better.
    is_share : bool
        Whether it is a share of rows, which is shown in percent.
    classes : str
        The classes without whose rows it says nothing: "positive", which there must be; "all"; "ranked", which are the
        positive one, or all if there is none; "none".
    value : callable
        Computes it from counts; NaN where it is undefined.
    """

    name: str
    larger_is_better: bool
    is_share: bool
    classes: str
    value: Callable[[Measured], float]

    def positive_class(self, support: Mapping[Any, int], positive: Any) -> Any:
        """Return the label of the class that it is about, or None; raise ConfigError if one is needed and missing."""
        label = None if self.classes in ("none", "all") else positive_label(support, positive)
        if self.classes == "positive" and label is None:
            raise ConfigError(
                f"{self.name} is about one class, and {len(support)} occur; pass ",
                Parameter("positive"),
                " with a label, or choose balanced-accuracy, g-mean, macro-f1, roc-auc or average-precision",
            )
        return label

    def needed_classes(self, positive: int | None, support: Indices) -> list[int]:
        """Return the positions of the classes without whose rows it says nothing."""
        if self.classes == "none":
            return []
        if self.classes == "all" or positive is None:
            found: list[int] = np.flatnonzero(support).tolist()
            return found
        return [positive]

    @property
    def better(self) -> str:
        """Which values are better, in words."""
        return "larger is better" if self.larger_is_better else "smaller is better"


METRICS: dict[str, Metric] = {
    "error": Metric("error", False, True, "none", _error),
    "kappa": Metric("kappa", True, False, "none", _kappa),
    "balanced-accuracy": Metric("balanced accuracy", True, True, "all", _balanced_accuracy),
    "g-mean": Metric("G-mean", True, True, "all", _g_mean),
    "macro-f1": Metric("macro F1", True, True, "all", _macro_f1),
    "recall": Metric("recall", True, True, "positive", lambda m: _of_positive(recalls, m)),
    "precision": Metric("precision", True, True, "positive", lambda m: _of_positive(precisions, m)),
    "f1": Metric("F1", True, True, "positive", lambda m: _of_positive(f1_scores, m)),
    "roc-auc": Metric("area under ROC", True, False, "ranked", lambda m: _area("roc_auc", m)),
    "average-precision": Metric("average precision", True, False, "ranked", lambda m: _area("average_precision", m)),
    "log-loss": Metric("log loss", False, False, "none", lambda m: m.counts.log_loss / m.counts.n_rows),
    "brier-score": Metric("Brier score", False, False, "none", lambda m: m.counts.squared_error / m.counts.n_rows),
}
"""The measures by the names that `compare` knows."""


def metric_named(name: str) -> Metric:
    """Return a measure by its name; raise ConfigError if there is none of this name."""
    if name not in METRICS:
        meant = did_you_mean(close_names(str(name), METRICS))
        raise ConfigError(f"by must be one of {', '.join(METRICS)}; got {name!r}{meant}")
    return METRICS[name]


def positive_label(support: Mapping[Any, int], positive: Any = None, *, must_occur: bool = True) -> Any:
    """Return the label of the positive class.

    Parameters
    ----------
    support : mapping of label to int
        Number of rows of each class that occurred.
    positive : label, optional
        The label, or its text. By default it is the rarer of two classes, of equally frequent ones the one that sorts
        last, such as 1 of 0 and 1.
    must_occur : bool, default=True
        Whether a label that does not occur is an error.

    Returns
    -------
    label or None
        None if no label is given and there are not two classes, or if it need not occur and does not.

    Examples
    --------
    >>> positive_label({"fine": 995, "fraud": 5}), positive_label({0: 9, 1: 1}, "0"), positive_label({1: 5, 2: 5, 3: 5})
    ('fraud', 0, None)
    """
    if positive is None:
        last_first = sorted(support, key=lambda label: (isinstance(label, str), label), reverse=True)
        return min(last_first, key=lambda label: support[label]) if len(support) == 2 else None
    same = [label for label in support if label == positive]
    found = same or [label for label in support if str(label) == str(positive)]
    if found:
        return found[0]
    if not must_occur:
        return None
    labels = [repr(label) for label in sorted(support, key=lambda label: -support[label])]
    more = f", and {len(labels) - MAX_LISTED:,} more" if len(labels) > MAX_LISTED else ""
    raise PositiveLabelError(
        f"the positive class {positive!r} never occurs; choose a label that does: "
        f"{', '.join(labels[:MAX_LISTED])}{more}"
    )
