"""Streams that are made of others, row by row."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace

from driftline.streams.base import Stream
from driftline.types import Block, LabelArray, Matrix


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
