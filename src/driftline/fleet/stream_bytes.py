"""The state of a key as bytes, with version and checksum, for stores of other programs and for files of fleets."""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from driftline.core.class_list import ClassList
from driftline.core.schema import Described, check_names, check_shapes, check_values, expected_in
from driftline.core.state import independent_copy
from driftline.ensemble.learner import EnsembleLearner
from driftline.ensemble.pending_rows import PendingRows
from driftline.errors import CheckpointError, DataError
from driftline.fleet.layout import Bytes, StreamMemory
from driftline.types import State

MAGIC = b"driftline stream 1\n"
"""How the bytes begin; the number is the version of their format."""
DIGEST_BYTES = 32
LEVELS = "guarantees/rows/answers_levels"
"""Name of the array with the shares of wrong answers that are allowed."""
FIRST_MODEL_FORMAT = 3
"""Version of model files whose description of arrays applies to streams."""


def shape_digest(parameters: Mapping[str, Any], classes: ClassList, memory: StreamMemory) -> bytes:
    """Return a digest of what all keys of a fleet have in common: parameters, columns, classes and memory layout."""
    digest = hashlib.sha256(json.dumps([dict(parameters), classes.to_json()], sort_keys=True).encode())
    for array in (memory.layout.places, memory.layout.other_places):
        digest.update(array.tobytes())
    return digest.digest()


def stream_to_bytes(stream: Bytes, pending: PendingRows, shape: bytes) -> bytes:
    """Return the state of a key as bytes."""
    content = MAGIC + shape + stream.tobytes() + _pending_to_bytes(pending)
    return content + hashlib.sha256(content).digest()


def stream_from_bytes(
    data: bytes, blank: EnsembleLearner, memory: StreamMemory, shape: bytes, *, trusted: bool = False
) -> tuple[Bytes, PendingRows]:
    """Return the stream and the pending rows of a key from its bytes; raise CheckpointError if they are not such.

    Unless they are trusted, they are checked as a model file is, so that bytes from strangers can be read. `blank` is a
    learner of the fleet that has learned nothing: it says what the arrays must be, and is not changed.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise DataError(f"expected the bytes that key_state returned; got {type(data).__name__}")
    data = bytes(data)
    content, checksum = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
    if not content.startswith(MAGIC):
        raise CheckpointError(f"these bytes are not the state of a key: expected them to begin with {MAGIC!r}")
    if hashlib.sha256(content).digest() != checksum:
        raise CheckpointError("the state of the key is damaged: its checksum does not match; use another copy")
    start = len(MAGIC) + len(shape)
    if content[len(MAGIC) : start] != shape:
        raise CheckpointError(
            "the state of the key is that of a fleet with other parameters, columns or classes, or of another version "
            "of driftline; make the fleet with those"
        )
    if len(content) < start + memory.n_bytes:
        raise CheckpointError("the state of the key ends too early: it is damaged; use another copy")
    stream = np.frombuffer(content[start : start + memory.n_bytes], np.uint8)
    arrays = _read_pending(content[start + memory.n_bytes :])
    pending = blank.pending.blank()
    pending.n_expired = int(arrays.pop("n_expired")[0])
    if trusted:
        pending.restore(arrays)
        return stream, pending
    unchecked, learner = independent_copy(blank), independent_copy(blank)
    memory.load(unchecked, stream)
    unchecked.pending = learner.pending = pending
    state = unchecked.state() | {f"pending/{name}": array for name, array in arrays.items()}
    schema = expected_in(state, FIRST_MODEL_FORMAT, blank.schema())
    # All classes are known from the beginning, and with them the levels for each, which a model file only limits.
    schema[LEVELS] = replace(schema[LEVELS], equals=blank.state()[LEVELS])
    check_names(state, schema)
    check_shapes({name: Described(array.shape, array.dtype) for name, array in state.items()}, schema)
    check_values(state, schema)
    learner.restore({name: array.copy() for name, array in state.items()})
    return memory.stored(learner), learner.pending


def _pending_to_bytes(pending: PendingRows) -> bytes:
    """Return pending rows as bytes; none if there are none, nor were any given up."""
    if not len(pending) and not pending.n_expired:
        return b""
    rows = io.BytesIO()
    state: dict[str, Any] = pending.state() | {"n_expired": np.array([pending.n_expired])}
    np.savez(rows, **state)
    return rows.getvalue()


def _read_pending(data: bytes) -> State:
    """Return the arrays of pending rows; raise CheckpointError if they cannot be read."""
    if not data:
        return {"n_expired": np.zeros(1)}
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays: State = dict(archive)
            arrays["n_expired"] = np.array([int(arrays["n_expired"][0])])
    except Exception as error:  # whatever the readers of zip archives and arrays raise
        raise CheckpointError("the rows of the key that wait for labels cannot be read; use another copy") from error
    return arrays
