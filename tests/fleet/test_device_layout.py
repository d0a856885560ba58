"""The memory layout of a GPU has all that the cores keep, each number once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.fleet import AMRCFleet
from driftline.fleet.device_layout import GAP, LARGE_ALIGNMENT, NOTHING, DeviceLayout, divided_rows
from driftline.guarantees import Guarantees
from driftline.kernels.ensemble import (
    COLUMN_FILTERS,
    FIRST_SPACE,
    MEMBERS,
    N_SPACE_ARRAYS,
    RECENT_TREES,
    WORKSPACE,
)
from driftline.kernels.filter_bank import FilterBank
from driftline.kernels.fleet import STATEMENTS
from driftline.kernels.member_state import Members, MemberWorkspace
from driftline.kernels.statements import unpacked
from driftline.kernels.trees import Trees
from helpers.fleets import CLASSES, rows_of

BY_CLASS = Guarantees(errors=({"fine": 0.1, "hot": 0.05}, 0.02), coverages=(0.9,), per_class=True)


@pytest.mark.parametrize("features", ["linear", "fourier", "auto"])
@pytest.mark.parametrize(("n_columns", "n_classes"), [(1, 2), (4, 3), (7, 2)])
def test_streams_come_back_from_the_layout_of_a_gpu_as_they_were(features, n_columns, n_classes):
    guarantees = Guarantees() if n_classes == 3 else BY_CLASS
    fleet = AMRCFleet(n_columns, CLASSES[:n_classes], features=features, guarantees=guarantees)
    fleet.step(*rows_of(np.random.default_rng(0), 60, 3, p=n_columns, n_classes=n_classes))
    streams = fleet._streams.gather(sorted(fleet._slots.values()))
    layout = DeviceLayout(fleet._memory)
    on_device = layout.to_device(streams)
    assert on_device.shape == (len(fleet), layout.n_bytes)
    assert layout.n_bytes % LARGE_ALIGNMENT == 0
    assert layout.n_bytes < 1.1 * fleet.n_bytes_per_key
    np.testing.assert_array_equal(layout.to_cores(on_device), streams)


def test_numbers_are_where_the_kernels_of_a_gpu_read_them():
    """As filters.cu, trees.cu, store.cu and confidence.cu say; all bytes are random, and are compared as numbers."""
    memory = AMRCFleet(8, CLASSES, features="auto", start="blank")._memory
    layout, rng = DeviceLayout(memory), np.random.default_rng(0)
    stream = rng.integers(0, 256, (1, memory.n_bytes), np.uint8)
    on_device = layout.to_device(stream)[0]

    def numbers(first, shape, dtype):
        stop = first + np.prod(shape) * np.dtype(dtype).itemsize
        return on_device[first:stop].view(dtype).reshape(shape)

    def on_cores(number, dtype):
        return memory.array_of(stream, number, dtype)[0]

    order = ("level", "rate", "weight", "largest", "variance", "log_weight")
    bank = [on_cores(COLUMN_FILTERS + 1 + FilterBank._fields.index(name), np.uint64) for name in order]
    r, c, p = bank[0].shape
    level_at = layout.starts[COLUMN_FILTERS + 1 + FilterBank._fields.index("level")]
    pairs = numbers(level_at, (c, 2 * r + 1, p, 2), np.uint64)
    for y in range(c):
        expected = np.concatenate([array[:, y] if array.ndim == 3 else array[[y]] for array in bank])
        np.testing.assert_array_equal(np.moveaxis(pairs[y], 2, 1).reshape(-1, p), expected)
    fields = [Trees._fields.index(name) for name in ("column", "threshold", "child")]
    nodes = np.stack([on_cores(RECENT_TREES + k, np.uint32) for k in fields], axis=-1)
    np.testing.assert_array_equal(numbers(layout.starts[RECENT_TREES + fields[0]], nodes.shape, np.uint32), nodes)
    mu = FIRST_SPACE + MEMBERS + Members._fields.index("mu")
    centres = FIRST_SPACE + N_SPACE_ARRAYS + WORKSPACE + MemberWorkspace._fields.index("centres")
    for number in (mu, centres):
        vectors = on_cores(number, np.uint32)
        *shape, d = vectors.shape
        given = numbers(layout.starts[number], (*shape, -(-d // 4) * 4), np.uint32)
        np.testing.assert_array_equal(given[..., :d], vectors)
    weight, confidence, answers, sets = unpacked(memory.statements(stream)[0], memory.layout.sizes)
    parts = [answers.rows, sets.rows, np.append(weight, confidence.weights), *confidence[1:]]
    parts += [*answers[:3], *answers[4:], *sets[:3], *sets[4:]]
    expected = np.concatenate([np.pad(part.ravel(), (0, part.size % 2)) for part in parts])
    given = numbers(layout.other_starts[STATEMENTS], expected.shape, np.float64)
    np.testing.assert_array_equal(given.view(np.uint64), expected.view(np.uint64))


@settings(max_examples=50)
@given(st.integers(1, 40), st.integers(1, 12))
def test_stored_rows_are_divided_into_blocks_of_four_features(n, d):
    rows, labels = np.arange(n * d).reshape(n, d), n * d + np.arange(n)
    words = divided_rows(rows, labels)
    np.testing.assert_array_equal(np.sort(words[words != NOTHING]), np.arange(n * d + n))
    width = (1, 2, 4, 4)[d % 4]
    for place in range(n):
        for j in range(d):
            block = j // 4 * (4 * n + GAP)
            assert words[block + place * (4 if j < d // 4 * 4 else width) + j % 4] == rows[place, j]
        assert words[d // 4 * (4 * n + GAP) + place * width + d % 4] == labels[place]
