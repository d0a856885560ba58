"""The checkpoint of an evaluation: one file with a version and a checksum, written atomically.

The state contains the classifier, which may be any object, so it is pickled. As with every pickle, do not open a
checkpoint of unknown origin.
"""

import hashlib
import json
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from driftline.errors import BusyError, CheckpointError
from driftline.utils.atomic_write import remove_leftovers, replacing

try:
    import fcntl
except ModuleNotFoundError:  # Windows, where a second run in the folder is not prevented
    fcntl = None  # type: ignore[assignment]

FORMAT = "driftline-run"
VERSION = 4
FILE_NAME = "checkpoint"
LOCK_NAME = ".lock"


def write_run(folder: Path, about: dict[str, Any], state: Any) -> None:
    """Write the description of a run and its state."""
    try:
        payload = pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise CheckpointError(
            f"the classifier cannot be pickled ({error}); evaluate it without a checkpoint"
        ) from error
    header = {"format": FORMAT, "version": VERSION, "sha256": hashlib.sha256(payload).hexdigest(), "about": about}
    with replacing(folder / FILE_NAME) as file:
        file.write(json.dumps(header).encode() + b"\n")
        file.write(payload)


def read_run(folder: Path, about: dict[str, Any]) -> Any | None:
    """Return the state that `write_run` wrote for the same run; None if the folder has no checkpoint."""
    path = folder / FILE_NAME
    if not path.exists():
        return None
    header, payload = _read(path)
    changed = [name for name in about if header["about"].get(name) != about[name]]
    if changed:
        name = changed[0]
        raise CheckpointError(
            f"{folder} contains a run with another {name}: {header['about'].get(name)!r}, not {about[name]!r}; "
            "resume it with the same arguments, or choose another folder"
        )
    try:
        return pickle.loads(payload)
    except Exception as error:  # the code of the classifier may raise anything
        raise CheckpointError(
            f"{path} cannot be restored ({type(error).__name__}: {error}); resume where its classifier can be imported"
        ) from error


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    first, _, payload = path.read_bytes().partition(b"\n")
    try:
        header = json.loads(first)
        form, version, digest, _ = (header[name] for name in ("format", "version", "sha256", "about"))
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} is not the checkpoint of an evaluation, or is damaged ({error})") from error
    if form != FORMAT:
        raise CheckpointError(f"{path} is not the checkpoint of an evaluation: its format is {form!r}")
    if version != VERSION:
        raise CheckpointError(
            f"{path} has version {version} of the format, and this driftline resumes version {VERSION} only; resume it "
            "with the driftline that wrote it, or start again in another folder"
        )
    if hashlib.sha256(payload).hexdigest() != digest:
        raise CheckpointError(f"{path} is damaged: its checksum does not match; start again in another folder")
    return header, payload


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Create a folder if needed, and lock it against other runs; the lock ends with the process at the latest."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / LOCK_NAME, "wb")  # noqa: SIM115  # closed below
    except OSError as error:
        raise CheckpointError(f"{folder} cannot be used for records: {error}; choose another folder") from error
    with lock:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise BusyError(f"another run is using {folder}; wait for it, or choose another folder") from error
        remove_leftovers(folder, f"{FILE_NAME}|summary.json")
        yield
