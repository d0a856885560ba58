"""Observed rows: how they are found again, when they are given up, and that none of them stops the model's learning."""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import AMRC, CheckpointError, ConfigError, DataError
from driftline.ensemble import pending_rows
from driftline.streams import RotatingGaussians
from helpers.model_files import read_model_file, write_model_file
from helpers.quick_models import assert_same


@pytest.fixture(scope="module")
def rows():
    return RotatingGaussians(angular_rate=0.01).sample(400, seed=0)


def begun(rows, n=50, **parameters):
    X, y = rows
    return AMRC(features="linear", **parameters).partial_fit(X[:n], y[:n], classes=[0, 1])


def unchanged(model, call, match):
    """Assert that a call is refused with a DataError and changes nothing."""
    before = copy.deepcopy(model)
    with pytest.raises(DataError, match=match):
        call()
    assert_same(model, before)


# Rows whose labels never come ---------------------------------------------------------------------------


@pytest.mark.parametrize("single", [False, True])
def test_a_row_whose_label_never_comes_changes_nothing(rows, single):
    X, y = rows
    model, twin = (begun(rows, scaling="none") for _ in range(2))
    model.observe([[0.1, 0.2]])
    if single:  # a row that is observed in single precision and learned in double precision was such a row
        model.observe(X[50:51].astype(np.float32))
        twin.observe(X[50:51].astype(np.float32))
    for each in (model, twin):
        each.partial_fit(X[50:100], y[50:100])
        each.prequential(X[100:], y[100:])
    assert (model.n_waiting_, twin.n_waiting_) == (1, 0)
    for name in ("error_bound_", "rate_bound_", "n_steps_"):
        assert getattr(model, name) == getattr(twin, name)
    assert model.mistake_bound() == twin.mistake_bound()
    assert np.array_equal(model.members_, twin.members_)
    assert np.array_equal(model.predict_proba(X), twin.predict_proba(X))


def test_the_bounds_follow_the_mistakes_while_a_row_waits(rows):
    X, _ = rows
    model = begun(rows, 200)
    assert model.rate_bound_ < 0.1
    model.observe(X[:1])
    noise = np.random.default_rng(0).integers(0, 2, 150)
    predictions = model.prequential(X[250:400], noise)
    loss = 1 - predictions.label_probabilities
    assert model.rate_bound_ > 0.9 * loss.mean() > 0.3
    assert model.mistake_bound() > loss.sum()


class Reference:
    """The pending rows as a plain list, which is searched from the oldest to the newest."""

    def __init__(self, expire_after_labels):
        self.rows, self.limit, self.n_expired, self.n_learned = [], expire_after_labels, 0, 0

    def observe(self, X, ids):
        self.rows += [(x.astype(float), id_, self.n_learned) for x, id_ in zip(X, ids or [None] * len(X), strict=True)]

    def learn(self, X, ids):
        for t, x in enumerate(X):
            self.expire()
            at = self.find_id(ids[t]) if ids else self.find_values(x.astype(float))
            if at is not None:
                del self.rows[at]
            self.n_learned += 1
        self.expire()

    def expire(self):
        young = [row for row in self.rows if self.n_learned - row[2] < self.limit]
        self.n_expired += len(self.rows) - len(young)
        self.rows = young

    def find_id(self, wanted):
        return next((at for at, (_, id_, _) in enumerate(self.rows) if id_ == wanted), None)

    def find_values(self, x):
        by_values = [(at, row) for at, (row, id_, _) in enumerate(self.rows) if id_ is None]
        single = x.astype(np.float32)
        for at, row in by_values:
            if np.array_equal(row, x, equal_nan=True):
                return at
        for at, row in by_values:
            is_single = any(np.array_equal(each, each.astype(np.float32), equal_nan=True) for each in (row, x))
            if is_single and np.array_equal(row.astype(np.float32), single, equal_nan=True):
                return at
        return None

    def add_column(self):
        self.rows = [(np.append(x, np.nan), id_, since) for x, id_, since in self.rows]


positions = st.lists(st.integers(0, 11), min_size=1, max_size=8)
kinds = st.sampled_from([np.float32, np.float64])
calls = st.lists(
    st.one_of(
        st.tuples(st.just("observe"), positions, kinds, st.booleans()),
        st.tuples(st.sampled_from(["partial_fit", "prequential"]), positions, kinds, st.booleans()),
        st.tuples(st.just("new class"), positions, kinds, st.booleans()),
        st.tuples(st.just("add_columns"), positions, kinds, st.booleans()),
    ),
    max_size=12,
)
"""Calls with rows by their positions in a small pool, so that many rows are equal."""


@settings(max_examples=25)
@given(calls, st.sampled_from([3, 20, 100_000]), st.integers(0, 2**16))
def test_no_sequence_of_calls_stops_the_learning_of_the_bounds(sequence, limit, seed):
    rng = np.random.default_rng(seed)
    pool = rng.normal(size=(12, 2))
    pool[::4] = np.round(pool[::4])
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    model = AMRC(features="linear", expire_after_labels=limit).partial_fit(X + 3 * y[:, None], y)
    reference, n_labels, next_id = Reference(limit), 60, 0
    for name, places, kind, has_ids in sequence:
        rows = pool[places].astype(kind)
        ids = None
        if name == "add_columns":
            model.add_columns(1)
            pool = np.column_stack([pool, np.full(12, np.nan)])
            reference.add_column()
        elif name == "observe":
            if has_ids:
                ids = list(range(next_id, next_id + len(rows)))
                next_id += len(rows)
            model.observe(rows, ids=ids)
            reference.observe(rows, ids)
        else:
            labels = np.full(len(rows), len(model.classes_)) if name == "new class" else rng.integers(0, 2, len(rows))
            if has_ids and name != "prequential":
                ids = rng.integers(0, next_id + 3, len(rows)).tolist()
                model.partial_fit(rows, labels, ids=ids)
            else:
                (model.prequential if name == "prequential" else model.partial_fit)(rows, labels)
            reference.learn(rows, ids)
            n_labels += len(rows)
        assert (model.n_waiting_, model.n_expired_, model.n_steps_) == (
            len(reference.rows),
            reference.n_expired,
            n_labels,
        )
    losses = []
    for _ in range(120):
        before = copy.deepcopy(model._learner.calibration.state())
        x, label = rng.normal(size=(1, pool.shape[1])), rng.integers(0, len(model.classes_), 1)
        losses.append(1 - model.prequential(x, label).label_probabilities[0])
        after = model._learner.calibration.state()
        assert any(not np.array_equal(before[each], after[each], equal_nan=True) for each in after)
    assert model.rate_bound_ > 0.8 * np.mean(losses[-60:])


# Ids ----------------------------------------------------------------------------------------------------


def test_equal_rows_are_told_apart_by_their_ids(rows):
    X, y = rows
    model, x = begun(rows), [[0.1, 0.1]]
    first = model.predict_proba(x)[0]
    model.observe(x, ids=["first"]).partial_fit(X[50:60], y[50:60])
    second = model.predict_proba(x)[0]
    model.observe(x, ids=["second"])
    for name, probabilities in (("second", second), ("first", first)):
        expected = copy.deepcopy(model._learner.calibration)
        expected.update(1.0 - probabilities[:1], 2)
        assert model.partial_fit(x, [0], ids=[name]).calibrated_bound_ == expected.bound(2)
    assert not np.array_equal(first, second)


def test_rows_with_ids_are_found_by_ids_alone_and_rows_without_by_values_alone(rows):
    X, y = rows
    model = begun(rows).observe(X[50:52], ids=[1, "b"]).observe(X[52:53])
    assert model.partial_fit(X[50:51], y[50:51]).n_waiting_ == 3
    assert model.partial_fit(X[52:53], y[52:53], ids=["c"]).n_waiting_ == 3
    assert model.partial_fit(-X[50:52], y[50:52], ids=["b", 1.0]).n_waiting_ == 1
    assert model.partial_fit(X[52:53], y[52:53]).n_waiting_ == 0
    assert model.n_steps_ == 55


def test_the_values_that_were_observed_are_learned(rows):
    X, y = rows
    model, twin = (begun(rows).observe(X[50:60], ids=range(10)) for _ in range(2))
    model.partial_fit(X[50:60], y[50:60], ids=range(10))
    twin.partial_fit(np.zeros((10, 2)), y[50:60], ids=np.arange(10))
    assert_same(model, twin)
    assert np.array_equal(model.drift(), twin.drift())


def test_an_id_that_is_used_twice_is_refused(rows):
    X, y = rows
    model = begun(rows).observe(X[50:51], ids=["a"])
    unchanged(model, lambda: model.observe(X[51:53], ids=["b", "a"]), "id 'a' of row 1 .* still waiting")
    unchanged(model, lambda: model.observe(X[51:53], ids=["b", "b"]), "id 'b' of row 1 .* earlier row of this call")
    model.partial_fit(X[50:51], y[50:51], ids=["a"]).observe(X[51:52], ids=["a"])
    assert model.n_waiting_ == 1


@pytest.mark.parametrize(
    ("ids", "match"),
    [
        ([1], "sequence of 2 numbers or texts.*got 1 ids"),
        ("ab", "sequence of 2 numbers or texts.*got 'ab'"),
        (5, "sequence of 2 numbers or texts.*got 5"),
        ([1, None], "id of row 1 is None"),
        ([True, 2], "id of row 0 is True"),
        ([1.5, np.nan], "id of row 1 is nan"),
        ([1.5, np.inf], "id of row 1 is inf"),
        ([[1], [2]], r"id of row 0 is \[1\]"),
        (["a", "b" * 300], "id of row 1 takes more than 256 characters"),
    ],
)
def test_what_is_no_id_is_refused(rows, ids, match):
    X, y = rows
    model = begun(rows)
    unchanged(model, lambda: model.observe(X[50:52], ids=ids), match)
    unchanged(model, lambda: model.partial_fit(X[50:52], y[50:52], ids=ids), match)


@pytest.mark.parametrize("column", [pd.Series, pl.Series, pa.array, lambda ids: pa.chunked_array([ids])])
def test_ids_may_be_a_column_of_a_table(rows, column):
    model = begun(rows).observe(rows[0][50:52], ids=column(["a", "b"]))
    assert model.is_waiting(column(["b", "c"])).tolist() == [True, False]


def test_a_first_call_with_wrong_ids_leaves_the_model_unfitted(rows):
    X, y = rows
    model = AMRC(features="linear")
    for call in (lambda: model.observe(X[:2], ids=[1, 1]), lambda: model.partial_fit(X[:2], y[:2], ids=[1])):
        with pytest.raises(DataError):
            call()
        assert not hasattr(model, "n_features_in_")


# Single and double precision ----------------------------------------------------------------------------


def test_rows_are_found_again_in_single_and_double_precision(rows):
    X, y = rows
    X = np.where(np.arange(400)[:, None] % 7 == 0, np.nan, X)
    single = X.astype(np.float32)
    model = begun(rows).observe(single[50:80]).observe(X[80:110])
    model.partial_fit(X[50:80], y[50:80]).partial_fit(single[80:110], y[80:110])
    assert model.n_waiting_ == 0


def test_exact_values_are_found_before_rounded_ones(rows):
    X, y = rows
    model = begun(rows).observe(X[50:51].astype(np.float32)).observe(X[50:51])
    model.partial_fit(X[50:51], y[50:51])
    assert np.array_equal(model._learner.pending.state()["x"], X[50:51].astype(np.float32))
    other = np.nextafter(X[50:51], 10.0)
    assert model.observe(other).partial_fit(X[50:51], y[50:51]).n_waiting_ == 1  # the row in single precision
    assert model.partial_fit(X[50:51], y[50:51]).n_waiting_ == 1  # two different rows in double precision


# Rows that expire ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("cuts", [[10], [5, 10], range(1, 11)])
def test_rows_expire_after_a_number_of_labels_however_these_are_grouped(rows, cuts):
    X, y = rows
    model = begun(rows, expire_after_labels=5).observe(X[100:103])
    labelled = np.concatenate([X[50:54], X[100:102], X[54:58]])
    for start, end in zip([0, *cuts], cuts, strict=False):
        model.partial_fit(labelled[start:end], y[50 + start : 50 + end])
    assert (model.n_waiting_, model.n_expired_, model.n_steps_) == (0, 2, 60)  # the fifth label was in time


def test_rows_expire_after_a_time(rows):
    X, y = rows
    model = AMRC(features="linear", expire_after_time=10.0)
    model.observe(X[:1], classes=[0, 1])  # no time is known: that of the next label
    model.partial_fit(X[50:52], y[50:52], timestamps=[100.0, 101.0])
    model.observe(X[1:2])  # the time of the last label
    model.observe(X[2:4], timestamps=[103.0, 104.0]).observe(X[4:5], timestamps=[90.0])  # not before rows that wait
    for time, n_left in ((110.0, 5), (110.5, 4), (111.0, 4), (113.5, 2), (114.0, 2), (114.5, 0)):
        assert model.partial_fit(X[60:61], y[60:61], timestamps=[time]).n_waiting_ == n_left, time
    assert model.n_expired_ == 5


def test_times_of_observed_rows_must_fit_the_model(rows):
    X, _ = rows
    model = begun(rows)
    unchanged(model, lambda: model.observe(X[:1], timestamps=[1.0]), "timestamps were not given")
    unchanged(model, lambda: model.observe(X[:2], timestamps=[1.0]), "timestamps")
    timed = AMRC(features="linear").partial_fit(X[:2], [0, 1], timestamps=[1.0, 2.0])
    unchanged(timed, lambda: timed.observe(X[:2], timestamps=[4.0, 3.0]), "before that of the previous row")


def test_above_the_limit_the_oldest_rows_are_given_up(rows, monkeypatch):
    X, y = rows
    monkeypatch.setattr(pending_rows, "MAX_PENDING_ROWS", 10)
    model = begun(rows).observe(X[50:65])
    assert (model.n_waiting_, model.n_expired_) == (10, 5)
    assert model.partial_fit(X[54:56], y[54:56]).n_waiting_ == 9


@pytest.mark.parametrize(
    "parameters", [{"expire_after_labels": 0}, {"expire_after_time": 0.0}, {"expire_after_time": "1"}]
)
def test_limits_that_cannot_be_are_refused(rows, parameters):
    with pytest.raises(ConfigError, match="expire_after_"):
        begun(rows, **parameters)


# Classes, columns and files -----------------------------------------------------------------------------


def test_rows_observed_before_any_class_is_known_count_as_certain_mistakes_and_change_no_bound(rows):
    X, y = rows
    model = AMRC(features="linear", scaling="none").observe(X[:20])
    assert (model.n_waiting_, hasattr(model, "classes_")) == (20, False)
    model.partial_fit(X[:20], y[:20])
    assert model.error_bound_ == 0.5
    assert model._learner.mistake_bound.total_bound == 20.0
    with pytest.raises(DataError, match="must be among those of the first call"):
        model.observe(X[:1], classes=[0, 1, 2])


def test_classes_and_columns_are_added_without_a_copy_of_the_rows_that_wait(rows):
    X, y = rows
    model = begun(rows).observe(X[50:60], ids=range(10)).observe(X[60:70])
    kept = list(model._learner.pending._rows.values())
    model.partial_fit(X[70:71], [7]).add_columns(1)
    wider = np.column_stack([X, np.full(400, np.nan)])
    model.observe(wider[80:90])
    assert all(a is b for a, b in zip(kept, model._learner.pending._rows.values(), strict=False))
    state = model._learner.pending.state()
    assert {name: array.shape for name, array in state.items() if name not in ("ids", "times", "ages")} == {
        "x": (30, 3),
        "z": (30, 3),
        "member_probabilities": (30, len(model.members_), 3),
        "scheme_probabilities": (30, 2, 3),
        "probabilities": (30, 3),
        "predicted": (30,),
        "features": (30, 5),
        "confidences": (30,),
        "like_errors": (30, 3),
        "decisions": (30, 4),
        "class_probabilities": (30, 3),
        "sets": (30, 4, 3),
    }
    model.partial_fit(wider[50:60], y[50:60], ids=range(10)).partial_fit(wider[60:90], y[60:90])
    assert model.n_waiting_ == 0


def test_ids_times_ages_and_counts_are_saved(rows, tmp_path):
    X, y = rows
    model = AMRC(features="linear", expire_after_labels=30, expire_after_time=50.0)
    model.partial_fit(X[:50], y[:50], timestamps=np.arange(50.0))
    ids = ["é\0\ud800", 2**70, -1.5, "1", 1]
    model.observe(X[50:55], ids=ids, timestamps=[50.0, 51.0, 52.0, 53.0, 60.0]).observe(X[55:60])
    model.partial_fit(X[60:85], y[60:85], timestamps=np.arange(60.0, 85.0)).observe(X[90:91])
    model.save(tmp_path / "model")
    loaded = AMRC.load(tmp_path / "model")
    assert_same(loaded, model)
    for each in (loaded, model):
        each.partial_fit(X[50:52], y[50:52], timestamps=[85.0, 86.0], ids=[1, "é\0\ud800"])
        each.partial_fit(X[100:104], y[100:104], timestamps=[87.0, 100.0, 101.5, 102.0])
        assert (each.n_waiting_, each.n_expired_) == (1, 8)
    assert_same(loaded, model)
    loaded.save(tmp_path / "model")
    assert AMRC.load(tmp_path / "model").n_expired_ == 8


@pytest.mark.parametrize("text", [b"nonsense", b"[1]", b"NaN", b"true", b"[" * 40, b"\xff\xfe", b"7"])
def test_ids_that_were_not_written_by_the_model_are_refused(rows, text, tmp_path):
    X, _ = rows
    begun(rows).observe(X[50:52], ids=[7, "x" * 40]).save(tmp_path / "model")
    header, arrays = read_model_file(tmp_path / "model")
    arrays["pending/ids"][1] = np.frombuffer(text.ljust(42, b"\0"), np.uint8)
    write_model_file(tmp_path / "model", header, arrays)
    with pytest.raises(CheckpointError, match="pending/ids"):
        AMRC.load(tmp_path / "model")


# Rows that are given up on request ----------------------------------------------------------------------


def test_rows_that_are_given_up_leave_the_model_as_if_it_had_never_observed_them(rows):
    X, y = rows
    model, twin = (begun(rows, scaling="none") for _ in range(2))
    model.observe(X[50:54], ids=["a", "b", "c", "d"])
    twin.observe(X[51:52], ids=["b"])
    model.give_up(["c", "a", "unknown", "d", "a"])
    assert (model.n_waiting_, model.n_expired_) == (1, 3)
    assert model.is_waiting(["a", "b", "c", "d"]).tolist() == [False, True, False, False]
    for each in (model, twin):
        each.partial_fit(X[51:52], y[51:52], ids=["b"]).partial_fit(X[60:90], y[60:90])
    assert np.array_equal(model.predict_proba(X), twin.predict_proba(X))
    assert model.error_interval() == twin.error_interval()


def test_all_rows_can_be_given_up_at_once(rows):
    X, _ = rows
    model = begun(rows).observe(X[50:52], ids=["a", "b"]).observe(X[52:53]).give_up()
    assert (model.n_waiting_, model.n_expired_) == (0, 3)


def test_ids_that_cannot_be_ids_are_refused_and_nothing_is_given_up(rows):
    X, _ = rows
    model = begun(rows).observe(X[50:51], ids=["a"])
    unchanged(model, lambda: model.give_up(["a", None]), "id of row 1 is None")
    unchanged(model, lambda: model.give_up(5), "ids must be a sequence of numbers or texts; got 5")
