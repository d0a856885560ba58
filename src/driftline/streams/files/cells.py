"""Cells of a file, by columns and chunks, and how a cell is read as a number, a date or text."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from reprlib import repr as brief
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from driftline.errors import DataError
from driftline.streams.files.options import FileOptions
from driftline.types import LARGEST_VALUE, Vector

HEAD_ROWS = 1000
"""Number of rows that decide how the columns are encoded."""
CHUNK_BYTES = 12_000_000
"""Approximate memory of the cells of a chunk, 200,000 short ones, and again of their characters."""
CELL_BYTES = 60
"""Memory of a cell besides its characters."""
MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"})
"""Texts that stand for a missing value."""

T = TypeVar("T")
Row = tuple[int, Sequence[Any]]
"""Number of the line on which a row begins, and its cells."""
Cells = Sequence[Any] | NDArray[Any]
"""One column of a chunk: texts, numbers, None for missing values; or an array of numbers."""
Reason = str | DataError
"""Why a cell, a row or a line cannot be used; an error if the reason mentions parameters."""
RowErrors = dict[int, Reason]
"""Positions of the rows of a chunk that cannot be used, and the reasons."""
Reject = Callable[[int, Reason], None]
"""Called with the line number of a row that cannot be used and the reason; if it returns, the row is skipped."""


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of a file: its name there, and what the format states about its cells, if anything."""

    name: str
    values: tuple[str, ...] | None = None
    """The only values that its cells can have."""
    is_number: bool = False
    is_date: bool = False


@dataclass(frozen=True, slots=True)
class TextTable:
    """The columns of a text file, and an iterator over its rows."""

    columns: tuple[FileColumn, ...]
    rows: Iterator[Row]
    options: FileOptions
    """The options with what the head of the file showed filled in: reading with them examines the head no more."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows of a file, column by column."""

    places: Sequence[int]
    """Their line numbers, or row numbers in a format without lines."""
    columns: Sequence[Cells]


def parse_number(cell: Any) -> float:
    """Return a cell as a number, NaN if it is missing.

    Raises
    ------
    ValueError
        If the cell is not a number.

    Examples
    --------
    >>> parse_number(" 1.5e3"), parse_number("?"), parse_number(True)
    (1500.0, nan, 1.0)
    >>> parse_number("2021_03")
    Traceback (most recent call last):
        ...
    ValueError: '2021_03' is not a number
    """
    if isinstance(cell, str):
        cell = cell.strip()
        if cell in MISSING:
            return math.nan
        # Python would accept 1_000 and the digits of all scripts; in data these are codes and texts.
        if "_" in cell or not cell.isascii():
            raise ValueError(f"{brief(cell)} is not a number")
    elif cell is None:
        return math.nan
    elif not isinstance(cell, int | float):
        raise ValueError(f"{brief(cell)} is not a number")
    try:
        return float(cell)
    except ValueError:
        raise ValueError(f"{brief(cell)} is not a number") from None
    except OverflowError:
        return math.inf


def parse_date(cell: Any) -> float:
    """Return a date in ISO format as seconds since 1970, NaN if it is missing.

    A date without time zone is taken as UTC.

    Raises
    ------
    ValueError
        If the cell is not a date.

    Examples
    --------
    >>> parse_date("1970-01-02"), parse_date("1970-01-01T01:00:00+01:00")
    (86400.0, 0.0)
    """
    if cell is None or (isinstance(cell, str) and cell.strip() in MISSING):
        return math.nan
    try:
        date = datetime.fromisoformat(cell.strip())
    except (ValueError, AttributeError):
        raise ValueError(f"{brief(cell)} is not a date such as 2021-03-04 or 2021-03-04T05:06:07Z") from None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def parse_text(cell: Any) -> str | None:
    """Return a cell as text without the spaces around it, None if it is missing.

    Raises
    ------
    ValueError
        If the cell is neither a number nor text.

    Examples
    --------
    >>> parse_text(" red "), parse_text(2.0), parse_text(True), parse_text(None)
    ('red', '2', 'True', None)
    """
    if isinstance(cell, float):
        if math.isnan(cell):
            return None
        cell = int(cell) if cell.is_integer() else cell
    if not isinstance(cell, str | int | float | None):
        raise ValueError(f"{brief(cell)} is neither a number nor text")
    text = "" if cell is None else str(cell).strip()
    return None if text in MISSING else text


def can_parse(parse: Callable[[Any], Any], cell: Any) -> bool:
    """Return whether a cell is not missing and one of the functions above reads it."""
    try:
        value = parse(cell)
    except ValueError:
        return False
    return not (value is None or (isinstance(value, float) and math.isnan(value)))


def to_sequence(cells: Cells) -> Sequence[Any]:
    """Return cells as Python values."""
    return cells.tolist() if isinstance(cells, np.ndarray) else cells


def read_numbers(cells: Cells) -> tuple[Vector, RowErrors]:
    """Return a column as numbers, NaN for cells that are missing or cannot be used."""
    values = cells.astype(np.float64) if isinstance(cells, np.ndarray) else _read_numbers_fast(cells)
    errors: RowErrors = {}
    if values is None:
        values, errors = read_floats(parse_number, cells)
    for i in np.flatnonzero(np.abs(values) > LARGEST_VALUE).tolist():
        errors[i] = f"{brief(to_sequence(cells[i : i + 1])[0])} is beyond {LARGEST_VALUE:g}, the largest number allowed"
        values[i] = math.nan
    return values, errors


def _read_numbers_fast(cells: Sequence[Any]) -> Vector | None:
    """Return numbers, or texts of numbers, as an array; None if there are other cells."""
    types = set(map(type, cells))
    if types == {str}:
        joined = "".join(cells)
        if "_" in joined or not joined.isascii():
            return None
    elif not types <= {bool, int, float, type(None)}:
        return None
    for convert in float, _float_or_nan:  # the first is much faster
        try:
            return np.fromiter(map(convert, cells), np.float64, len(cells))
        except (ValueError, TypeError, OverflowError):
            continue
    return None


def _float_or_nan(cell: Any) -> float:
    return math.nan if cell is None or cell in MISSING else float(cell)


def read_dates(cells: Cells) -> tuple[Vector, RowErrors]:
    """Return a column of dates as seconds since 1970, NaN for cells that are missing or cannot be used."""
    return read_floats(parse_date, cells)


def read_floats(parse: Callable[[Any], float], cells: Cells) -> tuple[Vector, RowErrors]:
    """Return a column parsed cell by cell, NaN for cells that are missing or cannot be used."""
    values, errors = read_cells(parse, cells, math.nan)
    return np.array(values), errors


def read_cells(parse: Callable[[Any], T], cells: Cells, default: T) -> tuple[list[T], RowErrors]:
    """Return a column parsed cell by cell, with the default for cells that cannot be used.

    Equal cells are parsed once; their types count, as 1 and True are equal but different cells.
    """
    values: list[T] = []
    errors: RowErrors = {}
    cached = lru_cache(maxsize=None, typed=True)(parse)
    for i, cell in enumerate(to_sequence(cells)):
        try:
            values.append(cached(cell))
        except (ValueError, TypeError) as error:  # TypeError: a list is not hashable
            values.append(default)
            if isinstance(error, ValueError):
                errors[i] = error if isinstance(error, DataError) else str(error)
            else:
                errors[i] = f"{brief(cell)} is neither a number nor text"
    return values, errors
