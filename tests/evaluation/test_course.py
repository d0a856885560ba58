"""The course of an evaluation: sums over windows that are the same however rows come, and however many there are."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import AMRC, CheckpointError, ConfigError
from driftline.evaluation import Course, evaluate
from driftline.evaluation import course as module
from driftline.evaluation.course import MOST_WINDOWS, SHORTEST_WINDOW, Stretch
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
    course = Course([f"x{j}" for j in range(block.rows.shape[1])])
    for which in map(slice, [0, *cuts], [*cuts, len(block.rows)]):
        if which.start < which.stop:
            course.add(block.part(which), part(answers, which))
    return course


def assert_same(one, other):
    assert one.classes == other.classes
    assert len(one.stretches) == len(other.stretches)
    for ours, theirs in zip(one.stretches, other.stretches, strict=True):
        for name in Stretch.__slots__:
            a, b = getattr(ours, name), getattr(theirs, name)
            width = max(len(a), len(b)) if np.ndim(a) else 0
            a, b = (module._padded(x, width) if width else x for x in (a, b))
            assert np.allclose(a, b, rtol=1e-12, atol=1e-9, equal_nan=True), name
    assert np.allclose(one.bins, other.bins)
    assert np.allclose(one.deviations(), other.deviations(), equal_nan=True)


@settings(max_examples=30)
@given(st.integers(1, 700), st.integers(1, 4), st.integers(1, 3), seeds, st.lists(st.integers(0, 700), max_size=6))
def test_the_course_does_not_depend_on_how_rows_are_cut(n, d, c, seed, cuts):
    block, answers = some(n, d, c, seed)
    assert_same(fed(block, answers), fed(block, answers, sorted(min(cut, n) for cut in cuts)))


@settings(max_examples=20)
@given(st.integers(1, 900), seeds)
def test_windows_hold_what_their_rows_say(n, seed):
    block, answers = some(n, 2, 3, seed)
    course = fed(block, answers)
    windows = course.windows(7)
    assert 1 <= len(windows) <= 7
    first = 0
    means = course.means(windows)
    for k, window in enumerate(windows):
        rows = slice(first, first + window.n_rows)
        first += window.n_rows
        assert window.mistakes == window.n_rows  # nothing was predicted
        assert window.expected == pytest.approx(np.sum(1.0 - answers.label_probabilities[rows]))
        assert window.rates == pytest.approx(np.minimum(answers.total_charges[rows], 1.0).sum())
        assert window.charges == pytest.approx(answers.total_charges[rows].sum())
        assert window.end_time == block.times[rows][-1]
        for place, label in enumerate(course.classes):
            chosen = block.rows[rows][block.labels[rows] == label]
            count = window.counts[place] if place < len(window.counts) else 0
            assert count == len(chosen)
            there = ~np.isnan(chosen).all(axis=0)
            assert np.allclose(means[k, place, there], np.nanmean(chosen[:, there], axis=0), rtol=1e-12)
            assert np.isnan(means[k, place, ~there]).all()
    assert first == n
    assert course.bins[0].sum() == n
    assert course.bins[1].sum() == pytest.approx(np.sum(1.0 - answers.label_probabilities))
    for place, label in enumerate(course.classes):
        chosen = block.rows[block.labels == label]
        there = ~np.isnan(chosen).all(axis=0)
        assert np.allclose(course.deviations()[place, there], np.nanstd(chosen[:, there], axis=0), atol=1e-4)


def test_windows_grow_with_the_stream_and_stay_few():
    n = 5 * MOST_WINDOWS * SHORTEST_WINDOW
    block, answers = some(n, 1, 2, 0)
    course = fed(block, answers, range(0, n, 4096))
    assert MOST_WINDOWS / 2 <= len(course.stretches) < MOST_WINDOWS
    assert {stretch.n_rows for stretch in course.stretches[:-1]} == {course.length} == {8 * SHORTEST_WINDOW}
    assert sum(stretch.n_rows for stretch in course.stretches) == course.n_rows == n


def test_means_are_given_up_where_there_are_too_many(monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 4)
    block, answers = some(64, 2, 2, 1)
    late = Block(block.rows, np.where(np.arange(64) < 32, block.labels, "late"), block.times)
    assert fed(block, answers).has_columns
    course = fed(late, answers, [20, 32, 40])
    assert not course.has_columns
    assert all(stretch.sums.size == 0 for stretch in course.stretches)
    assert np.isnan(course.means(course.stretches)).all()
    assert sum(stretch.counts.sum() for stretch in course.stretches) == 64


def test_a_course_agrees_with_the_summary():
    stream = ArrayStream(*RotatingGaussians().sample(700, seed=0))
    course = Course(stream.columns)
    run = evaluate(AMRC(features="linear"), stream, course=course, progress=False)
    assert run.course is course
    (whole,) = course.windows(1)
    assert whole.mistakes == run.summary.mistakes
    assert whole.expected == pytest.approx(run.summary.expected_mistakes)
    assert whole.rates / whole.n_rows == pytest.approx(run.summary.mean_bound)


def test_a_classifier_without_bounds_has_a_course_without():
    stream = ArrayStream(*RotatingGaussians().sample(100, seed=0))
    course = Course(stream.columns)
    evaluate(create("rbp"), stream, course=course, progress=False)
    (whole,) = course.windows(1)
    assert np.isnan([whole.expected, whole.bounds, whole.rates, whole.charges]).all()
    assert course.bins.sum() == 0


def test_a_resumed_run_has_the_course_of_one_that_was_not_interrupted(tmp_path):
    pytest.importorskip("pyarrow")
    stream = ArrayStream(*RotatingGaussians().sample(300, seed=0))
    whole = Course(stream.columns)
    evaluate(AMRC(features="linear"), stream, course=whole, progress=False)
    options = {"checkpoint": tmp_path / "run", "progress": False, "resume": True}
    evaluate(AMRC(features="linear"), stream, course=Course(stream.columns), limit=130, **options)
    run = evaluate(AMRC(features="linear"), stream, course=Course(stream.columns), **options)
    assert_same(run.course, whole)
    assert_same(pickle.loads(pickle.dumps(whole)), whole)


def test_a_run_that_began_without_a_course_cannot_go_on_with_one(tmp_path):
    pytest.importorskip("pyarrow")
    stream = ArrayStream(*RotatingGaussians().sample(60, seed=0))
    options = {"checkpoint": tmp_path / "run", "progress": False, "resume": True}
    evaluate(AMRC(features="linear"), stream, limit=30, **options)
    with pytest.raises(CheckpointError, match="another course"):
        evaluate(AMRC(features="linear"), stream, course=Course(stream.columns), **options)


def test_a_course_that_was_used_or_has_other_columns_is_refused():
    stream = ArrayStream(*RotatingGaussians().sample(40, seed=0))
    course = Course(stream.columns)
    evaluate(create("majority"), stream, course=course, progress=False)
    for wrong in course, Course(["a", "b"]):
        with pytest.raises(ConfigError, match="course must be a new one"):
            evaluate(create("majority"), stream, course=wrong, progress=False)
