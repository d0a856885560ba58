"""Streams that transform the rows of another stream."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from driftline.errors import ConfigError
from driftline.streams.preview import NotebookPreview
from driftline.streams.protocol import Stream
from driftline.types import Block, LabelArray, Matrix
from driftline.utils.validation import one_of


class DerivedStream(NotebookPreview, ABC):
    """A stream whose columns are computed from those of another; labels, times and order stay the same.

    Parameters
    ----------
    stream : Stream
        The other stream.
    name : str
        Name of the new stream.
    columns : tuple of str
        Names of the new columns.

    Attributes
    ----------
    name, columns, n_rows
        See `Stream`.
    n_skipped : int
        Number of malformed rows that the other stream has skipped.
    """

    def __init__(self, stream: Stream, name: str, columns: tuple[str, ...]) -> None:
        self._stream = stream
        self.name = name
        self.columns = columns

    @abstractmethod
    def _derive(self, rows: Matrix) -> Matrix:
        """Return the new columns of some rows."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None if unknown."""
        return self._stream.n_rows

    @property
    def n_skipped(self) -> int:
        """Number of malformed rows that the other stream has skipped."""
        return getattr(self._stream, "n_skipped", 0)

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
        for block in self._stream.blocks(start):
            yield replace(block, rows=self._derive(block.rows))

    def classes(self) -> LabelArray:
        """Return the distinct labels, sorted; reads the whole stream if necessary.

        Returns
        -------
        ndarray
            The labels.
        """
        return self._stream.classes()

    def _first_block(self) -> Block | None:
        block = self._stream._first_block() if isinstance(self._stream, NotebookPreview) else None
        return block and replace(block, rows=self._derive(block.rows))

    def _known_classes(self) -> LabelArray | None:
        return self._stream._known_classes() if isinstance(self._stream, NotebookPreview) else None


class RangeScaled(DerivedStream):
    """A stream with its columns scaled to [0, 1] by their minimum and maximum over the whole stream.

    This uses rows that have not arrived yet, so it is no honest online preparation. The paper's experiments do it: use
    it to reproduce them. The whole stream is read once when the object is created.

    Parameters
    ----------
    stream : Stream
        The stream to scale. Missing values, and columns with a single value, are not changed.
    by : {"column", "array"}, default="column"
        Scale each column by its own range, or all columns by one range, from the smallest value of any column to the
        largest, as in the MATLAB program of the paper's authors. Columns of small numbers then have little influence.

    Attributes
    ----------
    name, columns, n_rows, n_skipped
        Those of the stream; the name says that it is scaled.

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
