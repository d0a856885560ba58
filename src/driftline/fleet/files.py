"""Files of fleets: a header, then the state of one key after the other, so that large fleets are written in pieces."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from driftline.errors import CheckpointError
from driftline.utils.atomic_write import replacing

MAGIC = b"driftline fleet 1\n"
"""How a file begins; the number is the version of its format."""
LENGTH_BYTES, DIGEST_BYTES = 8, 32
MAX_HEADER_BYTES, MAX_STATE_BYTES = 2**22, 2**30
"""Largest size of the header or a key, and of a state, in a file that is read."""


def write_fleet(path: str | os.PathLike[str], header: Mapping[str, Any], states: Iterable[tuple[Any, bytes]]) -> None:
    """Write a header (JSON values), then keys and their states, or leave an existing file unchanged."""
    digest = hashlib.sha256()
    with replacing(path) as file:

        def write(data: bytes) -> None:
            file.write(data)
            digest.update(data)

        write(MAGIC)
        for part in _parts(header, states):
            write(len(part).to_bytes(LENGTH_BYTES, "little"))
            write(part)
        file.write(digest.digest())


def _parts(header: Mapping[str, Any], states: Iterable[tuple[Any, bytes]]) -> Iterator[bytes]:
    yield json.dumps(dict(header)).encode()
    for key, state in states:
        yield json.dumps(key).encode()
        yield state


class FleetFile:
    """A file of a fleet that is being read; nothing in it is trusted.

    Parameters
    ----------
    file : binary file
        The file, at its beginning.

    Attributes
    ----------
    header : dict
        The header.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._digest = file, hashlib.sha256()
        if self._read(len(MAGIC)) != MAGIC:
            raise CheckpointError(
                f"it is not a saved fleet of this version: expected it to begin with {MAGIC!r}; a single model is "
                "loaded with AMRC.load"
            )
        self.header = _json(self._read_part(MAX_HEADER_BYTES))
        n_states = self.header.get("n_keys") if isinstance(self.header, dict) else None
        if type(n_states) is not int or n_states < 1:  # that of the common model is always there
            raise CheckpointError("it is not a saved fleet, or is damaged: its header has no number of keys")

    def states(self) -> Iterator[tuple[Any, bytes]]:
        """Yield keys and their states; raise CheckpointError after the last one if anything was altered."""
        for _ in range(self.header["n_keys"]):
            key = _json(self._read_part(MAX_HEADER_BYTES))
            yield key, self._read_part(MAX_STATE_BYTES)
        expected = self._digest.digest()
        if self._file.read() != expected:
            raise CheckpointError("it is damaged: its checksum does not match; use another copy")

    def _read_part(self, at_most: int) -> bytes:
        length = int.from_bytes(self._read(LENGTH_BYTES), "little")
        if length > at_most:
            raise CheckpointError(f"it is damaged: a part has {length} bytes, and at most {at_most} are possible")
        return self._read(length)

    def _read(self, n: int) -> bytes:
        data = self._file.read(n)
        if len(data) < n:
            raise CheckpointError("it ends too early: it is damaged, or not a saved fleet; use another copy")
        self._digest.update(data)
        return data


@contextmanager
def opened_fleet(path: str | os.PathLike[str]) -> Iterator[FleetFile]:
    """Open the file of a fleet; errors in its content become CheckpointErrors that name it."""
    try:
        with open(path, "rb") as file:
            yield FleetFile(file)
    except CheckpointError as error:
        raise CheckpointError(f"{path} cannot be loaded: ", *error.args) from error


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CheckpointError("it is damaged: a part of it is not JSON; use another copy") from error
