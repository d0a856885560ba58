"""Comparison of several classifiers on the same stream, with significance tests."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.stats import t as student

from driftline.errors import ConfigError
from driftline.evaluation.timeline import Timeline
from driftline.types import Labels, Vector

MAX_BATCHES = 40
"""Number of batches that a stream is cut into; few, so that mistakes in different batches are hardly correlated."""
MIN_BATCHES = 10
"""Number of batches from which on differences are tested."""

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The place of a classifier among others.

    Attributes
    ----------
    name
        Name of the classifier.
    rank
        1 for the smallest error; equal errors get the mean of their ranks.
    error
        Share of wrong predictions.
    behind
        Its error minus the smallest error.
    low, high
        Confidence interval of that difference, at 95 % for all pairs of classifiers together; None for the best
        classifier, and if the stream is too short.
    p
        The p-value: the probability of a difference at least as large if both classifiers had the same error. It is
        corrected for the number of pairs (Holm), because the best is known only afterwards. None as above.
    """

    name: str
    rank: float
    error: float
    behind: float
    low: float | None
    high: float | None
    p: float | None


def compare(timelines: Mapping[str, Timeline]) -> list[Comparison]:
    """Rank classifiers by their errors on the same rows, and compare each with the best.

    Errors on neighbouring rows are correlated, so that single rows are not independent trials. The stream is cut into
    up to 40 batches, and Student's test is applied to the differences between two classifiers, batch by batch. If
    neighbouring batches are correlated, the number of batches is reduced accordingly. On a stream in which each
    classifier is ahead only once or twice, for a long time, no test can tell which is better.

    Parameters
    ----------
    timelines : mapping of str to Timeline
        The timelines of their evaluations, by name.

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
    >>> best, other = compare({name: evaluate(create(name), stream, progress=False).timeline for name in names})
    >>> best.name, other.p < 0.001
    ('dwm', True)
    """
    if len({timeline.n_rows for timeline in timelines.values()}) != 1:
        raise ConfigError("timelines must have the same rows; run all classifiers to the end of the same stream")
    errors = {name: _errors(timeline) for name, timeline in timelines.items()}
    lengths = np.array([window.n_rows for window in next(iter(timelines.values())).windows(MAX_BATCHES)])
    means = {name: float(each @ lengths / lengths.sum()) for name, each in errors.items()}
    order = sorted(means, key=lambda name: means[name])
    pairs = [(better, worse) for k, better in enumerate(order) for worse in order[k + 1 :]]
    tests = {(a, b): paired_test(errors[b] - errors[a], lengths, len(pairs)) for a, b in pairs}
    corrected = _holm({pair: test.p for pair, test in tests.items() if test is not None})
    return [
        Comparison(
            name,
            rank=float(np.mean([k for k, other in enumerate(order, 1) if means[other] == means[name]])),
            error=means[name],
            behind=means[name] - means[order[0]],
            low=None if (test := tests.get((order[0], name))) is None else test.low,
            high=None if test is None else test.high,
            p=corrected.get((order[0], name)),
        )
        for name in order
    ]


def _errors(timeline: Timeline) -> Vector:
    return np.array([window.error for window in timeline.windows(MAX_BATCHES)])


class _Test(NamedTuple):
    low: float
    high: float
    p: float


def paired_test(differences: Vector, lengths: Labels, n_pairs: int) -> _Test | None:
    """Test whether the mean difference is 0; None with too few batches, or if only the last, short one differs.

    If batches are correlated as in an autoregression with the correlation r of neighbours, n of them are worth
    n(1 - r)/(1 + r) independent ones.
    """
    whole = differences[lengths == lengths[0]]
    n = len(whole)
    if n < MIN_BATCHES:
        return None
    mean, spread = float(differences @ lengths / lengths.sum()), float(whole.std(ddof=1))
    if spread == 0.0:
        agrees = math.isclose(mean, whole[0], rel_tol=1e-9, abs_tol=1e-12)
        return _Test(mean, mean, 1.0 if mean == 0.0 else 0.0) if agrees else None
    centred = whole - whole.mean()
    # The estimate of a correlation from n values is too small by about (1 + 3r)/n.
    r = float(centred[1:] @ centred[:-1] / (centred @ centred))
    r = min(max(r + (1.0 + 3.0 * max(r, 0.0)) / n, 0.0), 0.9)
    worth = max(n * (1.0 - r) / (1.0 + r), 2.0)
    error = float(spread / np.sqrt(worth))
    reach = float(student.isf(0.025 / n_pairs, worth - 1.0)) * error
    return _Test(mean - reach, mean + reach, float(2.0 * student.sf(abs(mean) / error, worth - 1.0)))


def _holm(values: Mapping[K, float]) -> dict[K, float]:
    """Return p-values corrected for their number by Holm's method.

    Examples
    --------
    >>> _holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    corrected: dict[K, float] = {}
    largest = 0.0
    for k, (name, p) in enumerate(sorted(values.items(), key=lambda entry: entry[1])):
        largest = max(largest, min(1.0, (len(values) - k) * p))
        corrected[name] = largest
    return corrected
