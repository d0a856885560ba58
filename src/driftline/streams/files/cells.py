"""What cells say: nothing, a number, a date or a text."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from reprlib import repr as brief
from typing import Any, TypeVar

import numpy as np

from driftline.streams.files.tables import Cells
from driftline.types import LARGEST, Vector

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"})
"""Texts that say that a value is missing."""

T = TypeVar("T")
Flaws = dict[int, str]
"""Positions of the cells of a column that cannot be used, and why."""


def number(cell: Any) -> float:
    """Return the number that a cell says, NaN if it is missing; a ValueError says why it is none.

    Examples
    --------
    >>> number(" 1.5e3"), number("?"), number(True)
    (1500.0, nan, 1.0)
    >>> number("2021_03")
    Traceback (most recent call last):
        ...
    ValueError: '2021_03' is no number
    """
    if isinstance(cell, str):
        cell = cell.strip()
        if cell in MISSING:
            return math.nan
        # Python would read 1_000, and the digits of all scripts, as numbers; in data these are codes and texts.
        if "_" in cell or not cell.isascii():
            raise ValueError(f"{brief(cell)} is no number")
    elif cell is None:
        return math.nan
    elif not isinstance(cell, int | float):
        raise ValueError(f"{brief(cell)} is no number")
    try:
        return float(cell)
    except ValueError:
        raise ValueError(f"{brief(cell)} is no number") from None
    except OverflowError:
        return math.inf


def seconds(cell: Any) -> float:
    """Return a date in ISO format as seconds since 1970, NaN if it is missing; a ValueError says why it is none.

    A date without time zone is taken as UTC.

    Examples
    --------
    >>> seconds("1970-01-02"), seconds("1970-01-01T01:00:00+01:00")
    (86400.0, 0.0)
    """
    if cell is None or (isinstance(cell, str) and cell.strip() in MISSING):
        return math.nan
    try:
        date = datetime.fromisoformat(cell.strip())
    except (ValueError, AttributeError):
        raise ValueError(f"{brief(cell)} is no date such as 2021-03-04 or 2021-03-04T05:06:07Z") from None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def text(cell: Any) -> str | None:
    """Return a cell as text without the spaces around it, None if it is missing; a ValueError says why it is none.

    Examples
    --------
    >>> text(" red "), text(2.0), text(True), text(None)
    ('red', '2', 'True', None)
    """
    if isinstance(cell, float):
        if math.isnan(cell):
            return None
        cell = int(cell) if cell.is_integer() else cell
    if not isinstance(cell, str | int | float | None):
        raise ValueError(f"{brief(cell)} is neither a number nor text")
    said = "" if cell is None else str(cell).strip()
    return None if said in MISSING else said


def says(meaning: Callable[[Any], Any], cell: Any) -> bool:
    """Return whether a cell can be read as a number, a date or a text and is not missing."""
    try:
        value = meaning(cell)
    except ValueError:
        return False
    return not (value is None or (isinstance(value, float) and math.isnan(value)))


def plain(cells: Cells) -> Sequence[Any]:
    """Return cells as Python values."""
    return cells.tolist() if isinstance(cells, np.ndarray) else cells


def numbers(cells: Cells) -> tuple[Vector, Flaws]:
    """Read a column of numbers, NaN where one is missing or cannot be used."""
    values = cells.astype(np.float64) if isinstance(cells, np.ndarray) else _at_once(cells)
    flaws: Flaws = {}
    if values is None:
        values, flaws = each(number, cells)
    for i in np.flatnonzero(np.abs(values) > LARGEST).tolist():
        flaws[i] = f"{brief(plain(cells[i : i + 1])[0])} is beyond {LARGEST:g}, the largest number allowed"
        values[i] = math.nan
    return values, flaws


def _at_once(cells: Sequence[Any]) -> Vector | None:
    """Read numbers, or texts of numbers; None where there are other cells, to be looked at one by one."""
    kinds = set(map(type, cells))
    if kinds == {str}:
        joined = "".join(cells)
        if "_" in joined or not joined.isascii():
            return None
    elif not kinds <= {bool, int, float, type(None)}:
        return None
    for read in float, _float_or_nan:  # the first is much faster
        try:
            return np.fromiter(map(read, cells), np.float64, len(cells))
        except (ValueError, TypeError, OverflowError):
            continue
    return None


def _float_or_nan(cell: Any) -> float:
    return math.nan if cell is None or cell in MISSING else float(cell)


def dates(cells: Cells) -> tuple[Vector, Flaws]:
    """Read a column of dates, NaN where one is missing or cannot be used."""
    return each(seconds, cells)


def each(meaning: Callable[[Any], float], cells: Cells) -> tuple[Vector, Flaws]:
    """Read a column cell by cell, NaN where one is missing or cannot be used."""
    values, flaws = read_each(meaning, cells, math.nan)
    return np.array(values), flaws


def read_each(meaning: Callable[[Any], T], cells: Cells, otherwise: T) -> tuple[list[T], Flaws]:
    """Read a column cell by cell, with something in the place of cells that cannot be used.

    Cells that recur are read once; types count, as 1 and True are different cells though equal.
    """
    values, flaws = [], {}
    known = lru_cache(maxsize=None, typed=True)(meaning)
    for i, cell in enumerate(plain(cells)):
        try:
            values.append(known(cell))
        except (ValueError, TypeError) as error:  # a list cannot be looked up, nor is it any cell's meaning
            values.append(otherwise)
            flaws[i] = str(error) if isinstance(error, ValueError) else f"{brief(cell)} is neither a number nor text"
    return values, flaws
