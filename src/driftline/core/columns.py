"""Preparation of raw columns before they become features: missing values, scaling, codes."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from driftline.core.schema import MOST_COUNTED, ArraySpec, Schema, whole_numbers
from driftline.core.state import ArrayState, SavedPart
from driftline.errors import CheckpointError, DataError
from driftline.kernels.column_scales import FIGURE_RANGES, MEMORY_VALUES, RECENT_VALUES, new_figures
from driftline.kernels.moments import welford
from driftline.kernels.representation import EARLY_VALUES, fill_and_scale
from driftline.types import LARGEST_VALUE, Matrix, State, Vector

MAX_CODES = 1024
"""Codes of a nominal column must be below this number, which limits the memory for statistics of each code."""


class ColumnPreparer(SavedPart, Protocol):
    """Prepares raw rows; a preparer may use statistics of earlier rows."""

    @property
    def n_missing(self) -> int:
        """Number of missing values in the rows passed to `update`."""

    def prepare(self, X: Matrix) -> Matrix:
        """Return the rows, each prepared as if it were the next one; changes nothing."""

    def update(self, X: Matrix) -> Matrix:
        """Return the rows, each prepared with the statistics of the rows before it, and add them to the statistics."""


class MissingCounter(ArrayState):
    """Base class of the preparers: counts missing values."""

    _missing: Vector

    @property
    def n_missing(self) -> int:
        """Number of missing values in the rows passed to `update`."""
        return int(self._missing[0])


class RawColumns(MissingCounter):
    """Leaves columns as they are, neither scaled nor filled; missing values are counted.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    nominal : sequence of int, default=()
        Positions of columns whose numbers are codes of categories. A number there that is not a code (not whole,
        negative, or `MAX_CODES` or more) is treated as missing.

    Examples
    --------
    >>> import numpy as np
    >>> columns = RawColumns(2, nominal=[1])
    >>> columns.update(np.array([[-0.5, 3.0], [np.nan, -0.5]]))
    array([[-0.5,  3. ],
           [ nan,  nan]])
    >>> columns.n_missing
    2
    """

    def __init__(self, n_columns: int, nominal: Sequence[int] = ()) -> None:
        self._is_nominal = np.isin(np.arange(n_columns), nominal)
        self._missing = np.zeros(1, np.int64)

    def schema(self) -> Schema:
        """Return what the array must be in a file."""
        return {"missing": whole_numbers((1,))}

    def prepare(self, X: Matrix) -> Matrix:
        """Return the rows with NaN for values that are not codes; changes nothing."""
        if not self._is_nominal.any():
            return X
        is_code = (X >= 0) & (X < MAX_CODES) & (np.floor(X) == X)
        return np.where(is_code | ~self._is_nominal, X, np.nan)

    def update(self, X: Matrix) -> Matrix:
        """Return the rows with NaN for values that are not codes, and count the missing values."""
        Z = self.prepare(X)
        self._missing += np.count_nonzero(np.isnan(Z))
        return Z


class PaperColumns(MissingCounter):
    """Fills missing values and scales columns as in the paper's experiments.

    Parameters
    ----------
    scaling : {"running", "file", "none"}
        "running" standardises an instance with the mean and standard deviation of all instances so far,
        including itself. "file" maps the range of the first block of rows to [0, 1]: if that block is a whole file,
        this uses future rows, as the authors' experiments do. "none" does not scale columns.
    first_rows : ndarray of shape (n_rows, n_columns)
        The first block of rows, whose range "file" scaling uses; the other modes use only the number of columns.

    Notes
    -----
    A missing value (NaN) is replaced by the mean of its column so far, and counted; before its column has a
    value, by 0 (with "file" scaling, by the low end of its range).

    Examples
    --------
    >>> import numpy as np
    >>> columns = PaperColumns("none", np.zeros((1, 2)))
    >>> columns.update(np.array([[1.0, 10.0], [3.0, np.nan]]))
    array([[ 1., 10.],
           [ 3., 10.]])
    >>> columns.prepare(np.array([[np.nan, np.nan]]))
    array([[ 2., 10.]])
    >>> columns.n_missing
    1
    """

    def __init__(self, scaling: str, first_rows: Matrix) -> None:
        self._scaling = scaling
        p = first_rows.shape[1]
        self._count, self._mean, self._squares = np.zeros(p), np.zeros(p), np.zeros(p)
        self._missing = np.zeros(1)
        self._low, self._high = np.zeros(p), np.ones(p)
        if scaling == "file":
            if len(first_rows) == 1:
                raise DataError(
                    'scaling="file" takes the range of the columns from the first block of rows, and there is only '
                    'one row; pass more rows at the first call, or choose scaling="running"'
                )
            low = np.where(np.isnan(first_rows), np.inf, first_rows).min(axis=0)
            high = np.where(np.isnan(first_rows), -np.inf, first_rows).max(axis=0)
            has_range = low < high  # other columns are constant or always missing, and are not scaled
            self._low, self._high = np.where(has_range, low, 0.0), np.where(has_range, high, 1.0)

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        p = self._mean.size
        values = ArraySpec((p,), low=-LARGEST_VALUE, high=LARGEST_VALUE)
        return {
            "count": ArraySpec((p,), low=0.0, high=MOST_COUNTED),
            "mean": values,
            "squares": ArraySpec((p,), low=0.0),
            "low": values,
            "high": values,
            "missing": ArraySpec((1,), low=0.0, high=MOST_COUNTED),
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        if not np.all(np.less(state["low"], state["high"])):
            raise CheckpointError("its array 'columns/low' is not below 'columns/high' in every column")
        super().restore(state)

    def prepare(self, X: Matrix) -> Matrix:
        """Return the rows of X filled and scaled; changes nothing."""
        filled = np.where(np.isnan(X), np.where(self._count > 0, self._mean, self._low), X)
        if self._scaling == "running":
            return self._standardise(filled)
        if self._scaling == "file":
            return (filled - self._low) / (self._high - self._low)
        return filled

    def _standardise(self, X: Matrix) -> Matrix:
        # The statistics include the row itself, so that results are finite from the first row on and
        # |z| ≤ √count for any value.
        shift = X - self._mean
        deviation = shift * self._count / (self._count + 1)
        variance = (self._squares + shift * deviation) / (self._count + 1)
        return deviation / np.sqrt(np.where(variance > 0, variance, 1.0))

    def update(self, X: Matrix) -> Matrix:
        """Return the rows filled and scaled with the statistics up to each row, and add them to the statistics."""
        Z = np.empty_like(X)
        for t, x in enumerate(X):
            Z[t] = self.prepare(x[None])[0]
            self._missing[0] += welford(x, self._count, self._mean, self._squares)
        return Z


class RunningColumns(MissingCounter):
    """Fills missing values by the mean of their column so far (0 before it has one), and standardises columns.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    standardises : bool
        Whether values are standardised with the running mean and standard deviation, and clipped at 4 standard
        deviations; otherwise they are not scaled. Values are clipped in the same way before they are added to the
        statistics, which have a memory of 10,000 rows; an outlier among the first ten values is clipped as soon as
        there are ten. If the unit or the level of a column changes, so that its values no longer fit its mean and
        standard deviation, both restart from its recent values after 100 to 160 values; values that repeat the one
        before them do not count. If columns are standardised, those with no values other than 0 and 1 get half the
        weight.

    Examples
    --------
    >>> import numpy as np
    >>> columns = RunningColumns(1, standardises=True)
    >>> columns.update(np.array([[1.0], [3.0], [np.nan], [1e6]])).ravel().round(2)
    array([0.  , 1.  , 0.  , 1.41])
    >>> columns.n_missing
    1
    """

    def __init__(self, n_columns: int, *, standardises: bool) -> None:
        self._standardises = standardises
        self._n_first_columns = n_columns
        self._count, self._mean, self._squares = np.zeros(n_columns), np.zeros(n_columns), np.zeros(n_columns)
        self._is_binary = np.ones(n_columns)  # as long as every value was 0 or 1
        self._missing = np.zeros(1)
        self._early = np.zeros((EARLY_VALUES, n_columns))
        self._recent = np.zeros((RECENT_VALUES, n_columns))
        self._recent_figures = new_figures(n_columns)

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        p = self._mean.size
        low, high = np.array(FIGURE_RANGES).T
        return {
            "count": ArraySpec((p,), low=0.0, high=MEMORY_VALUES),
            "mean": ArraySpec((p,), low=-LARGEST_VALUE, high=LARGEST_VALUE),
            "squares": ArraySpec((p,), low=0.0),
            "is_binary": ArraySpec((p,), low=0.0, high=1.0),
            "missing": ArraySpec((1,), low=0.0, high=MOST_COUNTED),
            "early": ArraySpec((EARLY_VALUES, p), low=-LARGEST_VALUE, high=LARGEST_VALUE),
            "recent": ArraySpec((RECENT_VALUES, p), low=-LARGEST_VALUE, high=LARGEST_VALUE, since=3),
            "recent_figures": ArraySpec((len(low), p), low=low[:, None], high=high[:, None], since=3),
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned, or from a file of version 1 or 2, which has no recent values."""
        p = state["mean"].size
        without = {"recent": np.zeros((RECENT_VALUES, p)), "recent_figures": new_figures(p)}
        super().restore(without | state)

    def prepare(self, X: Matrix) -> Matrix:
        """Return the rows, each prepared as if it were the next one; changes nothing."""
        return self._fill_and_scale(X, updates=False)

    def update(self, X: Matrix) -> Matrix:
        """Return the rows, each prepared with the statistics up to it, and add them to the statistics."""
        return self._fill_and_scale(X, updates=True)

    def _fill_and_scale(self, X: Matrix, *, updates: bool) -> Matrix:
        statistics = self._count, self._mean, self._squares, self._is_binary, self._early
        recent = self._recent, self._recent_figures
        Z, n_missing = fill_and_scale(X, *statistics, *recent, self._n_first_columns, self._standardises, updates)
        if updates:  # predictions in other threads change nothing
            self._missing[0] += n_missing
        return Z

    def add_columns(self, n: int) -> None:
        """Add n columns, which have no statistics yet."""
        grown = (0, n)
        self._count, self._mean, self._squares = (
            np.pad(figure, grown) for figure in (self._count, self._mean, self._squares)
        )
        self._is_binary = np.pad(self._is_binary, grown, constant_values=1.0)
        self._early, self._recent = (np.pad(values, ((0, 0), grown)) for values in (self._early, self._recent))
        self._recent_figures = np.hstack([self._recent_figures, new_figures(n)])
