"""The streams of a fleet in the memory of a GPU."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from driftline.fleet.cuda_kernels import CudaKernels, FleetShape
from driftline.fleet.cuda_source import ages_of, first_spaces, n_features, n_trees, source_of
from driftline.fleet.device_layout import DeviceLayout
from driftline.fleet.layout import Bytes, StreamMemory
from driftline.fleet.streams import Streams
from driftline.kernels.ensemble import MEMBERS
from driftline.kernels.fleet import COUNT, learn_streams
from driftline.kernels.packing import SHAPE
from driftline.types import Indices

STREAMS_PER_BUFFER = 1024
"""A fleet grows by buffers of so many streams, so that nothing is copied."""


def shape_of(memory: StreamMemory, device: DeviceLayout) -> FleetShape:
    """Return what kernels need to know of the streams of a fleet."""
    shapes, spaces = memory.layout.places[:, SHAPE:], first_spaces(memory)
    return FleetShape(
        source=source_of(memory, device, STREAMS_PER_BUFFER),
        n_bytes=device.n_bytes,
        n_columns=int(memory.layout.other_places[COUNT, SHAPE]),
        n_classes=int(memory.layout.sizes[4]),
        ages=ages_of(memory),
        directions=memory.layout.directions,
        n_trees=n_trees(memory),
        row_features=n_features(memory),
        store_rows=[int(shapes[first, 0]) for first in spaces],
        n_features=[int(shapes[first, 1]) for first in spaces],
        n_members=[int(shapes[first + MEMBERS, 0]) for first in spaces],
    )


def rounds_of(slots: Indices) -> list[Indices]:
    """Return the rows of each round, in which no slot has two rows; `slots` must not decrease."""
    if (slots[1:] > slots[:-1]).all():
        return [np.arange(len(slots))] if len(slots) else []
    firsts = np.flatnonzero(np.diff(slots, prepend=-1))
    ranks = np.arange(len(slots)) - np.repeat(firsts, np.diff(firsts, append=len(slots)))
    order = np.argsort(ranks, kind="stable")
    return np.split(order, np.cumsum(np.bincount(ranks))[:-1])


class DeviceStreams:
    """The bytes of all streams, in slots, on a GPU; otherwise as `driftline.fleet.streams.Streams`.

    Parameters
    ----------
    memory : StreamMemory
        The memory layout.
    """

    def __init__(self, memory: StreamMemory) -> None:
        self.memory = memory
        self._layout = DeviceLayout(memory)
        self.kernels = CudaKernels(shape_of(memory, self._layout))
        self._cupy = self.kernels.cupy
        self._buffers: list[Any] = []
        self._places = self._cupy.zeros(0, np.uint64)
        self._free: list[int] = []

    @property
    def n_bytes(self) -> int:
        """Number of bytes of all buffers."""
        return sum(buffer.nbytes for buffer in self._buffers)

    @property
    def places(self) -> Any:
        """Where each buffer begins, as an array on the GPU."""
        return self._places

    def take(self, n: int) -> list[int]:
        """Return n slots that nobody uses, and grow if there are too few."""
        n_more = -(-max(n - len(self._free), 0) // STREAMS_PER_BUFFER)
        shape = STREAMS_PER_BUFFER, self._layout.n_bytes
        more = [self._cupy.zeros(shape, np.uint8) for _ in range(n_more)]
        first, stop = (len(each) * STREAMS_PER_BUFFER for each in (self._buffers, [*self._buffers, *more]))
        self._buffers += more
        self._free = [*range(stop - 1, first - 1, -1), *self._free]
        self._places = self._cupy.asarray(np.array([each.data.ptr for each in self._buffers], np.uint64))
        return [self._free.pop() for _ in range(n)]

    def release(self, slot: int) -> None:
        """Let a slot be taken again."""
        self._free.append(slot)

    def stream(self, slot: int) -> Bytes:
        """Return a copy of the bytes of the stream in a slot, which cannot be changed; `put` changes the stream."""
        stream: Bytes = self.gather([slot])[0]
        stream.flags.writeable = False
        return stream

    def put(self, slots: Sequence[int], stream: Bytes) -> None:
        """Set the bytes of the streams in some slots to those of a stream."""
        given = self._cupy.asarray(self._layout.to_device(stream[None])[0])
        for buffer, positions, _ in self._by_buffer(slots):
            buffer[positions] = given

    def gather(self, slots: Sequence[int]) -> Bytes:
        """Return copies of the bytes of some streams, one row for each."""
        copies = np.empty((len(slots), self.memory.n_bytes), np.uint8)
        for buffer, positions, rows in self._by_buffer(slots):
            copies[rows] = self._layout.to_cores(buffer[positions].get())
        return copies

    def _by_buffer(self, slots: Sequence[int]) -> Iterator[tuple[Any, Any, Indices]]:
        """Yield each buffer that some slots are in, their positions in it, and which of the slots they are."""
        if not len(slots):
            return
        buffers, positions = np.divmod(np.asarray(slots, np.int64), STREAMS_PER_BUFFER)
        order = np.argsort(buffers, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(buffers[order])) + 1):
            yield self._buffers[buffers[rows[0]]], self._cupy.asarray(positions[rows]), rows

    def run(self, kernel: Callable[..., None], slots: Indices, *arrays: Any) -> None:
        """Learn rows or predict them, as the kernel of the same name does on the cores.

        `slots` has the slot of each row, and must not decrease.
        """
        learns, cupy = kernel is learn_streams, self._cupy
        n_given = 2 if learns else 1
        given = [cupy.asarray(array) for array in arrays[:n_given]]
        results = [cupy.empty(array.shape, array.dtype) for array in arrays[n_given:]]
        all_slots = cupy.asarray(slots)
        for rows in rounds_of(slots):
            on_device = cupy.asarray(rows)
            of_rows = all_slots[on_device], on_device.astype(np.int32)
            self.kernels.advance(self._places, *of_rows, given[0], given[1] if learns else None, results)
        for array, result in zip(arrays[n_given:], results, strict=True):
            result.get(out=array)


AnyStreams = Streams | DeviceStreams
"""The streams of a fleet, wherever they are."""
