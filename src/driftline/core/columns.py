"""Raw columns made finite and comparable: missing values filled, columns scaled."""

from typing import ClassVar

import numpy as np

from driftline.errors import DataError
from driftline.kernels.moments import welford
from driftline.kernels.representation import TRUSTED, fill_and_scale
from driftline.types import Matrix, State, Vector


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

    _kept: ClassVar[tuple[str, ...]] = ("count", "mean", "squares", "low", "high", "missing")

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
        return {name: getattr(self, f"_{name}") for name in self._kept}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        for name in self._kept:
            setattr(self, f"_{name}", state[name].astype(np.float64))


class RunningColumns:
    """Missing values filled by the mean of their column so far (0 before it has one), columns standardised.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    standardises : bool
        Whether values are counted in running deviations from the running mean, and cut off at 4; else they are left
        as they are. A value counts no more than that for the running figures either, whose memory is of 10,000
        rows; among the first ten, one that is very far from the others counts no more than that once there are ten.
        Columns that have had no other values than 0 and 1 then get half the weight of the others.

    Examples
    --------
    >>> import numpy as np
    >>> columns = RunningColumns(1, standardises=True)
    >>> columns.advance(np.array([[1.0], [3.0], [np.nan], [1e6]])).ravel().round(2)
    array([0.  , 1.  , 0.  , 1.41])
    >>> columns.n_missing
    1
    """

    _kept: ClassVar[tuple[str, ...]] = ("count", "mean", "squares", "is_binary", "missing", "early")

    def __init__(self, n_columns: int, *, standardises: bool) -> None:
        self._standardises = standardises
        self._n_begun = n_columns
        self._count, self._mean, self._squares = np.zeros(n_columns), np.zeros(n_columns), np.zeros(n_columns)
        self._is_binary = np.ones(n_columns)  # as long as nothing but 0 and 1 was seen
        self._missing = np.zeros(1)
        self._early = np.zeros((TRUSTED, n_columns))

    @property
    def n_missing(self) -> int:
        """Number of values replaced so far."""
        return int(self._missing[0])

    def prepare(self, X: Matrix) -> Matrix:
        """Return the rows as each would be prepared if it were the next; changes nothing."""
        return self._prepared(X, advances=False)

    def advance(self, X: Matrix) -> Matrix:
        """Return the rows prepared, each by the statistics up to it, which then stay."""
        return self._prepared(X, advances=True)

    def _prepared(self, X: Matrix, *, advances: bool) -> Matrix:
        statistics = self._count, self._mean, self._squares, self._is_binary, self._early
        Z, n_missing = fill_and_scale(X, *statistics, self._n_begun, self._standardises, advances)
        self._missing[0] += n_missing
        return Z

    def add_columns(self, n: int) -> None:
        """Make room for n more columns, of which nothing is known."""
        grown = (0, n)
        self._count, self._mean, self._squares = (
            np.pad(figure, grown) for figure in (self._count, self._mean, self._squares)
        )
        self._is_binary = np.pad(self._is_binary, grown, constant_values=1.0)
        self._early = np.pad(self._early, ((0, 0), grown))

    def state(self) -> State:
        """Return the arrays that a continuation needs."""
        return {name: getattr(self, f"_{name}") for name in self._kept}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        for name in self._kept:
            setattr(self, f"_{name}", state[name].astype(np.float64))
