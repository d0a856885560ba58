"""Streams from users' files."""

import math
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from typing import Any

import numpy as np

from driftline.errors import ConfigError, DataError, Parameter
from driftline.streams.files.cells import RowErrors
from driftline.streams.files.columns import ColumnDescriptions, ColumnWarning
from driftline.streams.files.input_file import InputFile
from driftline.streams.files.layout import Layout
from driftline.streams.files.layout_file import layout_values, read_layout, write_layout
from driftline.streams.files.npz import NpzStream
from driftline.streams.files.options import FileOptions, assign_roles, check_options, unique_names
from driftline.streams.files.reader import BadRows, FileReader, OnBadRow
from driftline.streams.preview import NotebookPreview
from driftline.streams.protocol import Stream
from driftline.types import Block, LabelArray, Vector
from driftline.utils.validation import one_of, whole_number

MAX_CLASSES = 10_000
"""With more different labels than this, the choice of the label column is taken for a mistake."""
MAX_LATE_ROWS = 10
"""If more rows of a chunk than this, and more than half, have too early a time, an earlier row is taken as wrong."""


class FileStream(NotebookPreview):
    """A file as a stream; `open_stream` makes it.

    Parameters
    ----------
    name : str
        Name of the stream.
    file : InputFile
        The file.
    reader : FileReader
        The reader of its head; the first pass over a pipe continues with it.
    layout : Layout
        How the columns are encoded.
    on_bad_row : {"stop", "skip"}
        Whether a malformed row is an error or is skipped and counted.

    Attributes
    ----------
    name, columns, n_rows
        See `Stream`. Parquet states the number of rows; in other formats, and if rows may be skipped, it is known after
        the first pass.
    """

    def __init__(self, name: str, file: InputFile, reader: FileReader, layout: Layout, on_bad_row: OnBadRow) -> None:
        self.name = name
        self.n_rows = reader.n_rows if on_bad_row == "stop" else None
        self._file = file
        self._layout = layout
        self._options = reader.options
        self._on_bad_row = on_bad_row
        self._pipe_reader = reader if file.is_pipe else None
        self._bad_rows: BadRows | None = None
        self._classes: LabelArray | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the stream."""
        return self._layout.names

    @property
    def layout(self) -> dict[str, Any]:
        """How the columns are encoded, as JSON can hold it; with it, `RowFile` reads other files in the same way."""
        return self._layout.to_dict()

    @property
    def notices(self) -> tuple[DataError, ...]:
        """A message for each column that is not used, because it looks like a time or an identifier."""
        return self._layout.notices

    def write_layout(self, path: str | os.PathLike[str]) -> None:
        """Write how the columns are read to a TOML file that people can edit, for `layout` of `open_stream`.

        Parameters
        ----------
        path : path-like
            The file, which is replaced if it exists.
        """
        roles = self._layout.roles
        has_text_label = roles.label in roles.categorical
        write_layout(path, layout_values(self._layout.columns, self.layout, has_text_label=has_text_label))

    def describe_columns(self) -> ColumnDescriptions:
        """Return the columns of the file as they were understood, by its head.

        Returns
        -------
        ColumnDescriptions
            A tuple with a `ColumnDescription` for each column; printed, a table.
        """
        return self._layout.columns

    @property
    def n_skipped(self) -> int:
        """Number of malformed rows that the latest pass has skipped so far."""
        return 0 if self._bad_rows is None else self._bad_rows.n_skipped

    @property
    def skipped(self) -> tuple[str, ...]:
        """File, line and reason of the first ten of these rows."""
        return () if self._bad_rows is None else tuple(map(str, self._bad_rows.skipped))

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Read the rows one block at a time.

        Parameters
        ----------
        start : int, default=0
            Position of the first row to read; skipped rows do not count.

        Yields
        ------
        Block
            At most `BLOCK_ROWS` rows.

        Raises
        ------
        DataError
            At the first malformed row, unless such rows are skipped, and if the file is damaged; the rows before it
            are yielded first.
        """
        whole_number("start", start, at_least=0)
        n_read, last = 0, -math.inf
        with self._open_reader() as reader:
            self._bad_rows = reader.bad_rows
            for chunk in reader.chunks:
                block, errors = self._layout.encode(chunk)
                last = _check_time_order(block.times, errors, last, self._file.name)
                good, failure = reader.bad_rows.split(len(block.rows), errors, chunk.places)
                block = block.part(good)
                part = slice(max(start - n_read, 0), None)
                n_read += len(block.rows)
                if start < n_read:
                    yield block.part(part)
                if failure is not None:
                    raise failure
        if n_read == 0:
            raise _no_rows(self.name, reader.bad_rows)
        self.n_rows = n_read

    def classes(self) -> LabelArray:
        """Return the labels that occur, sorted; the first call reads the whole file.

        Returns
        -------
        ndarray
            The labels.
        """
        if self._classes is None:
            if self._file.is_pipe:
                raise DataError(
                    f"{self.name} can be read only once, and finding its classes takes a whole pass; save it as a file "
                    "to read it more than once"
                )
            seen: set[Any] = set()
            for block in self.blocks():
                seen.update(block.labels.tolist())
                if len(seen) > MAX_CLASSES:
                    raise DataError(
                        f"{self.name} has more than {MAX_CLASSES:,} different labels; set ",
                        Parameter("label"),
                        " to another column",
                    )
            self._classes = np.array(sorted(seen))
        return self._classes

    def _first_block(self) -> Block | None:
        """Return the first rows; None if the file can be read only once. The count of skipped rows stays as it is."""
        if self._file.is_pipe:
            return None
        bad_rows = self._bad_rows
        try:
            return next(self.blocks(), None)
        finally:
            self._bad_rows = bad_rows

    def _known_classes(self) -> LabelArray | None:
        return self._classes

    def _open_reader(self) -> FileReader:
        """Open the file for a pass; a pipe is open already, and an error after its first pass."""
        if self._pipe_reader is not None:
            reader, self._pipe_reader = self._pipe_reader, None
            return reader
        with ExitStack() as on_error:
            reader = on_error.enter_context(FileReader(self._file, self._options, self._on_bad_row))
            if unique_names([column.name for column in reader.columns]) != self._layout.roles.names:
                raise DataError(f"{self._file.name} has other columns than when it was opened; open it again")
            reader.select(self._layout.roles.used)
            on_error.pop_all()
        return reader


def _check_time_order(times: Vector, errors: RowErrors, last: float, file_name: str) -> float:
    """Add the rows whose time is before that of an earlier row to the errors, and return the latest time."""
    if not errors and np.all(np.diff(times, prepend=last) >= 0.0):
        return float(times[-1])
    latest = np.maximum.accumulate([last, *np.where(np.isnan(times), -math.inf, times)])
    n_before = int(np.sum(times < latest[:-1]))
    if n_before > max(len(times) / 2, MAX_LATE_ROWS):
        raise DataError(
            f"{file_name}: {n_before:,} rows have a time before {latest[-1]}, the time of an earlier row; correct that "
            "row, or sort the file by time"
        )
    for i in np.flatnonzero(~np.isnan(times)).tolist():
        if times[i] < last:
            errors.setdefault(
                i, f"its time {times[i]} is before {last}, the time of an earlier row; sort the file by time"
            )
        elif i not in errors:
            last = float(times[i])
    return last


def open_stream(
    path: str | os.PathLike[str],
    label: str | int | None = None,
    *,
    time: str | int | None = None,
    ignore: str | int | Sequence[str | int] = (),
    categorical: str | int | Sequence[str | int] = (),
    use: str | int | Sequence[str | int] = (),
    layout: str | os.PathLike[str] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    on_bad_row: OnBadRow = "stop",
    name: str | None = None,
) -> Stream:
    r"""Open a file as a stream, which is read in constant memory.

    The file is CSV with any delimiter, JSON lines, ARFF (dense or sparse), Parquet or NPZ. The extension states the
    format; if it is not one of theirs, the first bytes of the file do. Text formats may be compressed with gzip; of
    Parquet, one page of each column is in memory at a time. The head of the file, its first 1,000 rows (fewer if they
    are very wide), determines how the columns are encoded:

    - A column is numeric if at least 95 % of its cells in the head are numbers. ISO dates are numbers too: seconds
      since 1970, in UTC if no time zone is given. A row with any other cell in such a column is malformed.
    - Any other column is categorical. Each of its first 32 values in the head becomes a column ``colour=red`` of zeros
      and ones; all other values, in the head or later, share the four columns ``colour=#0`` to ``colour=#3`` by their
      checksum. A nominal ARFF attribute has the values of its list; if all are numbers, it is numeric. More than 32
      values of which half would be numbers without ``$``, ``%`` or commas are an error that says what to do.
    - A feature that looks like a time or an identifier is not used, with a `ColumnWarning`, unless it is named in
      `use` or `categorical`, or no other feature is left; `describe_columns` of the stream shows all. This takes 100 or
      more known cells in the head. Dates look like a time if they never fall and are not all the same, whole numbers
      if they never fall and at least 95 % are different, other numbers if each is larger than the one before. Text
      identifies rows if at least 95 % of its values are different. Whole numbers do if they count 1, 2, 3, …; or if all
      are different and either five or more would have repeated an earlier one if they had been drawn at random from
      their range, or all have the same number of digits, eight or more. Counts with a wide range, such as bytes, and
      amounts of fewer digits are kept. So are constant columns.
    - Missing values are NaN, in all columns of a categorical one. A cell is missing if it is empty or ``?``, ``NA``,
      ``N/A``, ``NaN``, ``nan``, ``null``, ``NULL``, ``None``.
    - Labels are whole numbers if all labels of the head are (1.0 counts as 1), booleans if they are True and False,
      otherwise text. A row whose label is missing is malformed.

    Parameters
    ----------
    path : path-like
        The file; "-" is the standard input. The standard input and other pipes can be read only once.
    label : str or int
        Name or position of the label column; positions count from 0, negative ones from the end. Required for every
        format but NPZ.
    time : str or int, optional
        The column with the times of the rows, as numbers or ISO dates that never decrease.
    ignore : str, int or sequence of them, default=()
        Columns to leave out.
    categorical : str, int or sequence of them, default=()
        Columns that are categorical although they look like numbers. If the label is among them, labels are text.
    use : str, int or sequence of them, default=()
        Columns to learn from although they look like times or identifiers.
    layout : path-like, optional
        A TOML file with the label, the time and so on, as `write_layout` of a stream writes it. Arguments that are
        given here replace those of the file.
    header : bool, optional
        Whether the first row of a CSV file holds the names of the columns. By default it does if the label is given
        by name, if one of its cells is not a number but those below are, or if its cells are 0, 1, 2, … Without a
        header, columns are called x0, x1, …
    delimiter : str, optional
        The character between the cells of a CSV file; by default the one of tab, semicolon, bar, comma and space that
        cuts most of the first rows into the same number of cells, and into most cells.
    encoding : str, default="utf-8"
        Encoding of a text file, unless it begins with a byte order mark.
    on_bad_row : {"stop", "skip"}, default="stop"
        Whether a malformed row is an error or is skipped and counted. A damaged file is always an error.
    name : str, optional
        Name of the stream; by default the name of the file without its extension.

    Returns
    -------
    Stream
        A `FileStream`, or an `NpzStream` if the file is NPZ.

    Raises
    ------
    DataError
        If the file cannot be used; the message gives the file, the line and what to do.

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
    one_of("on_bad_row", on_bad_row, ("stop", "skip"))
    if not isinstance(path, str | os.PathLike):
        raise ConfigError(
            f"path must be the path of a file; got {type(path).__name__}. For rows in memory use ArrayStream(X, y)"
        )
    options = check_options(label, time, ignore, categorical, header, delimiter, encoding, use)
    if layout is not None:
        options = _with_layout(options, read_layout(layout))
    file = InputFile(os.fspath(path))
    if file.format == "npz":
        return _open_npz(file, options, name)
    with ExitStack() as on_exit:
        reader = on_exit.enter_context(FileReader(file, options, on_bad_row))
        with _naming_the_layout(layout):
            roles = assign_roles([column.name for column in reader.columns], options, file.name)
        reader.select(roles.used)
        head = reader.peek()
        if not any(head):
            raise _no_rows(file.name, reader.bad_rows)
        encoding_layout = Layout(reader.columns, roles, head, file.name, reader.options)
        reader.keep([k for k, j in enumerate(roles.used) if j in encoding_layout.roles.used])
        if file.is_pipe:
            on_exit.pop_all()  # the first pass continues with this reader
    for notice in encoding_layout.notices:
        warnings.warn(f"{file.name}: {notice}", ColumnWarning, stacklevel=2)
    return FileStream(file.stem if name is None else name, file, reader, encoding_layout, on_bad_row)


@contextmanager
def _naming_the_layout(layout: str | os.PathLike[str] | None) -> Iterator[None]:
    """Add to an error about columns that the layout names some of them too."""
    try:
        yield
    except (ConfigError, DataError) as error:
        if layout is None:
            raise
        raise type(error)(*error.args, f" (the layout {os.fspath(layout)} names columns too)") from error


def _with_layout(options: FileOptions, values: dict[str, Any]) -> FileOptions:
    """Return the options with the values of a layout file where the options have their defaults."""
    default = FileOptions()
    chosen: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values.items()
        if getattr(options, name) == getattr(default, name)
    }
    return replace(options, **chosen)


def _no_rows(name: str, bad_rows: BadRows) -> DataError:
    if not bad_rows.skipped:
        return DataError(f"{name} has no rows; expected some, below the header if there is one")
    return DataError(f"{name} has no usable rows; the first of {bad_rows.n_skipped:,} is ", bad_rows.skipped[0])


def _open_npz(file: InputFile, options: FileOptions, name: str | None) -> Stream:
    """Open an NPZ file; its arrays have fixed names, so that no option applies."""
    default = FileOptions(label="y" if options.label == "y" else None)
    given = [
        field.name for field in fields(FileOptions) if getattr(options, field.name) != getattr(default, field.name)
    ]
    if given:
        listed = [part for option in given for part in (", ", Parameter(option))][1:]
        raise ConfigError(f"{file.name} is NPZ, with arrays X, y and optionally times; leave out ", *listed)
    if file.is_pipe:
        raise DataError(f"{file.name} is NPZ, which cannot be read from a pipe; save it as a file first")
    return NpzStream(file.path, name=name)
