"""What every format is read as: columns, and chunks of cells."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from numpy.typing import NDArray

from driftline.errors import DataError
from driftline.streams.files.source import Lines
from driftline.streams.protocol import BLOCK_ROWS

HEAD_ROWS = 1000
"""The rows that decide what becomes of the columns."""
CHUNK_BYTES = 12_000_000
"""About how much memory the cells of a chunk may take, and again their characters: 200,000 short cells."""
CELL_BYTES = 60
"""What a cell takes beside its characters."""

Row = tuple[int, Sequence[Any]]
"""The number of the line where a row begins, and its cells."""
Cells = Sequence[Any] | NDArray[Any]
"""One column of a chunk: text, numbers, None where there is nothing; or an array of numbers."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a file: its name there, and what the format says about its cells, if anything."""

    name: str
    values: tuple[str, ...] | None = None
    """The only values that its cells can have."""
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows of a file, column by column."""

    places: Sequence[int]
    """Their line numbers, or row numbers where there are no lines."""
    columns: Sequence[Cells]


@dataclass(frozen=True, slots=True)
class Table:
    """An open file."""

    columns: tuple[Column, ...]
    chunks: Callable[[Sequence[int]], Iterator[Chunk]]
    """Reads the columns at some positions, once."""
    n_rows: int | None = None


def table_of_rows(columns: Sequence[Column], rows: Iterator[Row], lines: Lines) -> Table:
    """Return rows that are read from lines, one cell for each column, as a table."""
    most_rows = max(1, min(BLOCK_ROWS, CHUNK_BYTES // (CELL_BYTES * len(columns))))
    return Table(tuple(columns), partial(_chunks, rows, lines, most_rows))


def _chunks(rows: Iterator[Row], lines: Lines, most_rows: int, wanted: Sequence[int]) -> Iterator[Chunk]:
    failure: DataError | None = None
    ended = False
    while not ended:
        batch: list[Row] = []
        enough = lines.characters + CHUNK_BYTES
        try:
            for row in islice(rows, most_rows):
                batch.append(row)
                if lines.characters > enough:
                    break
            else:
                ended = len(batch) < most_rows
        except DataError as error:  # the rows before it are good
            ended, failure = True, error
        if batch:
            columns = list(zip(*(cells for _, cells in batch), strict=True))
            yield Chunk([place for place, _ in batch], [columns[j] for j in wanted])
    if failure is not None:
        raise failure
