"""Streams from users' files."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from driftline.errors import ConfigError, DataError
from driftline.streams.files.cells import Flaws
from driftline.streams.files.layout import Layout
from driftline.streams.files.npz import NpzStream
from driftline.streams.files.options import Options, checked_options
from driftline.streams.files.reading import Ledger, OnBadRow, Reading, begin, usable
from driftline.streams.files.source import Source
from driftline.streams.protocol import Stream
from driftline.types import Block, LabelArray, Vector

MOST_CLASSES = 10_000
"""With more labels than these, the label column is taken for a mistake."""
FEW = 10
"""So many rows in a wrong place may be those that are wrong."""
SAVE = "save it as a file to read it more than once"


class FileStream:
    """A file as a stream; `open_stream` makes it.

    Parameters
    ----------
    name : str
        What to call the stream.
    layout : Layout
        What becomes of the columns.
    begin : callable
        Begins a reading of the file.
    n_rows : int or None
        Number of rows, if it is known.
    is_pipe : bool
        Whether there can be only one.

    Attributes
    ----------
    name, columns, n_rows
        See `Stream`. Parquet says how many rows there are; otherwise, and where rows may be skipped, it is known once
        they were read to the end.
    """

    def __init__(
        self, name: str, layout: Layout, begin: Callable[[], Reading], *, n_rows: int | None, is_pipe: bool
    ) -> None:
        self.name = name
        self.n_rows = n_rows
        self._layout = layout
        self._begin = begin
        self._is_pipe = is_pipe
        self._ledger: Ledger | None = None
        self._classes: LabelArray | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the rows."""
        return self._layout.names

    @property
    def layout(self) -> dict[str, Any]:
        """What becomes of the columns, as JSON knows it; `RowFile` reads other files in the same way."""
        return self._layout.to_dict()

    @property
    def n_skipped(self) -> int:
        """How many malformed rows the latest reading has left out so far."""
        return 0 if self._ledger is None else self._ledger.n_skipped

    @property
    def skipped(self) -> tuple[str, ...]:
        """The first ten of these: file, line and reason."""
        return () if self._ledger is None else tuple(self._ledger.skipped)

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Read the rows a block at a time.

        Parameters
        ----------
        start : int, default=0
            Position of the row to begin with; rows that are skipped do not count.

        Yields
        ------
        Block
            At most `BLOCK_ROWS` rows.

        Raises
        ------
        DataError
            At the first malformed row, unless such rows are skipped, and where the file is damaged; the rows before it
            have come by then.
        """
        n_read, last = 0, -math.inf
        reading = self._begin()
        self._ledger = reading.ledger
        with closing(reading):
            for chunk in reading.chunks:
                block, flaws = self._layout.encode(chunk)
                last = _check_order(block.times, flaws, last, reading.ledger.source)
                good, failure = usable(len(block.rows), flaws, chunk.places, reading.ledger)
                block = block.part(good)
                part = slice(max(start - n_read, 0), None)
                n_read += len(block.rows)
                if start < n_read:
                    yield block.part(part)
                if failure is not None:
                    raise failure
        if n_read == 0:
            raise DataError(f"{self.name} has {_no_rows(reading.ledger)}")
        self.n_rows = n_read

    def classes(self) -> LabelArray:
        """Return the labels that occur, sorted; the first call reads the whole file.

        Returns
        -------
        ndarray
            The labels.
        """
        if self._classes is None:
            if self._is_pipe:
                raise DataError(f"{self.name} can be read only once, and looking for its classes would do that; {SAVE}")
            seen: set[Any] = set()
            for block in self.blocks():
                seen.update(block.labels.tolist())
                if len(seen) > MOST_CLASSES:
                    raise DataError(f"{self.name} has more than {MOST_CLASSES:,} labels; pass label= as another column")
            self._classes = np.array(sorted(seen))
        return self._classes


def _check_order(times: Vector, flaws: Flaws, last: float, source: str) -> float:
    """Find the rows whose time is before that of a row they follow, and return the latest time."""
    if not flaws and np.all(np.diff(times, prepend=last) >= 0.0):
        return float(times[-1])
    latest = np.maximum.accumulate([last, *np.where(np.isnan(times), -math.inf, times)])
    n_before = int(np.sum(times < latest[:-1]))
    if n_before > max(len(times) / 2, FEW):
        raise DataError(
            f"{source}: {n_before:,} rows together come before {latest[-1]}, the time of a row that they follow; "
            "correct that one, or sort the file by time"
        )
    for i in np.flatnonzero(~np.isnan(times)).tolist():
        if times[i] < last:
            flaws.setdefault(
                i, f"its time {times[i]} is before {last}, that of a row it follows; sort the file by time"
            )
        elif i not in flaws:
            last = float(times[i])
    return last


def open_stream(
    path: str | os.PathLike[str],
    label: str | int | None = None,
    *,
    time: str | int | None = None,
    ignore: str | int | Sequence[str | int] = (),
    categorical: str | int | Sequence[str | int] = (),
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    on_bad_row: OnBadRow = "stop",
    name: str | None = None,
) -> Stream:
    r"""Open a file as a stream, which is read in constant memory.

    The file is CSV with any delimiter, JSON lines, ARFF (dense or sparse), Parquet or NPZ: by its extension, or by its
    content where that is another one. The text formats may be packed with gzip; of Parquet, a page of each column is in
    memory at a time. The head of the file, its first 1,000 rows (fewer where they are very wide), decides what becomes
    of the columns:

    - A column is numeric if at least 95 % of its cells in the head are numbers. ISO dates are numbers too: seconds
      since 1970, of UTC where no zone is given. A later cell that is none makes its row malformed.
    - Any other column is categorical. Each of the first 32 values of the head becomes a column ``colour=red`` of
      zeros and ones; all other values, then or later, share the four columns ``colour=#0`` to ``colour=#3`` by
      their checksum. The values of a nominal ARFF attribute are those of its list; if all are numbers, it is numeric.
      Many values, half of which would be numbers without ``$``, ``%`` or commas, are an error that asks what they are.
    - Missing values are NaN, in all columns of a categorical one: cells that are empty or ``?``, ``NA``, ``N/A``,
      ``NaN``, ``nan``, ``null``, ``NULL``, ``None``.
    - Labels are whole numbers if all labels of the head are (1.0 counts as 1), booleans if these are True and False,
      otherwise text. A row whose label is missing is malformed.

    Parameters
    ----------
    path : path-like
        The file; "-" is the standard input. That, or another pipe, can be read only once.
    label : str or int
        Name or position of the label's column; positions count from 0, negative ones from the end. It is needed for
        every format but NPZ.
    time : str or int, optional
        The column that says when a row came, in numbers or ISO dates that do not run backwards.
    ignore : str, int or sequence of them, default=()
        Columns to leave out.
    categorical : str, int or sequence of them, default=()
        Columns that are categorical though they look like numbers. If the label is named here, labels are text.
    header : bool, optional
        Whether the first row of a CSV file has the names of the columns. By default it has if the label is given by
        name, if a cell of it stands above numbers and is none, or if its cells are 0, 1, 2, … Without a header, columns
        are called x0, x1, …
    delimiter : str, optional
        What stands between the cells of a CSV file; by default whichever of tab, semicolon, bar, comma and space cuts
        its first rows into equal numbers of cells, and into most.
    encoding : str, default="utf-8"
        Encoding of a text file, unless it begins with a byte order mark.
    on_bad_row : {"stop", "skip"}, default="stop"
        Whether a malformed row is an error or is left out and counted. A damaged file always is an error.
    name : str, optional
        What to call the stream; by default the name of the file without its extension.

    Returns
    -------
    Stream
        A `FileStream`, or an `NpzStream` if the file is NPZ.

    Raises
    ------
    DataError
        If the file cannot be used; the message says the file, the line and what to do.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weather.csv")
    >>> _ = path.write_text("temperature,sky,rain\n21.5,clear,no\n,fog,yes\n")
    >>> stream = open_stream(path, "rain", ignore="sky")
    >>> next(stream.blocks()).rows
    array([[21.5],
           [ nan]])
    >>> stream.classes()
    array(['no', 'yes'], dtype='<U3')
    """
    if on_bad_row not in ("stop", "skip"):
        raise ConfigError(f"on_bad_row must be 'stop' or 'skip'; got {on_bad_row!r}")
    if not isinstance(path, str | os.PathLike):
        raise ConfigError(
            f"path must be that of a file; got {type(path).__name__}. Rows in memory are a stream as ArrayStream(X, y)"
        )
    options = checked_options(label, time, ignore, categorical, header, delimiter, encoding)
    source = Source(os.fspath(path))
    kind = source.format()
    if kind == "npz":
        return _open_npz(source, options, name)
    with ExitStack() as failing:
        reading = begin(source, kind, options, on_bad_row)
        failing.callback(reading.close)
        head = reading.peek()
        if not head[0]:
            raise DataError(f"{source.shown} has {_no_rows(reading.ledger)}")
        layout = Layout(reading.columns, reading.roles, head, source.shown, options)
        if source.is_pipe:
            failing.pop_all()
    return FileStream(
        source.stem if name is None else name,
        layout,
        _only_once(reading, source) if source.is_pipe else partial(_again, source, kind, options, on_bad_row, layout),
        n_rows=reading.n_rows if on_bad_row == "stop" else None,
        is_pipe=source.is_pipe,
    )


def _no_rows(ledger: Ledger) -> str:
    if not ledger.skipped:
        return "no rows; expected some, below the header if there is one"
    return f"no rows that can be used; the first of {ledger.n_skipped:,} is {ledger.skipped[0]}"


def _only_once(reading: Reading, source: Source) -> Callable[[], Reading]:
    left = [reading]

    def take() -> Reading:
        if not left:
            raise DataError(f"{source.shown} can be read only once; {SAVE}")
        return left.pop()

    return take


def _again(source: Source, kind: str, options: Options, on_bad_row: OnBadRow, layout: Layout) -> Reading:
    reading = begin(source, kind, options, on_bad_row)
    if reading.roles != layout.roles:
        reading.close()
        raise DataError(f"{source.shown} has other columns than when it was opened; open it again")
    return reading


def _open_npz(source: Source, options: Options, name: str | None) -> Stream:
    """Open an NPZ file, whose arrays say by their names what is what."""
    plain = Options(label="y" if options.label == "y" else None)
    said = [field.name for field in fields(Options) if getattr(options, field.name) != getattr(plain, field.name)]
    if said:
        raise ConfigError(f"{source.shown} is NPZ, with arrays X, y and perhaps times; leave out {', '.join(said)}")
    if source.is_pipe:
        raise DataError(f"{source.shown} is NPZ, which cannot be read from a pipe; save it as a file first")
    return NpzStream(source.path, name=name)
