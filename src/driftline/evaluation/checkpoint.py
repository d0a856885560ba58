"""The state of an evaluation in one file: versioned, checksummed, written atomically.

The state holds the classifier, which may be any object, so it is pickled: like every pickle, a checkpoint of
unknown origin must not be opened.
"""

import hashlib
import json
import pickle
from pathlib import Path
from typing import Any

from driftline._atomic import replacing
from driftline.errors import CheckpointError

FORMAT = "driftline-run"
VERSION = 1
NAME = "checkpoint"


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
    return pickle.loads(payload)


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    first, _, payload = path.read_bytes().partition(b"\n")
    try:
        header = json.loads(first)
        known = header["format"] == FORMAT
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} is not the checkpoint of an evaluation, or is damaged ({error})") from error
    if not known:
        raise CheckpointError(f"{path} is not the checkpoint of an evaluation: its format is {header['format']!r}")
    if header["version"] > VERSION:
        raise CheckpointError(
            f"{path} has version {header['version']}, and this driftline reads up to {VERSION}; upgrade driftline"
        )
    if hashlib.sha256(payload).hexdigest() != header["sha256"]:
        raise CheckpointError(f"{path} is damaged: its checksum does not match; begin anew in another folder")
    return header, payload
