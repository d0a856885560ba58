"""The streams of a fleet in memory: slots that are taken and released, and kernels that run over them in threads."""

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from driftline.fleet.layout import Bytes, StreamMemory
from driftline.types import Indices

STREAMS_PER_BUFFER = 32
"""A fleet grows by buffers of so many streams, so that nothing is copied; each buffer is the work of one thread."""


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Streams:
    """The bytes of all streams, in slots.

    Parameters
    ----------
    memory : StreamMemory
        The memory layout.
    n_threads : int
        Number of threads for the kernels.
    """

    def __init__(self, memory: StreamMemory, n_threads: int) -> None:
        self.memory = memory
        self._n_threads = n_threads
        self._buffers: list[Bytes] = []
        self._free: deque[int] = deque()

    @property
    def n_bytes(self) -> int:
        """Number of bytes of all buffers."""
        return sum(buffer.nbytes for buffer in self._buffers)

    def take(self, n: int) -> list[int]:
        """Return n slots that nobody uses, and grow if there are too few."""
        while len(self._free) < n:
            first = len(self._buffers) * STREAMS_PER_BUFFER
            self._buffers.append(self.memory.new_buffer(STREAMS_PER_BUFFER))
            self._free.extendleft(range(first, first + STREAMS_PER_BUFFER))  # the oldest ones are taken first
        return [self._free.pop() for _ in range(n)]

    def release(self, slot: int) -> None:
        """Let a slot be taken again."""
        self._free.append(slot)

    def stream(self, slot: int) -> Bytes:
        """Return the bytes of the stream in a slot; `put` changes them."""
        buffer, position = divmod(slot, STREAMS_PER_BUFFER)
        stream: Bytes = self.memory.streams_in(self._buffers[buffer])[position]
        return stream

    def put(self, slots: Sequence[int], stream: Bytes) -> None:
        """Set the bytes of the streams in some slots to those of a stream."""
        for slot in slots:
            self.stream(slot)[:] = stream

    def gather(self, slots: Sequence[int]) -> Bytes:
        """Return copies of the bytes of some streams, one row for each."""
        copies = np.empty((len(slots), self.memory.n_bytes), np.uint8)
        for row, slot in zip(copies, slots, strict=True):
            row[:] = self.stream(slot)
        return copies

    def run(self, kernel: Callable[..., None], slots: Indices, *arrays: Any) -> None:
        """Call a kernel with the rows of each buffer, in threads.

        `slots` has the slot of each row, and must not decrease. The kernel gets the slots of a buffer, counted from 0,
        and where the rows of each begin; the rows of each array that belong to the buffer; the buffer; and the layout.
        """
        of_row = slots // STREAMS_PER_BUFFER
        starts = np.flatnonzero(np.diff(of_row, prepend=-1))
        stops = np.append(starts[1:], len(slots))

        def call(start: int, stop: int) -> None:
            within, firsts = np.unique(slots[start:stop] % STREAMS_PER_BUFFER, return_index=True)
            buffer, rows = self._buffers[of_row[start]], (array[start:stop] for array in arrays)
            kernel(within, np.append(firsts, stop - start), buffer, self.memory.layout, *rows)

        parts = list(zip(starts.tolist(), stops.tolist(), strict=True))
        if len(parts) == 1 or self._n_threads == 1:
            for part in parts:
                call(*part)
            return
        with ThreadPoolExecutor(self._n_threads) as threads:
            for _ in threads.map(call, *zip(*parts, strict=True)):
                pass
