"""The columns of a stream's rows, and how rows of JSON become rows of numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from reprlib import repr as brief
from typing import Any

import numpy as np

from driftline.errors import DataError
from driftline.serve.problems import invalid
from driftline.streams.files.cells import can_parse, parse_date, read_dates, read_numbers
from driftline.streams.files.encoders import CategoryEncoder, ColumnEncoder, NumberEncoder
from driftline.types import Matrix

KINDS = ("number", "date", "category")
Row = Mapping[str, Any] | Sequence[Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a stream.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "date", "category"}
        What its values are. Dates are texts in ISO format, and become seconds since 1970.
    values : tuple of str
        Known values of a category; each gets a column of numbers of its own, up to 32. Others share four columns.
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()

    def encoder(self) -> ColumnEncoder:
        """Return what encodes the values."""
        if self.kind == "category":
            return CategoryEncoder(self.name, self.values, is_closed=False)
        return NumberEncoder(self.name, read_dates if self.kind == "date" else read_numbers)

    def to_json(self) -> dict[str, Any]:
        """Return the column as JSON values."""
        return {"name": self.name, "kind": self.kind} | ({"values": list(self.values)} if self.values else {})


class RowSchema:
    """Reads rows that are objects with the columns by name, or arrays with a value for each column.

    Parameters
    ----------
    columns : sequence of Column
        The columns, with different names.

    Examples
    --------
    >>> schema = RowSchema.from_rows([{"amount": 3.5, "shop": "north"}, {"amount": None, "shop": "south"}])
    >>> schema.names
    ('amount', 'shop=north', 'shop=south', 'shop=#0', 'shop=#1', 'shop=#2', 'shop=#3')
    >>> schema.encode([{"shop": "south", "amount": 1}])[0, :3]
    array([1., 0., 1.])
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)
        self._names = {column.name for column in self.columns}
        self._encoders = [column.encoder() for column in self.columns]
        self._are_numbers = all(column.kind == "number" for column in self.columns)
        self.names = tuple(name for encoder in self._encoders for name in encoder.names)

    @classmethod
    def from_rows(cls, rows: Sequence[Row]) -> "RowSchema":
        """Return the schema that the first rows of a stream suggest.

        A column of which all texts are dates is one of dates; other texts make it a category.
        """
        first = rows[0]
        are_named = isinstance(first, Mapping)
        names = list(dict.fromkeys(name for row in rows for name in row)) if are_named else None
        if any(isinstance(row, Mapping) != are_named for row in rows):
            raise invalid("rows must all be objects, or all be arrays; got both")
        if names is None:
            names = [f"x{j}" for j in range(len(first))]
        if not names:
            raise invalid("row 0 has no values; expected at least one column")
        columns = []
        for j, name in enumerate(names):
            cells = [row.get(name) if isinstance(row, Mapping) else row[j] if j < len(row) else None for row in rows]
            columns.append(_column_of(name, cells))
        return cls(columns)

    @classmethod
    def from_json(cls, columns: Sequence[Mapping[str, Any]]) -> "RowSchema":
        """Return the schema from JSON values that `to_json` returned."""
        return cls([Column(each["name"], each["kind"], tuple(each.get("values", ()))) for each in columns])

    def to_json(self) -> list[dict[str, Any]]:
        """Return the columns as JSON values."""
        return [column.to_json() for column in self.columns]

    def check_size(self, most: int) -> None:
        """Raise Problem if rows become more columns of numbers than allowed."""
        if len(self.names) > most:
            raise invalid(f"the columns become {len(self.names)} columns of numbers; at most {most} may")

    def encode(self, rows: Sequence[Row]) -> Matrix:
        """Return rows as numbers, NaN where a value is missing or null; raise Problem if a row cannot be used."""
        cells = [self._cells(i, row) for i, row in enumerate(rows)]
        if self._are_numbers and all(type(cell) is float or type(cell) is int for row in cells for cell in row):
            return self._numbers(cells)
        return self._encoded(cells)

    def _numbers(self, cells: list[Sequence[Any]]) -> Matrix:
        """Return rows of nothing but numbers, which is quick."""
        try:
            values = np.array(cells, dtype=np.float64)
        except OverflowError:  # whole numbers have no limit in JSON
            return self._encoded(cells)
        return values if np.abs(values).max() < 1e29 else self._encoded(cells)

    def _encoded(self, cells: list[Sequence[Any]]) -> Matrix:
        parts = []
        for column, encoder, values in zip(self.columns, self._encoders, zip(*cells, strict=True), strict=True):
            for i, value in enumerate(values):
                if value != value:  # noqa: PLR0124  # NaN
                    raise invalid(f"row {i}, column {column.name!r}: got NaN; expected null for a missing value")
            try:
                part, errors = encoder.encode(list(values))
            except DataError as error:
                raise invalid(str(error)) from error
            if errors:
                i, reason = next(iter(errors.items()))
                raise invalid(
                    f"row {i}, column {column.name!r}: expected a {column.kind}; {reason} (null stands for a missing "
                    "value; columns can be declared when a stream is created)"
                )
            parts.append(part)
        return np.concatenate(parts, axis=1)

    def _cells(self, i: int, row: Row) -> Sequence[Any]:
        """Return the cells of a row in the order of the columns."""
        if not isinstance(row, Mapping):
            if len(row) != len(self.columns):
                raise invalid(f"row {i} has {len(row)} values; expected {len(self.columns)}, one for each column")
            return row
        if not row.keys() <= self._names:
            unknown = [name for name in row if name not in self._names]
            raise invalid(
                f"row {i} has unknown columns {brief(unknown)}; this stream has "
                f"{', '.join(repr(column.name) for column in self.columns[:20])}"
            )
        return [row.get(column.name) for column in self.columns]


def _column_of(name: str, cells: Sequence[Any]) -> Column:
    """Return what a column is by its first values."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    if not texts:
        return Column(name, "number")
    if all(can_parse(parse_date, text) for text in texts):
        return Column(name, "date")
    return Column(name, "category", tuple(dict.fromkeys(text.strip() for text in texts if text.strip())))
