"""Swings are neither levels nor new; jumps are levels, and steps that go on in one direction are new."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driftline.evaluation import ShiftKind
from driftline.evaluation.change_levels import are_levels, are_new
from driftline.evaluation.change_scores import Scores
from driftline.evaluation.change_series import ChangeSeries

N = 128
LENGTHS = st.sampled_from([2, 4, 8, 16, 32, 64])


def series_of(means):
    """Return scores of one cell with these means in the windows, of ten rows each."""
    sums = 10.0 * means[:, np.newaxis]
    cell, one = np.zeros(1, np.int64), np.ones(1)
    return ChangeSeries(Scores([ShiftKind.LOCATION], cell, cell, sums, sums, np.full_like(sums, 10.0), one, one), 0.01)


def places(length):
    return np.arange(length, N - length + 1)


@given(st.sampled_from([4, 8, 16, 32, 64]), st.floats(1.0, 20.0), st.floats(0.0, 1.0))
def test_a_wave_has_no_levels_where_up_to_two_cycles_are_compared(length, ratio, phase):
    wave = np.sin(2.0 * np.pi * (np.arange(N) / (ratio * length) + phase))
    shift = np.abs([wave[t : t + length].mean() - wave[t - length : t].mean() for t in places(length)])
    assert not are_levels(series_of(wave), places(length), length)[shift > 1e-9].any()


@given(LENGTHS, st.integers(1, N - 1))
def test_both_sides_of_a_jump_are_new_levels(length, at):
    series, t = series_of((np.arange(N) >= at).astype(float)), np.clip([at], length, N - length)
    if t[0] == at:
        assert are_levels(series, t, length).all()
        assert are_new(series, t, length).all()


def test_a_slope_has_no_levels_but_a_new_one():
    series = series_of(np.arange(N, dtype=float))
    assert not are_levels(series, places(8), 8).any()
    assert are_new(series, places(8), 8).all()


@given(st.sampled_from([4, 8, 16]), st.integers(0, 31))
def test_no_level_is_new_once_a_pattern_was_away_and_back(length, phase):
    pattern = ((np.arange(N) + phase) % 32 < 16).astype(float)
    t = np.flatnonzero(np.diff(pattern)) + 1
    t = t[(t >= 40) & (t <= N - 40)]
    assert t.size
    assert not are_new(series_of(pattern), t, length).any()


def test_steps_that_go_on_in_one_direction_are_new_and_one_that_goes_back_is_not():
    steps = series_of(np.repeat([0.0, 1.0, 2.0, 1.0], 32))
    assert are_new(steps, np.array([32, 64, 96]), 8).ravel().tolist() == [True, False, False]
    assert are_new(series_of(np.repeat([0.0, 1.0, 2.0, 3.0], 32)), np.array([32, 64, 96]), 8).all()


def test_windows_with_few_rows_do_not_count():
    series = series_of(np.where(np.arange(N) == 3, 5.0, np.arange(N) >= 64))
    assert not are_new(series, np.array([64]), 1).any()
    series.scores.counts[3] = 3.0
    assert are_new(ChangeSeries(series.scores, 0.01), np.array([64]), 1).all()
