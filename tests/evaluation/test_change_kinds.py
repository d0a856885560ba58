"""Changes of any kind are found, and slow swings are not taken for changes."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from change_streams import WITH_CHANGE, WITHOUT_CHANGE
from changes import false_alarms, finds, reports, timeline_of
from driftline.evaluation import Change, ShiftKind, evaluate
from driftline.evaluation.change_series import trimmed_means
from driftline.evaluation.change_watch import ChangeWatch
from driftline.evaluation.value_counts import ValueCounts
from driftline.registry import create
from driftline.streams import ArrayStream
from helpers.strategies import seeds

N, AT = 10_000, 6_000


def changes_of(X, y):
    return evaluate(create("majority"), ArrayStream(X, y), progress=False).timeline.changes()


def normal_stream(seed, n=N):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.integers(0, 2, n), rng


def only_shift(changes, kind):
    """Return the largest shift of the only change, which must be near row 6,000."""
    (change,) = changes
    assert abs(change.row - AT) <= 200
    assert {shift.kind for shift in change.shifts} == {kind}
    return change.shifts[0]


@pytest.mark.parametrize("share", [0.02, 0.05])
def test_heavy_tailed_amounts_of_a_rare_class_that_fall_are_found(share):
    X, _, rng = normal_stream(0)
    y = np.where(rng.random(N) < share, "fraud", "fine")
    medians = np.where(np.arange(N) < AT, 247.0, 8.0)
    X[:, 1] = np.where(y == "fraud", medians, 20.0) * rng.lognormal(0.0, 1.3, N)
    shift = only_shift(changes_of(X, y), ShiftKind.LOCATION)
    assert (shift.feature, shift.label) == ("x1", "fraud")
    assert 160 < shift.before < 370
    assert 4 < shift.after < 16


def test_a_sensor_that_dies_is_found():
    X, y, rng = normal_stream(1)
    X[AT:, 2][rng.random(N - AT) < 0.9] = np.nan
    shift = only_shift(changes_of(X, y), ShiftKind.MISSING)
    assert (shift.feature, shift.label) == ("x2", None)
    assert (shift.before, shift.after) == pytest.approx((0.0, 0.9), abs=0.03)


def test_a_spread_that_triples_is_found():
    X, y, _ = normal_stream(2)
    X[AT:, 0] *= 3.0
    shift = only_shift(changes_of(X, y), ShiftKind.SPREAD)
    assert shift.feature == "x0"
    assert shift.after / shift.before == pytest.approx(3.0, abs=0.4)


def test_a_category_that_appears_is_found():
    X, y, rng = normal_stream(3)
    X[:, 1] = (rng.random(N) < 0.05) & (np.arange(N) >= AT)
    shift = only_shift(changes_of(X, y), ShiftKind.SHARE)
    assert (shift.before, shift.after) == pytest.approx((0.0, 0.05), abs=0.02)


def test_a_shift_that_comes_slowly_and_stays_is_found():
    X, y, _ = normal_stream(4)
    X[:, 0] += np.clip((np.arange(N) - 4_000) / 3_000, 0.0, 1.0)
    (change, *_) = changes_of(X, y)
    assert 4_000 < change.row < 7_000
    assert change.shifts[0].feature == "x0"


@pytest.mark.parametrize("name", ["autoregression 0.95", "autoregression 0.99", "season of 6 cycles, noise 0.5"])
def test_slow_swings_are_no_changes(name):
    """See benchmarks/changes.py for more streams."""
    assert false_alarms(WITHOUT_CHANGE[name], 5_000, range(20)) <= 1


def test_slopes_that_return_are_no_changes():
    """These three streams are among those in which single pieces of the wave are significant."""
    assert false_alarms(WITHOUT_CHANGE["season of 2 cycles, noise 0"], 20_000, (10, 14, 22)) == 0


def test_a_jump_and_the_way_back_are_changes_at_the_end_and_only_the_first_during_the_run():
    X, y, _ = normal_stream(0)
    X[5_000:7_000, 0] += 1.0
    timeline, found = timeline_of(X, y, ChangeWatch())
    assert [round(change.row, -2) for change in found] == [5_000]
    assert [round(change.row, -2) for change in timeline.changes()] == [5_000, 7_000]


@pytest.mark.parametrize(
    "name", ["season of 2 cycles, noise 0.5", "season of 3 cycles, noise 0.5", "weeks of 8 cycles"]
)
def test_swings_are_not_reported_while_rows_come_in(name):
    assert sum(reports(WITHOUT_CHANGE[name], N, seed)[1] for seed in range(8)) == 0


def test_a_change_beside_swings_is_reported_while_rows_come_in():
    make = WITH_CHANGE["shift by 1 beside weeks of 8 cycles"]
    assert [finds(make, N, 0.5, seed)[1] for seed in range(4)] == [500] * 4


def test_a_change_is_reported_though_another_column_changed_not_long_before():
    X, y, _ = normal_stream(2)
    X[5_000:, 0] += 0.4
    X[6_900:, 1] += 0.6
    first, second = timeline_of(X, y, ChangeWatch())[1]
    assert (first.shifts[0].feature, second.shifts[0].feature) == ("x0", "x1")
    assert min(first.n_rows, second.n_rows) < second.row - first.row < max(first.n_rows, second.n_rows)


def test_where_nothing_changes_it_is_said_what_would_have_been_found():
    X, y, _ = normal_stream(5)
    timeline = timeline_of(X, y)[0]
    assert timeline.changes() == []
    searched = timeline.searched_changes()
    assert (searched.n_windows, searched.window_length, searched.n_classes, searched.n_columns) == (313, 32, 2, 3)
    found = 0
    for seed in range(20):
        X, y, _ = normal_stream(seed)
        X[N // 2 : N // 2 + searched.n_rows, 0] += searched.shift
        found += bool(timeline_of(X, y)[0].changes())
    assert found >= 16


def test_a_stream_that_is_too_short_is_not_searched():
    timeline = timeline_of(*normal_stream(0, n=100)[:2])[0]
    assert timeline.changes() == []
    assert timeline.searched_changes() is None


def test_changes_are_reported_while_rows_come_in():
    X, y, _ = normal_stream(6)
    X[AT:, 0] += 1.0
    found = []
    evaluate(create("majority"), ArrayStream(X, y), progress=False, on_change=found.append)
    (change,) = found
    assert isinstance(change, Change)
    assert abs(change.row - AT) <= 100
    assert AT < change.found_at <= AT + 1_000
    assert change.found_at % 500 == 0


def test_a_column_of_weekdays_is_no_change():
    X, y, _ = normal_stream(8, 6_000)
    X[:, 0] = np.arange(6_000) // 24 % 7
    found = []
    run = evaluate(create("majority"), ArrayStream(X, y), progress=False, on_change=found.append)
    assert found == run.timeline.changes() == []


def test_correlated_rows_are_hardly_ever_taken_for_a_change_while_there_are_few():
    found = []
    for seed in range(1, 7):
        X, y = WITHOUT_CHANGE["autoregression 0.99"](4_000, np.random.default_rng(seed))
        evaluate(create("majority"), ArrayStream(X, y), progress=False, on_change=found.append)
    assert len(found) == 0


def test_reports_do_not_depend_on_how_a_run_is_cut(tmp_path):
    pytest.importorskip("pyarrow")
    X, y, _ = normal_stream(7)
    X[3_000:, 0] += 1.0
    stream, whole, parts = ArrayStream(X, y), [], []
    evaluate(create("majority"), stream, limit=5_000, progress=False, on_change=whole.append)
    options = {"checkpoint": tmp_path / "run", "progress": False, "resume": True, "on_change": parts.append}
    for limit in (3_100, 4_123, 5_000):
        evaluate(create("majority"), stream, limit=limit, **options)
    assert [(change.row, change.found_at) for change in parts] == [(change.row, change.found_at) for change in whole]
    assert len(whole) == 1


def test_the_levels_of_all_searches_add_up_to_one_percent(monkeypatch):
    timeline, watch, levels = timeline_of(*normal_stream(0)[:2])[0], ChangeWatch(), []
    monkeypatch.setattr(timeline, "search_now", lambda level: levels.append(level) or [])
    for n in range(500, 1_000_000, 500):
        timeline.n_rows = n
        watch.new_changes(timeline)
    assert 80 < len(levels) < 130
    assert 0.0098 < sum(levels) <= 0.01


@settings(max_examples=10)
@given(st.integers(1, 6), seeds)
def test_counts_do_not_depend_on_how_rows_are_cut(n_classes, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(1_504, 2)), rng.integers(0, n_classes, 1_504)
    whole, parts = ValueCounts(2, 12), ValueCounts(2, 12)
    whole.add(X, y, 0, 94)
    for t in range(len(X)):
        parts.add(X[t : t + 1], y[t : t + 1], t // 16, 1)
    one, other = whole.completed(), parts.completed()
    assert np.allclose(one.counts[:94, :n_classes], other.counts[:94, :n_classes], atol=1e-4)
    assert one.counts.sum() == pytest.approx(2 * len(X), rel=1e-5)


def test_fewer_nodes_sum_to_the_same_counts_and_means():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1_600, 3)), np.zeros(1_600, np.int64)
    counts = ValueCounts(3, 8_192)
    counts.add(X, y, 0, 100)
    before = [counts.mean(counts.counts[:100, 0, j].sum(axis=0), 0, j) for j in range(3)]
    copy = pickle.loads(pickle.dumps(counts))
    copy._thin_out()
    assert copy.nodes.shape[2] == 31
    after = [copy.mean(copy.counts[:100, 0, j].sum(axis=0), 0, j) for j in range(3)]
    assert after == pytest.approx(before, abs=1e-3)
    assert copy.counts.sum() == pytest.approx(counts.counts.sum())


def test_the_trimmed_mean_of_squares_of_normal_values_is_their_variance_or_a_little_more():
    squares = np.random.default_rng(0).normal(size=(60, 20_000)) ** 2
    assert 1.0 <= trimmed_means(squares).mean() < 1.06
    outliers = squares.copy()
    outliers[:5] = 1e6
    assert trimmed_means(outliers).mean() < 1.6
    assert np.isnan(trimmed_means(squares[:6])).all()
