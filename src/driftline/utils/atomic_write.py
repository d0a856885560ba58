"""Writing files atomically: completely or not at all."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ModuleNotFoundError:  # Windows, where a file that is open cannot be removed
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` if the block ends without an error; otherwise `path` is not changed.

    If `path` is a link, the file that it points to is replaced. Pipes and devices are not replaced but written to.
    Temporary files that killed processes have left for the same `path` are removed.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot save to {path}: the folder {target.parent} does not exist")
    if target.exists() and not target.is_file():
        with open(target, "wb") as file:
            yield file
        return
    remove_leftovers(target.parent, re.escape(target.name))
    with _locked_temporary_file(target) as file:
        temporary = Path(file.name)
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def _locked_temporary_file(target: Path) -> Iterator[BinaryIO]:
    """Create a file beside `target`, which the caller closes; it stays locked until the block ends."""
    while True:
        file = open(target.with_name(f".{target.name}.{secrets.token_hex(8)}"), "xb")  # noqa: SIM115
        lock = os.dup(file.fileno())
        if _lock(lock) and not os.path.exists(file.name):  # another process took it for a leftover before it was locked
            file.close()
            os.close(lock)
            continue
        try:
            yield file
        finally:
            os.close(lock)
        return


def _lock(descriptor: int) -> bool:
    """Lock an open file until it is closed or the process ends; return whether that was possible."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # it is locked, or the file system has no locks
        return False
    return True


def remove_leftovers(folder: Path, names: str) -> None:
    """Remove the temporary files of killed processes; `names` is a regular expression for the files they replace.

    Processes lock the temporary files that they are writing, so those without a lock have been left behind.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if re.fullmatch(rf"\.(?:{names})\.[0-9a-f]{{16}}", entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove_unless_locked(entry.path)


def _remove_unless_locked(path: str) -> None:
    if fcntl is None:
        os.unlink(path)
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if _lock(descriptor):
            os.unlink(path)
    finally:
        os.close(descriptor)
