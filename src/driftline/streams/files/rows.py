"""Rows without labels, from files like another that was a stream."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from driftline.errors import DataError
from driftline.streams.files.fields import restored_field
from driftline.streams.files.layout import Features
from driftline.streams.files.npz import opened, rows_of
from driftline.streams.files.options import Options
from driftline.streams.files.reading import OnBadRow, open_table, usable
from driftline.streams.files.roles import different
from driftline.streams.files.source import Source
from driftline.streams.protocol import BLOCK_ROWS
from driftline.types import Matrix
from driftline.utils.suggestions import close_names

MOST_NAMED = 5
"""Most columns that an error names."""


def numeric_layout(columns: Sequence[str] | int) -> dict[str, Any]:
    """Return a layout of columns that all hold numbers: by their names, or their number if they have none.

    Parameters
    ----------
    columns : sequence of str or int
        Names of the columns, or how many there are.

    Returns
    -------
    dict
        What `RowFile` takes.
    """
    names = [f"x{j}" for j in range(columns)] if isinstance(columns, int) else list(columns)
    return {
        "columns": names,
        "has_header": None if isinstance(columns, int) else True,
        "label": None,
        "features": [{"name": name, "kind": "number"} for name in names],
        "delimiter": None,
        "encoding": "utf-8",
    }


class RowFile:
    r"""A file whose columns are those of another, read for its rows alone.

    Columns may stand in any order and be more than were there, the label's need not be there. A file without names of
    columns must have them in the same order, with or without the label's.

    Parameters
    ----------
    path : path-like
        The file, as in `open_stream`.
    layout : mapping
        The `layout` of a `FileStream`, or `numeric_layout`.
    on_bad_row : {"stop", "skip"}, default="stop"
        Whether a malformed row is an error or is left out and counted.

    Attributes
    ----------
    name : str
        What to call the file.
    place : str
        What rows are counted by: "line", or "row" where there are no lines.
    n_skipped : int
        How many malformed rows have been left out so far.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from driftline.streams import open_stream
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "old.csv").write_text("sky,rain,mm\nclear,no,0\nfog,yes,3\n")
    >>> _ = (folder / "new.csv").write_text("mm,sky\n5,fog\n")
    >>> layout = open_stream(folder / "old.csv", "rain").layout
    >>> [rows[0, [0, 1, -1]].tolist() for _, rows in RowFile(folder / "new.csv", layout).blocks()]
    [[0.0, 1.0, 5.0]]
    """

    def __init__(self, path: str | os.PathLike[str], layout: Mapping[str, Any], on_bad_row: OnBadRow = "stop") -> None:
        self._source = Source(os.fspath(path))
        self._kind = self._source.format()
        self._layout = layout
        self._on_bad_row = on_bad_row
        self.name = self._source.shown
        self.place = "row" if self._kind in ("parquet", "npz") else "line"
        self.n_skipped = 0

    def blocks(self) -> Iterator[tuple[Sequence[int], Matrix]]:
        """Read the rows a block at a time.

        Yields
        ------
        places : sequence of int
            Where the rows are in the file: their lines, or positions, from 1.
        rows : ndarray of shape (n_rows, n_columns)
            The rows, as a stream of the other file would have them.

        Raises
        ------
        DataError
            If a column is missing, and at the first malformed row unless they are skipped; the rows before it have come
            by then.
        """
        fields = [restored_field(kept) for kept in self._layout["features"]]
        features = Features(fields, [kept["name"] for kept in self._layout["features"]])
        if self._kind == "npz":
            yield from self._of_arrays(len(features.names))
            return
        has_header = self._layout["has_header"]
        # Where that is not known, a label by position makes a reader of CSV look whether there is one.
        options = Options(
            label=0 if has_header is None else None,
            header=has_header,
            delimiter=self._layout["delimiter"],
            encoding=self._layout["encoding"],
        )
        n_rows = 0
        with ExitStack() as files:
            table, ledger = open_table(self._source, self._kind, options, self._on_bad_row, files)
            wanted = _positions([column.name for column in table.columns], self._layout, self.name)
            for chunk in table.chunks(wanted):
                rows, flaws = features.encode(chunk)
                good, failure = usable(len(rows), flaws, chunk.places, ledger)
                self.n_skipped = ledger.n_skipped
                n_rows += int(good.sum())
                if good.any():
                    yield [place for place, is_good in zip(chunk.places, good, strict=True) if is_good], rows[good]
                if failure is not None:
                    raise failure
        if not n_rows:
            raise DataError(
                f"{self.name} has no rows that can be used; expected some, below the header if there is one"
            )

    def _of_arrays(self, n_columns: int) -> Iterator[tuple[Sequence[int], Matrix]]:
        path = Path(self._source.path)
        with opened(path) as archive:
            n_rows, n_found = rows_of(archive).shape
        if n_found != n_columns:
            raise DataError(f"X of {self.name} has {n_found} columns; the model expects {n_columns}")
        with opened(path) as archive:
            reader = rows_of(archive)
            for first in range(0, n_rows, BLOCK_ROWS):
                rows = reader.read(min(BLOCK_ROWS, n_rows - first)).astype(np.float64)
                yield range(first + 1, first + 1 + len(rows)), rows
            reader.finish()


def _positions(found: Sequence[str], layout: Mapping[str, Any], source: str) -> list[int]:
    """Return where the columns to predict from are in a file."""
    wanted = [kept["name"] for kept in layout["features"]]
    if layout["has_header"] and any(found):
        names: Sequence[str] = different(found)
        missing = [name for name in wanted if name not in names]
        if missing:
            raise DataError(f"{source} lacks {_listed(missing)} that the model learned from{_hint(missing[0], names)}")
        return [names.index(name) for name in wanted]
    expected = list(layout["columns"])
    without = [name for j, name in enumerate(expected) if j != layout["label"]]
    for names in expected, without:
        if len(found) == len(names):
            return [names.index(name) for name in wanted]
    raise DataError(
        f"{source} has {len(found)} columns; the model expects {len(expected)}, in the order of the file that it "
        "learned from" + (", or one less without the label" if layout["label"] is not None else "")
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:MOST_NAMED]))
    what = "the column" if len(names) == 1 else f"{len(names):,} columns"
    return f"{what} {shown}" + (", …" if len(names) > MOST_NAMED else "")


def _hint(missing: str, names: Sequence[str]) -> str:
    close = close_names(missing, names)
    return f"; is {close[0]!r} {missing!r}?" if close else f"; it has {', '.join(map(repr, names[: 2 * MOST_NAMED]))}"
