"""The table that `AMRC.drift` returns: class means and their rates of change, from the column filters."""

import numpy as np

from driftline.kernels.filter_bank import FilterBank
from driftline.types import LabelArray, Vector
from driftline.utils.html import shortened, titled_table

MAX_SHOWN_ROWS = 20
"""Most rows that a notebook shows."""


class DriftTable(np.ndarray[tuple[int], np.dtype[np.void]]):
    """A structured array that notebooks show as a table."""

    def _repr_html_(self) -> str | None:
        names = self.dtype.names
        if not names or self.ndim != 1:  # one of its fields, or one of its rows
            return None
        shown = [[_text(value) for value in row] for row in self[:MAX_SHOWN_ROWS].tolist()]
        left_out = len(self) - len(shown)
        return titled_table("drift", shown, names, [f"{left_out:,} more rows"] if left_out else [])


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else shortened(str(value))


def drift_table(filters: FilterBank, labels: LabelArray, features: list[str], origin: Vector) -> DriftTable:
    """Return a row for each class and column, the largest surprise first.

    Parameters
    ----------
    filters : FilterBank
        The filters.
    labels : ndarray
        The classes.
    features : list of str
        Names of the columns.
    origin : ndarray
        The values that were subtracted from the columns before filtering.

    Returns
    -------
    DriftTable
        The table, with the fields that `AMRC.drift` describes.
    """
    c, d = filters.variance.shape
    width = max(map(len, features))
    kinds = [("label", labels.dtype), ("feature", f"<U{width}")]
    figures = ("mean", "mean_error", "rate", "rate_error", "surprise")
    table = np.zeros((c, d), dtype=[*kinds, *((name, float) for name in figures)])
    table["label"] = labels[:, None]
    table["feature"] = np.array(features)
    mean, table["mean_error"] = _means(filters)
    table["mean"] = origin + mean
    table["rate"], table["rate_error"] = _rates(filters)
    table["surprise"] = _surprise(filters)
    known = table[filters.n_rows > 0.0].ravel()
    return known[np.argsort(-known["surprise"], kind="stable")].view(DriftTable)


def _means(filters: FilterBank) -> tuple[Vector, Vector]:
    """Return the class means at the last row of each class, and their standard errors."""
    mean = np.sum(filters.weight * filters.level, axis=0)
    variance = _level_variances(filters)[:, None, None] * filters.variance
    return mean, _spread(filters.weight, filters.level - mean, variance)


def _spread(share: Vector, deviations: Vector, variances: Vector) -> Vector:
    """Return the standard deviation of a mixture of estimates, from their variances and their distances to its mean."""
    spread: Vector = np.sqrt(np.sum(share * (variances + deviations**2), axis=0))
    return spread


def _discounts(filters: FilterBank) -> Vector:
    """Return the factor by which each filter reduces the weight of past rows with every row of a class."""
    level, rate = filters.gains
    discounts: Vector = np.where(rate > 0.0, 1.0 - np.sqrt(rate), 1.0 - level)
    return discounts


def _level_variances(filters: FilterBank) -> Vector:
    """Return the variance of each filter's level, for observations of variance 1 and a mean of the filter's order."""
    theta = _discounts(filters)
    flat = (1.0 - theta) / (1.0 + theta)
    straight = (1.0 - theta) * (1.0 + 4.0 * theta + 5.0 * theta**2) / (1.0 + theta) ** 3
    variances: Vector = np.where(filters.gains[1] > 0.0, straight, flat)
    return variances


def _rates(filters: FilterBank) -> tuple[Vector, Vector]:
    """Return the rates of change, averaged over the filters that have one by their weights, and standard errors."""
    has_rate = filters.gains[1] > 0.0
    if not has_rate.any():
        unknown = np.full(filters.variance.shape, np.nan)
        return unknown, unknown
    share = filters.weight[has_rate] + np.finfo(float).tiny
    share /= share.sum(axis=0)
    theta = _discounts(filters)[has_rate][:, None, None]
    # The filters count in rows of their class, not in time.
    inverse = np.where(filters.mean_inverse_squared_gap > 0.0, filters.mean_inverse_squared_gap, np.nan)[:, None]
    variance = 2.0 * (1.0 - theta) ** 3 / (1.0 + theta) ** 3 * filters.variance * inverse
    rate = np.sum(share * filters.rate[has_rate], axis=0)
    return rate, _spread(share, filters.rate[has_rate] - rate, variance)


def _surprise(filters: FilterBank) -> Vector:
    """Return how much better the best filter forecast than that with the longest memory, in standard deviations."""
    slowest = int(np.argmin(filters.gains[0]))
    evidence = filters.log_weight.max(axis=0) - filters.log_weight[slowest]
    surprise: Vector = np.sqrt(2.0 * np.maximum(evidence, 0.0))
    return surprise
