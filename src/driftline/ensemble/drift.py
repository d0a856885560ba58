"""Which class means are moving: a table made from the filters that follow them."""

import numpy as np

from driftline.kernels.filter_bank import FilterBank
from driftline.types import LabelArray, Vector


def drift_table(
    ladder: FilterBank, labels: LabelArray, features: list[str], origin: Vector
) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return a row for each class and feature, the most surprising first.

    Parameters
    ----------
    ladder : FilterBank
        The filters.
    labels : ndarray
        The classes.
    features : list of str
        Names of the components.
    origin : ndarray
        What the components are counted from.

    Returns
    -------
    structured ndarray
        With the fields of `AMRC.drift`.
    """
    c, d = ladder.variance.shape
    width = max(map(len, features))
    kinds = [("label", labels.dtype), ("feature", f"<U{width}")]
    figures = ("mean", "mean_error", "rate", "rate_error", "surprise")
    table = np.zeros((c, d), dtype=[*kinds, *((name, float) for name in figures)])
    table["label"] = labels[:, None]
    table["feature"] = np.array(features)
    mean, table["mean_error"] = _means(ladder)
    table["mean"] = origin + mean
    table["rate"], table["rate_error"] = _rates(ladder)
    table["surprise"] = _surprise(ladder)
    known = table[ladder.n_rows > 0.0].ravel()
    return known[np.argsort(-known["surprise"], kind="stable")]


def _means(ladder: FilterBank) -> tuple[Vector, Vector]:
    """Return the class means as of the last row of each class, and their standard errors if a filter is right."""
    mean = np.sum(ladder.weight * ladder.level, axis=0)
    variance = _level_variances(ladder)[:, None, None] * ladder.variance
    return mean, _spread(ladder.weight, ladder.level - mean, variance)


def _spread(share: Vector, deviations: Vector, variances: Vector) -> Vector:
    """Return the deviation of a mixture of estimates: of each of them, and between them."""
    spread: Vector = np.sqrt(np.sum(share * (variances + deviations**2), axis=0))
    return spread


def _discounts(ladder: FilterBank) -> Vector:
    """Return what each filter keeps of the past from one row of a class to the next."""
    level, rate = ladder.gains
    discounts: Vector = np.where(rate > 0.0, 1.0 - np.sqrt(rate), 1.0 - level)
    return discounts


def _level_variances(ladder: FilterBank) -> Vector:
    """Return the variance of each filter's level, for observations of variance 1 and a mean that it can follow."""
    theta = _discounts(ladder)
    flat = (1.0 - theta) / (1.0 + theta)
    straight = (1.0 - theta) * (1.0 + 4.0 * theta + 5.0 * theta**2) / (1.0 + theta) ** 3
    variances: Vector = np.where(ladder.gains[1] > 0.0, straight, flat)
    return variances


def _rates(ladder: FilterBank) -> tuple[Vector, Vector]:
    """Return the rates of change of the filters that have one, weighed by their shares, and the standard errors."""
    follows = ladder.gains[1] > 0.0
    if not follows.any():
        nothing = np.full(ladder.variance.shape, np.nan)
        return nothing, nothing
    share = ladder.weight[follows] + np.finfo(float).tiny
    share /= share.sum(axis=0)
    theta = _discounts(ladder)[follows][:, None, None]
    # The filters count in rows of their class, not in time.
    inverse = np.where(ladder.mean_inverse_squared_gap > 0.0, ladder.mean_inverse_squared_gap, np.nan)[:, None]
    variance = 2.0 * (1.0 - theta) ** 3 / (1.0 + theta) ** 3 * ladder.variance * inverse
    rate = np.sum(share * ladder.rate[follows], axis=0)
    return rate, _spread(share, ladder.rate[follows] - rate, variance)


def _surprise(ladder: FilterBank) -> Vector:
    """Return by how much the best filter forecast better than the one of longest memory, in standard deviations."""
    slowest = int(np.argmin(ladder.gains[0]))
    evidence = ladder.log_weight.max(axis=0) - ladder.log_weight[slowest]
    surprise: Vector = np.sqrt(2.0 * np.maximum(evidence, 0.0))
    return surprise
