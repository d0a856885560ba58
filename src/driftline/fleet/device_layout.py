"""Where the numbers of a stream are in the memory of a GPU: those that threads read together are side by side."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftline.fleet.layout import Bytes, StreamMemory
from driftline.kernels.ensemble import (
    COLUMN_FILTERS,
    FILTERS,
    FIRST_SPACE,
    LONG_TREES,
    MEMBERS,
    N_SPACE_ARRAYS,
    RECENT_TREES,
    SCHEME_WEIGHTS,
    WEIGHTS,
    WORKSPACE,
)
from driftline.kernels.filter_bank import FilterBank
from driftline.kernels.fleet import STATEMENTS
from driftline.kernels.member_state import Members, MemberWorkspace
from driftline.kernels.packing import SHAPE, START, STOP
from driftline.kernels.statements import unpacked
from driftline.kernels.trees import Trees
from driftline.types import Indices

WORD = 4
"""Bytes of a word: numbers of all types have one or two."""
ALIGNMENT, SINGLE_ALIGNMENT, LARGE_ALIGNMENT = 16, 32, 128
"""Arrays begin at a multiple of so many bytes; those of single precision; and those that are large, at a line of the
cache."""
LARGE = 512
"""An array of so many bytes is large."""
GAP = 8
"""Words between four features of all stored rows and the next four."""
NOTHING = -1
"""A word that the cores do not have."""
Words = NDArray[np.int64]


class DeviceLayout:
    """The memory layout of a stream on a GPU, and copies from and to that of the cores.

    - Of a bank of filters, all numbers of a class are side by side, two and two of each component: levels, rates and
      weights of the filters, largest value, variance, and log weights.
    - Stored rows are divided: four features of all rows, then the next four, at last what remains, and the label.
    - Other vectors of features have a multiple of four numbers.
    - Of each node of a tree, column, threshold and child are side by side.

    Parameters
    ----------
    memory : StreamMemory
        The layout of the cores.

    Attributes
    ----------
    starts, other_starts : ndarray
        First byte of each array of an ensemble, and of each other one; -1 for those that are parts of another.
    n_bytes : int
        Number of bytes of a stream.
    """

    def __init__(self, memory: StreamMemory) -> None:
        layout = memory.layout
        self._memory = memory
        n_arrays = len(layout.places)
        places = np.concatenate([layout.places, layout.other_places])
        is_own = np.append(layout.is_own, np.ones(len(layout.other_places), np.bool_))
        arrays = {int(k): self._words_of(places[k]) for k in np.flatnonzero(is_own)}
        _divide_statements(arrays, n_arrays + STATEMENTS, layout.sizes)
        for first in (RECENT_TREES, LONG_TREES):
            _join_nodes(arrays, first)
        _join_bank(arrays, COLUMN_FILTERS + 1)
        single = []
        for first in range(FIRST_SPACE, n_arrays, N_SPACE_ARRAYS):
            if arrays[first + FILTERS + 1].size:
                _join_bank(arrays, first + FILTERS)
            single += _arrange_space(arrays, first)
        source = np.zeros(0, np.int64)
        starts = np.full(len(places), -1)
        for k, words in sorted(arrays.items(), key=_place_of):
            source = _aligned(source, _alignment_of(words.size * WORD, k in single))
            starts[k] = len(source) * WORD
            source = np.append(source, words)
        source = _aligned(source, LARGE_ALIGNMENT)
        self.starts, self.other_starts = starts[:n_arrays], starts[n_arrays:]
        self.n_bytes = len(source) * WORD
        self._is_known = source != NOTHING
        self._source = source[self._is_known]

    def _words_of(self, place: Indices) -> Words:
        """Return the positions of the words of an array; the last axis is that of the words of a number."""
        first, n = (place[START] - self._memory.n_head_bytes) // WORD, (place[STOP] - place[START]) // WORD
        shape = [k for k in place[SHAPE:].tolist() if k]
        return np.arange(first, first + n).reshape(*shape, -1) if n else np.zeros(0, np.int64)

    def to_device(self, streams: Bytes) -> Bytes:
        """Return the bytes of streams, one row for each, as they are on a GPU."""
        words = np.zeros((len(streams), len(self._is_known)), np.uint32)
        words[:, self._is_known] = np.ascontiguousarray(streams).view(np.uint32)[:, self._source]
        return words.view(np.uint8)

    def to_cores(self, streams: Bytes) -> Bytes:
        """Return the bytes of streams, one row for each, as they are on the cores."""
        words = np.zeros((len(streams), self._memory.n_bytes // WORD), np.uint32)
        words[:, self._source] = streams.view(np.uint32)[:, self._is_known]
        return words.view(np.uint8)


def _place_of(item: tuple[int, Words]) -> tuple[bool, int]:
    """Return what arrays are ordered by: those that a kernel uses are near to each other, weights after statements."""
    number, _ = item
    return number in (WEIGHTS, SCHEME_WEIGHTS), number


def _alignment_of(n_bytes: int, is_single: bool) -> int:
    if n_bytes >= LARGE:
        return LARGE_ALIGNMENT
    return SINGLE_ALIGNMENT if is_single else ALIGNMENT


def _aligned(source: Words, alignment: int) -> Words:
    """Return the words with as many after them as the next array needs to begin at a multiple of the alignment."""
    return np.append(source, np.full(-len(source) % (alignment // WORD), NOTHING))


def _divide_statements(arrays: dict[int, Words], number: int, sizes: Indices) -> None:
    """Put the counts of rows by confidence and by score before all other parts, of which each has an even length."""
    words = arrays[number]
    weight, confidence, answers, sets = unpacked(np.arange(len(words), dtype=np.float64), sizes)
    first = (answers.rows, sets.rows, confidence.weights)
    rest = [array for array in (*confidence, *answers, *sets) if all(array is not other for other in first)]
    parts = [answers.rows, sets.rows, np.append(weight, confidence.weights), *rest]
    arrays[number] = np.concatenate([_even(words[part.ravel().astype(np.int64)]) for part in parts]).ravel()


def _even(numbers: Words) -> Words:
    """Return the words of some numbers, one row for each, with one number that is not known if theirs is odd."""
    return np.concatenate([numbers, np.full((len(numbers) % 2, numbers.shape[1]), NOTHING)])


def _join_bank(arrays: dict[int, Words], first: int) -> None:
    """Join the arrays of a bank that have a number for each component, at the place of its level.

    They are in pairs, class by class; a pair of all components is side by side.
    """
    level, rate, log_weight, weight, variance, largest = (
        arrays.pop(first + FilterBank._fields.index(name))
        for name in ("level", "rate", "log_weight", "weight", "variance", "largest")
    )
    level, rate, log_weight, weight = (np.moveaxis(array, 0, 1) for array in (level, rate, log_weight, weight))
    joined = np.concatenate([level, rate, weight, largest[:, None], variance[:, None], log_weight], axis=1)
    n_classes, n_numbers, n_components, n_words = joined.shape
    pairs = joined.reshape(n_classes, n_numbers // 2, 2, n_components, n_words)
    arrays[first + FilterBank._fields.index("level")] = np.moveaxis(pairs, 2, 3).ravel()


def _join_nodes(arrays: dict[int, Words], first: int) -> None:
    """Join the arrays of the nodes of trees, node by node, at the place of their columns."""
    names = ("column", "threshold", "child")
    parts = [arrays.pop(first + Trees._fields.index(name)) for name in names]
    arrays[first + Trees._fields.index("column")] = np.concatenate(parts, axis=-1).ravel()


def _arrange_space(arrays: dict[int, Words], first: int) -> list[int]:
    """Arrange the arrays of single precision of a space; return their numbers."""
    arrays[first] = divided_rows(arrays[first][..., 0], arrays.pop(first + 1)[:, 0])
    vectors = [first + MEMBERS + Members._fields.index(name) for name in ("mu", "average", "sums", "squares")]
    vectors.append(first + WORKSPACE + MemberWorkspace._fields.index("centres"))
    for k in vectors:
        words = arrays[k][..., 0]
        n_more = -words.shape[-1] % 4
        arrays[k] = np.pad(words, [*[(0, 0)] * (words.ndim - 1), (0, n_more)], constant_values=NOTHING).ravel()
    return [first, *vectors]


def divided_rows(rows: Any, labels: Any) -> Words:
    """Return the words of (n, d) stored rows and of their labels in the order of a GPU."""
    n, d = rows.shape
    whole, rest = d // 4 * 4, d % 4
    parts = [rows[:, k : k + 4] for k in range(0, whole, 4)]
    width = (1, 2, 4, 4)[rest]
    last = np.full((n, width), NOTHING)
    last[:, :rest], last[:, rest] = rows[:, whole:], labels
    words = np.concatenate([*(np.append(part.ravel(), np.full(GAP, NOTHING)) for part in parts), last.ravel()])
    return np.append(words, np.full(-len(words) % 4, NOTHING))
