"""A test of the difference between two classifiers, from what each batch of a stream contributes to it."""

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from driftline.types import Indices, Vector

MIN_BATCHES = 10
"""Number of batches from which on differences are tested."""
SIGNIFICANCE = 0.05
"""Probability with which any of the intervals may fail to contain its difference."""


class DifferenceTest(NamedTuple):
    """An interval for a difference, and the p-value of the same test; both allow for the number of pairs."""

    low: float
    high: float
    p: float


def jackknife(difference: float, without: Vector, lengths: Indices) -> Vector:
    """Return what each batch contributes to a difference: ``n/m (θ - θ₋) + θ₋`` for a batch of m of n rows.

    θ is the difference for all rows, and θ₋ without those of the batch. If θ is a mean over rows, the contribution is
    the mean over the batch.

    Parameters
    ----------
    difference : float
        The difference for all rows.
    without : ndarray of shape (n_batches,)
        The difference without the rows of each batch.
    lengths : ndarray of shape (n_batches,)
        Number of rows in each batch.

    Returns
    -------
    ndarray of shape (n_batches,)
        The contributions.

    Examples
    --------
    >>> import numpy as np
    >>> batches = np.array([0.3, 0.1, 0.2])
    >>> jackknife(batches.mean(), (batches.sum() - batches) / 2, np.array([50, 50, 50])).round(9)
    array([0.3, 0.1, 0.2])
    """
    contributions: Vector = lengths.sum() / lengths * (difference - without) + without
    return contributions


def student_test(
    difference: float, contributions: Vector, lengths: Indices, n_pairs: int, largest: float = math.inf
) -> DifferenceTest | None:
    """Test whether a difference is 0; the interval excludes 0 if and only if the p-value is below 0.05.

    Both are of Student's test, with Bonferroni's correction for the number of pairs. The last batch is left out of the
    variance if it is shorter. If batches are correlated as in an autoregression with the correlation r of neighbours, n
    of them are worth n(1 - r)/(1 + r) independent ones.

    Parameters
    ----------
    difference : float
        The difference for all rows.
    contributions : ndarray of shape (n_batches,)
        What each batch contributes to it; see `jackknife`.
    lengths : ndarray of shape (n_batches,)
        Number of rows in each batch; all but the last are equal.
    n_pairs : int
        Number of pairs of classifiers.
    largest : float, default=inf
        Largest size that a difference can have, such as 1 for shares; the interval ends there.

    Returns
    -------
    DifferenceTest or None
        None if there are too few batches, if the difference is undefined without one of them, or if only the last,
        short one differs.
    """
    whole = contributions[lengths == lengths[0]]
    n = len(whole)
    if n < MIN_BATCHES or np.isnan(whole).any() or math.isnan(difference):
        return None
    spread = float(whole.std(ddof=1))
    if spread <= 1e-12 * max(1.0, abs(difference)):
        agrees = math.isclose(difference, whole[0], rel_tol=1e-9, abs_tol=1e-12)
        is_equal = math.isclose(difference, 0.0, abs_tol=1e-12)
        exact = DifferenceTest(0.0, 0.0, 1.0) if is_equal else DifferenceTest(difference, difference, 0.0)
        return exact if agrees else None
    centred = whole - whole.mean()
    # The estimate of a correlation from n values is too small by about (1 + 3r)/n.
    r = float(centred[1:] @ centred[:-1] / (centred @ centred))
    r = min(max(r + (1.0 + 3.0 * max(r, 0.0)) / n, 0.0), 0.9)
    worth = max(n * (1.0 - r) / (1.0 + r), 2.0)
    error = spread / math.sqrt(worth)
    reach = float(student.isf(0.5 * SIGNIFICANCE / n_pairs, worth - 1.0)) * error
    p = n_pairs * 2.0 * float(student.sf(abs(difference) / error, worth - 1.0))
    return DifferenceTest(max(difference - reach, -largest), min(difference + reach, largest), min(p, 1.0))
