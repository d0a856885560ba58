"""How the arrays of the models of a fleet lie in memory, and how a single model gets there and back."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftline.ensemble.learner import EnsembleLearner
from driftline.kernels.ensemble import (
    COLUMN_FILTERS,
    COUNTS,
    FILTERS,
    FIRST_SPACE,
    FOREST,
    GROWTH_WORKSPACE,
    MEMBERS,
    N_SPACE_ARRAYS,
    SCHEME_WEIGHTS,
    TARGETS,
    WEIGHTS,
    WORKSPACE,
)
from driftline.kernels.filter_bank import FilterBank
from driftline.kernels.fleet import COUNT, STATEMENTS, FleetLayout
from driftline.kernels.member_state import Members, MemberWorkspace
from driftline.kernels.packing import SHAPE, START, STOP
from driftline.types import Flags, Indices

Bytes = NDArray[np.uint8]
SHARED_ALIGNMENT, OWN_ALIGNMENT = 64, 8
"""A shared array, and the arrays of a stream, begin at a multiple of the first; an array within those of the second."""
MEMBER_CONSTANTS = ("gain", "average_gain", "width", "reach", "age_quantiles", "partner", "interval")
"""Arrays of members that follow from the plan; the members of a light model never rest."""


def shared_arrays(n_arrays: int) -> Iterator[int]:
    """Yield the numbers of the arrays of an ensemble that are constant, or hold intermediate results only."""
    block_rows, gains = COUNTS + 4, FilterBank._fields.index("gains")
    yield from (TARGETS, block_rows, COLUMN_FILTERS + 1 + gains, *range(GROWTH_WORKSPACE, FIRST_SPACE))
    for first in range(FIRST_SPACE, n_arrays, N_SPACE_ARRAYS):
        yield from (first + MEMBERS + Members._fields.index(name) for name in MEMBER_CONSTANTS)
        yield first + FILTERS + gains
        yield from (first + WORKSPACE + k for k, name in enumerate(MemberWorkspace._fields) if name != "centres")


def _known_arrays(n_arrays: int, is_own: Flags) -> list[int]:
    """Return the numbers of the arrays of each stream that hold what its model has learned."""
    known = [WEIGHTS, SCHEME_WEIGHTS, *range(FOREST, n_arrays)]
    return [number for number in known if is_own[number]]


class StreamMemory:
    """The memory of the models of a fleet: where each array is, and copies from and to a single model.

    Parameters
    ----------
    learner : EnsembleLearner
        A light learner that has learned nothing, of the shape that all models of the fleet have.

    Attributes
    ----------
    layout : FleetLayout
        Where the arrays are, for kernels.
    n_head_bytes : int
        Number of bytes before those of the first stream.
    knowledge : ndarray of bool
        Which bytes of a stream are what its model has learned of columns, members, weights and trees; the others are
        figures and guarantees of its rows.
    """

    def __init__(self, learner: EnsembleLearner) -> None:
        packed, others = learner.all_arrays()
        places, other_places = packed.places.copy(), np.zeros((len(others), packed.places.shape[1]), np.int64)
        for place, array in zip(other_places, others, strict=True):
            place[STOP] = array.nbytes
            place[SHAPE : SHAPE + array.ndim] = array.shape
        is_own = np.ones(len(places), np.bool_)
        is_own[list(shared_arrays(len(places)))] = False
        head = _lay_out(places, np.flatnonzero(~is_own), 0, SHARED_ALIGNMENT)
        self.n_head_bytes = _aligned(head, SHARED_ALIGNMENT)
        end = _lay_out(places, np.flatnonzero(is_own), self.n_head_bytes, OWN_ALIGNMENT)
        end = _lay_out(other_places, np.arange(len(others)), end, OWN_ALIGNMENT)
        directions = [space.directions for space in learner.spaces if space.plan.forest is None]
        self.layout = FleetLayout(
            places=places,
            is_own=is_own,
            other_places=other_places,
            n_head_bytes=self.n_head_bytes,
            n_bytes=_aligned(end, SHARED_ALIGNMENT) - self.n_head_bytes,
            directions=np.concatenate([each for each in directions if len(each)] or directions[:1]),
            n_directions=np.array([len(each) for each in directions]),
            standardises=learner.standardises,
            sizes=learner.tracker.rows.arrays[1],
            counted_share=learner.plan.counted_share,
            pace=learner.plan.pace,
        )
        self.knowledge = np.zeros(self.layout.n_bytes, np.bool_)
        for place in (*places[_known_arrays(len(places), is_own)], *other_places[COUNT:STATEMENTS]):
            self.knowledge[place[START] - self.n_head_bytes : place[STOP] - self.n_head_bytes] = True
        self._head = np.zeros(self.n_head_bytes, np.uint8)
        for place, array in zip(places[~is_own], self._packed_parts(learner, ~is_own), strict=True):
            self._head[place[START] : place[STOP]] = array

    @property
    def n_bytes(self) -> int:
        """Number of bytes of each stream."""
        return self.layout.n_bytes

    def array_of(self, streams: Bytes, number: int, dtype: Any) -> Any:
        """Return one array of an ensemble, for each of some streams; the first axis is that of the streams."""
        place = self.layout.places[number] - [self.n_head_bytes, self.n_head_bytes, 0, 0, 0]
        return _values(streams, place, dtype)

    def shared_array(self, number: int, dtype: Any) -> Any:
        """Return one array of an ensemble that all streams share."""
        return _values(self._head[None], self.layout.places[number], dtype)[0]

    def statements(self, streams: Bytes) -> Any:
        """Return what is kept to make statements on rows, of each of some streams, as a matrix."""
        place = self.layout.other_places[STATEMENTS] - [self.n_head_bytes, self.n_head_bytes, 0, 0, 0]
        return _values(streams, place, np.float64)

    def new_buffer(self, n_streams: int) -> Bytes:
        """Return a buffer for so many streams; their own bytes are 0."""
        buffer = np.zeros(self.n_head_bytes + n_streams * self.n_bytes, np.uint8)
        buffer[: self.n_head_bytes] = self._head
        return buffer

    def streams_in(self, buffer: Bytes) -> Bytes:
        """Return the bytes of the streams in a buffer, one row for each, which share its memory."""
        return buffer[self.n_head_bytes :].reshape(-1, self.n_bytes)

    def stored(self, learner: EnsembleLearner) -> Bytes:
        """Return the bytes of a stream with the arrays of a learner."""
        stream = np.zeros(self.n_bytes, np.uint8)
        for part, array in self._pairs(learner, stream):
            part[:] = array
        return stream

    def load(self, learner: EnsembleLearner, stream: Bytes) -> None:
        """Set the arrays of a learner, which was not asked about a row, to the bytes of a stream."""
        for part, array in self._pairs(learner, stream):
            array[:] = part

    def _pairs(self, learner: EnsembleLearner, stream: Bytes) -> Iterator[tuple[Bytes, Bytes]]:
        """Yield the bytes of each array in a stream and in a learner."""
        is_own = self.layout.is_own
        arrays = [*self._packed_parts(learner, is_own), *(_bytes_of(each) for each in learner.all_arrays()[1])]
        places = np.concatenate([self.layout.places[is_own], self.layout.other_places]) - self.n_head_bytes
        for place, array in zip(places, arrays, strict=True):
            yield stream[place[START] : place[STOP]], array

    def _packed_parts(self, learner: EnsembleLearner, which: Flags) -> list[Bytes]:
        buffer, places = learner.all_arrays()[0]
        return [buffer[place[START] : place[STOP]] for place in places[which]]


def _values(streams: Bytes, place: Indices, dtype: Any) -> Any:
    """Return the values of an array of some streams, whose place is counted from the first byte of a stream."""
    values = np.ascontiguousarray(streams[:, place[START] : place[STOP]]).view(dtype)
    return values.reshape(len(streams), *(n for n in place[SHAPE:].tolist() if n))


def _aligned(position: int, alignment: int) -> int:
    return -(-position // alignment) * alignment


def _lay_out(places: Indices, numbers: Indices, position: int, alignment: int) -> int:
    """Let some arrays begin at a position, one after the other; return the position after them."""
    for k in numbers:
        start = _aligned(position, alignment)
        position = start + int(places[k, STOP] - places[k, START])
        places[k, START], places[k, STOP] = start, position
    return position


def _bytes_of(array: NDArray[Any]) -> Bytes:
    """Return the bytes of an array, which share its memory."""
    return array.reshape(-1).view(np.uint8)
