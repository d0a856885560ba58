"""Model files: arrays and parameters in one file, with version and checksum, written atomically, without pickle."""

import hashlib
import io
import json
import os
import tokenize
import zipfile
import zlib
from typing import Any

import numpy as np

from driftline.errors import CheckpointError
from driftline.types import State
from driftline.utils.atomic_write import replacing

FORMAT = "driftline-model"
VERSION = 3
"""Version 2 renamed arrays; those of version 1 are renamed as they are read. Version 3 has more arrays and figures of
the bounds; `restore` of the bounds accepts what versions 1 and 2 have."""
HEADER = "header.json"
UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    AttributeError,
    TypeError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""Errors that NumPy, zipfile and json raise for damaged files and for files of other programs."""
RENAMED_PARTS = {"ledger": "mistake_bound", "certificate": "calibration", "ladder": "filter_bank"}
"""Names of parts of models in files of version 1, and their names in version 2."""
_FILTER_ARRAYS = {
    "record": "log_weight",
    "share": "weight",
    "gap": "mean_gap",
    "haste": "mean_inverse_squared_gap",
}
RENAMED_ARRAYS = {
    "": {"ways": "scheme_weights", "trust": "scheme_shares"},
    "pending": {"said": "member_probabilities", "ways": "scheme_probabilities", "h": "probabilities"},
    "drift": _FILTER_ARRAYS,
    "ladder": _FILTER_ARRAYS,
    "solver": {"births": "arrivals", "members": "subsets"},
    "store": {"seen": "n_seen", "norm": "mean_squared_norm", "random": "random_state"},
    "members": {
        "ages": "age_quantiles",
        "rule": "average",
        "first": "sums",
        "second": "squares",
        "span": "n_since_cut",
        "lead": "partner_lead",
        "doubt": "margin",
        "tempered": "n_halvings",
        "cuts": "n_cuts",
    },
}
"""The same for arrays, by the name in version 1 of the part that they belong to."""


def digest(header: dict[str, Any], arrays: State) -> str:
    """Return the sha256 of the header and the arrays of a model file."""
    total = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def write_checkpoint(path: str | os.PathLike[str], content: dict[str, Any], arrays: State) -> None:
    """Write `content` (JSON values) and `arrays` to `path`, or leave an existing file unchanged."""
    header: dict[str, Any] = {"format": FORMAT, "version": VERSION, "content": content}
    header["sha256"] = digest(header, arrays)
    buffer = io.BytesIO()
    entries: dict[str, Any] = {HEADER: np.frombuffer(json.dumps(header).encode(), np.uint8)} | arrays
    np.savez_compressed(buffer, **entries)
    with replacing(path) as file:
        file.write(buffer.getbuffer())


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[dict[str, Any], State]:
    """Return the content and the arrays of a model file; raise CheckpointError if it is damaged or too new."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays: State = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop(HEADER).tobytes())
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        raise CheckpointError(
            f"{path} is not a saved model, or is damaged ({error}); expected a file that `save` wrote"
        ) from error
    if header.get("format") != FORMAT:
        raise CheckpointError(f"{path} is not a saved model: its format is {header.get('format')!r}, not {FORMAT!r}")
    if header["version"] > VERSION:
        raise CheckpointError(
            f"{path} has format version {header['version']}, and this driftline reads up to {VERSION}; "
            "upgrade driftline to load it"
        )
    expected = header.pop("sha256")
    if digest(header, arrays) != expected:
        raise CheckpointError(f"{path} is damaged: its checksum does not match; use another copy")
    return header["content"], arrays if header["version"] > 1 else _with_names_of_version_2(arrays)


def _with_names_of_version_2(arrays: State) -> State:
    """Return the arrays of a file of version 1 under their names in version 2."""
    renamed = {}
    for name, array in arrays.items():
        *parts, last = name.split("/")
        new_name = RENAMED_ARRAYS.get(parts[-1] if parts else "", {}).get(last, last)
        renamed["/".join([*(RENAMED_PARTS.get(part, part) for part in parts), new_name])] = array
    return renamed
