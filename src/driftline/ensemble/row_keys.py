"""Keys by which pending rows are found: their values, or their ids, and how ids are written to model files."""

import json
from typing import Any

import numpy as np

from driftline.errors import CheckpointError, DataError
from driftline.types import Matrix
from driftline.utils.validation import read_ids


def keys_of(X: Matrix) -> tuple[list[bytes], list[bytes]]:
    """Return keys that are equal for rows of equal values: as they are, and rounded to single precision.

    The keys do not depend on the sign of a 0, on the bits of a NaN, and on missing values in the last columns, so that
    they remain valid when columns are added.
    """
    missing = np.isnan(X)
    X = X + 0.0
    ends = [X.shape[1]] * len(X)
    if missing.any():
        X[missing] = np.nan
        ends = (X.shape[1] - np.argmin(missing[:, ::-1], axis=1)) * ~missing.all(axis=1)
    rounded = X.astype(np.float32) + np.float64(0.0)
    exact, single = ([x[:end].tobytes() for x, end in zip(rows, ends, strict=True)] for rows in (X, rounded))
    return exact, single


def ids_as_bytes(ids: list[Any]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return ids as JSON in bytes, one row for each id, filled with zeros; a row without an id is all zeros."""
    texts = [b"" if each is None else json.dumps(each).encode() for each in ids]
    width = max(1, *map(len, texts)) if texts else 1
    return np.frombuffer(b"".join(text.ljust(width, b"\0") for text in texts), np.uint8).reshape(len(ids), width)


def ids_from_bytes(rows: Any) -> list[Any]:
    """Return the ids that `ids_as_bytes` wrote; raise CheckpointError if it cannot have written them."""
    texts = [row.tobytes().rstrip(b"\0") for row in rows]
    try:
        given = [json.loads(text) for text in texts if text]
        known = read_ids(given, len(given)).tolist()
        if len(set(known)) < len(known):
            raise DataError("an id occurs twice")
    except (ValueError, RecursionError) as error:
        raise CheckpointError("its array 'pending/ids' does not contain different ids") from error
    unused = iter(known)
    return [next(unused) if text else None for text in texts]
