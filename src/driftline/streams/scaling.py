"""A stream whose columns are scaled by their range over the whole of it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from driftline.streams.base import Stream
from driftline.types import Block, LabelArray


class RangeScaled:
    """A stream with each column mapped from its range over the whole stream to [0, 1].

    That is a look into the future, which the experiments of the paper take: use it to compare with them. It
    reads the stream once to begin with.

    Parameters
    ----------
    stream : Stream
        The stream to scale. A column that never changes is left alone, and so are missing values.

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
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        low, high = np.full((2, len(stream.columns)), [[np.inf], [-np.inf]])
        for block in stream.blocks():
            low = np.fmin(low, np.fmin.reduce(block.rows))
            high = np.fmax(high, np.fmax.reduce(block.rows))
        usable = low < high
        self._low, self._high = np.where(usable, low, 0.0), np.where(usable, high, 1.0)

    @property
    def name(self) -> str:
        """The name of the stream, and that it is scaled."""
        return f"{self._stream.name}, scaled by range"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return self._stream.columns

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
            yield replace(block, rows=(block.rows - self._low) / (self._high - self._low))

    def classes(self) -> LabelArray:
        """Return the labels that occur, sorted; reads the whole stream if it must.

        Returns
        -------
        ndarray
            The labels.
        """
        return self._stream.classes()
