"""Arrays of several types in one buffer: passing it to a kernel takes a twentieth of the time of passing them all."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftline._jit import pasted_kernel
from driftline.types import Indices

ALIGNMENT = 64
"""Every array begins at a multiple of so many bytes."""
CHUNK_ROWS = 1000
"""So many rows of an array are copied at a time."""
START, STOP, SHAPE = 0, 1, 2
"""Columns of `Packed.places`; the lengths of up to three axes are the last ones."""


class Packed(NamedTuple):
    """Arrays in one buffer."""

    buffer: NDArray[np.uint8]
    places: Indices
    """(n, 5): for each array its first byte, the byte after its last one, and the lengths of its axes."""


def packed(arrays: Iterable[Any]) -> tuple[Packed, list[Any]]:
    """Return copies of arrays in one buffer, and these copies as arrays that share its memory."""
    listed = list(arrays)
    places = np.zeros((len(listed), 5), np.int64)
    end = 0
    for place, array in zip(places, listed, strict=True):
        start = -(-end // ALIGNMENT) * ALIGNMENT
        end = start + array.nbytes
        place[: 2 + array.ndim] = start, end, *array.shape
    buffer = np.zeros(end, np.uint8)
    parts = [
        buffer[place[START] : place[STOP]].view(array.dtype).reshape(array.shape)
        for place, array in zip(places, listed, strict=True)
    ]
    for part, array in zip(parts, listed, strict=True):
        for start in range(0, len(array), CHUNK_ROWS):
            chunk = array[start : start + CHUNK_ROWS]
            if chunk.any():  # memory for rows that never came stays untouched
                part[start : start + CHUNK_ROWS] = chunk
    return Packed(buffer, places), parts


@pasted_kernel
def vector_at(buffer: NDArray[np.uint8], places: Indices, k: int, dtype: Any) -> Any:
    """Return array k of a buffer, which has one axis."""
    return buffer[places[k, START] : places[k, STOP]].view(dtype)


@pasted_kernel
def matrix_at(buffer: NDArray[np.uint8], places: Indices, k: int, dtype: Any) -> Any:
    """Return array k of a buffer, which has two axes."""
    part = buffer[places[k, START] : places[k, STOP]].view(dtype)
    return part.reshape(places[k, SHAPE], places[k, SHAPE + 1])


@pasted_kernel
def stack_at(buffer: NDArray[np.uint8], places: Indices, k: int, dtype: Any) -> Any:
    """Return array k of a buffer, which has three axes."""
    part = buffer[places[k, START] : places[k, STOP]].view(dtype)
    return part.reshape(places[k, SHAPE], places[k, SHAPE + 1], places[k, SHAPE + 2])
