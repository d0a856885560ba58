"""The guarantees of AMRC: what it says of rows, with late labels, after files and copies, and while others learn."""

import copy
import pickle
import threading

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from driftline import AMRC, CheckpointError, ConfigError, DataError
from driftline.guarantees import Guarantees
from driftline.streams import RotatingGaussians
from helpers.model_files import alter
from helpers.quick_models import assert_same, small_stream
from helpers.strategies import seeds

LEVELS = Guarantees(errors=(0.2, {"ant": 0.1, "cow": 0.3}), coverages=(0.8, 0.95), per_class=True, tolerated=0.7)


@pytest.fixture(scope="module")
def rows():
    return RotatingGaussians(angular_rate=0.01).sample(600, seed=0)


def begun(rows, n=300, **parameters):
    X, y = rows
    return AMRC(features="linear", **parameters).partial_fit(X[:n], y[:n], classes=[0, 1])


def text_stream(n=400):
    X, y = small_stream(n_steps=n, n_classes=3)
    return X, np.array(["cow", "ant", "bee"])[y]


def counted(model):
    return model._learner.tracker.state()


def assert_same_guarantees(one, other):
    first, second = counted(one), counted(other)
    assert all(np.array_equal(first[name], second[name]) for name in first)


# What is said of rows ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deterministic", [True, False])
def test_what_is_said_fits_together_and_concerns_the_most_probable_label(deterministic):
    X, y = text_stream(800)
    X, noise = X + 1, np.random.default_rng(0).normal(size=X.shape)
    X += 2 * noise
    model = AMRC(features="linear", guarantees=LEVELS, deterministic=deterministic).partial_fit(X, y)
    likely = model.classes_[model.predict_proba(X).argmax(axis=1)]
    for level in (None, 0.2, {"ant": 0.1, "cow": 0.3}):
        decided = model.decide(X, level)
        assert isinstance(decided, np.ma.MaskedArray)
        assert np.array_equal(decided.data, likely)
    assert 0 < model.decide(X).count() < len(X)
    confidence, bound = model.predict_confidence(X), model.predict_bound(X)
    for array in (confidence, bound):
        assert array.shape == (800,)
        assert ((array >= 0) & (array <= 1)).all()
    narrow, wide = model.predict_set(X), model.predict_set(X, coverage=0.95)
    assert narrow.shape == wide.shape == (800, 3)
    assert wide.sum() >= narrow.sum()
    right = likely == y
    assert confidence[right].mean() > confidence[~right].mean()


def test_arrays_tables_and_lists_are_the_same():
    X, y = text_stream()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = AMRC(features="linear").partial_fit(X, y)
    named = AMRC(features="linear").partial_fit(frame, pd.Series(y))
    for name in ("decide", "predict_set", "predict_confidence", "predict_bound"):
        expected = getattr(model, name)(X)
        assert np.array_equal(expected, getattr(model, name)(X.tolist()))
        assert np.array_equal(expected, getattr(named, name)(frame))
    with pytest.raises(DataError):
        named.decide(frame.rename(columns={"a": "z"}))


def test_what_is_said_changes_nothing(rows):
    model = begun(rows)
    before = pickle.dumps(model)
    for call in (model.decide, model.predict_set, model.predict_confidence, model.predict_bound):
        call(rows[0])
    assert (model.error_interval(), model.answered_error(), model.alarm_) == (
        model.error_interval(),
        model.answered_error(),
        model.alarm_,
    )
    model.acknowledge_alarm()  # none is raised
    assert pickle.dumps(model) == before


def test_the_counts_are_those_of_the_predictions(rows):
    X, y = rows
    model = begun(rows, guarantees=Guarantees(errors=0.05, coverages=0.9))
    said = []
    for t in range(300, 600):
        row = X[t : t + 1]
        said.append((model.predict(row)[0], model.decide(row).mask[0], model.predict_set(row)[0, y[t]]))
        model.partial_fit(row, y[t : t + 1])
    predicted, masked, covered = map(np.array, zip(*said, strict=True))
    fresh = begun(rows, guarantees=model.guarantees)
    assert model.error_interval().n_wrong - fresh.error_interval().n_wrong == (predicted != y[300:]).sum()
    answered = model.answered_error(0.05)
    assert answered.n_rows - fresh.answered_error().n_rows == (~masked).sum()
    assert answered.n_wrong - fresh.answered_error().n_wrong == (predicted != y[300:])[~masked].sum()
    counts, before = (each._learner.tracker.rows.set_counts() for each in (model, fresh))
    assert counts.n_missed - before.n_missed == (~covered).sum()
    assert model.error_interval(label=1).n_rows == (y == 1).sum()


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (
            lambda model: model.decide([[0, 0]], error=0.07),
            r"error must be one of the levels .* 0\.05, 0\.01, 0\.02, 0\.1",
        ),
        (lambda model: model.decide([[0, 0]], error=np.array([0.05])), "error must be one of the levels"),
        (lambda model: model.predict_set([[0, 0]], coverage=90), "coverage must be one of .* add it to `coverages`"),
        (lambda model: model.predict_set([[0, 0]], coverage="all"), "coverage must be one of"),
        (lambda model: model.answered_error(0.3), "error must be one of"),
        (lambda model: model.answered_error(delta=0), "delta"),
        (lambda model: model.error_interval(label=7), "label must be one of the classes, 0, 1; got 7"),
        (lambda model: model.error_interval(predicted=[0]), "predicted must be one of the classes"),
        (lambda model: model.error_interval(last=50), "100, 1000, 10000"),
        (lambda model: model.error_interval(last=100, label=1), "only one of last, label and predicted"),
    ],
)
def test_what_is_not_known_is_refused_by_name(rows, call, match):
    with pytest.raises(ConfigError, match=match):
        call(begun(rows, 50))


def test_before_the_first_row_there_is_nothing_to_say():
    model = AMRC()
    for name in ("decide", "predict_set", "predict_confidence", "predict_bound"):
        with pytest.raises(NotFittedError):
            getattr(model, name)([[0.0]])
    for ask in (model.error_interval, model.answered_error, model.acknowledge_alarm, lambda: model.alarm_):
        with pytest.raises(NotFittedError):
            ask()
    model.observe([[0.0]])  # no class is known
    with pytest.raises(NotFittedError):
        model.decide([[0.0]])


def test_nothing_is_answered_at_first_and_sets_hold_all_labels(rows):
    model = AMRC(features="linear").partial_fit(rows[0][:1], rows[1][:1], classes=[0, 1])
    assert model.decide(rows[0]).count() == 0
    assert model.answered_error().n_rows == 0


def test_the_alarm_names_columns_that_move_and_can_be_acknowledged():
    X, y = small_stream(n_steps=800)
    model = AMRC(features="linear", guarantees=Guarantees(tolerated=0.2, rise=None)).partial_fit(X[:400], y[:400])
    assert model.alarm_ is None
    model.partial_fit(X[400:] + 20, np.random.default_rng(0).integers(0, 2, 400))
    alarm = model.alarm_
    assert (alarm.kind, alarm.level) == ("tolerated", 0.2)
    assert alarm.moved
    assert {name for _, name, _ in alarm.moved} <= {"x0", "x1", "x2"}
    assert pickle.loads(pickle.dumps(model)).alarm_ == alarm
    model.acknowledge_alarm()
    assert model.alarm_ is None


# Parameters -----------------------------------------------------------------------------------------------------------


def test_guarantees_are_a_parameter_like_others(rows):
    X, y = rows
    model = begun(rows, guarantees=Guarantees(errors=0.3))
    assert model.get_params()["guarantees"] == Guarantees(errors=0.3)
    assert clone(model).guarantees == Guarantees(errors=0.3)
    before = copy.deepcopy(model)
    for changed in (Guarantees(errors=0.2), None):
        model.set_params(guarantees=changed)
        for call in (lambda: model.partial_fit(X, y), lambda: model.prequential(X, y)):
            with pytest.raises(ConfigError, match="guarantees changed since the first call"):
                call()
    model.set_params(guarantees=Guarantees(errors=0.3))  # an equal one
    assert_same(model, before)
    model.partial_fit(X, y).set_params(guarantees=Guarantees(errors=0.2)).fit(X, y).decide(X, 0.2)
    for wrong in (0.3, {"errors": 0.3}, "strict"):
        with pytest.raises(ConfigError, match="guarantees must be a Guarantees"):
            AMRC(guarantees=wrong).fit(X, y)


def test_observing_with_changed_guarantees_is_refused(rows):
    model = begun(rows, guarantees=Guarantees(errors=0.3)).set_params(guarantees=Guarantees(errors=0.2))
    with pytest.raises(ConfigError, match="guarantees changed"):
        model.observe(rows[0][:1])


# Files, pickles and copies --------------------------------------------------------------------------------------------


def through_file(model, tmp_path):
    model.save(tmp_path / "model.driftline")
    return AMRC.load(tmp_path / "model.driftline")


def through_joblib(model, tmp_path):
    joblib.dump(model, tmp_path / "model.joblib")
    return joblib.load(tmp_path / "model.joblib", mmap_mode="r")


@pytest.mark.parametrize(
    "keep",
    [through_file, through_joblib, lambda model, _: pickle.loads(pickle.dumps(model)), lambda m, _: copy.deepcopy(m)],
)
@pytest.mark.parametrize("guarantees", [None, LEVELS], ids=["default", "by class"])
def test_a_model_continues_bit_for_bit_with_rows_that_wait_and_classes_that_join(tmp_path, keep, guarantees):
    X, y = text_stream()
    first, new = X[y != "bee"][:150], X[y == "bee"]
    model = AMRC(features="linear", guarantees=guarantees).partial_fit(first, y[y != "bee"][:150])
    model.observe(X[200:220], ids=range(20))
    model.partial_fit(new[:1], ["bee"])  # joins while rows wait
    model.observe(X[220:240], ids=range(20, 40))
    again = keep(model, tmp_path)
    assert again.guarantees == model.guarantees
    for each in (model, again):
        each.partial_fit(X[230:240], y[230:240], ids=range(30, 40))
        each.partial_fit(X[200:210], np.r_[["dog"], y[201:210]], ids=range(10))
        each.partial_fit(X[300:], y[300:])
        each.observe(X[250:255], ids=range(50, 55)).partial_fit(X[252:253], ["emu"], ids=[52])
    assert_same(model, again)
    for name in ("decide", "predict_set", "predict_confidence", "predict_bound"):
        assert np.array_equal(getattr(model, name)(X), getattr(again, name)(X))
    assert (model.answered_error(), model.alarm_) == (again.answered_error(), again.alarm_)


def test_each_label_has_its_own_level_also_if_it_joins_or_comes_from_a_file(tmp_path):
    X, y = text_stream()
    model = AMRC(features="linear", guarantees=LEVELS).partial_fit(X[y != "bee"], y[y != "bee"], classes=["ant"])

    def levels(model):
        allowed = counted(model)["rows/answers_levels"]
        return dict(zip(model.classes_.tolist(), allowed[1, 1:].tolist(), strict=True)), set(allowed[0])

    assert levels(model) == ({"ant": 0.1, "cow": 0.3}, {0.2})
    model.partial_fit(X[y == "bee"][:1], ["bee"])
    for each in (model, through_file(model, tmp_path)):
        assert levels(each) == ({"ant": 0.1, "cow": 0.3, "bee": 0.1}, {0.2})
        assert np.array_equal(counted(each._current)["rows/answers_levels"], counted(each)["rows/answers_levels"])


@pytest.mark.parametrize("columns", [2, 30])
@pytest.mark.parametrize("n_classes", [2, 10])
def test_the_guarantees_take_less_than_64_kilobytes_of_a_model(n_classes, columns):
    X, y = small_stream(n_steps=300, n_classes=n_classes, n_columns=columns)
    model = AMRC(features="linear", guarantees=Guarantees(per_class=True, tolerated=0.1)).partial_fit(X, y)
    assert sum(array.nbytes for array in counted(model).values()) < 64 * 1024


@settings(max_examples=10)
@given(seeds, st.lists(st.integers(1, 60), min_size=1, max_size=5))
def test_labels_in_any_batches_give_the_same_guarantees(seed, sizes):
    X, y = small_stream(seed=seed, n_steps=sum(sizes), n_classes=3)
    whole, parts, start = AMRC(features="linear").partial_fit(X, y), AMRC(features="linear"), 0
    for size in sizes:
        parts.partial_fit(X[start : start + size], y[start : start + size])
        start += size
    assert_same_guarantees(whole, parts)


# Late labels ----------------------------------------------------------------------------------------------------------


@settings(max_examples=10)
@given(seeds, st.booleans())
def test_a_late_label_counts_by_what_was_said_when_its_row_was_observed(seed, by_ids):
    rng = np.random.default_rng(seed)
    X, y = small_stream(seed=seed, n_steps=160, n_classes=2)
    model = AMRC(features="linear", scaling="none", guarantees=Guarantees(0.3, 0.8))
    model.partial_fit(X[:120], y[:120], classes=[0, 1])
    start = model.error_interval(), model.answered_error(), model._learner.tracker.rows.set_counts()
    order = rng.permutation(np.arange(130, 150))[:15]  # out of order, and some never come
    said = model.predict(X[130:150]), ~model.decide(X[130:150]).mask, model.predict_set(X[130:150])
    model.observe(X[130:150], ids=range(130, 150) if by_ids else None)
    for t in order:
        model.partial_fit(X[t : t + 1], y[t : t + 1], ids=[int(t)] if by_ids else None)
    predicted, answered, sets = (array[order - 130] for array in said)
    wrong = predicted != y[order]
    overall, of_answers, of_sets = (
        model.error_interval(),
        model.answered_error(),
        model._learner.tracker.rows.set_counts(),
    )
    assert (overall.n_rows - start[0].n_rows, overall.n_wrong - start[0].n_wrong) == (15, wrong.sum())
    assert of_answers.n_rows - start[1].n_rows == answered.sum()
    assert of_answers.n_wrong - start[1].n_wrong == (wrong & answered).sum()
    assert of_sets.n_missed - start[2].n_missed == (~sets[np.arange(15), y[order]]).sum()
    assert model.n_waiting_ == 5


def test_rows_observed_before_any_class_was_known_are_not_counted(rows):
    X, y = rows
    model = AMRC(features="linear").observe(X[:20]).partial_fit(X[:20], y[:20])
    assert model.error_interval().n_rows == 0
    assert model.partial_fit(X[20:40], y[20:40]).error_interval().n_rows == 20


# Threads --------------------------------------------------------------------------------------------------------------


def test_what_is_said_while_another_thread_learns_is_that_of_one_moment(rows):
    """Every set of statements is one that the model would give between two batches."""
    X, y = rows
    model = begun(rows, 256)
    expected, failures, done = [], [], threading.Event()
    twin = copy.deepcopy(model)
    for start in range(256, 600, 43):
        expected.append(twin.predict_confidence(X[:50]).tobytes())
        twin.partial_fit(X[start : start + 43], y[start : start + 43])
    expected.append(twin.predict_confidence(X[:50]).tobytes())

    def read():
        while not done.is_set():
            said = model._statements(X[:50])[2]
            if said.confidences.tobytes() not in expected:
                failures.append(said)
            interval = model.error_interval()
            if not interval.low <= interval.error <= interval.high:
                failures.append(interval)

    thread = threading.Thread(target=read)
    thread.start()
    for start in range(256, 600, 43):
        model.partial_fit(X[start : start + 43], y[start : start + 43])
    done.set()
    thread.join()
    assert not failures


# Altered files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("guarantees/rows/answers_counts", lambda array: array + np.array([0, 1e6, 0])),
        ("guarantees/rows/answers_levels", lambda array: array * 0 + 0.99),
        ("guarantees/rows/answers_debts", lambda array: array * 0 + 1e15),
        ("guarantees/rows/sets_debts", lambda array: array * 0 - 1e15),
        ("guarantees/rows/confidence_weights", lambda array: array + 1e30),
        ("guarantees/rows/confidence_covariance", lambda array: -array),
        ("pending/confidences", lambda array: array + 2),
        ("pending/predicted", lambda array: array + 9),
        ("pending/decisions", lambda array: array + np.int8(3)),
        ("pending/class_probabilities", lambda array: array - 1),
    ],
)
def test_a_file_with_altered_guarantees_is_refused(rows, tmp_path, name, value):
    path = tmp_path / "model.driftline"
    begun(rows).observe(rows[0][:3]).save(path)
    AMRC.load(path)
    alter(path, lambda content, arrays: arrays.update({name: value(arrays[name])}))
    with pytest.raises(CheckpointError, match=name):
        AMRC.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("guarantees/rows/answers_thresholds", lambda array: array * 0 + 3.7),
        ("guarantees/rows/sets_thresholds", lambda array: array * 0 + 2.0),
        ("guarantees/rows/answers_debts", lambda array: array * 0 + 1e6),
        ("guarantees/rows/sets_debts", lambda array: array * 0 - 1e6),
        ("guarantees/rows/confidence_weights", lambda array: array * 0 + 900),
        ("guarantees/rows/confidence_bins", lambda array: np.tile([2.0**53, 1, 7, 500, 500, 500], (5, 1))),
        ("guarantees/rows/answers_rows", lambda array: array * 0 + 1e14),
        ("guarantees/rows/sets_rows", lambda array: array * 0),
        ("guarantees/rows/weight", lambda array: array * 0 + 2e9),
        ("pending/class_probabilities", lambda array: array * 0),
        ("pending/features", lambda array: array * 0 + 10),
    ],
)
def test_a_file_with_possible_but_altered_guarantees_gives_numbers_in_their_ranges(rows, tmp_path, name, value):
    X, y = rows
    path = tmp_path / "model.driftline"
    begun(rows).observe(X[:3]).save(path)
    alter(path, lambda content, arrays: arrays.update({name: value(arrays[name])}))
    model = AMRC.load(path)
    for _ in range(2):
        for array in (model.predict_confidence(X), model.predict_bound(X)):
            assert ((array >= 0) & (array <= 1)).all()
        assert model.predict_set(X).shape == (600, 2)
        interval = model.answered_error()
        assert 0 <= interval.low <= interval.high <= 1
        model.partial_fit(X, y)
    through_file(model, tmp_path)
