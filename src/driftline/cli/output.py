"""What commands share in printing and writing."""

import json
import math
import os
import platform
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from importlib.metadata import version
from pathlib import Path
from textwrap import wrap
from typing import Any

import typer

from driftline.errors import ConfigError
from driftline.utils.atomic_write import replacing

STDOUT = Path("-")
PACKAGES = ("driftline", "numpy", "scipy", "scikit-learn", "numba")


def wrapped(paragraph: str, width: int, indent: int) -> str:
    """Return a paragraph in lines, all but the first of them indented; words such as addresses stay whole."""
    lines = wrap(paragraph, max(width - indent, 20), break_long_words=False, break_on_hyphens=False)
    return f"\n{'':{indent}}".join(lines)


def command() -> str:
    """Return the command that is being run, as it would be typed."""
    return shlex.join(["driftline", *sys.argv[1:]])


def versions() -> dict[str, str]:
    """Return the versions of what matters for the figures."""
    return {"python": platform.python_version(), **{package: version(package) for package in PACKAGES}}


def check_outputs(inputs: Sequence[str | Path], **outputs: Path | None) -> None:
    """Refuse what cannot be written, or would be written over what is read or written too, before anything is run."""
    taken = {os.path.realpath(path): f"{path}, which is read" for path in inputs if os.path.exists(path)}
    for name, path in outputs.items():
        if path is None:
            continue
        option, place = f"--{name}", "-" if path == STDOUT else os.path.realpath(path)
        _check_writable(path, option)
        is_device = path.exists() and not path.is_file()  # such as /dev/null, which takes anything
        if place in taken and not is_device:
            raise ConfigError(f"{option} would write over {taken[place]}; choose another file")
        taken[place] = f"what {option} writes to {path}"


def _check_writable(path: Path, option: str) -> None:
    if path == STDOUT:
        if sys.stdout is None:
            raise ConfigError(f"{option} - cannot be written: the standard output is closed")
        return
    folder = Path(os.path.realpath(path)).parent  # which a loop of links does not stop
    if path.is_dir():
        raise ConfigError(f"{option} must be a file to write; {path} is a folder")
    if not folder.is_dir():
        raise ConfigError(f"{option} {path} cannot be written: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise ConfigError(f"{option} {path} cannot be written: no permission")


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; - is the standard output."""
    if path == STDOUT:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
        return
    with named(path), replacing(path) as file:
        file.write(content)


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Name the file in an error of writing it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"cannot be written: {error.strerror or error}", str(path)) from error


def write_json(content: Any, path: Path) -> None:
    """Write something for programs; half characters, of names that are no UTF-8, become escapes, as JSON knows them."""
    text = json.dumps(_plain(content), indent=2, ensure_ascii=False, allow_nan=False)
    write(path, f"{text}\n".encode(errors="backslashreplace"))


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it: records as objects, null for what is no number."""
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


def say_written(*paths: Path | None) -> None:
    """Print which files were written."""
    for path in paths:
        if path is not None:
            typer.echo(f"written: {path}")


def shown_or_written(content: Any, path: Path | None, show: Callable[[], None]) -> None:
    """Write something for programs where that is wanted, and show it to people unless it goes to the same place."""
    if path is not None:
        write_json(content, path)
    if path != STDOUT:
        show()
