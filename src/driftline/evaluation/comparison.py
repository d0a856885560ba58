"""Several classifiers on the same stream: ranks, and whether differences are more than chance."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from driftline.errors import ConfigError
from driftline.evaluation.course import Course

MOST_BATCHES = 40
"""Batches that a stream is cut into: few, so that mistakes of different ones hardly go together."""
LEAST_BATCHES = 10


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
        Confidence interval of that, at 95 %; None for the best, and where the stream is too short.
    p
        How probable it would be to see the best so far ahead, or behind, if both erred equally often; corrected for the
        number of comparisons (Holm). None as above.
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
    test.

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
    best = order[0]
    tests = {name: _test(errors[name] - errors[best], lengths) for name in order[1:]}
    corrected = _holm({name: p for name, (_, _, p) in tests.items() if p is not None})
    return [
        Comparison(
            name,
            rank=float(np.mean([k for k, other in enumerate(order, 1) if means[other] == means[name]])),
            error=means[name],
            behind=means[name] - means[best],
            low=tests[name][0] if name in tests else None,
            high=tests[name][1] if name in tests else None,
            p=corrected.get(name),
        )
        for name in order
    ]


def _errors(course: Course) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([window.mistakes / window.n_rows for window in course.windows(MOST_BATCHES)])


def _test(
    differences: np.ndarray[tuple[int], np.dtype[np.float64]], lengths: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> tuple[float | None, float | None, float | None]:
    """Return the ends of the interval of the mean difference, and its p-value; None if there are too few batches."""
    whole = lengths == lengths[0]
    n = int(whole.sum())
    if n < LEAST_BATCHES:
        return None, None, None
    mean = float(differences @ lengths / lengths.sum())
    error = float(differences[whole].std(ddof=1)) / np.sqrt(n)
    if error == 0.0:
        return mean, mean, 1.0 if mean == 0.0 else 0.0
    reach = float(student.ppf(0.975, n - 1)) * error
    return mean - reach, mean + reach, float(2.0 * student.sf(abs(mean) / error, n - 1))


def _holm(values: Mapping[str, float]) -> dict[str, float]:
    """Return p-values corrected for how many there are.

    Examples
    --------
    >>> _holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    corrected: dict[str, float] = {}
    largest = 0.0
    for k, (name, p) in enumerate(sorted(values.items(), key=lambda entry: entry[1])):
        largest = max(largest, min(1.0, (len(values) - k) * p))
        corrected[name] = largest
    return corrected
