"""Functions for printing and writing that several commands use."""

import json
import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from driftline.errors import ConfigError
from driftline.utils.atomic_write import replacing
from driftline.utils.terminal import visible

STDOUT = Path("-")


class DataConsole(Console):
    """A console for texts that contain data: it interprets no markup, and makes control characters visible."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text, such as a cell of a table, as rich prints it."""
        return super().render_str("\n".join(map(visible, text.split("\n"))), **options)


def print_line(text: str) -> None:
    """Print a line on the standard output."""
    typer.echo(visible(text))


def wrapped(paragraph: str, width: int, indent: int) -> str:
    """Break a paragraph into lines and indent all but the first; long words such as addresses are not broken."""
    lines = wrap(paragraph, max(width - indent, 20), break_long_words=False, break_on_hyphens=False)
    return f"\n{'':{indent}}".join(lines)


def command() -> str:
    """Return the current command line, quoted for a shell."""
    return shlex.join(["driftline", *sys.argv[1:]])


def check_outputs(inputs: Sequence[str | Path], **outputs: Path | None) -> None:
    """Raise ConfigError if an output cannot be written, or would overwrite an input or another output."""
    taken = {os.path.realpath(path): f"{path}, which is an input" for path in inputs if os.path.exists(path)}
    for name, path in outputs.items():
        if path is None:
            continue
        option, place = f"--{name.replace('_', '-')}", "-" if path == STDOUT else os.path.realpath(path)
        _check_writable(path, option)
        is_device = path.exists() and not path.is_file()  # such as /dev/null
        if place in taken and not is_device:
            raise ConfigError(f"{option} would overwrite {taken[place]}; choose another file")
        taken[place] = f"{path}, which {option} writes"


def _check_writable(path: Path, option: str) -> None:
    if path == STDOUT:
        if sys.stdout is None:
            raise ConfigError(f"{option} - cannot be written: the standard output is closed")
        return
    folder = Path(os.path.realpath(path)).parent  # realpath also works for a loop of links
    if path.is_dir():
        raise ConfigError(f"{option} must be a file; {path} is a folder")
    if not folder.is_dir():
        raise ConfigError(f"{option} {path} cannot be written: the folder {folder} does not exist")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise ConfigError(f"{option} {path} cannot be written: no permission")


def write(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; - is the standard output."""
    if path == STDOUT:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
        return
    with name_file_in_errors(path), replacing(path) as file:
        file.write(content)


@contextmanager
def name_file_in_errors(path: Path) -> Iterator[None]:
    """Add the name of the file to an OSError that is raised while it is written."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"cannot be written: {error.strerror or error}", str(path)) from error


def write_json(content: Any, path: Path) -> None:
    """Write JSON; lone surrogates, from file names that are not UTF-8, are written as escapes."""
    text = json.dumps(_plain(content), indent=2, ensure_ascii=False, allow_nan=False)
    text = re.sub("[\x7f-\x9f]", lambda match: f"\\u{ord(match[0]):04x}", text)  # control characters for a terminal
    write(path, f"{text}\n".encode(errors="backslashreplace"))


def _plain(value: Any) -> Any:
    """Convert a value to JSON types: dataclasses become objects, and NaN and infinity become null."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else repr(value)


def print_written(*paths: Path | None) -> None:
    """Print the names of the files that were written."""
    for path in paths:
        if path is not None:
            print_line(f"written: {path}")


def write_json_or_show(content: Any, path: Path | None, show: Callable[[], None]) -> None:
    """Write JSON if a path is given, and call `show` unless the JSON went to the standard output."""
    if path is not None:
        write_json(content, path)
    if path != STDOUT:
        show()
