"""Raw columns for methods that want them as they are."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from driftline.baselines.base import Keeping
from driftline.types import Matrix

MOST_CODES = 1024
"""The codes of a nominal column are 0, 1, … below this, which bounds the memory for what is known of each."""


class RawColumns(Keeping):
    """Columns that are neither scaled nor filled; what is missing is counted.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    nominal : sequence of int, default=()
        Positions of those whose numbers are codes of names. A number there that is no code (not whole, negative,
        or `MOST_CODES` or more) is handed on as missing, and counted so.

    Examples
    --------
    >>> import numpy as np
    >>> columns = RawColumns(2, nominal=[1])
    >>> columns.advance(np.array([[-0.5, 3.0], [np.nan, -0.5]]))
    array([[-0.5,  3. ],
           [ nan,  nan]])
    >>> columns.n_missing
    2
    """

    _kept: ClassVar[tuple[str, ...]] = ("missing",)

    def __init__(self, n_columns: int, nominal: Sequence[int] = ()) -> None:
        self._is_nominal = np.isin(np.arange(n_columns), nominal)
        self._missing = np.zeros(1, np.int64)

    @property
    def n_missing(self) -> int:
        """Number of missing values met."""
        return int(self._missing[0])

    def prepare(self, X: Matrix) -> Matrix:
        """Return the rows with NaN for what is no code; changes nothing."""
        if not self._is_nominal.any():
            return X
        is_code = (X >= 0) & (X < MOST_CODES) & (np.floor(X) == X)
        return np.where(is_code | ~self._is_nominal, X, np.nan)

    def advance(self, X: Matrix) -> Matrix:
        """Return the rows with NaN for what is no code, and count what is missing."""
        Z = self.prepare(X)
        self._missing += np.count_nonzero(np.isnan(Z))
        return Z
