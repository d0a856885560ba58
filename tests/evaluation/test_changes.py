"""Changes that are there are found where they are, and none where there is none."""

import numpy as np
import pytest

from driftline.evaluation import Timeline, evaluate
from driftline.evaluation import timeline as timeline_module
from driftline.registry import create
from driftline.streams import ArrayStream

DRAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "skewed": lambda rng, shape: rng.exponential(size=shape),
    "rare": lambda rng, shape: (rng.random(shape) < 0.02).astype(float),
    "wild": lambda rng, shape: rng.standard_t(3, size=shape),
    "constant": lambda rng, shape: np.full(shape, 3.7),
}


def timeline_of(X, y):
    return evaluate(create("majority"), ArrayStream(X, y), progress=False).timeline


@pytest.mark.parametrize("kind", DRAWS)
def test_a_stream_that_does_not_change_has_no_changes(kind):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(1, 12_000), rng.integers(1, 20)
        timeline = timeline_of(DRAWS[kind](rng, (n, d)), rng.integers(0, rng.integers(1, 5), n))
        assert timeline.changes() == []


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [800, 5000, 40_000])
def test_a_mean_that_jumps_is_found_where_it_does(n, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 6)) + 100.0, rng.integers(0, 3, n)
    at = n // 3
    X[at:, 2] += 2.0 * (y[at:] == 1)
    timeline = timeline_of(X, y)
    (change,) = timeline.changes()
    assert abs(change.row - at) <= 2 * timeline.window_length
    (shift,) = change.shifts
    assert (shift.feature, shift.label) == ("x2", 1)
    assert shift.before == pytest.approx(100.0, abs=0.5)
    assert shift.after == pytest.approx(102.0, abs=0.5)
    assert shift.z == change.strength > 5
    assert timeline.moving_columns(3)[0] == (timeline.classes.index(1), 2)


def test_a_class_that_becomes_frequent_is_found():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(3000) < 1200, rng.random(3000) < 0.2, rng.random(3000) < 0.6)
    (change,) = timeline_of(rng.normal(size=(3000, 2)), np.where(y, "fraud", "fine")).changes()
    assert abs(change.row - 1200) <= 32
    assert [(shift.feature, shift.label) for shift in change.shifts[:2]] in (
        [(None, "fraud"), (None, "fine")],
        [(None, "fine"), (None, "fraud")],
    )
    fraud = next(shift for shift in change.shifts if shift.label == "fraud")
    assert (fraud.before, fraud.after) == pytest.approx((0.2, 0.6), abs=0.05)
    assert change.error_before == pytest.approx(0.2, abs=0.05)
    assert change.error_after > 0.4


def test_the_strongest_of_many_changes_are_kept_in_the_order_of_time():
    rng = np.random.default_rng(1)
    n = 12_000
    X, y = rng.normal(size=(n, 3)), rng.integers(0, 2, n)
    sizes = {2000: 1.0, 4000: 5.0, 6000: 1.0, 8000: 4.0, 10_000: 1.0}
    for row, size in sizes.items():
        X[row:, 0] += size
    timeline = timeline_of(X, y)
    assert len(timeline.changes(most=10)) == 5
    strongest = timeline.changes(most=2)
    assert [round(change.row, -3) for change in strongest] == [4000, 8000]


def test_shares_of_classes_are_followed_where_there_are_too_many_columns(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 3)), (rng.random(3000) < np.where(np.arange(3000) < 1500, 0.2, 0.7)).astype(int)
    y[2000:2300] = 2  # with which there are too many
    monkeypatch.setattr(timeline_module, "MAX_COLUMN_SUMS", 6)
    timeline = timeline_of(X, y)
    assert not timeline.has_columns
    changes = timeline.changes()
    assert any(abs(change.row - 1500) <= 32 for change in changes)
    assert {shift.feature for change in changes for shift in change.shifts} == {None}
    assert timeline.moving_columns(5) == []


def test_a_class_that_comes_late_does_no_harm():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(2000, 2)), np.where(np.arange(2000) < 1000, 0, rng.integers(0, 2, 2000))
    (change,) = timeline_of(X, y).changes()
    assert abs(change.row - 1000) <= 32
    assert {shift.feature for shift in change.shifts} == {None}


def test_where_nothing_happened_nothing_changed():
    assert Timeline(["x"]).changes() == []
