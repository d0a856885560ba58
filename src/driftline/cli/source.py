"""What commands read rows from: a file, the standard input, or a published stream."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from driftline.cli.options import OnBadRow
from driftline.errors import ConfigError, DataError
from driftline.streams import Stream, catalogue, load, open_stream
from driftline.streams.files.options import NameOrPosition

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


def check_there(*files: str | Path) -> None:
    """Refuse files that do not exist; - is the standard input."""
    for file in files:
        if str(file) != STDIN and not Path(file).exists():
            raise ConfigError(f"there is no file {file}")


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
    return open_stream(
        source, **options | {name: _numeral(options[name]) for name in ("label", "time", "ignore", "categorical")}
    )


def _numeral(said: Any) -> Any:
    """Return whole numbers in what was said as such; 01 and +1 are names."""
    if isinstance(said, tuple):
        return tuple(map(_numeral, said))
    return NameOrPosition(said) if isinstance(said, str) and re.fullmatch(r"0|-?[1-9]\d*", said) else said


@contextmanager
def readable_again(source: str) -> Iterator[str]:
    """Provide a source that can be read more than once: what comes from a pipe is put into a temporary file."""
    path = Path(source)
    if source != STDIN and (not path.exists() or path.is_file() or path.is_dir()):
        yield source
        return
    if source == STDIN and sys.stdin is None:
        raise DataError("there is no standard input to read from; pass the path of a file")
    with tempfile.TemporaryDirectory(prefix="driftline-") as folder:
        copy = Path(folder) / ("standard-input" if source == STDIN else path.name)
        with nullcontext(sys.stdin.buffer) if source == STDIN else open(path, "rb") as pipe, open(copy, "wb") as file:
            shutil.copyfileobj(pipe, file)
        yield str(copy)
