"""Raw columns by their running statistics, a row at a time."""

import numpy as np

from driftline.kernels.representation import EARLY_VALUES, fill_and_scale
from driftline.types import Matrix, State

STATISTICS = ("count", "mean", "squares", "is_binary", "missing", "early")


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

    def __init__(self, n_columns: int, *, standardises: bool) -> None:
        self._standardises = standardises
        self._n_begun = n_columns
        self._count, self._mean, self._squares = np.zeros(n_columns), np.zeros(n_columns), np.zeros(n_columns)
        self._is_binary = np.ones(n_columns)  # as long as nothing but 0 and 1 was seen
        self._missing = np.zeros(1)
        self._early = np.zeros((EARLY_VALUES, n_columns))

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
        return {name: getattr(self, f"_{name}") for name in STATISTICS}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        for name in STATISTICS:
            setattr(self, f"_{name}", state[name].astype(np.float64))
