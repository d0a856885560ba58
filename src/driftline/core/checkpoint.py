"""Model files: arrays and parameters in one file, with version and checksum, written atomically, without pickle.

A model file is a zip archive of arrays in NumPy's format; one of them, `header.json`, holds the parameters as JSON. A
file may come from a stranger, and whoever alters it can also write a checksum that matches. So nothing in it is
trusted: the sizes of all arrays are compared with a limit and with the schema of the model before any array is read,
and the values are checked before the model is restored.
"""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from driftline.core.schema import Described, Schema, check_names, check_shapes, check_values, expected_in
from driftline.errors import CheckpointError, Parameter
from driftline.types import State
from driftline.utils.atomic_write import replacing

FORMAT = "driftline-model"
VERSION = 3
"""Version 2 renamed arrays; those of version 1 are renamed as they are read. Version 3 added arrays and figures."""
HEADER = "header.json"
SUFFIX = ".npy"
"""End of the name of each array in the archive."""
MAX_BYTES = 2**30
"""Largest size in memory of a model that is loaded, unless the caller allows more."""
MAX_HEADER_BYTES = 2**22
"""Largest size of the JSON text of a model file, which can take 50 times as much memory."""
MAX_ARRAY_HEADER_BYTES = 10_000
"""Largest size of the header of an array, as in NumPy."""
MAX_ARRAYS = 10_000
"""Largest number of arrays of a model file."""
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
    text = json.dumps(header).encode()
    if len(text) > MAX_HEADER_BYTES:
        raise CheckpointError(
            f"the parameters, names and notes of the model take {len(text)} bytes as JSON; "
            f"expected at most {MAX_HEADER_BYTES}: use shorter names or notes"
        )
    buffer = io.BytesIO()
    entries: dict[str, Any] = {HEADER: np.frombuffer(text, np.uint8)} | arrays
    np.savez_compressed(buffer, **entries)
    with replacing(path) as file:
        file.write(buffer.getbuffer())


@contextmanager
def opened_checkpoint(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Iterator["ModelFile"]:
    """Open a model file; errors in its content that occur within the block become CheckpointErrors that name it.

    Parameters
    ----------
    path : path-like
        The file.
    max_bytes : int, default=MAX_BYTES
        Largest total size of its arrays; a larger one is refused before any array is read.
    """
    try:
        with _opened_archive(path) as archive:
            yield ModelFile(archive, max_bytes)
    except CheckpointError as error:
        raise CheckpointError(f"{path} cannot be loaded: ", *error.args) from error
    except MemoryError as error:
        raise CheckpointError(f"{path} cannot be loaded: its model needs more memory than there is") from error


@contextmanager
def _opened_archive(path: str | os.PathLike[str]) -> Iterator[zipfile.ZipFile]:
    with open(path, "rb") as file:
        with _unreadable_reported():
            archive = zipfile.ZipFile(file)
        with archive:
            yield archive


@contextmanager
def _unreadable_reported() -> Iterator[None]:
    """Raise CheckpointError for whatever the readers of zip archives, arrays and JSON raise for damaged files."""
    try:
        yield
    except (CheckpointError, MemoryError):
        raise
    except Exception as error:
        # These readers document no complete list: among others struct.error, zlib.error, tokenize.TokenError,
        # SyntaxError, NotImplementedError, RecursionError and UnicodeDecodeError.
        raise CheckpointError("it is not a saved model, or is damaged; expected a file that `save` wrote") from error


class ModelFile:
    """An open model file, whose arrays are described but not read yet.

    Parameters
    ----------
    archive : zipfile.ZipFile
        The file.
    max_bytes : int
        Largest total size of its arrays.

    Attributes
    ----------
    content : dict
        What `write_checkpoint` got as content; not checked any further here.
    described : dict of Described
        Shape and type of each array, under its name in the current version.
    max_bytes : int
        Largest total size of the arrays.
    """

    def __init__(self, archive: zipfile.ZipFile, max_bytes: int) -> None:
        self._archive = archive
        self.max_bytes = max_bytes
        with _unreadable_reported():
            entries = _entries(archive)
            self._header = self._read_header(entries.pop(HEADER, None))
            self.content: dict[str, Any] = self._header["content"]
            found = {name: self._describe(entry) for name, entry in entries.items()}
        check_size(sum(array.n_bytes for array in found.values()), max_bytes)
        self._entries, self._found = entries, found
        self._stored_names = {self._current_name(name): name for name in entries}
        if len(self._stored_names) < len(entries):
            raise CheckpointError("two of its arrays have the same name")
        self.described = {name: found[stored] for name, stored in self._stored_names.items()}

    def _current_name(self, name: str) -> str:
        return name if self._header["version"] > 1 else _name_in_version_2(name)

    def _read_header(self, entry: zipfile.ZipInfo | None) -> dict[str, Any]:
        """Return the header; raise CheckpointError if this is no model file, or one of a newer version."""
        if entry is None:
            raise CheckpointError(f"it is not a saved model: it has no {HEADER}")
        described = self._describe(entry)
        if described.n_bytes > MAX_HEADER_BYTES:
            raise CheckpointError(f"its header has {described.n_bytes} bytes; expected at most {MAX_HEADER_BYTES}")
        header: Any = json.loads(self._read(entry, described).tobytes())
        form = header.get("format") if isinstance(header, dict) else None
        if form != FORMAT:
            raise CheckpointError(f"it is not a saved model: its format is {str(form)[:100]!r}, not {FORMAT!r}")
        version = header.get("version")
        if type(version) is not int or version < 1 or not isinstance(header.get("content"), dict):
            raise CheckpointError("it is not a saved model, or is damaged: its header has no version or no content")
        if version > VERSION:
            raise CheckpointError(
                f"it has format version {version}, and this driftline reads up to {VERSION}; "
                "upgrade driftline to load it"
            )
        return dict(header)

    def _describe(self, entry: zipfile.ZipInfo) -> Described:
        """Return the shape and the type of an array; raise CheckpointError if its size in the archive is another."""
        with self._archive.open(entry) as file:
            shape, _, dtype = _array_header(file)
            described = Described(shape, dtype)
            if dtype.hasobject or min(shape, default=0) < 0 or file.tell() + described.n_bytes != entry.file_size:
                raise CheckpointError(f"its array {entry.filename[:100]!r} is none that `save` wrote")
        return described

    def _read(self, entry: zipfile.ZipInfo, described: Described) -> NDArray[Any]:
        """Return an array, in the order of memory that kernels expect."""
        with self._archive.open(entry) as file:
            shape, is_fortran, dtype = _array_header(file)
            values = np.frombuffer(file.read(described.n_bytes), dtype)
        return np.ascontiguousarray(values.reshape(shape[::-1]).T) if is_fortran else values.reshape(shape)

    def read_arrays(self, schema: Schema, ignored_part: str | None = None) -> State:
        """Return the arrays; raise CheckpointError if one differs from its description in the schema.

        Parameters
        ----------
        schema : Schema
            What each array must be.
        ignored_part : str, optional
            Name of a part whose arrays the schema does not describe.
        """
        schema = expected_in(self.described, self._header["version"], schema)
        check_names(self.described, schema, ignored_part)
        check_shapes(self.described, schema)
        with _unreadable_reported():
            stored = {name: self._read(entry, self._found[name]) for name, entry in self._entries.items()}
        header = {key: value for key, value in self._header.items() if key != "sha256"}
        if digest(header, stored) != self._header.get("sha256"):
            raise CheckpointError("it is damaged: its checksum does not match; use another copy")
        arrays = {name: _native(stored[stored_name]) for name, stored_name in self._stored_names.items()}
        check_values(arrays, schema)
        return arrays


def check_size(n_bytes: int, max_bytes: int) -> None:
    """Raise CheckpointError if a model is larger than the caller allows."""
    if n_bytes > max_bytes:
        raise CheckpointError(
            f"its model takes {n_bytes} bytes of memory or more, and at most {max_bytes} are allowed; if you trust the "
            "file, allow more with ",
            Parameter("max_bytes"),
        )


def _entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the entries of an archive by the names of their arrays; raise CheckpointError for unexpected ones."""
    infos = archive.infolist()
    if len(infos) > MAX_ARRAYS:
        raise CheckpointError(f"it has {len(infos)} arrays; expected at most {MAX_ARRAYS}")
    for info in infos:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
            raise CheckpointError(
                f"its array {info.filename[:100]!r} is compressed or encrypted in a way `save` never uses"
            )
    entries = {info.filename.removesuffix(SUFFIX): info for info in infos if info.filename.endswith(SUFFIX)}
    if len(entries) < len(infos):
        raise CheckpointError("it is not a saved model: it has files that are no arrays, or two of the same name")
    return entries


def _array_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, "np.dtype[Any]"]:
    """Return shape, order of memory and type of the array that begins here, and go to its first byte."""
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise CheckpointError(f"an array has version {version} of NumPy's format; expected 1.0 or 2.0")
    is_first = version == (1, 0)
    length = file.read(2 if is_first else 4)
    n_bytes = int.from_bytes(length, "little")
    if n_bytes > MAX_ARRAY_HEADER_BYTES:  # NumPy would read all of it first
        raise CheckpointError(f"the header of an array has {n_bytes} bytes; expected at most {MAX_ARRAY_HEADER_BYTES}")
    header = io.BytesIO(length + file.read(n_bytes))
    read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
    shape, is_fortran, dtype = read(header)
    return shape, is_fortran, dtype


def _native(array: NDArray[Any]) -> NDArray[Any]:
    """Return a writable copy of an array in the byte order of this machine."""
    return array.astype(array.dtype.newbyteorder("="))


def _name_in_version_2(name: str) -> str:
    """Return the name in version 2 of an array of version 1."""
    *parts, last = name.split("/")
    new_name = RENAMED_ARRAYS.get(parts[-1] if parts else "", {}).get(last, last)
    return "/".join([*(RENAMED_PARTS.get(part, part) for part in parts), new_name])
