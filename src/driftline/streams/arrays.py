"""Streams from arrays in memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from driftline.streams.preview import NotebookPreview
from driftline.streams.protocol import BLOCK_ROWS
from driftline.types import Block, LabelArray
from driftline.utils.validation import column_names, read_labels, read_rows, read_times, whole_number


class ArrayStream(NotebookPreview):
    """A stream of rows and labels that are in memory.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Rows in the order in which they arrived: numbers, NaN for missing values.
    y : array-like of shape (n_rows,)
        Their labels, numbers or text.
    times : array-like of shape (n_rows,), optional
        Arrival times of the rows, which never decrease: numbers, or dates, which are converted to seconds.
    name : str, default="arrays"
        Name of the stream.
    columns : sequence of str, optional
        Names of the columns; by default those of the table `X`, or x0, x1, …

    Attributes
    ----------
    name, columns, n_rows
        See `Stream`.

    Examples
    --------
    >>> stream = ArrayStream([[0.5, 1.0], [0.7, 2.0], [0.1, 0.0]], ["no", "yes", "no"])
    >>> stream.columns, stream.n_rows, stream.classes().tolist()
    (('x0', 'x1'), 3, ['no', 'yes'])
    >>> next(stream.blocks(start=2)).rows
    array([[0.1, 0. ]])
    """

    def __init__(
        self, X: Any, y: Any, times: Any = None, *, name: str = "arrays", columns: Sequence[str] | None = None
    ) -> None:
        # Single precision is kept: X may be large, and only one block at a time is converted to double precision.
        is_usable = isinstance(X, np.ndarray) and not isinstance(X, np.ma.MaskedArray)
        self._X = X if is_usable and X.ndim == 2 and X.dtype.kind in "biuf" else read_rows(X)
        self._y = read_labels(y, len(self._X))
        self._times = read_times(times, len(self._X), None)
        self.name = name
        n_columns = self._X.shape[1]
        self.columns = tuple(
            column_names("columns", _default_names(X, n_columns) if columns is None else columns, n_columns)
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._X)

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Read the rows block by block.

        Parameters
        ----------
        start : int, default=0
            Position of the first row to read.

        Yields
        ------
        Block
            At most `BLOCK_ROWS` rows.
        """
        for first in range(whole_number("start", start, at_least=0), len(self._X), BLOCK_ROWS):
            part = slice(first, first + BLOCK_ROWS)
            yield Block(self._X[part].astype(np.float64), self._y[part], self._times[part])

    def classes(self) -> LabelArray:
        """Return the distinct labels, sorted.

        Returns
        -------
        ndarray
            The labels.
        """
        return np.unique(self._y)

    def _known_classes(self) -> LabelArray:
        return self.classes()


def _default_names(X: Any, n_columns: int) -> list[Any]:
    return list(getattr(X, "columns", (f"x{j}" for j in range(n_columns))))
