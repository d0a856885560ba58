"""What a stream is: labelled rows in order, read a block at a time, as often as wanted and from any row."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from driftline.types import Block, LabelArray

BLOCK_ROWS = 4096
"""Most rows in a block."""


@runtime_checkable
class Stream(Protocol):
    """Labelled rows in the order in which they came.

    Attributes
    ----------
    name : str
        What to call the stream in records and tables.
    columns : tuple of str
        Names of the columns of the rows.
    n_rows : int or None
        Number of rows; None if it is not known before the end.
    """

    @property
    def name(self) -> str:
        """The name to show."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if it is known."""

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

    def classes(self) -> LabelArray:
        """Return the labels that occur, sorted; reads the whole stream if it must.

        Returns
        -------
        ndarray
            The labels.
        """
