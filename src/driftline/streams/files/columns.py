"""What the columns of a file seem to be, by its head: times and identifiers among them are not learned from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from driftline.errors import DataError, Parameter
from driftline.streams.files.cells import Cells, FileColumn, can_parse, parse_text, to_sequence
from driftline.streams.files.encoders import ColumnEncoder, NumberEncoder
from driftline.streams.files.options import ColumnRoles
from driftline.types import Vector
from driftline.utils.html import titled_table
from driftline.utils.terminal import visible

MIN_CELLS = 100
"""With fewer known cells in the head, a column is taken for neither a time nor an identifier nor a constant."""
MIN_DIFFERENT = 0.95
"""Least share of different values in a column of whole numbers that only rises, and in an identifier of text."""
MIN_EXPECTED_REPEATS = 5.0
"""Whole numbers without repeats identify rows if by chance this many of them would have repeated an earlier one."""
MIN_DIGITS = 8
"""Whole numbers of this many digits or more, all of the same length and all different, identify rows too."""
HEADINGS = ("column", "is", "missing", "example")
MAX_SHOWN_COLUMNS = 20
"""Most columns in the text of `ColumnDescriptions`, besides those that are not plain features."""
MAX_SHOWN_CHARACTERS = 24


class ColumnWarning(UserWarning):
    """A column of a file is not learned from, because it looks like a time or an identifier."""


class Finding(StrEnum):
    """What the head shows about a column."""

    CONSTANT = "constant"
    RISING = "only rises"
    ROW_NUMBERS = "numbers the rows"
    IDENTIFIER = "unique in every row"


_FINDING_WORDS = {"constant": "constant so far"}
"""Findings that are shown in other words, because later rows may differ."""


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """A column of a file as it was understood.

    Attributes
    ----------
    name : str
        Name of the column.
    role : {"feature", "label", "time", "not used", "ignored"}
        What it is used for. A column that is not used looks like a time or an identifier; one that is ignored was
        named in `ignore`, and was not looked at.
    kind : {"numeric", "date", "categorical", None}
        How its cells are read; None for the label and for ignored columns.
    finding : {"constant", "only rises", "numbers the rows", "unique in every row", None}
        What the head of the file shows about it, if anything.
    n_values : int or None
        Number of different values in the head; None for ignored columns, as are the following.
    missing : float or None
        Share of missing cells in the head.
    example : str or None
        The first cell that is not missing.
    """

    name: str
    role: str
    kind: str | None = None
    finding: str | None = None
    n_values: int | None = None
    missing: float | None = None
    example: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether this is a feature about which there is nothing to say."""
        return self.role == "feature" and self.finding is None

    @property
    def meaning(self) -> str:
        """What the column is, in words.

        Examples
        --------
        >>> ColumnDescription("sky", "feature", "categorical", n_values=3).meaning
        'categorical, 3 values'
        """
        counted = f"{self.n_values:,} value{'' if self.n_values == 1 else 's'}" if self.n_values is not None else ""
        words = self.role if self.role != "feature" else str(self.kind)
        if self.finding is not None:
            found = _FINDING_WORDS.get(str(self.finding), str(self.finding))
            return f"{words}, {found if self.n_values else 'empty so far'}"
        return f"{words}, {counted}" if self.kind == "categorical" or self.role == "label" else words


class ColumnDescriptions(tuple[ColumnDescription, ...]):
    """The columns of a file as they were understood; printed or in a notebook, a table of them."""

    __slots__ = ()

    def __str__(self) -> str:
        rows, notes = self._shown()
        table = [HEADINGS, *rows]
        widths = [max(map(len, entries)) for entries in zip(*table, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
        return "\n".join(line.rstrip() for line in [*lines, *notes])

    def _repr_html_(self) -> str:
        rows, notes = self._shown()
        return titled_table("columns", rows, HEADINGS, notes)

    def _shown(self) -> tuple[list[tuple[str, str, str, str]], list[str]]:
        """Return the cells of the table, and a note if features are left out."""
        plain = [column for column in self if column.is_plain]
        hidden = set(map(id, plain[MAX_SHOWN_COLUMNS:]))
        rows = [_cells_of(column) for column in self if id(column) not in hidden]
        return rows, [f"… and {len(hidden):,} more features"] if hidden else []


def _cells_of(column: ColumnDescription) -> tuple[str, str, str, str]:
    """Return the cells of a line of the table."""
    missing = "" if not column.missing else f"{column.missing:.1%}"
    return _short(column.name), column.meaning, missing, _short(column.example or "")


def _short(text: str) -> str:
    text = visible(text)
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[: MAX_SHOWN_CHARACTERS - 1]}…"


@dataclass(frozen=True, slots=True)
class HeadColumn:
    """A column of the head of a file, and how its cells are read; the encoder of a label is None."""

    column: FileColumn
    cells: Cells
    encoder: ColumnEncoder | None

    def describe(self, name: str, role: str) -> ColumnDescription:
        """Return what the column is."""
        if isinstance(self.encoder, NumberEncoder):
            is_date = self.column.is_date or self.encoder.to_dict()["kind"] == "date"
            values = self.encoder.encode(self.cells)[0][:, 0]
            known = values[~np.isnan(values)]
            n_values, n_known, kind = len(np.unique(known)), len(known), "date" if is_date else "numeric"
            found = examine_numbers(known, is_date=is_date)
        else:
            texts = [text for cell in to_sequence(self.cells) if (text := _text(cell)) is not None]
            n_values, n_known, kind = len(set(texts)), len(texts), "categorical"
            found = None if self.column.values is not None else examine_texts(n_values, n_known)
        if n_known == 0 and len(self.cells) >= MIN_CELLS:
            found = Finding.CONSTANT
        missing = (len(self.cells) - n_known) / len(self.cells)
        return ColumnDescription(
            name,
            role,
            None if self.encoder is None else kind,
            found if role == "feature" else None,
            n_values,
            missing,
            self._example(),
        )

    def _example(self) -> str | None:
        return next((text for cell in to_sequence(self.cells) if (text := _text(cell)) is not None), None)


def _text(cell: Any) -> str | None:
    return parse_text(cell) if can_parse(parse_text, cell) else None


def examine_numbers(values: Vector, *, is_date: bool) -> Finding | None:
    """Return what the known values of a column of numbers show, in the order of the rows.

    - Dates look like a time if they never fall and are not all the same.
    - Whole numbers look like a time if they never fall and at least 95 % of them are different; if each is 1 more than
      the one before, they number the rows.
    - Other numbers look like a time if each is larger than the one before.
    - Whole numbers identify rows if all are different and either they are so dense that 5 or more would have repeated
      an earlier one if they had been drawn at random between the smallest and the largest, or all have the same number
      of digits, 8 or more. Counts with a wide range, such as bytes, are therefore kept although they do not repeat,
      and so are amounts of fewer digits, such as prices and salaries.
    - Fewer than 100 values show nothing.

    Examples
    --------
    >>> examine_numbers(np.arange(100.0) * 60, is_date=False)
    <Finding.RISING: 'only rises'>
    >>> examine_numbers(np.sqrt(np.arange(100.0) // 2), is_date=False) is None
    True
    >>> examine_numbers(np.random.default_rng(0).permutation(np.arange(100.0)), is_date=False)
    <Finding.IDENTIFIER: 'unique in every row'>
    """
    if len(values) < MIN_CELLS:
        return None
    steps = np.diff(values)
    if not steps.any():
        return Finding.CONSTANT
    if is_date:
        return Finding.RISING if steps.min() >= 0.0 else None
    if np.array_equal(values, np.rint(values)):
        return _examine_whole_numbers(values, steps)
    return Finding.RISING if steps.min() > 0.0 else None


def _examine_whole_numbers(values: Vector, steps: Vector) -> Finding | None:
    """Return what whole numbers show; `steps` are the differences between neighbours."""
    n, low, high = len(values), values.min(), values.max()
    if np.all(steps == 1.0):
        return Finding.ROW_NUMBERS
    if steps.min() >= 0.0:
        return Finding.RISING if 1 + np.count_nonzero(steps) >= MIN_DIFFERENT * n else None
    if len(np.unique(values)) < n:
        return None
    expected_repeats = n * (n - 1) / 2 / (high - low + 1.0)
    lengths = {len(str(int(value))) for value in (low, high)}
    same_length = low >= 0.0 and len(lengths) == 1 and min(lengths) >= MIN_DIGITS
    return Finding.IDENTIFIER if expected_repeats >= MIN_EXPECTED_REPEATS or same_length else None


def examine_texts(n_values: int, n_known: int) -> Finding | None:
    """Return what the number of different values of a column of text shows: they identify rows if 95 % are different.

    Examples
    --------
    >>> examine_texts(96, 100), examine_texts(90, 100)
    (<Finding.IDENTIFIER: 'unique in every row'>, None)
    """
    if n_known < MIN_CELLS:
        return None
    if n_values == 1:
        return Finding.CONSTANT
    return Finding.IDENTIFIER if n_values >= MIN_DIFFERENT * n_known else None


def describe_columns(roles: ColumnRoles, head: Mapping[int, HeadColumn]) -> ColumnDescriptions:
    """Return what each column of a file is; `head` has the columns that were read, by their positions.

    A feature that looks like a time or an identifier gets the role "not used", unless the user named it or no other
    feature is left.
    """
    role = dict.fromkeys(roles.features, "feature") | {roles.label: "label"}
    if roles.time is not None:
        role[roles.time] = "time"
    columns = [
        head[j].describe(name, role[j]) if j in role else ColumnDescription(name, "ignored")
        for j, name in enumerate(roles.names)
    ]
    unused = [j for j in roles.features if columns[j].finding not in (None, Finding.CONSTANT) and j not in roles.chosen]
    if len(unused) < len(roles.features):
        for j in unused:
            columns[j] = replace(columns[j], role="not used")
    return ColumnDescriptions(columns)


def notices_of(columns: Iterable[ColumnDescription], *, has_time: bool) -> Iterator[DataError]:
    """Yield a message for each column that is not used, or constant so far."""
    for column in columns:
        start = f"column {column.name!r} "
        learn = Parameter("use", column.name), " to learn from it"
        if column.role == "not used" and column.finding == Finding.RISING:
            as_time: Sequence[str | Parameter] = (
                () if has_time else ("pass ", Parameter("time", column.name), " to use it as the time, or ")
            )
            yield DataError(
                f"{start}only rises, so it looks like time and is not used: ", *as_time or ("pass ",), *learn
            )
        elif column.role == "not used":
            why = (
                "numbers the rows"
                if column.finding == Finding.ROW_NUMBERS
                else "has a value of its own in (nearly) every row, so it looks like an identifier"
            )
            yield DataError(f"{start}{why} and is not used: pass ", *learn)
