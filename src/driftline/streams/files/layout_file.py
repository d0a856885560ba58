"""Layout files: which columns of a file are what, in TOML that people can edit."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driftline.errors import ConfigError
from driftline.streams.files.columns import ColumnDescriptions
from driftline.utils.atomic_write import replacing

VERSION = 1
COLUMNS = ("label", "time")
TEXTS = ("delimiter", "encoding")
COMMENTS = {
    "label": "The column to predict.",
    "time": "The column with the arrival times of the rows.",
    "ignore": "Columns that are not used.",
    "categorical": "Columns of categories, also if they look like numbers.",
    "numeric": "Columns of numbers or dates to learn from.",
    "header": "Whether the first row has the names of the columns.",
    "delimiter": "The character between the cells.",
    "encoding": "The encoding of the text.",
}
"""What each key means, in the order in which they are written."""
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def write_layout(path: str | os.PathLike[str], values: Mapping[str, Any]) -> None:
    """Write a layout file: the version, and the values that are not None with a comment each."""
    lines = [
        "# How driftline reads the columns of a file. Columns that are not listed are understood by their first cells.",
        f"version = {VERSION}",
    ]
    for key, comment in COMMENTS.items():
        if values.get(key) is not None:
            lines += ["", f"# {comment}", f"{key} = {_value(values[key])}"]
    with replacing(path) as file:
        file.write(("\n".join(lines) + "\n").encode())


def _value(value: Any) -> str:
    """Return a text, a position, a boolean or a list of these as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, str):
        return '"' + "".join(map(_escaped, value)) + '"'
    entries = ", ".join(map(_value, value))
    return f"[{entries}]"


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    return f"\\u{code:04X}" if code < 0x20 or code == 0x7F else character


def layout_values(columns: ColumnDescriptions, layout: Mapping[str, Any], *, has_text_label: bool) -> dict[str, Any]:
    """Return what a layout file says about a stream.

    Columns of a file without a header are given by their positions.
    """
    names: list[str | int] = [column.name for column in columns]
    if not layout["has_header"]:
        names = list(range(len(columns)))

    def having(*roles: str, kinds: tuple[str, ...] = ()) -> list[str | int]:
        return [
            name
            for name, column in zip(names, columns, strict=True)
            if column.role in roles and (not kinds or column.kind in kinds)
        ]

    return {
        "label": having("label")[0],
        "time": next(iter(having("time")), None),
        "ignore": having("ignored", "not used"),
        "categorical": [*(having("label") if has_text_label else []), *having("feature", kinds=("categorical",))],
        "numeric": having("feature", kinds=("numeric", "date")),
        "header": layout["has_header"] if layout["delimiter"] is not None else None,
        "delimiter": layout["delimiter"],
        "encoding": layout["encoding"],
    }


def read_layout(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the values of a layout file by key, without the version; a ConfigError names the key that is wrong."""
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot open the layout {os.fspath(path)!r}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is not a layout in TOML: {error}") from error
    version = content.pop("version", None)
    if version != VERSION or isinstance(version, bool):
        raise ConfigError(f"{path}: version must be {VERSION}, the only one that this driftline reads; got {version!r}")
    unknown = sorted(content.keys() - COMMENTS.keys())
    if unknown:
        raise ConfigError(f"{path}: {unknown[0]!r} is no key of a layout; expected {', '.join(COMMENTS)}")
    for key, value in content.items():
        expected = _expected(key, value)
        if expected:
            raise ConfigError(f"{path}: {key} must be {expected}; got {value!r}")
    return content


def _expected(key: str, value: Any) -> str:
    """Return what a key must be if the value is something else, otherwise nothing."""
    if key == "header":
        return "" if isinstance(value, bool) else "true or false"
    if key in TEXTS:
        return "" if isinstance(value, str) else "a text"
    if key in COLUMNS:
        return "" if _is_column(value) else "the name or the position of a column"
    is_list = isinstance(value, list) and all(map(_is_column, value))
    return "" if is_list else 'a list of names or positions of columns, such as ["a", "b"]'


def _is_column(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
