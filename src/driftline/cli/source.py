"""The SOURCE argument of the commands: a file, the standard input, or a published stream."""

import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from textwrap import indent
from typing import Any

from driftline.cli.options import OnBadRow
from driftline.cli.output import DataConsole, wrapped
from driftline.errors import ConfigError, DataError
from driftline.evaluation.metrics import positive_label
from driftline.streams import ColumnWarning, FileStream, Stream, catalogue, load, open_stream
from driftline.streams.files.options import NameOrPosition
from driftline.utils.suggestions import close_names, did_you_mean

STDIN = "-"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options for reading a file; see `open_stream`."""

    label: str | None = None
    time: str | None = None
    ignore: Sequence[str] | None = None
    categorical: Sequence[str] | None = None
    on_bad_row: str = OnBadRow.STOP
    header: bool | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    use: Sequence[str] | None = None
    layout: Path | None = None


def open_source(source: str, reading: ReadOptions) -> Stream:
    """Return the stream for the argument SOURCE: a file, or a published stream if there is no file with that name."""
    if source == STDIN or (source and Path(source).exists()):
        return _open_file(source, reading)
    if source in catalogue.names():
        changed = [field.name for field in fields(ReadOptions) if getattr(reading, field.name) != field.default]
        if changed:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in changed)
            raise ConfigError(
                f"{source} is a published stream, which needs no options for reading files; leave out {options}"
            )
        return load(source)
    raise ConfigError(_not_found(source))


def check_files_exist(*files: str | Path) -> None:
    """Raise a ConfigError if a file does not exist; - is the standard input."""
    for file in files:
        if str(file) != STDIN and not Path(file).exists():
            raise ConfigError(f"there is no file {file}")


def _not_found(source: str) -> str:
    path = Path(source)
    neighbours = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    close_files = [str(path.with_name(name)) for name in close_names(path.name, neighbours)] if path.name else []
    if path.suffix or os.sep in source:
        return f"there is no file {source}{did_you_mean(close_files)}"
    hint = did_you_mean([*close_files, *close_names(source, catalogue.names())])
    return f"there is no file or published stream {source!r} ('driftline data list' lists the streams){hint}"


def _open_file(source: str, reading: ReadOptions) -> Stream:
    """Open a file; a column given as a number is a name if a column has that name, else a position."""
    options = asdict(reading) | {"on_bad_row": str(reading.on_bad_row)}
    columns = {name: _numeral(options[name]) for name in ("label", "time")}
    columns |= {name: _numeral(tuple(options[name] or ())) for name in ("ignore", "categorical", "use")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)  # `print_columns` prints them as messages
        return open_stream(source, **options | columns)


def check_positive(stream: Stream, positive: str | None) -> None:
    """Raise PositiveLabelError before a run, and not only after it, if no row of a file is of the positive class."""
    if positive is None or not isinstance(stream, FileStream):
        return
    try:
        labels = stream.classes()
    except DataError:  # a pipe, which is read once, or a malformed row, which the run reports after those before it
        return
    positive_label(dict.fromkeys(labels.tolist(), 1), positive)


def column_records(stream: Stream) -> list[dict[str, Any]] | None:
    """Return how the columns of a file were understood, for the JSON output; None for other streams."""
    if not isinstance(stream, FileStream):
        return None
    return [asdict(column) for column in stream.describe_columns()]


def print_columns(stream: Stream) -> None:
    """Print how the columns of a file were understood; nothing for other streams."""
    if not isinstance(stream, FileStream):
        return
    console = DataConsole(soft_wrap=True)
    console.print(f"The columns of {stream.name}, by its first rows:")
    console.print(indent(str(stream.describe_columns()), "  "))
    for notice in stream.notices:
        console.print(wrapped(notice.for_command_line(), min(console.width, 100), 0))
    console.print()


def _numeral(option: Any) -> Any:
    """Return an option with whole numbers as `NameOrPosition`; 01 and +1 are not changed, because they are names."""
    if isinstance(option, tuple):
        return tuple(map(_numeral, option))
    return NameOrPosition(option) if isinstance(option, str) and re.fullmatch(r"0|-?[1-9]\d*", option) else option


@contextmanager
def readable_again(source: str) -> Iterator[str]:
    """Provide a source that can be read more than once: a pipe is first copied to a temporary file."""
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
