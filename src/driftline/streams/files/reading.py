"""One pass over a file: its chunks, and the rows that cannot be used."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from driftline.errors import DataError
from driftline.streams.files.attributes import read_attributes
from driftline.streams.files.cells import Flaws, plain
from driftline.streams.files.delimited import read_delimited
from driftline.streams.files.json_lines import read_json_lines
from driftline.streams.files.options import Options
from driftline.streams.files.parquet import read_parquet
from driftline.streams.files.roles import Roles, assign
from driftline.streams.files.source import Lines, Source
from driftline.streams.files.tables import HEAD_ROWS, Cells, Chunk, Column, Table
from driftline.types import Flags

HEAD_CHUNKS = 5
"""The head is shorter than `HEAD_ROWS` where that would be more chunks than these, as rows are very wide."""
MOST_REASONS = 10
"""How many reasons for skipping a row are kept."""

OnBadRow = Literal["stop", "skip"]

_TEXT_FORMATS = {"csv": read_delimited, "json": read_json_lines, "arff": read_attributes}


class Ledger:
    """Rows that cannot be used: the first one stops the reading, or all are counted and the first ones described."""

    def __init__(self, source: str, on_bad_row: OnBadRow, place: str) -> None:
        self.n_skipped = 0
        self.skipped: list[str] = []
        self.source = source
        self._on_bad_row = on_bad_row
        self._place = place

    def reject(self, place: int, reason: str) -> None:
        """Stop because of a row, or count it."""
        message = f"{self.source}, {self._place} {place}: {reason}"
        if self._on_bad_row == "stop":
            raise DataError(f"{message} (on_bad_row='skip' goes on without such rows)")
        self.n_skipped += 1
        if len(self.skipped) < MOST_REASONS:
            self.skipped.append(message)


@dataclass(slots=True)
class Reading:
    """One pass over a file, under way."""

    columns: tuple[Column, ...]
    roles: Roles
    n_rows: int | None
    chunks: Iterator[Chunk]
    """Of the columns that are used, in the order of `Roles.used`."""
    ledger: Ledger
    files: ExitStack

    def peek(self) -> list[Cells]:
        """Return the first cells of the columns that are used, and leave them to be read."""
        taken: list[Chunk] = []
        n_taken = 0
        for chunk in self.chunks:
            taken.append(chunk)
            n_taken += len(chunk.places)
            if n_taken >= HEAD_ROWS or len(taken) == HEAD_CHUNKS:
                break
        self.chunks = chain(taken, self.chunks)
        return [
            [cell for chunk in taken for cell in plain(chunk.columns[j])][:HEAD_ROWS]
            for j in range(len(self.roles.used))
        ]

    def close(self) -> None:
        """Close the file."""
        self.files.close()


def begin(source: Source, kind: str, options: Options, on_bad_row: OnBadRow) -> Reading:
    """Open a file of some format, give its columns their roles, and stand before its first row."""
    with ExitStack() as files:
        table, ledger = open_table(source, kind, options, on_bad_row, files)
        roles = assign([column.name for column in table.columns], options, source.shown)
        return Reading(table.columns, roles, table.n_rows, table.chunks(roles.used), ledger, files.pop_all())


def open_table(
    source: Source, kind: str, options: Options, on_bad_row: OnBadRow, files: ExitStack
) -> tuple[Table, Ledger]:
    """Open a file of some format as a table, to be closed with `files`."""
    if kind == "parquet":
        return read_parquet(source), Ledger(source.shown, on_bad_row, "row")
    ledger = Ledger(source.shown, on_bad_row, "line")
    lines = files.enter_context(Lines(source, options.encoding))
    return _TEXT_FORMATS[kind](lines, options, ledger.reject), ledger


def usable(n_rows: int, flaws: Flaws, places: Sequence[int], ledger: Ledger) -> tuple[Flags, DataError | None]:
    """Return which rows can be used, and the error that comes after them if the reading is to stop."""
    good = np.ones(n_rows, np.bool_)
    for i in sorted(flaws):
        good[i] = False
        try:
            ledger.reject(places[i], flaws[i])
        except DataError as error:
            good[i:] = False
            return good, error
    return good, None
