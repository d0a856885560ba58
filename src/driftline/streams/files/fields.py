"""What a column of a file becomes in the stream: a column of numbers, several for categories, or the labels."""

import math
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from reprlib import repr as brief
from typing import Any, Protocol

import numpy as np

from driftline.errors import DataError
from driftline.streams.files.cells import Flaws, dates, each, number, numbers, plain, read_each, says, seconds, text
from driftline.streams.files.tables import Cells, Column
from driftline.types import LabelArray, Matrix, Vector

NUMERIC_SHARE = 0.95
"""How many of a column's cells in the head must be numbers for it to be numeric; the others are malformed then."""
MOST_VALUES = 32
"""Most values of a categorical column that get a column each."""
HASH_COLUMNS = 4
"""Columns that its other values share."""
LONGEST_LABEL = 256

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,18})(?:\.0*)?")
_DECORATION = str.maketrans("", "", "$€£¥%, '")
"""What people write around and into numbers."""
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


class Field(Protocol):
    """A column of the file that becomes one or more columns of the rows."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of these columns."""

    def encode(self, cells: Cells) -> tuple[Matrix, Flaws]:
        """Return their values, a row for each cell, and the cells that cannot be used."""

    def to_dict(self) -> dict[str, Any]:
        """Return what `restored_field` needs, as JSON knows it."""


class ScalarField:
    """Numbers, or dates as numbers; NaN where one is missing."""

    def __init__(self, name: str, read: Callable[[Cells], tuple[Vector, Flaws]]) -> None:
        self.names = (name,)
        self._read = read

    def encode(self, cells: Cells) -> tuple[Matrix, Flaws]:
        """Return one column."""
        values, flaws = self._read(cells)
        return values[:, None], flaws

    def to_dict(self) -> dict[str, Any]:
        """Return what `restored_field` needs, as JSON knows it."""
        return {"name": self.names[0], "kind": "date" if self._read is dates else "number"}


class CategoryField:
    """Categories: 1 in the column of the value and 0 in the others; NaN in all of them where it is missing.

    The first `MOST_VALUES` values have a column each. Any other value shares one of `HASH_COLUMNS` columns, chosen
    by its checksum, so that it is the same in every reading and on every machine.

    Parameters
    ----------
    name : str
        Name of the column of the file.
    values : sequence of str
        The values that are known, in order.
    is_closed : bool
        Whether there can be no others.

    Examples
    --------
    >>> field = CategoryField("sky", ["clear", "fog"], is_closed=True)
    >>> field.names
    ('sky=clear', 'sky=fog')
    >>> field.encode(["fog", " clear", "?"])[0]
    array([[ 0.,  1.],
           [ 1.,  0.],
           [nan, nan]])
    """

    def __init__(self, name: str, values: Sequence[str], *, is_closed: bool) -> None:
        self._name = name
        self._values = values if is_closed else values[:MOST_VALUES]
        self._is_closed = is_closed
        self._listed = frozenset(values if is_closed else ())
        self._position = {value: j for j, value in enumerate(values[:MOST_VALUES])}
        n_hashed = 0 if is_closed and len(values) <= MOST_VALUES else HASH_COLUMNS
        others = (f"#{j}" for j in range(n_hashed))
        self.names = tuple(f"{name}={value}" for value in (*self._position, *others))

    def encode(self, cells: Cells) -> tuple[Matrix, Flaws]:
        """Return a column for each value, then those that the others share."""
        positions, flaws = each(self._column, cells)
        rows = np.zeros((len(positions), len(self.names)))
        known = ~np.isnan(positions)
        rows[~known] = np.nan
        rows[known, positions[known].astype(np.int64)] = 1.0
        return rows, flaws

    def to_dict(self) -> dict[str, Any]:
        """Return what `restored_field` needs, as JSON knows it."""
        return {"name": self._name, "kind": "category", "values": list(self._values), "is_closed": self._is_closed}

    def _column(self, cell: Any) -> float:
        said = _said(cell, self._listed)
        if said is None:
            return math.nan
        position = self._position.get(said)
        if position is None and len(self._position) == len(self.names):
            raise ValueError(f"{brief(said)} is none of the values of {self._name!r}, which are listed")
        return len(self._position) + zlib.crc32(said.encode()) % HASH_COLUMNS if position is None else position


class LabelField:
    """Labels: whole numbers if all labels of the head are, True and False if they are these, otherwise text.

    Parameters
    ----------
    column : Column
        The column of the file.
    head : sequence
        Its first cells.
    is_text : bool
        Whether the labels are text whatever they look like.
    """

    def __init__(self, column: Column, head: Cells, *, is_text: bool) -> None:
        self._listed = frozenset(column.values or ())
        seen = {text(cell) for cell in _present(head)} if column.values is None else self._listed
        self._kind: type[int | bool | str] = str
        if seen and not is_text:
            if seen <= {"True", "False"}:
                self._kind = bool
            elif all(_whole(label) is not None for label in seen):
                self._kind = int

    def encode(self, cells: Cells) -> tuple[LabelArray, Flaws]:
        """Return the labels, and the cells that are none."""
        labels, flaws = read_each(self._label, cells, self._kind())
        return np.array(labels, dtype=np.int64 if self._kind is int else self._kind), flaws

    def _label(self, cell: Any) -> int | bool | str:
        said = _said(cell, self._listed)
        if said is None:
            raise ValueError(f"the label is missing (the cell is {brief(cell)})")
        if self._kind is str:
            if len(said) > LONGEST_LABEL or "\0" in said:
                raise ValueError(f"expected a label of at most {LONGEST_LABEL} characters; got {brief(said)}")
            return said
        if self._kind is bool:
            if said in ("True", "False"):
                return said == "True"
        elif (whole := _whole(said)) is not None:
            return whole
        kind = "True or False" if self._kind is bool else "whole numbers"
        raise ValueError(
            f"{brief(said)} came, and the first labels are {kind}; correct it, or name the label in categorical, and "
            "all labels are text"
        )


def _said(cell: Any, listed: frozenset[str]) -> str | None:
    """Return a cell as text, None if it is missing; a value of a list is itself, even one such as None."""
    return cell if isinstance(cell, str) and cell in listed else text(cell)


def _whole(label: str | None) -> int | None:
    """Return the whole number that a label is; None for text, such as 01, and what does not fit 64 bits."""
    if label is None or not _WHOLE.fullmatch(label):
        return None
    whole = int(label.partition(".")[0])
    return whole if -(2**63) <= whole < 2**63 else None


def field_of(name: str, column: Column, head: Cells, *, is_categorical: bool) -> Field:
    """Return what becomes of a column, as the user, the file or else the head says."""
    read = None if is_categorical else scalar_reader(column, head)
    if read is not None:
        return ScalarField(name, read)
    if column.values is not None:
        return CategoryField(name, column.values, is_closed=True)
    values = list(dict.fromkeys(said for cell in _present(head) if (said := text(cell))))
    if not is_categorical:
        _check_categories(name, values)
    return CategoryField(name, values, is_closed=False)


def restored_field(kept: Mapping[str, Any]) -> Field:
    """Return the field whose `to_dict` this is.

    Examples
    --------
    >>> field = CategoryField("sky", ["clear", "fog"], is_closed=True)
    >>> restored_field(field.to_dict()).names
    ('sky=clear', 'sky=fog')
    """
    if kept["kind"] == "category":
        return CategoryField(kept["name"], kept["values"], is_closed=kept["is_closed"])
    return ScalarField(kept["name"], dates if kept["kind"] == "date" else numbers)


def _check_categories(name: str, values: Sequence[str]) -> None:
    """Refuse values that are numbers in another notation: as categories they would lose their meaning."""
    n_commas = sum(_DECIMAL_COMMA.fullmatch(value) is not None for value in values)
    if n_commas >= NUMERIC_SHARE * len(values):
        raise DataError(
            f"column {name!r} holds numbers with a comma, such as {values[0]!r}; write decimals with a point and "
            "thousands without a comma, or name the column in categorical or ignore"
        )
    n_amounts = sum(says(number, value.translate(_DECORATION)) for value in values)
    if len(values) > MOST_VALUES and 2 * n_amounts >= len(values):
        odd = next(value for value in values if not says(number, value))
        raise DataError(
            f"column {name!r} seems to hold numbers, but also {odd!r}: write numbers without currency, percent and "
            "thousands, leave unknown ones empty, or name the column in categorical or ignore"
        )


def scalar_reader(column: Column, head: Cells) -> Callable[[Cells], tuple[Vector, Flaws]] | None:
    """Return `numbers` or `dates`, whichever reads the cells of a column; None if they are text."""
    if column.is_number:
        return numbers
    if column.values is not None:
        return numbers if all(says(number, value) for value in column.values) else None
    present = _present(head)
    for meaning, read in (number, numbers), (seconds, dates):
        if sum(says(meaning, cell) for cell in present) >= NUMERIC_SHARE * len(present):
            return read
    return None


def _present(head: Cells) -> list[Any]:
    return [cell for cell in plain(head) if says(text, cell)]
