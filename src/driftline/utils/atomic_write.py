"""Writing files atomically: completely or not at all."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` if the block ends without an error; otherwise `path` is not changed.

    If `path` is a link, the file that it points to is replaced. Pipes and devices are not replaced but written to.
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
    """Remove the temporary files of killed processes; `names` is a regular expression for the files they replace."""
    for path in folder.glob(".*"):
        if re.fullmatch(rf"\.(?:{names})\.[0-9a-f]{{16}}", path.name):
            path.unlink(missing_ok=True)
