"""What all estimators have in common."""

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from driftline import AMRC, CheckpointError, ConfigError, DataError, DriftlineError
from driftline.core.features import LinearMap
from driftline.errors import DataTypeError
from driftline.kernels.ensemble import learn_rows, predict_rows
from driftline.kernels.representation import fill_and_scale
from driftline.types import Predictions
from helpers.quick_models import assert_same, fourier, linear, paper, small_stream, widened
from helpers.strategies import seeds


def irregular(seed, n_steps=60):
    """A stream with all that depends on the order: missing values, a class that comes late, and uneven times."""
    X, y = small_stream(seed, n_steps, n_classes=3)
    y[: n_steps // 3] %= 2
    X[n_steps // 4, 1] = np.nan
    return X, y, np.cumsum(np.random.default_rng(seed).exponential(size=n_steps))


def said(answers):
    """The columns without the times, which no two runs share."""
    names = ("predicted", "label_probabilities", "bounds", "statuses", "charges")
    return {name: getattr(answers, name).tolist() for name in names}


@settings(max_examples=4)
@given(seeds, st.lists(st.integers(1, 59), max_size=6), st.booleans(), st.booleans())
def test_grouping_rows_into_blocks_changes_nothing(make, seed, cuts, timed, deterministic):
    X, y, times = irregular(seed)

    def parts(places):
        model, blocks = make(deterministic=deterministic), np.split(np.arange(60), places)
        answers = [model.prequential(X[rows], y[rows], timestamps=times[rows] if timed else None) for rows in blocks]
        return model, said(Predictions.concatenate(answers))

    whole, answered = parts([])
    for places in (np.unique(cuts), np.arange(1, 60)):
        model, answers = parts(places.astype(int))
        assert_same(model, whole)
        assert answers == answered
    timestamps = times if timed else None
    assert_same(make().partial_fit(X, y, timestamps=timestamps), whole)
    stepped = make()
    steps = list(stepped.steps(X, y, timestamps=timestamps))
    assert_same(stepped, whole)
    assert [step.bound for step in steps] == answered["bounds"]
    assert [step.expected_mistake for step in steps] == [1 - h for h in answered["label_probabilities"]]


@settings(max_examples=4)
@given(seeds, st.booleans())
def test_prediction_changes_nothing_and_repeats_itself(make, seed, deterministic):
    X, y = small_stream(seed, n_classes=3)
    model = make(deterministic=deterministic).partial_fit(X, y)
    before = copy.deepcopy(model)
    assert np.array_equal(model.predict(X), model.predict(X))
    h = model.predict_proba(X)
    model.assess(X, y)
    assert_same(model, before)
    assert np.all(h >= 0)
    assert np.allclose(h.sum(axis=1), 1, atol=1e-6)
    assert np.allclose(h, np.concatenate([model.predict_proba(x[None]) for x in X]), atol=1e-12)


@settings(max_examples=4)
@given(seeds)
def test_copies_and_pickles_go_on_alike(make, seed):
    X, y, times = irregular(seed)
    model = make().partial_fit(X[:40], y[:40], timestamps=times[:40])
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_same(other, model)
        one = copy.deepcopy(model)
        ours, theirs = (each.prequential(X[40:], y[40:], timestamps=times[40:]) for each in (one, other))
        assert said(ours) == said(theirs)
        assert_same(one, other)


def test_a_copy_goes_its_own_way(make):
    X, y = small_stream()
    model = make().fit(X, y)
    before = copy.deepcopy(model)
    copy.deepcopy(model).partial_fit(X, y)
    assert_same(model, before)


@pytest.mark.parametrize("features", ["linear", "fourier"])
def test_two_runs_with_one_seed_agree(make, features):
    X, y = small_stream(n_classes=3)
    one, other, different = (make(features=features, random_state=seed).fit(X, y) for seed in (3, 3, 4))
    assert_same(one, other)
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
    if features == "fourier" or isinstance(one, AMRC):  # which draws from its store
        states = one._learner.state(), different._learner.state()
        assert any(not np.array_equal(states[0][name], states[1][name]) for name in states[0])


def test_fit_forgets_what_was_before(make):
    X, y = small_stream()
    model = make().fit(X + 5, y).fit(X, y)
    assert_same(model, make().fit(X, y))
    assert_same(model, make().partial_fit(X, y, classes=[0, 1]))


def test_steps_say_what_was_predicted_before_the_label(make):
    X, y = small_stream()
    model, follower = make(), make()
    for t, step in enumerate(model.steps(X, y, classes=[0, 1])):
        if t:
            assert np.array_equal(step.probabilities, follower.predict_proba(X[t : t + 1])[0])
            assert step.bound == follower.error_bound_
            assert step.mistake == (follower.predict(X[t : t + 1])[0] != y[t])
        else:
            assert np.allclose(step.probabilities, 0.5, rtol=0, atol=1e-15)
        follower.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1])
    assert model.n_steps_ == len(X)


@pytest.mark.parametrize("labels", [["no", "yes"], [7, -3], [True, False], ["a", "a longer label"]])
def test_labels_may_be_of_any_kind_and_columns_follow_classes(make, labels):
    X, y = small_stream()
    names = np.array(labels)
    model, numbered = make().fit(X, names[y]), make().fit(X, y)
    assert np.array_equal(model.classes_, np.unique(names))
    columns = [list(model.classes_).index(name) for name in labels]
    assert np.allclose(model.predict_proba(X)[:, columns], numbered.predict_proba(X), atol=1e-6)


def test_object_labels_stay_objects(make):
    X, y = small_stream()
    model = make().partial_fit(X, np.array(["no", "yes"], dtype=object)[y])
    assert model.classes_.dtype == object


def test_permuting_class_names_permutes_the_probabilities(make):
    X, y = small_stream(n_classes=3)
    order = np.array([2, 0, 1])
    model, renamed = make().fit(X, y), make().fit(X, order[y])
    assert np.allclose(renamed.predict_proba(X)[:, order], model.predict_proba(X), atol=1e-6)
    assert renamed.model_bound_ == pytest.approx(model.model_bound_, abs=1e-6)


def test_a_class_first_seen_in_mid_stream_joins(make):
    X, y = small_stream(n_steps=80, n_classes=2)
    y[50:60] = 2
    model = make()
    steps = list(model.steps(X, y, classes=[0, 1]))
    assert [step.is_new_class for step in steps] == [t == 50 for t in range(80)]
    assert steps[50].mistake
    assert steps[50].expected_mistake == 1
    assert np.array_equal(model.classes_, [0, 1, 2])
    assert model.predict_proba(X).shape == (80, 3)
    assert model.n_void_ >= 1
    assert model.n_steps_ == 80


def test_classes_join_in_order_of_appearance(make):
    X, y = small_stream(n_classes=2)
    names = np.array(["zebra", "ant"])[y]
    model = make().partial_fit(X, names)
    assert list(model.classes_) == list(dict.fromkeys(names.tolist()))


def test_fifty_classes_work(make):
    X, y = small_stream(n_steps=120, n_classes=50)
    model = make().fit(X, y)
    assert model.predict_proba(X).shape == (120, len(np.unique(y)))
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1, atol=1e-6)


def test_one_class_alone_is_predicted(make):
    X, _ = small_stream()
    model = make().fit(X, np.full(60, "only"))
    assert np.array_equal(model.predict(X), np.full(60, "only"))
    assert np.allclose(model.predict_proba(X), np.ones((60, 1)), rtol=0, atol=1e-6)
    assert model.model_bound_ == pytest.approx(0, abs=1e-6)


def test_columns_that_never_change_do_no_harm(make):
    X, y = small_stream()
    beside = make().fit(np.column_stack([X, np.full(60, 7.0), np.zeros(60)]), y)
    assert np.all(np.isfinite(beside.predict_proba(np.column_stack([X, np.zeros((60, 2))]))))
    assert beside.score(np.column_stack([X, np.full(60, 7.0), np.zeros(60)]), y) > 0.7
    alone = make().fit(np.full((60, 2), 7.0), y)
    h = alone.predict_proba(np.full((60, 2), 7.0))
    assert np.all(np.isfinite(h))
    assert np.array_equal(h, np.tile(h[:1], (60, 1)))


def test_frames_are_accepted_and_their_columns_remembered(make):
    X, y = small_stream()
    names = ["a", "b", "c"]
    expected = make().fit(X, y).predict_proba(X)
    for frame, labels in [
        (pd.DataFrame(X, columns=names), pd.Series(y)),
        (pl.DataFrame(X, schema=names), pl.Series(y)),
    ]:
        model = make().fit(frame, labels)
        assert np.allclose(model.predict_proba(frame), expected)
        assert list(model.feature_names_in_) == names
        with pytest.raises(DataError, match="feature names"):
            model.predict(frame[["c", "b", "a"]])


def test_missing_values_are_filled_and_counted(make):
    X, y = small_stream()
    X[5, 1] = X[9, 0] = np.nan
    model = make().fit(X, y)
    assert model.n_missing_ == 2
    filled = X.copy()
    filled[5, 1], filled[9, 0] = X[:5, 1].mean(), X[:9, 0].mean()
    assert np.all(np.isfinite(model.predict_proba(X)))
    same = make(scaling="none")
    if isinstance(same, AMRC) and same.features == "auto":
        same.set_params(features="fourier")  # trees do not fill missing values
    assert np.allclose(same.fit(filled, y).predict_proba(X[10:]), clone(same).fit(X, y).predict_proba(X[10:]))


def put(name, where, value):
    def change(batch):
        batch[name] = batch[name].astype(object) if isinstance(value, str | dict) else batch[name]
        batch[name][where] = value

    return change


BAD_BATCHES = {
    r"row 3, column 1 of X is inf": put("X", (3, 1), np.inf),
    r"row 4, column 2 of X is 'red'": put("X", (4, 2), "red"),
    r"row 0, column 0 of X is \{\}": put("X", (0, 0), {}),
    r"X has 2 features, but (Paper)?AMRC is expecting 3": lambda batch: batch.update(X=batch["X"][:, :2]),
    r"Expected 2D array": lambda batch: batch.update(X=batch["X"][0]),
    r"row 3, column 1 of X is 1e\+200; expected numbers up to 1e\+30": put("X", (3, 1), 1e200),
    r"0 sample": lambda batch: batch.update(X=batch["X"][:0], y=batch["y"][:0]),
    r"60 rows and y 59 labels": lambda batch: batch.update(y=batch["y"][1:]),
    r"Unknown label type": lambda batch: batch.update(y=batch["y"] + 0.5),
    r"y to be passed, but the target y is None": lambda batch: batch.update(y=None),
    r"use one kind of label": lambda batch: batch.update(y=np.array(["a", "b"])[batch["y"]]),
    r"either at every call or at none": lambda batch: batch.update(timestamps=None),
    r"timestamp of row 2 is 1.0, before": lambda batch: batch.update(timestamps=[61, 62, 1] + [63] * 57),
    r"timestamp of row 0 is 5.0, before that of the previous row \(60.0\)": lambda batch: batch.update(
        timestamps=[5] * 60
    ),
    r"timestamp of row 7 is nan": lambda batch: batch.update(timestamps=[61] * 7 + [np.nan] + [62] * 52),
    r"timestamps must be 60 numbers": lambda batch: batch.update(timestamps=[61] * 59),
    r"timestamp of row 0 is 1e\+300, more than": lambda batch: batch.update(timestamps=[1e300] * 60),
    r"timestamp of row 0 is nan": lambda batch: batch.update(timestamps=np.full(60, "NaT", "datetime64[s]")),
    r"y holds datetime64": lambda batch: batch.update(y=batch["y"].astype("datetime64[D]")),
}


@pytest.mark.parametrize("message", BAD_BATCHES)
def test_bad_input_is_refused_with_a_reason_and_the_state_unchanged(make, message):
    X, y = small_stream()
    model = make().partial_fit(X, y, timestamps=np.arange(1, 61))
    before = copy.deepcopy(model)
    batch = {"X": X, "y": y, "timestamps": np.arange(61, 121)}
    batch = {name: copy.deepcopy(value) for name, value in batch.items()}
    BAD_BATCHES[message](batch)
    for method in ("partial_fit", "steps"):
        with pytest.raises(DataError, match=message):
            getattr(model, method)(batch["X"], batch["y"], timestamps=batch["timestamps"])
    assert_same(model, before)
    assert model._last_time == before._last_time


def test_a_refused_first_call_leaves_the_model_unfitted(make):
    X, y = small_stream()
    model = make()
    with pytest.raises(DataError):
        model.partial_fit(X, y[1:])
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        _ = model.error_bound_


def test_errors_are_of_one_family_and_are_value_errors():
    assert issubclass(DataError, DriftlineError)
    assert issubclass(DataError, ValueError)
    assert issubclass(ConfigError, ValueError)


def test_an_option_changed_in_mid_stream_is_refused(make):
    X, y = small_stream()
    model = make().fit(X, y)
    with pytest.raises(ConfigError, match="order changed since the first call; call fit to start again"):
        model.set_params(order=0).partial_fit(X, y)
    assert model.set_params(order=1, deterministic=False).partial_fit(X, y).n_steps_ == 120


def test_steps_made_before_the_model_moved_on_are_refused(make):
    X, y = small_stream()
    model = make()
    stale = model.steps(X, y)
    model.partial_fit(X, y)
    with pytest.raises(DataError, match="learned from other rows since"):
        next(stale)
    running = model.steps(X, y)
    next(running)
    model.fit(X, y)
    with pytest.raises(DataError, match="learned from other rows since"):
        next(running)
    assert model.n_steps_ == 60


def test_steps_do_not_see_later_changes_of_the_data(make):
    X, y = small_stream()
    model, data = make(), X.copy()
    steps = model.steps(data, y)
    data[:] = 1e20
    list(steps)
    assert_same(model, make().partial_fit(X, y))


def test_a_step_that_fails_changes_nothing(make):
    class Fragile(LinearMap):
        def transform(self, Z):
            return np.full_like(Z, np.nan) if np.any(Z == 7) else Z

    X, y = small_stream()
    model = make(features=Fragile(), scaling="none").partial_fit(X, y, timestamps=np.arange(60))
    before = copy.deepcopy(model)
    X[0], y[0] = 7, 9  # a new class, in a row that the map cannot represent
    with pytest.raises(DataError, match="feature map returned a value that is not a number"):
        model.partial_fit(X, y, timestamps=np.arange(60, 120))
    assert_same(model, before)
    assert model._last_time == 59


@pytest.mark.parametrize("row", [0, 17])
def test_what_was_learned_before_a_step_that_fails_counts(make, row):
    class Fragile(LinearMap):
        def transform(self, Z):
            return np.full_like(Z, np.nan) if np.any(Z == 7) else Z

    X, y = small_stream()
    X[40 + row, 1] = 7.0
    model = make(features=Fragile(), scaling="none").partial_fit(X[:40], y[:40], timestamps=np.arange(40))
    with pytest.raises(DataError, match="feature map returned a value that is not a number"):
        model.partial_fit(X[40:], y[40:], timestamps=np.arange(40, 60))
    n = model.n_steps_
    assert 40 <= n <= 40 + row
    twin = make(features=Fragile(), scaling="none").partial_fit(X[:n], y[:n], timestamps=np.arange(n))
    assert_same(model, twin)
    assert model._last_time == n - 1


def test_a_failed_fit_leaves_the_fitted_model(make):
    X, y = small_stream()
    model = make().fit(X, y)
    before = copy.deepcopy(model)
    with pytest.raises(ConfigError):
        model.set_params(random_state="abc").fit(X[:, :2], y)
    assert_same(model.set_params(random_state=0), before)
    assert model.n_features_in_ == 3


def test_large_whole_numbers_stay_apart_as_labels(make):
    X, y = small_stream()
    model = make().partial_fit(X, np.array([1, 2**62])[y])
    model.partial_fit(X, np.array([2**63, 2**63 + 1], dtype=np.uint64)[y])
    assert set(model.classes_.tolist()) == {1, 2**62, 2**63, 2**63 + 1}


def test_numbers_in_an_object_array_are_labels(make):
    X, y = small_stream()
    assert make().fit(X, y.astype(object)).classes_.tolist() == [0, 1]


def test_the_randomised_rule_draws_from_its_probabilities(make):
    X, y = small_stream(n_steps=40)
    model = make(deterministic=False).fit(X, y)
    rows = np.repeat(X[:1], 20_000, axis=0)
    assert model.predict(rows).mean() == pytest.approx(model.predict_proba(X[:1])[0, 1], abs=0.02)
    other = make(deterministic=False, random_state=1).fit(X, y)
    assert not np.array_equal(model.predict(rows), other.predict(rows))


def test_timestamps_may_be_dates(make):
    X, y = small_stream()
    dates = np.datetime64("2026-01-01") + np.arange(60).astype("timedelta64[s]")
    dated, numbered = make().fit(X, y, timestamps=dates), make().fit(X, y, timestamps=np.arange(60))
    assert_same(dated, numbered)
    assert_same(numbered, make().fit(X, y))


def test_increments_of_time_matter(make):
    X, y = small_stream()
    uneven = np.cumsum(np.random.default_rng(0).exponential(size=60))
    slow, fast = make().fit(X, y), make().fit(X, y, timestamps=uneven)
    assert not np.allclose(slow.predict_proba(X), fast.predict_proba(X))


@pytest.mark.parametrize("scaling", ["running", "none"])
def test_the_largest_numbers_leave_the_model_finite(make, scaling):
    X, y = small_stream()
    X[20] = 1e30
    X[30] = -1e30
    model = make(scaling=scaling)
    for t in range(60):
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        assert np.isfinite(model.model_bound_)
    assert np.all(np.isfinite(model.predict_proba(X)))


@pytest.mark.parametrize("scaling", ["running", "none"])
@pytest.mark.parametrize("smallest", [0.0, 1e-300, 1e-12])
def test_times_of_any_unevenness_leave_the_model_finite(make, smallest, scaling):
    X, y = small_stream(n_steps=100)
    rng = np.random.default_rng(0)
    passed = np.exp(rng.uniform(np.log(max(smallest, 1e-12)), np.log(1e5), 100)) * rng.choice([1.0, 0.0], 100)
    passed[:25] = smallest
    model = make(scaling=scaling)
    for t, time in enumerate(np.cumsum(passed)):
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1], timestamps=[time])
        assert np.isfinite(model.model_bound_)
        assert np.all(np.isfinite(model.predict_proba(X[:5])))


def test_a_feature_map_of_the_users_own_works(make):
    class Squares(LinearMap):
        def transform(self, Z):
            return np.hstack([Z, Z**2])

    X, y = small_stream()
    mine = Squares()
    model = make(features=mine).fit(X, y)
    assert not np.allclose(model.predict_proba(X), make(features=LinearMap()).fit(X, y).predict_proba(X))
    assert_same(clone(model).fit(X, y), model)


def test_works_in_a_pipeline(make):
    X, y = small_stream()
    pipeline = make_pipeline(MinMaxScaler(), make()).fit(X, y)
    assert pipeline.score(X, y) > 0.5


class Repeating(LinearMap):
    """A feature map whose width is that of the columns, several times over; from rows above 2, once more."""

    def __init__(self, times):
        super().__init__(intercept=False)
        self.times = times

    def transform(self, Z):
        return np.tile(Z, (1, self.times + (Z.max() > 2)))


def test_a_feature_map_that_changes_its_width_is_refused(make):
    X, y = small_stream()
    model = make(features=Repeating(2), scaling="none").partial_fit(np.clip(X, -2, 2), y)
    before = copy.deepcopy(model)
    with pytest.raises(DataError, match=r"an array of shape \(1, 9\); expected \(1, 6\)"):
        model.partial_fit(np.full((1, 3), 3.0), y[:1])
    assert_same(model, before)


@pytest.mark.parametrize("times", [1, 3, 300])
def test_a_model_is_not_loaded_with_a_feature_map_of_another_width(make, tmp_path, times):
    X, y = small_stream()
    model = make(features=Repeating(2), scaling="none").partial_fit(np.clip(X, -2, 2), y)
    model.save(tmp_path / "model")
    with pytest.raises(CheckpointError, match="load it with the feature map that it was trained with"):
        type(model).load(tmp_path / "model", features=Repeating(times))
    assert_same(type(model).load(tmp_path / "model", features=Repeating(2)), model)


@pytest.mark.parametrize("n", [1, 20])
def test_rows_and_models_that_cannot_be_written_to_need_no_kernels_of_their_own(n, tmp_path):
    X, y = small_stream()
    joblib.dump(linear().partial_fit(X[:40], y[:40]), tmp_path / "model")
    n_kernels = []
    for is_writeable, mode in ((True, None), (False, "r")):
        X.flags.writeable = is_writeable
        model = joblib.load(tmp_path / "model", mmap_mode=mode)
        model.predict(X[:n])
        model.partial_fit(X[:n], y[:n]).predict(X[:n])
        n_kernels.append([len(each.signatures) for each in (learn_rows, predict_rows, fill_and_scale)])
    assert n_kernels[0] == n_kernels[1]


SLOW_TO_COMPILE = [pytest.param(make, marks=pytest.mark.slow) for make in (paper, widened)]
"""The kernels of the paper's method are compiled once more for arrays that cannot be written to."""


@pytest.mark.parametrize("make", [linear, fourier, *SLOW_TO_COMPILE])
def test_a_model_goes_on_from_a_pickle_that_cannot_be_written_to(make, tmp_path):
    X, y = small_stream()
    model = make().partial_fit(X[:40], y[:40])
    joblib.dump(model, tmp_path / "model")
    loaded = joblib.load(tmp_path / "model", mmap_mode="r")
    assert_same(loaded.partial_fit(X[40:], y[40:]), model.partial_fit(X[40:], y[40:]))


def test_a_column_far_beyond_its_range_is_learned_as_far_away():
    X, y = small_stream()
    X[:, 1] *= 1e-9
    model = paper(scaling="file").partial_fit(X, y)
    X[10, 1] = 1e30
    assert model.partial_fit(X, y).n_steps_ == 120
    assert np.isfinite(model.predict_proba(X)).all()


def test_whole_numbers_of_pandas_that_may_be_missing_are_labels(make):
    X, y = small_stream()
    big = 2**53 + pd.Series(y, dtype="Int64")
    assert set(make().partial_fit(X, big).classes_.tolist()) == {2**53, 2**53 + 1}
    assert set(make().partial_fit(X, pd.Series(y == 1, dtype="boolean")).classes_.tolist()) == {False, True}
    with pytest.raises(DataError, match="row 3 of y has no label"):
        make().partial_fit(X, big.where(np.arange(60) != 3))


DAYS = pd.date_range("2020-01-01", periods=60)
TABLES_OF_DATES = {
    "array": DAYS.to_numpy()[:, None],
    "pandas": pd.DataFrame({"day": DAYS}),
    "pandas, durations": pd.DataFrame({"length": DAYS - DAYS[0]}),
    "pandas, mixed": pd.DataFrame({"x": np.arange(60.0), "day": DAYS}),
    "polars": pl.DataFrame({"day": DAYS.to_numpy()}),
    "lists": [[day] for day in DAYS.to_numpy()],
}


@pytest.mark.parametrize("kind", TABLES_OF_DATES)
def test_dates_are_no_numbers_in_any_kind_of_table(make, kind):
    with pytest.raises(DataTypeError, match="convert dates to numbers first"):
        make().partial_fit(TABLES_OF_DATES[kind], small_stream()[1])


@pytest.mark.parametrize("rows", [[[10**400]], [np.zeros((2, 2)), np.zeros((2, 3))]])
def test_rows_that_numpy_cannot_read_are_refused(make, rows):
    model = make().partial_fit(*small_stream())
    with pytest.raises(DataError):
        model.predict(rows)
