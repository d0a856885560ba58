import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline import DataError
from driftline.evaluation.clock import Clock
from helpers.strategies import seeds


@given(seeds, st.lists(st.integers(1, 49), max_size=4, unique=True), st.sampled_from([None, 60.0]))
def test_a_clock_reads_the_same_however_the_rows_were_cut(seed, cuts, unit):
    times = np.cumsum(np.random.default_rng(seed).exponential(size=50).round(1))
    clock = Clock(unit)
    parts = [clock.read(part) for part in np.split(times, sorted(cuts))]
    assert np.array_equal(np.concatenate(parts), Clock(unit).read(times))


@given(seeds, st.floats(1e-3, 1e6))
def test_increments_are_counted_in_the_mean_of_those_so_far(seed, scale):
    increments = np.random.default_rng(seed).exponential(size=30)
    read = Clock(None).read(scale * np.cumsum(increments))
    expected = [increments[t] / increments[1 : t + 1].mean() for t in range(1, 30)]
    assert read[0] == 0.0
    assert np.diff(read) == pytest.approx(np.array(expected), rel=1e-6)


def test_times_must_be_there_for_all_rows_or_none():
    assert np.isnan(Clock(None).read(np.full(3, np.nan))).all()
    for times in ([1.0, np.nan], [2.0, 1.0]):
        with pytest.raises(DataError, match="for all rows or none"):
            Clock(None).read(np.array(times))
    clock = Clock(1.0)
    clock.read(np.array([5.0]))
    with pytest.raises(DataError, match="must not decrease"):
        clock.read(np.array([4.0]))
