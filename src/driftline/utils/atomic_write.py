"""Files that are either written whole or not at all."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` when the block ends well; else what was there stays.

    A link stays one; pipes and devices, in whose place nothing is to be put, are written to.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot save to {path}: the folder {target.parent} does not exist")
    if target.exists() and not target.is_file():
        with open(target, "wb") as file:
            yield file
        return
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove_leftovers(folder: Path, names: str) -> None:
    """Remove what a killed process left of files that it was replacing; `names` is a pattern of theirs."""
    for path in folder.glob(".*"):
        if re.fullmatch(rf"\.(?:{names})\.[0-9a-f]{{16}}", path.name):
            path.unlink(missing_ok=True)
