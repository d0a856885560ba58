"""The options of `open_stream`, and the columns of a file that they name."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from reprlib import repr as brief
from typing import Any

from driftline.errors import ConfigError, DataError, Parameter
from driftline.utils.suggestions import close_names, did_you_mean

MAX_LISTED_COLUMNS = 20
"""Most columns that an error message lists."""


class NameOrPosition(int):
    """A whole number from the command line: the name of a column, or its position if no column has that name."""


@dataclass(frozen=True, slots=True)
class FileOptions:
    """The options of `open_stream`; once the head of the file was read, with what was found out filled in."""

    label: str | int | None = None
    time: str | int | None = None
    ignore: tuple[str | int, ...] = ()
    categorical: tuple[str | int, ...] = ()
    header: bool | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    use: tuple[str | int, ...] = ()
    numeric: tuple[str | int, ...] = ()
    """Columns that a layout file says to hold numbers."""
    keys: tuple[str, ...] | None = None
    """Keys of the objects in a file of JSON lines; no option of the user, but found in the head."""


def check_options(
    label: Any, time: Any, ignore: Any, categorical: Any, header: Any, delimiter: Any, encoding: Any, use: Any = ()
) -> FileOptions:
    """Return the options as a record; options of the wrong type are an error."""
    if header is not None and not isinstance(header, bool):
        raise ConfigError(f"header must be True, False or None; got {header!r}")
    if delimiter is not None and not isinstance(delimiter, str):
        raise ConfigError(f"delimiter must be a string; got {delimiter!r}")
    if not isinstance(encoding, str):
        raise ConfigError(f"encoding must be a string such as 'latin-1'; got {encoding!r}")
    return FileOptions(
        None if label is None else _check_column("label", label),
        None if time is None else _check_column("time", time),
        _check_columns("ignore", ignore),
        _check_columns("categorical", categorical),
        header,
        delimiter,
        encoding,
        _check_columns("use", use),
    )


def _check_column(parameter: str, column: Any) -> str | int:
    if isinstance(column, str | NameOrPosition):
        return column
    if isinstance(column, Integral) and not isinstance(column, bool):
        return int(column)
    raise ConfigError(f"{parameter} must be the name or the position of a column; got {column!r}")


def _check_columns(parameter: str, columns: Any) -> tuple[str | int, ...]:
    try:
        several = (columns,) if isinstance(columns, str) else tuple(columns)
    except TypeError:  # not iterable
        several = (columns,)
    return tuple(_check_column(parameter, column) for column in several)


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """Unique names of the columns of a file, and the positions of features, label and time among them."""

    names: tuple[str, ...]
    features: tuple[int, ...]
    categorical: frozenset[int]
    label: int
    time: int | None
    chosen: frozenset[int] = frozenset()
    """Features that the user named, so that they are learned from whatever they look like."""
    numeric: frozenset[int] = frozenset()

    @property
    def used(self) -> tuple[int, ...]:
        """Positions of the columns to read: the features, the label, then the time if there is one."""
        return (*self.features, self.label) if self.time is None else (*self.features, self.label, self.time)

    def without(self, columns: Collection[int]) -> "ColumnRoles":
        """Return the roles without some of the features."""
        return replace(self, features=tuple(j for j in self.features if j not in columns))


def assign_roles(found: Sequence[str], options: FileOptions, file_name: str) -> ColumnRoles:
    """Return which of the columns found in a file are features, label and time according to the options."""
    names = unique_names(found)
    if options.label is None:
        raise ConfigError(
            f"{file_name}: set ",
            Parameter("label"),
            f" to the name or position of the label; columns: {_listed(names)}",
        )

    def position(column: str | int, parameter: str) -> int:
        return find_column(column, found, names, file_name, parameter)

    label = position(options.label, "label")
    time = None if options.time is None else position(options.time, "time")
    ignored = frozenset(position(column, "ignore") for column in options.ignore)
    categorical = frozenset(position(column, "categorical") for column in options.categorical)
    used = frozenset(position(column, "use") for column in options.use)
    numeric = frozenset(position(column, "numeric") for column in options.numeric)
    named = [label, *(() if time is None else (time,)), *ignored, *(categorical - {label}), *used, *numeric]
    if len(set(named)) < len(named):
        twice = names[next(j for j in named if named.count(j) > 1)]
        raise ConfigError(
            f"column {twice!r} is named in two of ", Parameter("label"), ", ", Parameter("time"), ", ",
            Parameter("ignore"), ", ", Parameter("categorical"), " and ", Parameter("use"), "; name it in one",
        )  # fmt: skip
    features = tuple(j for j in range(len(names)) if j not in ignored and j not in (label, time))
    if not features:
        raise DataError(f"{file_name}: no column is left to learn from besides the label {names[label]!r}")
    return ColumnRoles(names, features, categorical, label, time, chosen=used | categorical | numeric, numeric=numeric)


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names with numbers added to those that repeat, and x0, x1, … in place of empty ones.

    Examples
    --------
    >>> unique_names(["a", "", "a", "b"])
    ('a', 'x1', 'a.2', 'b')
    """
    taken: dict[str, int] = {}
    for j, name in enumerate(names):
        wanted = unique = name or f"x{j}"
        while unique in taken:
            taken[wanted] += 1
            unique = f"{wanted}.{taken[wanted]}"
        taken[unique] = 1
    return tuple(taken)


def find_column(column: str | int, found: Sequence[str], names: Sequence[str], file_name: str, parameter: str) -> int:
    """Return the position of a column that is given by its name in the file, its unique name or its position."""
    if isinstance(column, NameOrPosition) and found.count(str(column)) == 1:
        return found.index(str(column))
    start = f"{file_name}: ", Parameter(parameter, column)
    if isinstance(column, int):
        if -len(names) <= column < len(names):
            return column % len(names)
        raise DataError(*start, f" is not a position: there are {len(names)} columns, {_listed(names)}")
    if found.count(column) == 1:
        return found.index(column)
    if column in found:
        raise DataError(*start, f" is the name of {found.count(column)} columns; pass the position instead")
    if column in names:
        return names.index(column)
    hint = did_you_mean(map(repr, close_names(column, names))) or f"; the columns are {_listed(names)}"
    raise DataError(*start, f" is not the name of a column{hint}")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(brief(name) for name in names[:MAX_LISTED_COLUMNS]) or "none"
    return shown if len(names) <= MAX_LISTED_COLUMNS else f"{shown}, … ({len(names):,} in all)"
