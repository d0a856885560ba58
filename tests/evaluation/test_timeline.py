"""The timeline of an evaluation: sums over windows that do not depend on how the rows were cut into blocks."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import AMRC
from driftline.evaluation import Timeline, WindowStats, evaluate
from driftline.evaluation import timeline as module
from driftline.evaluation.timeline import MAX_WINDOWS, MIN_WINDOW_ROWS
from driftline.evaluation.window_stats import padded
from driftline.registry import create
from driftline.streams import ArrayStream, RotatingGaussians
from driftline.types import Block, Predictions
from helpers.predictions import predictions_with_bounds
from helpers.strategies import seeds


def some(n, d, c, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) + 1e6
    rows[rng.random((n, d)) < 0.1] = np.nan
    labels = rng.choice(np.array(["ham", "spam", "eggs"])[:c], n)
    answers = predictions_with_bounds(np.full(n, None), rng.random(n), rng.random(n), charges=1.5 * rng.random(n))
    return Block(rows, labels, np.arange(n) / 2.0), answers


def part(answers, which):
    return Predictions(**{name: getattr(answers, name)[which] for name in Predictions.__slots__})


def fed(block, answers, cuts=()):
    timeline = Timeline([f"x{j}" for j in range(block.rows.shape[1])])
    for which in map(slice, [0, *cuts], [*cuts, len(block.rows)]):
        if which.start < which.stop:
            timeline.add(block.part(which), part(answers, which))
    return timeline


def assert_same(one, other):
    assert one.classes == other.classes
    assert len(one.windows()) == len(other.windows())
    for ours, theirs in zip(one.windows(), other.windows(), strict=True):
        for name in WindowStats.__slots__:
            a, b = getattr(ours, name), getattr(theirs, name)
            if name == "by_class":
                continue  # see test_class_counts.py
            width = max(len(a), len(b)) if np.ndim(a) else 0
            a, b = (padded(x, width) if width else x for x in (a, b))
            assert np.allclose(a, b, rtol=1e-12, atol=1e-9, equal_nan=True), name
    assert np.allclose(one.calibration_bins, other.calibration_bins)
    assert np.allclose(one.deviations(), other.deviations(), equal_nan=True)


@settings(max_examples=30)
@given(st.integers(1, 700), st.integers(1, 4), st.integers(1, 3), seeds, st.lists(st.integers(0, 700), max_size=6))
def test_a_timeline_does_not_depend_on_how_rows_are_cut(n, d, c, seed, cuts):
    block, answers = some(n, d, c, seed)
    assert_same(fed(block, answers), fed(block, answers, sorted(min(cut, n) for cut in cuts)))


@settings(max_examples=20)
@given(st.integers(1, 900), seeds)
def test_windows_hold_what_their_rows_say(n, seed):
    block, answers = some(n, 2, 3, seed)
    timeline = fed(block, answers)
    windows = timeline.windows(7)
    assert 1 <= len(windows) <= 7
    first = 0
    means = timeline.means(windows)
    for k, window in enumerate(windows):
        assert window.first == first
        rows = slice(first, first + window.n_rows)
        first += window.n_rows
        assert window.mistakes == window.n_rows  # nothing was predicted
        assert window.expected_mistakes == pytest.approx(np.sum(1.0 - answers.label_probabilities[rows]))
        assert window.rate_bounds == pytest.approx(np.minimum(answers.total_charges[rows], 1.0).sum())
        assert window.charges == pytest.approx(answers.total_charges[rows].sum())
        assert window.end_time == block.times[rows][-1]
        for place, label in enumerate(timeline.classes):
            chosen = block.rows[rows][block.labels[rows] == label]
            count = window.class_counts[place] if place < len(window.class_counts) else 0
            assert count == len(chosen)
            there = ~np.isnan(chosen).all(axis=0)
            assert np.allclose(means[k, place, there], np.nanmean(chosen[:, there], axis=0), rtol=1e-12)
            assert np.isnan(means[k, place, ~there]).all()
    assert first == n
    assert timeline.calibration_bins[0].sum() == n
    assert timeline.calibration_bins[1].sum() == pytest.approx(np.sum(1.0 - answers.label_probabilities))
    for place, label in enumerate(timeline.classes):
        chosen = block.rows[block.labels == label]
        there = ~np.isnan(chosen).all(axis=0)
        assert np.allclose(timeline.deviations()[place, there], np.nanstd(chosen[:, there], axis=0), atol=1e-4)


def test_windows_grow_with_the_stream_and_stay_few():
    n = 5 * MAX_WINDOWS * MIN_WINDOW_ROWS
    block, answers = some(n, 1, 2, 0)
    timeline = fed(block, answers, range(0, n, 4096))
    assert MAX_WINDOWS / 2 <= len(timeline.windows()) < MAX_WINDOWS
    assert {window.n_rows for window in timeline.windows()[:-1]} == {timeline.window_length} == {8 * MIN_WINDOW_ROWS}
    assert sum(window.n_rows for window in timeline.windows()) == timeline.n_rows == n


def test_means_are_given_up_where_there_are_too_many(monkeypatch):
    monkeypatch.setattr(module, "MAX_COLUMN_SUMS", 4)
    block, answers = some(64, 2, 2, 1)
    late = Block(block.rows, np.where(np.arange(64) < 32, block.labels, "late"), block.times)
    assert fed(block, answers).has_columns
    timeline = fed(late, answers, [20, 32, 40])
    assert not timeline.has_columns
    assert all(window.column_sums.size == window.column_counts.size == 0 for window in timeline.windows())
    assert np.isnan(timeline.means(timeline.windows())).all()
    assert sum(window.class_counts.sum() for window in timeline.windows()) == 64


def test_a_timeline_agrees_with_the_summary():
    stream = ArrayStream(*RotatingGaussians().sample(700, seed=0))
    run = evaluate(AMRC(features="linear"), stream, progress=False)
    (whole,) = run.timeline.windows(1)
    assert (whole.first, whole.n_rows, whole.mistakes) == (0, 700, run.summary.mistakes)
    assert whole.error == run.summary.error
    assert whole.expected_error == pytest.approx(run.summary.expected_error)
    assert whole.bound == pytest.approx(run.summary.mean_bound)


def test_a_classifier_without_bounds_has_a_timeline_without():
    stream = ArrayStream(*RotatingGaussians().sample(100, seed=0))
    timeline = evaluate(create("rbp"), stream, progress=False).timeline
    (whole,) = timeline.windows(1)
    assert np.isnan([whole.expected_mistakes, whole.bounds, whole.rate_bounds, whole.charges]).all()
    assert whole.expected_error is None
    assert whole.bound is None
    assert timeline.calibration_bins.sum() == 0


def test_a_resumed_run_has_the_timeline_of_one_that_was_not_interrupted(tmp_path):
    pytest.importorskip("pyarrow")
    stream = ArrayStream(*RotatingGaussians().sample(300, seed=0))
    whole = evaluate(AMRC(features="linear"), stream, progress=False).timeline
    options = {"checkpoint": tmp_path / "run", "progress": False, "resume": True}
    evaluate(AMRC(features="linear"), stream, limit=130, **options)
    run = evaluate(AMRC(features="linear"), stream, **options)
    assert_same(run.timeline, whole)
    assert_same(pickle.loads(pickle.dumps(whole)), whole)


def test_columns_without_any_value_have_no_mean():
    rows = np.full((40, 2), np.nan)
    rows[20:, 1] = 7.0
    answers = Predictions.without_bounds(np.zeros(40), np.zeros(40), np.zeros(40), np.zeros(40))
    timeline = fed(Block(rows, np.zeros(40), np.full(40, np.nan)), answers, [10, 30])
    assert timeline.means(timeline.windows(1)).tolist() == [[[pytest.approx(np.nan, nan_ok=True), 7.0]]]
    assert timeline.changes() == []


def test_the_memory_of_a_timeline_is_limited():
    n = MAX_WINDOWS * MIN_WINDOW_ROWS
    block, answers = some(n, 3, 2, 0)
    timeline = fed(block, answers)
    sizes = []
    for _ in range(6):
        timeline.add(block, answers)
        sizes.append(len(pickle.dumps(timeline)))
    assert max(sizes) < 2.1 * min(sizes)
