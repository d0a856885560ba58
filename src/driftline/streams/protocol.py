"""The interface of a stream: labelled rows in order, read block by block, any number of times and from any row."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from driftline.types import Block, LabelArray

BLOCK_ROWS = 4096
"""Largest number of rows in a block."""


@runtime_checkable
class Stream(Protocol):
    """Labelled rows in the order in which they arrived.

    Attributes
    ----------
    name : str
        Name of the stream in records and tables.
    columns : tuple of str
        Names of the columns.
    n_rows : int or None
        Number of rows; None if it is unknown until the stream has been read.
    """

    @property
    def name(self) -> str:
        """Name of the stream in records and tables."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None if unknown."""

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

    def classes(self) -> LabelArray:
        """Return the distinct labels, sorted; reads the whole stream if necessary.

        Returns
        -------
        ndarray
            The labels.
        """
