"""Comparison of the mean score before and after each window, in standard errors that allow for correlated rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammainc, gammaincinv, stdtrit

from driftline.evaluation.change_scores import Scores
from driftline.types import Flags, Labels, Matrix, Vector

MIN_VALUES = 8
"""Number of values from which on a mean is compared."""
MIN_BATCHES = 8
"""Number of batches from which the variance of their means is estimated."""
MIN_BATCH_VALUES = 4
"""Number of values from which on the mean of a batch is used for that."""
TRIMMED_SHARE, MAX_TRIMMED = 0.4, 24
"""The largest squared differences between batches are left out: at most this share, and at most this number.
Each sharp change makes about two of them large, as batches begin at two places each."""
LONGER = 1
"""The variance is estimated from batches of up to 2 to this power times as many windows as are compared."""
LIGHT_TAILS = 1.9
"""Scores within so many standard deviations have means that are normal enough; this is true of ranks."""
MIN_VARIANCE_SHARE = 1.0 / 16.0
"""The variance counts as at least this share of that over the whole stream, which includes all changes."""


def comparison_lengths(n_windows: int) -> list[int]:
    """Return the numbers of windows over which means are compared: powers of two, to half of all windows.

    Examples
    --------
    >>> comparison_lengths(40), comparison_lengths(1)
    ([1, 2, 4, 8, 16], [])
    """
    return [2**k for k in range(n_windows.bit_length()) if 2 ** (k + 1) <= n_windows]


@dataclass(frozen=True, eq=False)
class ChangeSeries:
    """Scores by window, and how much their means vary if nothing changes.

    Attributes
    ----------
    scores : Scores
        The scores.
    level : float
        Probability of each single comparison to be significant by chance.
    changes : sequence of int
        Numbers of windows before changes that are known already. They do not count for the variance.
    """

    scores: Scores
    level: float
    changes: Sequence[int] = ()

    @cached_property
    def sums(self) -> Matrix:
        """Sum of the scores in the first windows, of shape (n_windows + 1, n_cells)."""
        return _cumulative(self.scores.sums)

    @cached_property
    def counts(self) -> Matrix:
        """Number of scores in the first windows, of shape (n_windows + 1, n_cells)."""
        return _cumulative(self.scores.counts)

    @cached_property
    def variances(self) -> dict[int, Vector]:
        """By the number of windows compared, n times the variance of the mean of n scores.

        It is the largest of: the variance within windows, and that between batches of up to twice as many windows.
        If rows are correlated, or swing slowly, it is larger for longer batches. NaN with too few values.
        """
        n_windows = len(self.scores.sums)
        lengths = comparison_lengths(n_windows)
        variance, variances = np.full(len(self.scores.kinds), np.nan), {}
        floor = np.maximum(self._within_windows, MIN_VARIANCE_SHARE * self.overall_variance)
        for length in lengths:
            if n_windows // length >= MIN_BATCHES:
                variance = np.fmax(variance, self._between_batches(length))
            variances[length] = np.where(np.isnan(variance), np.nan, np.fmax(variance, floor))
        return {length: variances[lengths[min(k + LONGER, len(lengths) - 1)]] for k, length in enumerate(lengths)}

    def _between_batches(self, length: int) -> Vector:
        """Return n times the variance of the mean of n scores, from differences between neighbouring batches."""
        differences, spans_change = [], []
        for first in {0, length // 2}:
            ends = np.arange(first, len(self.sums), length)
            counts = np.diff(self.counts[ends], axis=0)
            with np.errstate(invalid="ignore", divide="ignore"):
                means, precision = np.diff(self.sums[ends], axis=0) / counts, 1.0 / counts
                scaled = np.diff(means, axis=0) ** 2 / (precision[1:] + precision[:-1])
            enough = (counts >= MIN_BATCH_VALUES)[1:] & (counts >= MIN_BATCH_VALUES)[:-1]
            differences.append(np.where(enough, scaled, np.nan))
            inside = [(ends[:-2] < change) & (change < ends[2:]) for change in self.changes]
            spans_change.append(np.any(inside, axis=0) if inside else np.zeros(len(scaled), bool))
        squares, spans = np.concatenate(differences), np.concatenate(spans_change)
        without = trimmed_means(np.where(spans[:, np.newaxis], np.nan, squares)) if spans.any() else np.array(np.nan)
        return np.fmin(trimmed_means(squares), without)

    @cached_property
    def _squares_within(self) -> tuple[Matrix, Matrix]:
        """Sum of squares around the means of single windows, over the first windows, and its degrees of freedom."""
        counts = self.scores.counts
        squares = self.scores.squares - self.scores.sums**2 / np.maximum(counts, 1.0)
        return _cumulative(np.maximum(squares, 0.0)), _cumulative(np.maximum(counts - 1.0, 0.0))

    @cached_property
    def _within_windows(self) -> Vector:
        """The variance of scores within windows; 0 if no window has two."""
        squares, degrees = self._squares_within
        variance: Vector = squares[-1] / np.maximum(degrees[-1], 1.0)
        return variance

    def _unrest(self, first: Labels, end: Labels) -> Matrix:
        """Return how many times larger than in all windows the variance is within some of them; at least 1."""
        squares, degrees = (each[end] - each[first] for each in self._squares_within)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = squares / degrees / self._within_windows
        return np.where((degrees >= MIN_BATCH_VALUES) & np.isfinite(ratios), np.maximum(ratios, 1.0), 1.0)

    @cached_property
    def critical_values(self) -> dict[int, Vector]:
        """By the number of windows compared, the standard errors from which on a difference is significant.

        They are those of Student's t. Its degrees of freedom are the number of windows, divided by the factor by which
        correlation between windows makes the variance of a mean larger.
        """
        counts = self.scores.counts
        means = self.scores.sums.sum(axis=0) / np.maximum(counts.sum(axis=0), 1.0)
        number = np.maximum((counts > 0.0).sum(axis=0), 1)
        squares = (self.scores.sums - counts * means) ** 2 / np.maximum(counts, 1.0)
        between = squares.sum(axis=0) / number
        values = {}
        for length, variance in self.variances.items():
            with np.errstate(invalid="ignore", divide="ignore"):
                worth = number * np.fmin(between / variance, 1.0)
            values[length] = -stdtrit(np.fmax(worth - 1.0, 1.0), self.level)
        return values

    @cached_property
    def overall_variance(self) -> Vector:
        """The variance of scores over the whole stream."""
        scores = self.scores
        counts = np.maximum(scores.counts.sum(axis=0), 1.0)
        variance: Vector = scores.squares.sum(axis=0) / counts - (scores.sums.sum(axis=0) / counts) ** 2
        return np.maximum(variance, 0.0)

    @cached_property
    def skew_weights(self) -> Vector:
        """The ranges of scores that are skewed, such as those of rare events; 0 of others."""
        is_skewed = self.scores.largest > LIGHT_TAILS * np.sqrt(self.overall_variance)
        return np.where(is_skewed, self.scores.ranges, 0.0)

    def compare(self, t: Labels, length: int) -> tuple[Matrix, Matrix]:
        """Compare the means over `length` windows before and after the first t windows.

        Parameters
        ----------
        t : ndarray of shape (n_places,)
            Numbers of windows before the places.
        length : int
            Number of windows on each side.

        Returns
        -------
        z, ratios : ndarray of shape (n_places, n_cells)
            The differences in standard errors, and their absolute values in critical values; both 0 with too few
            values. The standard error is larger where scores vary more than elsewhere, and has an allowance for skewed
            scores, such as rare events, by Bernstein's inequality.
        """
        before, n_before = self.means(t - length, t)
        after, n_after = self.means(t, t + length)
        variance, weight = self.variances[length], self.skew_weights
        with np.errstate(invalid="ignore", divide="ignore"):
            shift = after - before
            allowance = weight / np.minimum(n_before, n_after) * np.abs(shift) / 3.0
            weights = self._unrest(t - length, t) / n_before + self._unrest(t, t + length) / n_after
            z = shift / np.sqrt(variance * weights + allowance)
        enough: Flags = (n_before >= MIN_VALUES) & (n_after >= MIN_VALUES) & np.isfinite(z)
        z = np.where(enough, z, 0.0)
        return z, np.abs(z) / self.critical_values[length]

    def means(self, first: Labels, end: Labels) -> tuple[Matrix, Matrix]:
        """Return mean scores over several windows, and how many scores these are.

        Parameters
        ----------
        first, end : ndarray of shape (n_places,)
            Numbers of the first windows, and of those after the last ones.

        Returns
        -------
        means, counts : ndarray of shape (n_places, n_cells)
            The mean is NaN where there are no scores.
        """
        counts = self.counts[end] - self.counts[first]
        with np.errstate(invalid="ignore", divide="ignore"):
            return (self.sums[end] - self.sums[first]) / counts, counts


def trimmed_means(squares: Matrix) -> Vector:
    """Return the mean of squares of normal values in each column, estimated without the largest ones.

    Parameters
    ----------
    squares : ndarray of shape (n_values, n_columns)
        The squares; NaN is ignored.

    Returns
    -------
    ndarray of shape (n_columns,)
        NaN with fewer than seven squares. At most 40 % and at most 24 are left out, and the mean of the others is
        divided by what it is for normal values with the variance 1.
    """
    number = np.isfinite(squares).sum(axis=0)
    n_trimmed = np.minimum((TRIMMED_SHARE * number).astype(int), MAX_TRIMMED)
    kept = np.arange(len(squares))[:, np.newaxis] < number - n_trimmed
    total = np.where(kept, np.sort(squares, axis=0), 0.0).sum(axis=0)
    share = n_trimmed / np.maximum(number, 1)
    normal = gammainc(1.5, gammaincinv(0.5, 1.0 - share))  # of the mean of squares, the part that these make up
    means: Vector = np.where(number >= MIN_BATCHES - 1, total / np.maximum(number, 1) / normal, np.nan)
    return means


def _cumulative(values: Matrix) -> Matrix:
    """Return cumulative sums that begin with 0."""
    return np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
