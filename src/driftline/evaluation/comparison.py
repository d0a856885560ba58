"""Comparison of several classifiers on the same stream, with significance tests."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from driftline.errors import ConfigError
from driftline.evaluation.class_counts import ClassCounts
from driftline.evaluation.metrics import METRICS, Measured, Metric, metric_named
from driftline.evaluation.significance import MIN_BATCHES, jackknife, student_test
from driftline.evaluation.timeline import Timeline
from driftline.evaluation.window_stats import WindowStats
from driftline.types import Indices, Vector

MAX_BATCHES = 40
"""Number of batches that a stream is cut into; few, so that mistakes in different batches are hardly correlated."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The place of a classifier among others.

    Attributes
    ----------
    name
        Name of the classifier.
    rank
        1 for the best value; equal values get the mean of their ranks.
    error
        Share of wrong predictions.
    behind
        By how much the value that classifiers are ranked by is worse than the best one.
    low, high
        Confidence interval of that difference, at 95 % for all pairs of classifiers together; None for the best
        classifier, if the stream is too short, and if a class that the measure is about occurs in fewer than ten
        batches.
    p
        The p-value: the probability of a difference at least as large if both classifiers were equally good, multiplied
        by the number of pairs (Bonferroni), because the best is known only afterwards. It is below 0.05 if and only if
        the interval does not contain 0. None as above.
    by, value
        The measure by which classifiers are ranked, and its value, which is the error by default. It is None if it is
        undefined, such as the log loss of a classifier without probabilities; such classifiers are last.
    larger_is_better
        Whether a larger value is better.
    """

    name: str
    rank: float
    error: float
    behind: float | None
    low: float | None
    high: float | None
    p: float | None
    by: str
    value: float | None
    larger_is_better: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A classifier's values of the measure: of all rows, and of all but those of each batch. Smaller is better."""

    name: str
    error: float
    value: float
    loss: float
    losses_without: Vector


def compare(timelines: Mapping[str, Timeline], by: str = "error", positive: Any = None) -> list[Comparison]:
    """Rank classifiers by a measure of their predictions on the same rows, and compare each with the best.

    Errors on neighbouring rows are correlated, so that single rows are not independent trials. The stream is cut into
    up to 40 batches. The difference between two classifiers is computed for all rows, and again without the rows of
    each batch in turn; how much it changes says what the batch contributes (the jackknife). Student's test is applied
    to these contributions, which for the error are the differences batch by batch. Measures of a class are thus never
    computed from a batch alone, which may have no row of it. If the contributions of neighbouring batches are
    correlated, the number of batches is reduced accordingly. On a stream in which each classifier is ahead only once
    or twice, for a long time, no test can tell which is better.

    Parameters
    ----------
    timelines : mapping of str to Timeline
        The timelines of their evaluations, by name.
    by : str, default="error"
        The measure: error, kappa, balanced-accuracy, g-mean, macro-f1, recall, precision, f1, roc-auc,
        average-precision, log-loss or brier-score, as in `Summary`.
    positive : label, optional
        The class that recall, precision, f1, roc-auc and average-precision are about, or its text. By default the rarer
        of two classes. With more classes, roc-auc and average-precision are means over all classes by default.

    Returns
    -------
    list of Comparison
        The best first.

    Examples
    --------
    >>> from driftline.evaluation import compare, evaluate
    >>> from driftline.registry import create
    >>> from driftline.streams import ArrayStream, RotatingGaussians
    >>> stream = ArrayStream(*RotatingGaussians().sample(1000, seed=0))
    >>> names = ("majority", "dwm")
    >>> timelines = {name: evaluate(create(name), stream, progress=False).timeline for name in names}
    >>> best, other = compare(timelines)
    >>> best.name, other.p < 0.001
    ('dwm', True)
    >>> [place.name for place in compare(timelines, by="balanced-accuracy")]
    ['dwm', 'majority']
    """
    metric = metric_named(by)
    if len({timeline.n_rows for timeline in timelines.values()}) != 1:
        raise ConfigError("timelines must have the same rows; run all classifiers to the end of the same stream")
    first = next(iter(timelines.values()))
    label = metric.positive_class(first.support, positive)
    candidates = [_candidate(name, timeline, metric, label) for name, timeline in timelines.items()]
    candidates.sort(key=lambda candidate: (np.isnan(candidate.loss), candidate.loss))
    windows = first.windows(MAX_BATCHES)
    lengths = _lengths(windows) if _can_be_tested(first, windows, metric, label) else None
    n_pairs = math.comb(sum(not np.isnan(each.loss) for each in candidates), 2)
    return [_place(each, candidates, by, lengths, n_pairs) for each in candidates]


def _candidate(name: str, timeline: Timeline, metric: Metric, label: Any) -> _Candidate:
    batches = [timeline.measured(window, label) for window in timeline.windows(MAX_BATCHES)]
    total: ClassCounts = reduce(add, [batch.counts for batch in batches])
    positive, is_tie = batches[0].positive, batches[0].is_tie
    rest = [Measured(total - batch.counts, positive, is_tie) for batch in batches] if len(batches) > 1 else []
    value = metric.value(Measured(total, positive, is_tie))
    sign = -1.0 if metric.larger_is_better else 1.0
    return _Candidate(
        name,
        METRICS["error"].value(Measured(total, positive, is_tie)),
        value,
        sign * value,
        sign * np.array([metric.value(measured) for measured in rest]),
    )


def _lengths(windows: Sequence[WindowStats]) -> Indices:
    return np.array([window.n_rows for window in windows])


def _can_be_tested(timeline: Timeline, windows: Sequence[WindowStats], metric: Metric, label: Any) -> bool:
    """Return whether each class that the measure is about occurs in enough batches of equal length."""
    counts = timeline.class_counts(windows)[_lengths(windows) == windows[0].n_rows]
    positive = None if label is None else timeline.classes.index(label)
    needed = metric.needed_classes(positive, counts.sum(axis=0))
    return len(counts) >= MIN_BATCHES and all(np.count_nonzero(counts[:, k]) >= MIN_BATCHES for k in needed)


def _place(
    each: _Candidate, candidates: Sequence[_Candidate], by: str, lengths: Indices | None, n_pairs: int
) -> Comparison:
    best = candidates[0]
    test = None
    if lengths is not None and each is not best:
        difference = each.loss - best.loss
        without = each.losses_without - best.losses_without
        largest = 1.0 if METRICS[by].is_share else math.inf
        test = student_test(difference, jackknife(difference, without, lengths), lengths, n_pairs, largest)
    is_defined = not np.isnan(each.value)
    ranks = [k for k, other in enumerate(candidates, 1) if np.array_equal(other.loss, each.loss, equal_nan=True)]
    return Comparison(
        each.name,
        rank=float(np.mean(ranks)),
        error=each.error,
        behind=each.loss - best.loss if is_defined else None,
        low=None if test is None else test.low,
        high=None if test is None else test.high,
        p=None if test is None else test.p,
        by=by,
        value=each.value if is_defined else None,
        larger_is_better=METRICS[by].larger_is_better,
    )
