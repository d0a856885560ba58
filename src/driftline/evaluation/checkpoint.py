"""The state of an evaluation in one file: versioned, checksummed, written atomically.

The state holds the classifier, which may be any object, so it is pickled: like every pickle, a checkpoint of
unknown origin must not be opened.
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
except ModuleNotFoundError:  # Windows; nothing keeps a second run out there
    fcntl = None  # type: ignore[assignment]

FORMAT = "driftline-run"
VERSION = 1
NAME = "checkpoint"
LOCK = ".lock"


def write_run(folder: Path, about: dict[str, Any], state: Any) -> None:
    """Write what was run and how far it has come."""
    try:
        payload = pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise CheckpointError(
            f"the classifier cannot be pickled ({error}); evaluate it without a checkpoint"
        ) from error
    header = {"format": FORMAT, "version": VERSION, "sha256": hashlib.sha256(payload).hexdigest(), "about": about}
    with replacing(folder / NAME) as file:
        file.write(json.dumps(header).encode() + b"\n")
        file.write(payload)


def read_run(folder: Path, about: dict[str, Any]) -> Any | None:
    """Return the state that `write_run` wrote of the same run; None if there is none."""
    path = folder / NAME
    if not path.exists():
        return None
    header, payload = _read(path)
    changed = [name for name in about if header["about"].get(name) != about[name]]
    if changed:
        name = changed[0]
        raise CheckpointError(
            f"{folder} holds a run with another {name}: {header['about'].get(name)!r}, not {about[name]!r}; "
            "resume it with the same arguments, or choose another folder"
        )
    try:
        return pickle.loads(payload)
    except Exception as error:  # whatever the classifier's own code raises
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
    if not isinstance(version, int) or version > VERSION:
        raise CheckpointError(
            f"{path} has version {version}, and this driftline reads up to {VERSION}; upgrade driftline"
        )
    if hashlib.sha256(payload).hexdigest() != digest:
        raise CheckpointError(f"{path} is damaged: its checksum does not match; begin anew in another folder")
    return header, payload


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Make a folder, if need be, and keep other runs out of it; the system lets go of it when the process ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / LOCK, "wb")  # noqa: SIM115  # closed below
    except OSError as error:
        raise CheckpointError(f"{folder} cannot be used for records: {error}; choose another folder") from error
    with lock:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise BusyError(f"another run is at work in {folder}; wait for it, or choose another") from error
        remove_leftovers(folder, f"{NAME}|summary.json")
        yield
