"""Rows without labels, from files with the columns of an earlier stream."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driftline.errors import ConfigError, DataError, Parameter
from driftline.streams.files.cells import parse_text, read_cells
from driftline.streams.files.encoders import encoder_from_dict
from driftline.streams.files.input_file import InputFile
from driftline.streams.files.layout import FeatureEncoder
from driftline.streams.files.npz import open_rows, opened
from driftline.streams.files.options import FileOptions, find_column, unique_names
from driftline.streams.files.reader import FileReader, OnBadRow
from driftline.streams.protocol import BLOCK_ROWS
from driftline.types import Matrix
from driftline.utils.suggestions import close_names

MAX_LISTED_COLUMNS = 5
"""Most missing columns that an error lists."""


def numeric_layout(columns: Sequence[str] | int) -> dict[str, Any]:
    """Return the layout of a file whose columns all hold numbers.

    Parameters
    ----------
    columns : sequence of str or int
        Names of the columns, or their number if they have no names.

    Returns
    -------
    dict
        The layout, for `RowFile`.
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


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """Some rows of a `RowFile`.

    Attributes
    ----------
    places : sequence of int
        Line numbers of the rows in the file, or row numbers in a format without lines; both begin with 1.
    rows : ndarray of shape (n_rows, n_columns)
        The rows, encoded as in the stream from which the layout is.
    texts : list of list
        For each of the other columns that were asked for, its cells as text; None where a cell is missing.
    """

    places: Sequence[int]
    rows: Matrix
    texts: list[list[str | None]]


class RowFile:
    r"""A file with the columns of an earlier stream, whose rows are read without labels.

    Columns may be in any order, additional columns are ignored, and the label may be missing. In a file without names
    of columns these must be in the same order, with or without the label.

    Parameters
    ----------
    path : path-like
        The file, as in `open_stream`.
    layout : mapping
        The `layout` of a `FileStream`, or `numeric_layout`.
    on_bad_row : {"stop", "skip"}, default="stop"
        Whether a malformed row is an error or is skipped and counted.

    Attributes
    ----------
    name : str
        Name of the file.
    place : {"line", "row"}
        What rows are counted by: their lines, or the rows in a format without lines.
    is_pipe : bool
        Whether the file can be read only once, and rows come one after the other.
    n_skipped : int
        Number of malformed rows skipped so far.

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
        _check_layout(layout)
        self._file = InputFile(os.fspath(path))
        self._layout = layout
        self._on_bad_row = on_bad_row
        self.name = self._file.name
        self.place = "row" if self._file.format in ("parquet", "npz") else "line"
        self.is_pipe = self._file.is_pipe
        self.n_skipped = 0

    def blocks(self) -> Iterator[tuple[Sequence[int], Matrix]]:
        """Read the rows one block at a time.

        Yields
        ------
        places : sequence of int
            Line numbers of the rows in the file, or row numbers in a format without lines; both begin with 1.
        rows : ndarray of shape (n_rows, n_columns)
            The rows, encoded as in the stream from which the layout is.

        Raises
        ------
        DataError
            As `blocks_with`.
        """
        for block in self.blocks_with({}):
            yield block.places, block.rows

    def blocks_with(self, columns: Mapping[str, str | int]) -> Iterator[RowBlock]:
        """Read the rows one block at a time, with the texts of other columns.

        A block of a pipe ends with the last row that has come.

        Parameters
        ----------
        columns : mapping of str to (str or int)
            The other columns by the parameters that name them: each a name or a position.

        Yields
        ------
        RowBlock
            Places, rows, and the texts of the other columns.

        Raises
        ------
        DataError
            If a column is missing; and at the first malformed row, after the rows before it, unless such rows are
            skipped.
        """
        descriptions = self._layout["features"]
        features = FeatureEncoder(
            [encoder_from_dict(description) for description in descriptions],
            [description["name"] for description in descriptions],
        )
        if self._file.format == "npz":
            if columns:
                raise ConfigError(
                    f"{self.name} is NPZ, which has no other columns; leave out ", Parameter(next(iter(columns)))
                )
            for places, rows in self._read_npz(len(features.names)):
                yield RowBlock(places, rows, [])
            return
        n_rows = 0
        with FileReader(self._file, self._options(columns), self._on_bad_row, live=self._file.is_pipe) as reader:
            found = [column.name for column in reader.columns]
            positions = _positions(found, self._layout, self.name)
            others = [
                find_column(column, found, unique_names(found), self.name, parameter)
                for parameter, column in columns.items()
            ]
            reader.select([*positions, *others])
            for chunk in reader.chunks:
                rows, errors = features.encode(chunk, "; correct it")
                good, failure = reader.bad_rows.split(len(rows), errors, chunk.places)
                self.n_skipped = reader.bad_rows.n_skipped
                n_rows += int(good.sum())
                if good.any():
                    kept = np.flatnonzero(good).tolist()
                    texts = [_texts([cells[i] for i in kept]) for cells in chunk.columns[len(features) :]]
                    yield RowBlock([chunk.places[i] for i in kept], rows[good], texts)
                if failure is not None:
                    raise failure
        if not n_rows:
            raise DataError(f"{self.name} has no usable rows; expected some, below the header if there is one")

    def _options(self, columns: Mapping[str, str | int]) -> FileOptions:
        """Return the options to read the file with; nothing of a pipe is read ahead to find them."""
        keys = None
        if self._file.is_pipe and self._file.format == "json":
            keys = tuple(dict.fromkeys([*self._layout["columns"], *map(str, columns.values())]))
        return _options(self._layout, keys)

    def _read_npz(self, n_columns: int) -> Iterator[tuple[Sequence[int], Matrix]]:
        with opened(Path(self._file.path)) as archive:
            reader = open_rows(archive)
            n_rows, n_found = reader.shape
            for first in range(0, n_rows, BLOCK_ROWS) if n_found == n_columns else ():
                rows = reader.read(min(BLOCK_ROWS, n_rows - first)).astype(np.float64)
                yield range(first + 1, first + 1 + len(rows)), rows
            if n_found == n_columns:
                reader.finish()
        if n_found != n_columns:  # not an error of the archive, which would be reported as a damaged file
            raise DataError(f"X of {self.name} has {n_found} columns; the model expects {n_columns}")


def _texts(cells: Sequence[Any]) -> list[str | None]:
    return read_cells(parse_text, cells, None)[0]


def _check_layout(layout: Any) -> None:
    """Raise ConfigError if something is no layout: it may come from the notes of an altered model file."""
    if not (
        isinstance(layout, Mapping)
        and _are_texts(layout.get("columns"))
        and (layout.get("label") is None or layout["label"] in range(len(layout["columns"])))
        and isinstance(layout.get("features"), list)
        and all(map(_is_feature, layout["features"]))
        and all(isinstance(layout.get(name), str | None) for name in ("delimiter", "encoding"))
        and isinstance(layout.get("has_header"), bool | None)
    ):
        raise ConfigError(f"layout must be the `layout` of a stream from a file; got {repr(layout)[:200]}")


def _is_feature(description: Any) -> bool:
    """Return whether this is the description of a column that `to_dict` of an encoder returns."""
    if not isinstance(description, Mapping) or not isinstance(description.get("name"), str):
        return False
    if description.get("kind") != "category":
        return description.get("kind") in ("number", "date")
    return _are_texts(description.get("values")) and isinstance(description.get("is_closed"), bool)


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _options(layout: Mapping[str, Any], keys: tuple[str, ...] | None) -> FileOptions:
    """Return the options to read a file with; `keys` are the columns of JSON lines, None to find them in the head."""
    has_header = layout["has_header"]
    return FileOptions(
        label=0 if has_header is None else None,  # a label by position lets the reader of CSV look for a header
        header=has_header,
        delimiter=layout["delimiter"],
        encoding=layout["encoding"],
        keys=keys,
    )


def _positions(found: Sequence[str], layout: Mapping[str, Any], file_name: str) -> list[int]:
    """Return the positions of the columns to predict from among those found in a file."""
    wanted = [description["name"] for description in layout["features"]]
    if layout["has_header"] and any(found):
        names: Sequence[str] = unique_names(found)
        missing = [name for name in wanted if name not in names]
        if missing:
            lacks = f"{file_name} lacks {_listed(missing)} that the model learned from"
            if len(found) == 1 and layout["delimiter"] is not None:
                raise DataError(
                    f"{lacks}: its cells were cut at {layout['delimiter']!r}, as in the file that the model learned "
                    "from; pass ",
                    Parameter("delimiter"),
                    " if it has another",
                )
            raise DataError(f"{lacks}{_hint(missing[0], names)}")
        return [names.index(name) for name in wanted]
    expected = list(layout["columns"])
    without_label = [name for j, name in enumerate(expected) if j != layout["label"]]
    for names in expected, without_label:
        if len(found) == len(names):
            return [names.index(name) for name in wanted]
    raise DataError(
        f"{file_name} has {len(found)} columns; the model expects {len(expected)}, in the order of the file that it "
        "learned from" + (", or one less without the label" if layout["label"] is not None else "")
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:MAX_LISTED_COLUMNS]))
    what = "the column" if len(names) == 1 else f"{len(names):,} columns"
    return f"{what} {shown}" + (", …" if len(names) > MAX_LISTED_COLUMNS else "")


def _hint(missing: str, names: Sequence[str]) -> str:
    close = close_names(missing, names)
    if close:
        return f"; is {close[0]!r} the column {missing!r}?"
    return f"; it has {', '.join(map(repr, names[: 2 * MAX_LISTED_COLUMNS]))}"
