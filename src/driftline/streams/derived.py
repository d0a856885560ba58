"""Streams that are made of others, row by row."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from driftline.errors import ConfigError
from driftline.streams.protocol import Stream
from driftline.types import Block, LabelArray, Matrix
from driftline.utils.validation import one_of


class DerivedStream(ABC):
    """The rows of a stream with other columns; labels, times and order are the stream's.

    Parameters
    ----------
    stream : Stream
        The stream.
    name : str
        What to call the new one.
    columns : tuple of str
        Names of its columns.

    Attributes
    ----------
    name, columns, n_rows
        See `Stream`.
    n_skipped : int
        How many malformed rows the stream has left out.
    """

    def __init__(self, stream: Stream, name: str, columns: tuple[str, ...]) -> None:
        self._stream = stream
        self.name = name
        self.columns = columns

    @abstractmethod
    def _derive(self, rows: Matrix) -> Matrix:
        """Return what becomes of rows."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if it is known."""
        return self._stream.n_rows

    @property
    def n_skipped(self) -> int:
        """How many malformed rows the stream has left out."""
        return getattr(self._stream, "n_skipped", 0)

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Read the rows a block at a time.

        Parameters
        ----------
        start : int, default=0
            Position of the row to begin with.

        Yields
        ------
        Block
            At most `BLOCK_ROWS` rows.
        """
        for block in self._stream.blocks(start):
            yield replace(block, rows=self._derive(block.rows))

    def classes(self) -> LabelArray:
        """Return the labels that occur, sorted; reads the whole stream if it must.

        Returns
        -------
        ndarray
            The labels.
        """
        return self._stream.classes()


class RangeScaled(DerivedStream):
    """A stream with each column, or all of them together, mapped from the range over the whole stream to [0, 1].

    That is a look into the future, which the experiments of the paper take: use it to compare with them. It
    reads the stream once to begin with.

    Parameters
    ----------
    stream : Stream
        The stream to scale. Missing values are left alone, and so is a range of one value.
    by : {"column", "array"}, default="column"
        Whose range it is: that of each column, or one for all, from the least value of any column to the greatest, as
        in the authors' MATLAB program. Columns of small numbers then hardly count.

    Attributes
    ----------
    name, columns, n_rows, n_skipped
        Those of the stream.

    Examples
    --------
    >>> from driftline.streams import ArrayStream
    >>> stream = RangeScaled(ArrayStream([[5.0, 1.0], [7.0, 1.0], [6.0, 1.0]], [0, 1, 0]))
    >>> next(stream.blocks()).rows.tolist()
    [[0.0, 1.0], [1.0, 1.0], [0.5, 1.0]]
    >>> stream = RangeScaled(ArrayStream([[5.0, 1.0], [9.0, 1.0], [7.0, 1.0]], [0, 1, 0]), by="array")
    >>> next(stream.blocks()).rows.tolist()
    [[0.5, 0.0], [1.0, 0.0], [0.75, 0.0]]
    """

    def __init__(self, stream: Stream, by: str = "column") -> None:
        if not isinstance(stream, Stream):
            raise ConfigError(f"stream must be a Stream, such as ArrayStream(X, y); got {type(stream).__name__}")
        one_of("by", by, ("column", "array"))
        low, high = np.full((2, len(stream.columns)), [[np.inf], [-np.inf]])
        for block in stream.blocks():
            low = np.fmin(low, np.fmin.reduce(block.rows))
            high = np.fmax(high, np.fmax.reduce(block.rows))
        if by == "array":
            low, high = np.full_like(low, np.fmin.reduce(low)), np.full_like(high, np.fmax.reduce(high))
        usable = low < high
        self._low, self._high = np.where(usable, low, 0.0), np.where(usable, high, 1.0)
        what = "range" if by == "column" else "one range"
        super().__init__(stream, f"{stream.name}, scaled by {what}", stream.columns)

    def _derive(self, rows: Matrix) -> Matrix:
        scaled: Matrix = (rows - self._low) / (self._high - self._low)
        return scaled
