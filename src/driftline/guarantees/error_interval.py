"""The error of some rows, with an interval that is valid at all times at once."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftline.core.schema import MOST_COUNTED
from driftline.errors import ConfigError
from driftline.kernels.error_interval import error_limits
from driftline.utils.validation import real_number


@dataclass(frozen=True, slots=True)
class ErrorInterval:
    """The error of some rows, with limits.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    n_wrong : int
        Number of rows whose predicted label was wrong.
    low, high : float
        Limits of the mean, over these rows, of the probability that the prediction is wrong; 0 and 1 without rows.
    delta : float
        Probability that the limits ever fail.
    """

    n_rows: int
    n_wrong: int
    low: float
    high: float
    delta: float

    @property
    def error(self) -> float:
        """Share of the rows that were predicted wrongly; NaN without rows."""
        return self.n_wrong / self.n_rows if self.n_rows else math.nan

    def __str__(self) -> str:
        """Return the error and its limits as a sentence."""
        if not self.n_rows:
            return "no rows"
        return f"{self.error:.1%} of {self.n_rows:,} rows wrong, between {self.low:.1%} and {self.high:.1%}"


def error_interval(n_rows: int, n_wrong: int, delta: float = 0.05) -> ErrorInterval:
    """Return the error of the rows so far, with limits that may be looked at after every row.

    Let m_t be 1 if the label predicted at step t was wrong, else 0, and r_t the probability of m_t = 1 given all that
    happened before. With probability at least 1 - delta, the mean of r_1, …, r_n lies between the limits at all n at
    once. The stream may be anything, also one whose labels react to the predictions. It may therefore be looked at
    at any time, and one may stop when one likes.

    Parameters
    ----------
    n_rows : int
        Number of rows so far, up to 2⁵³.
    n_wrong : int
        Number of rows predicted wrongly.
    delta : float, default=0.05
        Probability that the limits ever fail, between 0 and 1.

    Returns
    -------
    ErrorInterval
        The error and its limits.

    Notes
    -----
    The limits are found by betting: see ``driftline.kernels.error_interval`` for the proof. Each of the two limits
    fails with probability at most delta/2. Their distance is of the order of √(log log n / n), the smallest possible
    for limits that hold at all times.

    Examples
    --------
    >>> interval = error_interval(n_rows=1000, n_wrong=90)
    >>> interval.error, round(interval.low, 3), round(interval.high, 3)
    (0.09, 0.061, 0.126)
    >>> print(interval)
    9.0% of 1,000 rows wrong, between 6.1% and 12.6%
    """
    rows = checked_count("n_rows", n_rows, int(MOST_COUNTED))
    return interval_with_share(rows, checked_count("n_wrong", n_wrong, rows), delta, 1.0)


def checked_count(name: str, value: Any, at_most: int) -> int:
    """Return a whole number from 0 up as an int; raise ConfigError if it is not one, or is too large.

    Parameters
    ----------
    name : str
        Name of the number, for the error message.
    value : object
        The number.
    at_most : int
        The largest number allowed.

    Returns
    -------
    int
        The number.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= at_most:
        raise ConfigError(f"{name} must be a whole number from 0 to {at_most}; got {value!r}")
    return int(value)


def interval_with_share(n_rows: int, n_wrong: int, delta: float, share: float) -> ErrorInterval:
    """Return the error of some rows, with limits that fail with probability at most share·delta.

    Parameters
    ----------
    n_rows, n_wrong : int
        Numbers of rows and of mistakes.
    delta : float
        Probability that any of several such limits ever fails.
    share : float
        The share of delta that these limits have, up to 1.

    Returns
    -------
    ErrorInterval
        The error and its limits.
    """
    delta = real_number("delta", delta, above=0.0, below=1.0)
    if n_rows == 0:
        return ErrorInterval(0, 0, 0.0, 1.0, delta)
    log_limit = math.log(2.0) - math.log(delta) - math.log(share)
    low, high = error_limits(float(n_rows), float(n_wrong), log_limit)
    return ErrorInterval(n_rows, n_wrong, low, high, delta)
