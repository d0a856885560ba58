"""What commands read rows from: a file, the standard input, or a published stream."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from driftline.cli.options import OnBadRow
from driftline.errors import ConfigError, DataError
from driftline.streams import Stream, catalogue, load, open_stream

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read a file; see `open_stream`."""

    label: str | None = None
    time: str | None = None
    ignore: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    on_bad_row: str = OnBadRow.STOP
    header: bool | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"


def open_source(source: str, reading: Reading) -> Stream:
    """Return what a user names as a stream: a file first, then a published stream."""
    if source == STDIN or (source and Path(source).exists()):
        return _open_file(source, reading)
    if source in catalogue.names():
        said = [field.name for field in fields(Reading) if getattr(reading, field.name) != field.default]
        if said:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in said)
            raise ConfigError(f"{source} is a published stream, of which all is known; leave out {options}")
        return load(source)
    raise ConfigError(_not_found(source))


def _not_found(source: str) -> str:
    path = Path(source)
    looks_like_a_file = path.suffix or os.sep in source
    there = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    close = [str(path.with_name(name)) for name in get_close_matches(path.name, there, n=1)] if path.name else []
    close += [] if looks_like_a_file else get_close_matches(source, catalogue.names(), n=1)
    hint = f"; did you mean {' or '.join(close)}?" if close else "; driftline data list shows the published streams"
    nor = "" if looks_like_a_file else ", nor a published stream of that name"
    return f"there is no file {source}{nor}{'' if looks_like_a_file and not close else hint}"


def _open_file(source: str, reading: Reading) -> Stream:
    """Open a file; columns are named, or counted where no column is called by that number."""
    options = asdict(reading) | {"on_bad_row": str(reading.on_bad_row)}
    numbered = options | {name: _counted(options[name]) for name in ("label", "time", "ignore", "categorical")}
    if numbered == options:
        return open_stream(source, **options)
    if source == STDIN:  # which can be looked at only once
        return open_stream(source, **numbered)
    try:
        return open_stream(source, **options)
    except (ConfigError, DataError):
        return open_stream(source, **numbered)


def _counted(said: Any) -> Any:
    if isinstance(said, tuple):
        return tuple(map(_counted, said))
    return int(said) if isinstance(said, str) and re.fullmatch(r"-?\d+", said) else said


@contextmanager
def readable_again(source: str) -> Iterator[str]:
    """Provide a source that can be read more than once: the standard input is put into a temporary file."""
    if source != STDIN:
        yield source
        return
    if sys.stdin is None:
        raise DataError("there is no standard input to read from; pass the path of a file")
    with tempfile.TemporaryDirectory(prefix="driftline-") as folder:
        path = Path(folder) / "stdin"
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield str(path)
