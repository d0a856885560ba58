"""Raw columns made finite and comparable: missing values filled, columns scaled."""

import numpy as np

from driftline.errors import DataError
from driftline.kernels.moments import welford
from driftline.types import Matrix, State, Vector

STATISTICS = ("count", "mean", "squares", "low", "high", "missing")


class Columns:
    """Running statistics of the raw columns, and what is done with them.

    Parameters
    ----------
    scaling : {"running", "file", "none"}
        "running" standardises an instance with the mean and standard deviation of all instances so far and
        itself. "file" maps the range of the first block of rows to [0, 1]: given a whole file at once, that
        is the look into the future of the authors' experiments. "none" leaves the columns alone.

    Notes
    -----
    A missing value (NaN) is replaced by the mean of its column so far, and counted; before its column has a
    value, by 0 (with "file" scaling, by the low end of its range).

    Examples
    --------
    >>> import numpy as np
    >>> columns = Columns("none")
    >>> columns.start(np.zeros((1, 2)))
    >>> columns.observe(np.array([1.0, 10.0])); columns.observe(np.array([3.0, np.nan]))
    >>> columns.prepare(np.array([[np.nan, np.nan]]))
    array([[ 2., 10.]])
    >>> columns.n_missing
    1
    """

    def __init__(self, scaling: str) -> None:
        self._scaling = scaling

    def start(self, X: Matrix) -> None:
        """Begin with no statistics; X is the first block of rows, whose range "file" scaling uses."""
        p = X.shape[1]
        self._count, self._mean, self._squares = np.zeros(p), np.zeros(p), np.zeros(p)
        self._missing = np.zeros(1)
        self._low, self._high = np.zeros(p), np.ones(p)
        if self._scaling == "file":
            if len(X) == 1:
                raise DataError(
                    'scaling="file" takes the range of the columns from the first block of rows, and it has one row; '
                    'hand in more rows at the first call, or choose scaling="running"'
                )
            low = np.where(np.isnan(X), np.inf, X).min(axis=0)
            high = np.where(np.isnan(X), -np.inf, X).max(axis=0)
            usable = low < high  # a column that is constant or missing throughout is left alone
            self._low, self._high = np.where(usable, low, 0.0), np.where(usable, high, 1.0)

    @property
    def n_missing(self) -> int:
        """Number of values replaced so far."""
        return int(self._missing[0])

    def prepare(self, X: Matrix) -> Matrix:
        """Return the rows of X filled and scaled; changes nothing."""
        filled = np.where(np.isnan(X), np.where(self._count > 0, self._mean, self._low), X)
        if self._scaling == "running":
            return self._standardise(filled)
        if self._scaling == "file":
            return (filled - self._low) / (self._high - self._low)
        return filled

    def _standardise(self, X: Matrix) -> Matrix:
        # Each row is judged by the statistics that include it: finite from the first row on, and
        # |z| ≤ √count however wild the row.
        shift = X - self._mean
        deviation = shift * self._count / (self._count + 1)
        variance = (self._squares + shift * deviation) / (self._count + 1)
        return deviation / np.sqrt(np.where(variance > 0, variance, 1.0))

    def observe(self, x: Vector) -> None:
        """Take one raw row into the statistics."""
        self._missing[0] += welford(x, self._count, self._mean, self._squares)

    def state(self) -> State:
        """Return the arrays that a continuation needs."""
        return {name: getattr(self, f"_{name}") for name in STATISTICS}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        for name in STATISTICS:
            setattr(self, f"_{name}", state[name].astype(np.float64))
