"""One pass over a file of any format: chunks of cells, and the rows that cannot be used."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain, islice
from typing import Literal, Self

import numpy as np

from driftline.errors import DataError, Parameter
from driftline.streams.files.arff import read_arff_table
from driftline.streams.files.cells import (
    CELL_BYTES,
    CHUNK_BYTES,
    HEAD_ROWS,
    Cells,
    Chunk,
    FileColumn,
    Reason,
    Row,
    RowErrors,
    to_sequence,
)
from driftline.streams.files.delimited import read_delimited
from driftline.streams.files.input_file import InputFile, LineReader
from driftline.streams.files.json_lines import read_json_lines
from driftline.streams.files.live_lines import LiveLineReader
from driftline.streams.files.options import FileOptions
from driftline.streams.files.parquet import ParquetTable
from driftline.streams.protocol import BLOCK_ROWS
from driftline.types import Flags

MAX_HEAD_CHUNKS = 5
"""The head has fewer than `HEAD_ROWS` rows if these are more chunks than this, because rows are very wide."""
MAX_DESCRIBED_ROWS = 10
"""Number of skipped rows whose reasons are kept."""

OnBadRow = Literal["stop", "skip"]

_TEXT_FORMATS = {"csv": read_delimited, "json": read_json_lines, "arff": read_arff_table}


class BadRows:
    """The rows of a file that cannot be used: the first one is an error, or all are counted and the first described.

    Parameters
    ----------
    file_name : str
        Name of the file in errors.
    on_bad_row : {"stop", "skip"}
        Whether a bad row is an error or is skipped.
    unit : {"line", "row"}
        What rows are counted by.

    Attributes
    ----------
    n_skipped : int
        Number of rows skipped so far.
    skipped : list of DataError
        The place of each of the first rows skipped, and the reason.
    """

    def __init__(self, file_name: str, on_bad_row: OnBadRow, unit: str) -> None:
        self.n_skipped = 0
        self.skipped: list[DataError] = []
        self._file_name = file_name
        self._on_bad_row = on_bad_row
        self._unit = unit

    def reject(self, place: int, reason: Reason) -> None:
        """Raise an error about a row, or count the row as skipped."""
        parts = f"{self._file_name}, {self._unit} {place}: ", reason
        if self._on_bad_row == "stop":
            raise DataError(*parts, " (", Parameter("on_bad_row", "skip"), " skips such rows)")
        self.n_skipped += 1
        if len(self.skipped) < MAX_DESCRIBED_ROWS:
            self.skipped.append(DataError(*parts))

    def split(self, n_rows: int, errors: RowErrors, places: Sequence[int]) -> tuple[Flags, DataError | None]:
        """Return which rows of a chunk can be used, and the error to raise after them, if any."""
        good = np.ones(n_rows, np.bool_)
        for i in sorted(errors):
            good[i] = False
            try:
                self.reject(places[i], errors[i])
            except DataError as error:
                good[i:] = False
                return good, error
        return good, None


class FileReader:
    """One pass over a file of any format but NPZ; a context manager that closes the file.

    Parameters
    ----------
    file : InputFile
        The file.
    options : FileOptions
        The options of the user; or those of an earlier reader of the file, so that its head is not examined again.
    on_bad_row : {"stop", "skip"}
        Whether a malformed row is an error or is skipped.
    live : bool, default=False
        Whether a chunk ends with the last row that has come, instead of waiting until it is full; for pipes.

    Attributes
    ----------
    columns : tuple of FileColumn
        All columns of the file.
    n_rows : int or None
        Number of rows, if the format states it.
    options : FileOptions
        The options with what the head of the file showed filled in.
    bad_rows : BadRows
        The malformed rows met so far.
    chunks : iterator of Chunk
        The rows, after a call of `select`.
    """

    columns: tuple[FileColumn, ...]
    n_rows: int | None
    options: FileOptions
    chunks: Iterator[Chunk]
    _read: Callable[[Sequence[int]], Iterator[Chunk]]

    def __init__(self, file: InputFile, options: FileOptions, on_bad_row: OnBadRow, *, live: bool = False) -> None:
        self.bad_rows = BadRows(file.name, on_bad_row, "row" if file.format == "parquet" else "line")
        with ExitStack() as opened:
            if file.format == "parquet":
                parquet = opened.enter_context(ParquetTable(file))
                self.columns, self.n_rows, self.options = parquet.columns, parquet.n_rows, options
                self._read = parquet.chunks
            else:
                read_lines = LiveLineReader if live else LineReader
                lines = opened.enter_context(read_lines(file, options.encoding))
                table = _TEXT_FORMATS[file.format](lines, options, self.bad_rows.reject)
                self.columns, self.n_rows, self.options = table.columns, None, table.options
                self._read = partial(_read_chunks, table.rows, lines, len(table.columns))
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._opened.close()

    def select(self, positions: Sequence[int]) -> None:
        """Set `chunks` to the rows, with the columns at these positions only, in this order."""
        self.chunks = self._read(positions)

    def keep(self, columns: Sequence[int]) -> None:
        """Keep only some of the columns of `chunks`, given by their positions there."""
        chunks = self.chunks
        self.chunks = (Chunk(chunk.places, [chunk.columns[j] for j in columns]) for chunk in chunks)

    def peek(self) -> list[Cells]:
        """Return the first cells of the selected columns; `chunks` still begins with them."""
        taken: list[Chunk] = []
        n_taken = 0
        for chunk in self.chunks:
            taken.append(chunk)
            n_taken += len(chunk.places)
            if n_taken >= HEAD_ROWS or len(taken) == MAX_HEAD_CHUNKS:
                break
        self.chunks = chain(taken, self.chunks)
        columns = zip(*(chunk.columns for chunk in taken), strict=True)
        return [[cell for cells in column for cell in to_sequence(cells)][:HEAD_ROWS] for column in columns]


def _read_chunks(rows: Iterator[Row], lines: LineReader, n_columns: int, positions: Sequence[int]) -> Iterator[Chunk]:
    """Yield the rows of a text file as chunks of the columns at some positions."""
    max_rows = max(1, min(BLOCK_ROWS, CHUNK_BYTES // (CELL_BYTES * n_columns)))
    failure: DataError | None = None
    ended = False
    while not ended:
        batch: list[Row] = []
        enough = lines.n_characters + CHUNK_BYTES
        try:
            for row in islice(rows, max_rows):
                batch.append(row)
                if lines.n_characters > enough or lines.would_wait:
                    break
            else:
                ended = len(batch) < max_rows
        except DataError as error:  # the rows before it are good
            ended, failure = True, error
        if batch:
            columns = list(zip(*(cells for _, cells in batch), strict=True))
            yield Chunk([place for place, _ in batch], [columns[j] for j in positions])
    if failure is not None:
        raise failure
