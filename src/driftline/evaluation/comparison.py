"""Several classifiers on the same stream: ranks, and whether differences are more than chance."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.stats import t as student

from driftline.errors import ConfigError
from driftline.evaluation.course import Course
from driftline.types import Labels, Vector

MOST_BATCHES = 40
"""Batches that a stream is cut into: few, so that mistakes of different ones hardly go together."""
LEAST_BATCHES = 10

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A classifier among others.

    Attributes
    ----------
    name
        What it is called.
    rank
        1 for the smallest error; equal errors share the mean of their ranks.
    error
        Share of wrong predictions.
    behind
        By how much its error is larger than the best one's.
    low, high
        Confidence interval of that, at 95 % for all pairs of classifiers together; None for the best, and where the
        stream is too short.
    p
        How probable it would be to see two as far apart if both erred equally often; corrected for the number of pairs
        (Holm), as the best is known only afterwards. None as above.
    """

    name: str
    rank: float
    error: float
    behind: float
    low: float | None
    high: float | None
    p: float | None


def compare(courses: Mapping[str, Course]) -> list[Comparison]:
    """Rank classifiers by their errors on the same rows, and compare each with the best.

    Errors of neighbouring rows go together, so that single rows are no independent trials. The stream is cut into up
    to 40 batches; the differences of errors between two classifiers, batch by batch, are compared with 0 by Student's
    test, which counts batches for less where neighbouring ones are alike. On streams that are short beside the times
    for which one classifier is ahead of another, no test can tell.

    Parameters
    ----------
    courses : mapping of str to Course
        The courses of their evaluations, by name.

    Returns
    -------
    list of Comparison
        The best first.

    Examples
    --------
    >>> from driftline.evaluation import Course, compare, evaluate
    >>> from driftline.registry import create
    >>> from driftline.streams import ArrayStream, RotatingGaussians
    >>> stream = ArrayStream(*RotatingGaussians().sample(1000, seed=0))
    >>> courses = {name: Course(stream.columns) for name in ("majority", "dwm")}
    >>> for name, course in courses.items():
    ...     run = evaluate(create(name), stream, course=course, progress=False)
    >>> best, other = compare(courses)
    >>> best.name, other.p < 0.001
    ('dwm', True)
    """
    if len({course.n_rows for course in courses.values()}) != 1:
        raise ConfigError("courses must be of the same rows: run all classifiers to the end of the same stream")
    errors = {name: _errors(course) for name, course in courses.items()}
    lengths = np.array([window.n_rows for window in next(iter(courses.values())).windows(MOST_BATCHES)])
    means = {name: float(each @ lengths / lengths.sum()) for name, each in errors.items()}
    order = sorted(means, key=lambda name: means[name])
    pairs = [(better, worse) for k, better in enumerate(order) for worse in order[k + 1 :]]
    tests = {(a, b): _test(errors[b] - errors[a], lengths, len(pairs)) for a, b in pairs}
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


def _errors(course: Course) -> Vector:
    return np.array([window.mistakes / window.n_rows for window in course.windows(MOST_BATCHES)])


class _Test(NamedTuple):
    low: float
    high: float
    p: float


def _test(differences: Vector, lengths: Labels, n_pairs: int) -> _Test | None:
    """Test whether the mean difference is 0; None if there are too few batches, or the last, short one alone differs.

    Where batches go together as those of an autoregression with the correlation r of neighbours, n of them are worth
    n(1 - r)/(1 + r) independent ones.
    """
    whole = differences[lengths == lengths[0]]
    n = len(whole)
    if n < LEAST_BATCHES:
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
    """Return p-values corrected for how many there are.

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
