import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.ensemble.filters import new_filter_bank, with_classes
from driftline.kernels.filter_bank import forecast, update_filters
from helpers import reference_kernels
from helpers.strategies import seeds


def filters_for(orders, c, d):
    """Filters for c classes."""
    ladder = new_filter_bank(orders, d)
    for _ in range(c):
        ladder = with_classes(ladder, 1)
    return ladder


def take(ladder, x, y, elapsed, centres):
    forecast(ladder, y, elapsed, centres)
    update_filters(ladder, np.float32(x)[None], 0, y, elapsed, centres)


@pytest.mark.parametrize("orders", [(0,), (0, 1)])
def test_kernels_are_compiled_once_for_new_filters_and_for_those_in_a_buffer(orders):
    for filters in (new_filter_bank(orders, 4), filters_for(orders, 3, 4)):
        assert all(array.flags.c_contiguous for array in filters)


@settings(max_examples=25)
@given(seeds, st.sampled_from([(0,), (1,), (0, 1)]), st.booleans())
def test_filters_equal_their_formulas(seed, orders, is_regular):
    rng = np.random.default_rng(seed)
    c, d = 3, 4
    ladder, centres = filters_for(orders, c, d), np.zeros((c, d), np.float32)
    twin = reference_kernels.ReferenceFilterBank(ladder.gains, c, d)
    for t in range(60):
        y, elapsed = int(rng.integers(0, c)), 1.0 if is_regular else float(rng.exponential() * rng.integers(0, 3))
        x = np.float32(rng.normal(size=d) + 0.1 * t)
        for k in range(c):
            forecast(ladder, k, elapsed, centres)
            assert np.allclose(centres[k], twin.forecast(k, elapsed), rtol=1e-4, atol=1e-4)
        take(ladder, x, y, elapsed, centres)
        twin.update(x.astype(float), y, elapsed)
    for name in set(ladder._fields) - {"gains"}:
        assert np.allclose(getattr(ladder, name), getattr(twin, name), rtol=1e-3, atol=1e-3), name
    assert np.allclose(ladder.weight.sum(axis=0), (ladder.n_rows > 0)[:, None])
    assert np.all(ladder.weight >= 0)


@pytest.mark.parametrize("gap", [1, 3])
def test_order_one_follows_a_straight_line_in_the_limit(gap):
    ladder, centres = filters_for((1,), 1, 2), np.zeros((1, 2), np.float32)
    for t in range(400):
        take(ladder, [0.01 * gap * t, -0.02 * gap * t], 0, float(gap), centres)
    now = gap * 399
    assert np.allclose(ladder.rate[:, 0], [[0.01, -0.02]], atol=1e-5)
    assert np.allclose(ladder.level[:, 0], [[0.01 * now, -0.02 * now]], atol=1e-3)


def test_order_zero_converges_to_the_mean_and_the_longest_memory_is_chosen():
    rng = np.random.default_rng(0)
    ladder, centres = filters_for((0, 1), 1, 1), np.zeros((1, 1), np.float32)
    errors = []
    for t in range(4000):
        take(ladder, [3 + rng.normal()], 0, 1.0, centres)
        forecast(ladder, 0, 1.0, centres)
        errors += [abs(centres[0, 0] - 3)] if t > 1000 else []
    assert np.mean(errors) < 0.2
    slowest = int(np.argmin(ladder.gains[0]))
    assert ladder.weight[:, 0, 0].argmax() == slowest


def test_a_component_that_moves_and_one_that_stands_still_choose_different_filters():
    rng = np.random.default_rng(0)
    ladder, centres = filters_for((0, 1), 1, 2), np.zeros((1, 2), np.float32)
    for t in range(1000):
        take(ladder, [0.3 * t + rng.normal(), rng.normal()], 0, 1.0, centres)
    follows = ladder.gains[1] > 0
    assert ladder.weight[follows, 0, 0].sum() > 0.99
    assert ladder.weight[~follows, 0, 1].sum() > 0.5
