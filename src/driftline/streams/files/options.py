"""What the user says about a file."""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from driftline.errors import ConfigError


class Numeral(int):
    """A whole number as a command line has it: the name of a column, or its position where none is called so."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the user said about the file; see `open_stream`."""

    label: str | int | None = None
    time: str | int | None = None
    ignore: tuple[str | int, ...] = ()
    categorical: tuple[str | int, ...] = ()
    header: bool | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"


def checked_options(
    label: Any, time: Any, ignore: Any, categorical: Any, header: Any, delimiter: Any, encoding: Any
) -> Options:
    """Return the options, or refuse those of the wrong kind."""
    if header is not None and not isinstance(header, bool):
        raise ConfigError(f"header must be True, False or None; got {header!r}")
    if delimiter is not None and not isinstance(delimiter, str):
        raise ConfigError(f"delimiter must be text; got {delimiter!r}")
    if not isinstance(encoding, str):
        raise ConfigError(f"encoding must be text such as 'latin-1'; got {encoding!r}")
    return Options(
        None if label is None else _column("label", label),
        None if time is None else _column("time", time),
        _columns("ignore", ignore),
        _columns("categorical", categorical),
        header,
        delimiter,
        encoding,
    )


def _column(role: str, wanted: Any) -> str | int:
    if isinstance(wanted, str | Numeral):
        return wanted
    if isinstance(wanted, Integral) and not isinstance(wanted, bool):
        return int(wanted)
    raise ConfigError(f"{role} must be the name or the position of a column; got {wanted!r}")


def _columns(role: str, wanted: Any) -> tuple[str | int, ...]:
    several = wanted if isinstance(wanted, Iterable) and not isinstance(wanted, str) else (wanted,)
    return tuple(_column(role, each) for each in several)
