"""Areas under the ROC and the precision-recall curve, from counts of scores in bins, with the error of the counting."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import digamma

from driftline.types import Flags, Indices, Vector

MAX_BINS = 1024
"""Number of bins of scores while there are few classes: a power of two."""
LARGEST_LOG_ODDS = 16.0
"""The inner edges of the bins are uniform in log-odds between minus and plus this number."""
EDGES: Vector = 1.0 / (1.0 + np.exp(-np.linspace(-LARGEST_LOG_ODDS, LARGEST_LOG_ODDS, MAX_BINS + 1)[1:-1]))
"""The inner edges of the bins, as probabilities."""


@dataclass(frozen=True, slots=True)
class RankingFigures:
    """How well scores order the rows of a class before the others.

    Attributes
    ----------
    roc_auc, roc_auc_error
        Area under the ROC curve, and how far it can be from that of the scores themselves, at most.
    average_precision, average_precision_error
        Area under the precision-recall curve, as the sum of precisions weighted by the steps of recall, and how far it
        can be from that of the scores themselves, at most.
    """

    roc_auc: float
    roc_auc_error: float
    average_precision: float
    average_precision_error: float


def bins_of(scores: Vector) -> Indices:
    """Return the bin of each score, from 0 to 1023; a larger score never has a smaller bin."""
    return np.searchsorted(EDGES, scores, side="right")


def ranking_figures(negatives: Indices, positives: Indices, is_tie: Flags) -> RankingFigures | None:
    """Return the areas under both curves, as the middle between the smallest and largest possible value.

    Scores in different bins are in order; those in one bin can be in any order, or equal. For P positive and N negative
    rows, with T positive and F negative ones in higher bins and p and n in this bin:

    - Each pair of a positive and a negative row counts 1 in the area under the ROC curve if the positive one has the
      larger score, and 1/2 if scores are equal. Pairs in one bin count between 0 and 1 each.
    - The precision at a positive row is at most ``(T + p) / (T + p + F)``, if all positive rows in the bin have the
      same score, above that of the negative ones. For the i-th of the bin it is at least
      ``(T + i) / (T + i + F + n)``, if all negative ones are above it.

    A bin in which all scores are equal has one value only: pairs count 1/2, and the precision is
    ``(T + p) / (T + p + F + n)``.

    Parameters
    ----------
    negatives, positives : ndarray of shape (n_bins,)
        Number of rows in each bin, those of other classes and those of the class.
    is_tie : ndarray of bool, of shape (n_bins,)
        Whether all scores in the bin are equal.

    Returns
    -------
    RankingFigures or None
        None if there are no positive or no negative rows.

    Examples
    --------
    >>> import numpy as np
    >>> negatives, positives = np.array([8, 1, 0]), np.array([0, 1, 2])
    >>> ranking_figures(negatives, positives, np.array([False, True, True]))
    RankingFigures(roc_auc=0.981..., roc_auc_error=0.0, average_precision=0.916..., average_precision_error=0.0)
    """
    used = np.flatnonzero(positives + negatives)[::-1]
    n, p = (counts[used].astype(np.float64) for counts in (negatives, positives))
    total_n, total_p = n.sum(), p.sum()
    if not total_n or not total_p:
        return None
    above_n, above_p = np.cumsum(n) - n, np.cumsum(p) - p
    pairs_below = p @ (total_n - above_n - n)
    doubtful = p @ np.where(is_tie[used], 0.0, n)
    roc_auc = (pairs_below + 0.5 * (p @ n)) / (total_n * total_p)
    has_tied_value = is_tie[used] | (n == 0.0) & (p <= 1.0) | (p == 0.0)
    tied = p * (above_p + p) / (above_p + p + above_n + n)
    high = np.where(has_tied_value, tied, p * (above_p + p) / np.maximum(above_p + p + above_n, 1.0))
    others = above_n + n
    low = p - others * (digamma(above_p + p + others + 1.0) - digamma(above_p + others + 1.0))
    low = np.where(has_tied_value, tied, np.minimum(low, high))
    return RankingFigures(
        roc_auc=float(roc_auc),
        roc_auc_error=float(0.5 * doubtful / (total_n * total_p)),
        average_precision=float((low + high).sum() / (2.0 * total_p)),
        average_precision_error=float((high - low).sum() / (2.0 * total_p)),
    )


class RankingCurve(NamedTuple):
    """What predicting a class wherever its probability exceeds a threshold leads to, from high thresholds to low ones.

    Attributes
    ----------
    thresholds : ndarray of shape (n_points,)
        The thresholds: lower edges of bins of probabilities.
    false_positive_rates, recalls, precisions : ndarray of shape (n_points,)
        Share of the rows of other classes, and of the rows of the class, that are predicted to be of the class; and
        the share of right ones among these predictions.
    """

    thresholds: Vector
    false_positive_rates: Vector
    recalls: Vector
    precisions: Vector


def ranking_curve(negatives: Indices, positives: Indices) -> RankingCurve | None:
    """Return the points of the ROC and the precision-recall curve.

    Parameters
    ----------
    negatives, positives : ndarray of shape (n_bins,)
        Number of rows in each bin, those of other classes and those of the class.

    Returns
    -------
    RankingCurve or None
        None if there are no positive or no negative rows. A straight line between points of the ROC curve is right if
        rows in one bin are in random order.

    Examples
    --------
    >>> import numpy as np
    >>> curve = ranking_curve(np.array([8, 2, 0, 0]), np.array([0, 1, 0, 3]))
    >>> curve.recalls, curve.precisions
    (array([0.75, 1.  , 1.  ]), array([1.        , 0.66666667, 0.28571429]))
    """
    used = np.flatnonzero(positives + negatives)[::-1]
    n, p = (np.cumsum(counts[used], dtype=np.float64) for counts in (negatives, positives))
    if not used.size or not n[-1] or not p[-1]:
        return None
    lower_edges = np.concatenate([[0.0], EDGES[MAX_BINS // len(negatives) - 1 :: MAX_BINS // len(negatives)]])
    return RankingCurve(lower_edges[used], n / n[-1], p / p[-1], p / (p + n))
