"""How a column of a file is encoded: as one column of numbers, as several for categories, or as labels."""

import math
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from reprlib import repr as brief
from typing import Any, Protocol

import numpy as np

from driftline.errors import DataError, Parameter
from driftline.streams.files.cells import (
    Cells,
    FileColumn,
    RowErrors,
    can_parse,
    parse_date,
    parse_number,
    parse_text,
    read_cells,
    read_dates,
    read_floats,
    read_numbers,
    to_sequence,
)
from driftline.types import LabelArray, Matrix, Vector

MIN_NUMBER_SHARE = 0.95
"""Least share of numbers among the cells of the head for a column to be numeric; its other cells are malformed then."""
MAX_VALUE_COLUMNS = 32
"""Most values of a categorical column that get a column of their own."""
HASH_COLUMNS = 4
"""Number of columns that all other values share."""
MAX_LABEL_CHARACTERS = 256
LABEL_KINDS: dict[type, str] = {int: "a whole number", bool: "True or False"}
"""What labels that are not text are, in words."""

_WHOLE_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})(?:\.0*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_REMOVE_DECORATION = str.maketrans("", "", "$€£¥%, '")
"""Removes currency and percent signs, separators of thousands and spaces."""
_CATEGORICAL_OR_IGNORE = Parameter("categorical"), " or ", Parameter("ignore")


class ColumnEncoder(Protocol):
    """Encodes a column of the file as one or more columns of numbers."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns."""

    def encode(self, cells: Cells) -> tuple[Matrix, RowErrors]:
        """Return the encoded columns, a row for each cell, and the cells that cannot be used."""

    def to_dict(self) -> dict[str, Any]:
        """Return a description that JSON can hold and `encoder_from_dict` takes."""


class NumberEncoder:
    """Encodes numbers, or dates as numbers; NaN where a value is missing."""

    def __init__(self, name: str, read: Callable[[Cells], tuple[Vector, RowErrors]]) -> None:
        self.names = (name,)
        self._read = read

    def encode(self, cells: Cells) -> tuple[Matrix, RowErrors]:
        """Return one column, and the cells that cannot be used."""
        values, errors = self._read(cells)
        return values[:, None], errors

    def to_dict(self) -> dict[str, Any]:
        """Return a description that JSON can hold and `encoder_from_dict` takes."""
        return {"name": self.names[0], "kind": "date" if self._read is read_dates else "number"}


class CategoryEncoder:
    """Encodes categories: 1 in the column of the value and 0 in the others; NaN in all of them if it is missing.

    The first `MAX_VALUE_COLUMNS` values have a column each. Any other value shares one of `HASH_COLUMNS` columns,
    chosen by its checksum, so that it is the same in every pass and on every machine.

    Parameters
    ----------
    name : str
        Name of the column of the file.
    values : sequence of str
        The known values, in order.
    is_closed : bool
        Whether no other values are allowed.

    Examples
    --------
    >>> encoder = CategoryEncoder("sky", ["clear", "fog"], is_closed=True)
    >>> encoder.names
    ('sky=clear', 'sky=fog')
    >>> encoder.encode(["fog", " clear", "?"])[0]
    array([[ 0.,  1.],
           [ 1.,  0.],
           [nan, nan]])
    """

    def __init__(self, name: str, values: Sequence[str], *, is_closed: bool) -> None:
        self._name = name
        self._values = values if is_closed else values[:MAX_VALUE_COLUMNS]
        self._is_closed = is_closed
        self._allowed = frozenset(values if is_closed else ())
        self._position = {value: j for j, value in enumerate(values[:MAX_VALUE_COLUMNS])}
        n_hashed = 0 if is_closed and len(values) <= MAX_VALUE_COLUMNS else HASH_COLUMNS
        others = (f"#{j}" for j in range(n_hashed))
        self.names = tuple(f"{name}={value}" for value in (*self._position, *others))

    def encode(self, cells: Cells) -> tuple[Matrix, RowErrors]:
        """Return a column for each value and those that the other values share, and the cells that cannot be used."""
        positions, errors = read_floats(self._column, cells)
        rows = np.zeros((len(positions), len(self.names)))
        known = ~np.isnan(positions)
        rows[~known] = np.nan
        rows[known, positions[known].astype(np.int64)] = 1.0
        return rows, errors

    def to_dict(self) -> dict[str, Any]:
        """Return a description that JSON can hold and `encoder_from_dict` takes."""
        return {"name": self._name, "kind": "category", "values": list(self._values), "is_closed": self._is_closed}

    def _column(self, cell: Any) -> float:
        """Return the position of the column in which a cell is 1; NaN if it is missing."""
        value = _parse_value(cell, self._allowed)
        if value is None:
            return math.nan
        position = self._position.get(value)
        if position is None and len(self._position) == len(self.names):
            raise ValueError(f"{brief(value)} is not in the list of values of {self._name!r}")
        return len(self._position) + zlib.crc32(value.encode()) % HASH_COLUMNS if position is None else position


class LabelEncoder:
    """Reads labels: whole numbers if all labels of the head are, booleans if they are True and False, otherwise text.

    Parameters
    ----------
    column : FileColumn
        The column of the file.
    head : sequence
        Its first cells.
    is_text : bool
        Whether labels are text even if they look like numbers or booleans.
    """

    def __init__(self, column: FileColumn, head: Cells, *, is_text: bool) -> None:
        self._allowed = frozenset(column.values or ())
        seen = {parse_text(cell) for cell in _present(head)} if column.values is None else self._allowed
        self._type: type[int | bool | str] = str
        if seen and not is_text:
            if seen <= {"True", "False"}:
                self._type = bool
            elif all(_whole_number(label) is not None for label in seen):
                self._type = int

    def encode(self, cells: Cells) -> tuple[LabelArray, RowErrors]:
        """Return the labels, and the cells that cannot be used."""
        labels, errors = read_cells(self._label, cells, self._type())
        return np.array(labels, dtype=np.int64 if self._type is int else self._type), errors

    def _label(self, cell: Any) -> int | bool | str:
        label = _parse_value(cell, self._allowed)
        if label is None:
            raise ValueError(f"the label is missing (the cell is {brief(cell)})")
        if (value := read_label(label, self._type)) is not None:
            return value
        raise DataError(
            f"expected {LABEL_KINDS[self._type]}, as the first labels are; got {brief(label)}: correct it, or name the "
            "label in ",
            Parameter("categorical"),
            " too, to read all labels as text",
        )


def read_label(label: str, kind: type[int | bool | str]) -> int | bool | str | None:
    """Return a label as a value of a kind; None if it is not one, and a ValueError if it is too long.

    Examples
    --------
    >>> read_label("3.0", int), read_label("True", bool), read_label("3.0", str), read_label("1_000", int)
    (3, True, '3.0', None)
    """
    if kind is int:
        return _whole_number(label)
    if kind is bool:
        return label == "True" if label in ("True", "False") else None
    if len(label) > MAX_LABEL_CHARACTERS or "\0" in label:
        raise ValueError(f"expected a label of at most {MAX_LABEL_CHARACTERS} characters; got {brief(label)}")
    return label


def _parse_value(cell: Any, allowed: frozenset[str]) -> str | None:
    """Return a cell as text, None if it is missing; an allowed value is never missing, even if it is "None"."""
    return cell if isinstance(cell, str) and cell in allowed else parse_text(cell)


def _whole_number(label: str | None) -> int | None:
    """Return a label as a whole number; None for text, such as 01, and for numbers that do not fit 64 bits."""
    if label is None or not _WHOLE_NUMBER.fullmatch(label):
        return None
    number = int(label.partition(".")[0])
    return number if -(2**63) <= number < 2**63 else None


def choose_encoder(name: str, column: FileColumn, head: Cells, *, is_categorical: bool) -> ColumnEncoder:
    """Return the encoder of a column, chosen by the user, by the format, or else by the head of the file."""
    read = None if is_categorical else choose_number_reader(column, head)
    if read is not None:
        return NumberEncoder(name, read)
    if column.values is not None:
        return CategoryEncoder(name, column.values, is_closed=True)
    values = list(dict.fromkeys(value for cell in _present(head) if (value := parse_text(cell))))
    if not is_categorical:
        _check_categories(name, values)
    return CategoryEncoder(name, values, is_closed=False)


def encoder_from_dict(description: Mapping[str, Any]) -> ColumnEncoder:
    """Return the encoder that a `to_dict` describes.

    Examples
    --------
    >>> encoder = CategoryEncoder("sky", ["clear", "fog"], is_closed=True)
    >>> encoder_from_dict(encoder.to_dict()).names
    ('sky=clear', 'sky=fog')
    """
    if description["kind"] == "category":
        return CategoryEncoder(description["name"], description["values"], is_closed=description["is_closed"])
    return NumberEncoder(description["name"], read_dates if description["kind"] == "date" else read_numbers)


def _check_categories(name: str, values: Sequence[str]) -> None:
    """Raise an error if the values are numbers in another notation: as categories they would lose their meaning."""
    n_commas = sum(_DECIMAL_COMMA.fullmatch(value) is not None for value in values)
    if n_commas >= MIN_NUMBER_SHARE * len(values):
        raise DataError(
            f"column {name!r} holds numbers with a comma, such as {values[0]!r}; write decimals with a point and "
            "thousands without a comma, or name the column in ",
            *_CATEGORICAL_OR_IGNORE,
        )
    n_amounts = sum(can_parse(parse_number, value.translate(_REMOVE_DECORATION)) for value in values)
    if len(values) > MAX_VALUE_COLUMNS and 2 * n_amounts >= len(values):
        odd = next(value for value in values if not can_parse(parse_number, value))
        raise DataError(
            f"column {name!r} seems to hold numbers, but also {odd!r}: write numbers without currency, percent sign "
            "and separators of thousands, leave unknown ones empty, or name the column in ",
            *_CATEGORICAL_OR_IGNORE,
        )


def choose_number_reader(column: FileColumn, head: Cells) -> Callable[[Cells], tuple[Vector, RowErrors]] | None:
    """Return `read_numbers` or `read_dates`, whichever can read the cells of a column; None if they are text."""
    if column.is_number:
        return read_numbers
    if column.values is not None:
        return read_numbers if all(can_parse(parse_number, value) for value in column.values) else None
    present = _present(head)
    for parse, read in (parse_number, read_numbers), (parse_date, read_dates):
        if sum(can_parse(parse, cell) for cell in present) >= MIN_NUMBER_SHARE * len(present):
            return read
    return None


def _present(head: Cells) -> list[Any]:
    """Return the cells that are not missing."""
    return [cell for cell in to_sequence(head) if can_parse(parse_text, cell)]
