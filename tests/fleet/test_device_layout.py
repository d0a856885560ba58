"""The memory layout of a GPU has all that the cores keep, each number once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.fleet import AMRCFleet
from driftline.fleet.device_layout import GAP, NOTHING, STREAM_ALIGNMENT, DeviceLayout, divided_rows
from driftline.guarantees import Guarantees
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
    assert layout.n_bytes % STREAM_ALIGNMENT == 0
    assert layout.n_bytes < 1.1 * fleet.n_bytes_per_key
    np.testing.assert_array_equal(layout.to_cores(on_device), streams)


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
