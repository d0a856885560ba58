import copy
import pickle

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

import twins
from driftline import AMRC, ConfigError, DataError, DriftlineError, Status
from driftline.features import LinearMap
from driftline.streams import RotatingGaussians
from driftline.types import Rule, Solution
from strategies import seeds

QUICK = {"n_iterations": 50, "n_subgradients": 10}


def small_stream(seed=0, n_steps=60, n_classes=2, n_columns=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_steps)
    centres = rng.normal(size=(n_classes, n_columns))
    return 2 * centres[y] + rng.normal(size=(n_steps, n_columns)), y


def assert_same(one, other):
    """The two models are in the same state, bit for bit."""
    first, second = one._learner.state(), other._learner.state()
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert np.array_equal(one.classes_, other.classes_)


configurations = st.fixed_dictionaries(
    {
        "order": st.integers(0, 2),
        "features": st.sampled_from(["linear", "fourier"]),
        "n_components": st.just(7),
        "scaling": st.sampled_from(["running", "none", "file"]),
        "label_variance": st.sampled_from(["binomial", "sample", "printed"]),
        "unobserved": st.sampled_from(["propagate", "hold"]),
        "gain": st.sampled_from(["multidimensional", "unidimensional"]),
        "deterministic": st.booleans(),
    }
)


@settings(max_examples=15)
@given(configurations, seeds, st.integers(1, 59))
def test_grouping_rows_into_batches_changes_nothing(configuration, seed, cut):
    X, y = small_stream(seed, n_classes=3)
    configuration = configuration | {"scaling": "running"}  # the range of a file is that of its first batch
    whole, parts = AMRC(**configuration, **QUICK), AMRC(**configuration, **QUICK)
    whole.partial_fit(X, y)
    parts.partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])
    assert_same(whole, parts)


@settings(max_examples=15)
@given(configurations, seeds)
def test_prediction_changes_nothing_and_repeats_itself(configuration, seed):
    X, y = small_stream(seed)
    model = AMRC(**configuration, **QUICK).partial_fit(X, y)
    before = copy.deepcopy(model)
    assert np.array_equal(model.predict(X), model.predict(X))
    model.predict_proba(X)
    assert_same(model, before)


def test_fit_forgets_what_was_before():
    X, y = small_stream()
    model = AMRC(**QUICK).fit(X + 5, y).fit(X, y)
    assert_same(model, AMRC(**QUICK).fit(X, y))
    assert_same(model, AMRC(**QUICK).partial_fit(X, y, classes=[0, 1]))


def test_steps_say_what_was_predicted_before_the_label():
    X, y = small_stream()
    model, follower = AMRC(**QUICK), AMRC(**QUICK)
    for t, step in enumerate(model.steps(X, y, classes=[0, 1])):
        if t:
            assert np.allclose(step.probabilities, follower.predict_proba(X[t : t + 1])[0])
            assert step.bound == follower.error_bound_
            assert step.mistake == (follower.predict(X[t : t + 1])[0] != y[t])
        else:
            assert np.array_equal(step.probabilities, [0.5, 0.5])
            assert step.bound == 0.5
        follower.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1])
    assert model.n_steps_ == len(X)


def test_steps_report_by_how_much_the_bound_did_not_cover_the_instance():
    X, y = small_stream()
    model = AMRC(n_iterations=50, n_subgradients=2)
    steps, expected = model.steps(X, y, classes=[0, 1]), []
    for t in range(60):
        rule, psi = model._learner.solution.rule, model._learner._represent(X[t : t + 1])[0]
        expected.append(max(twins.support_value(rule.weights @ psi) - rule.offset, 0))
        assert next(steps).excess == pytest.approx(expected[-1], abs=1e-12)
    assert max(expected) > 0
    assert model.excess_ == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("labels", [["no", "yes"], [7, -3], [True, False], ["a", "a longer label"]])
def test_labels_may_be_of_any_kind_and_columns_follow_classes(labels):
    X, y = small_stream()
    names = np.array(labels)
    model, plain = AMRC(**QUICK).fit(X, names[y]), AMRC(**QUICK).fit(X, y)
    assert np.array_equal(model.classes_, np.unique(names))
    columns = [list(model.classes_).index(name) for name in labels]
    assert np.allclose(model.predict_proba(X)[:, columns], plain.predict_proba(X), atol=1e-6)


def test_object_labels_stay_objects():
    X, y = small_stream()
    model = AMRC(**QUICK).partial_fit(X, np.array(["no", "yes"], dtype=object)[y])
    assert model.classes_.dtype == object


def test_permuting_class_names_permutes_the_probabilities():
    X, y = small_stream(n_classes=3)
    order = np.array([2, 0, 1])
    model, renamed = AMRC(**QUICK).fit(X, y), AMRC(**QUICK).fit(X, order[y])
    assert np.allclose(renamed.predict_proba(X)[:, order], model.predict_proba(X), atol=1e-6)
    assert renamed.error_bound_ == pytest.approx(model.error_bound_, abs=1e-6)


def test_a_class_first_seen_in_mid_stream_joins():
    X, y = small_stream(n_steps=80, n_classes=2)
    y[50:60] = 2
    model = AMRC(**QUICK)
    steps = list(model.steps(X, y, classes=[0, 1]))
    assert [step.is_new_class for step in steps] == [t == 50 for t in range(80)]
    assert steps[50].mistake
    assert steps[50].expected_mistake == 1
    assert np.array_equal(model.classes_, [0, 1, 2])
    assert model.predict_proba(X).shape == (80, 3)
    assert model.uncertainty_.mean.shape == (3, 4)
    assert model.n_steps_ == 80


def test_classes_join_in_order_of_appearance():
    X, y = small_stream(n_classes=2)
    names = np.array(["zebra", "ant"])[y]
    model = AMRC(**QUICK).partial_fit(X, names)
    assert list(model.classes_) == list(dict.fromkeys(names.tolist()))


def test_fifty_classes_work():
    X, y = small_stream(n_steps=120, n_classes=50)
    model = AMRC(n_iterations=20, n_subgradients=20).fit(X, y)
    assert model.predict_proba(X).shape == (120, len(np.unique(y)))
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


def test_frames_are_accepted_and_their_columns_remembered():
    X, y = small_stream()
    names = ["a", "b", "c"]
    expected = AMRC(**QUICK).fit(X, y).predict_proba(X)
    for frame, labels in [
        (pd.DataFrame(X, columns=names), pd.Series(y)),
        (pl.DataFrame(X, schema=names), pl.Series(y)),
    ]:
        model = AMRC(**QUICK).fit(frame, labels)
        assert np.allclose(model.predict_proba(frame), expected)
        assert list(model.feature_names_in_) == names
        with pytest.raises(DataError, match="feature names"):
            model.predict(frame[["c", "b", "a"]])


def test_missing_values_are_filled_and_counted():
    X, y = small_stream()
    X[5, 1] = X[9, 0] = np.nan
    model = AMRC(**QUICK).fit(X, y)
    assert model.n_missing_ == 2
    filled = X.copy()
    filled[5, 1], filled[9, 0] = X[:5, 1].mean(), X[:9, 0].mean()
    assert np.all(np.isfinite(model.predict_proba(X)))
    same = AMRC(scaling="none", **QUICK)
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
    r"X has 2 features, but AMRC is expecting 3": lambda batch: batch.update(X=batch["X"][:, :2]),
    r"Expected 2D array": lambda batch: batch.update(X=batch["X"][0]),
    r"row 3, column 1 of X is 1e\+200; expected numbers up to 1e\+30": put("X", (3, 1), 1e200),
    r"0 sample": lambda batch: batch.update(X=batch["X"][:0], y=batch["y"][:0]),
    r"60 rows and y 59 labels": lambda batch: batch.update(y=batch["y"][1:]),
    r"Unknown label type": lambda batch: batch.update(y=batch["y"] + 0.5),
    r"y to be passed, but the target y is None": lambda batch: batch.update(y=None),
    r"use one kind of label": lambda batch: batch.update(y=np.array(["a", "b"])[batch["y"]]),
    r"either at every call or at none": lambda batch: batch.update(timestamps=None),
    r"timestamp of row 2 is 1.0, before": lambda batch: batch.update(timestamps=[61, 62, 1] + [63] * 57),
    r"timestamp of row 0 is 5.0, before the one it follows \(60.0\)": lambda batch: batch.update(timestamps=[5] * 60),
    r"timestamp of row 7 is nan": lambda batch: batch.update(timestamps=[61] * 7 + [np.nan] + [62] * 52),
    r"timestamps must be 60 numbers": lambda batch: batch.update(timestamps=[61] * 59),
    r"timestamp of row 0 is 1e\+300, more than": lambda batch: batch.update(timestamps=[1e300] * 60),
    r"timestamp of row 0 is nan": lambda batch: batch.update(timestamps=np.full(60, "NaT", "datetime64[s]")),
    r"y holds datetime64": lambda batch: batch.update(y=batch["y"].astype("datetime64[D]")),
}


@pytest.mark.parametrize("message", BAD_BATCHES)
def test_bad_input_is_refused_with_a_reason_and_the_state_unchanged(message):
    X, y = small_stream()
    model = AMRC(**QUICK).partial_fit(X, y, timestamps=np.arange(1, 61))
    before = copy.deepcopy(model)
    batch = {"X": X, "y": y, "timestamps": np.arange(61, 121)}
    batch = {name: copy.deepcopy(value) for name, value in batch.items()}
    BAD_BATCHES[message](batch)
    for method in ("partial_fit", "steps"):
        with pytest.raises(DataError, match=message):
            getattr(model, method)(batch["X"], batch["y"], timestamps=batch["timestamps"])
    assert_same(model, before)
    assert model._last_time == before._last_time


def test_a_refused_first_call_leaves_the_model_unfitted():
    X, y = small_stream()
    model = AMRC(**QUICK)
    with pytest.raises(DataError):
        model.partial_fit(X, y[1:])
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        _ = model.error_bound_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": -1}, "order must be a whole number from 0 up; got -1"),
        ({"n_iterations": 0}, "n_iterations must be a whole number from 1 up; got 0"),
        ({"label_window": 2.5}, "label_window must be a whole number from 1 up; got 2.5"),
        ({"features": "cubic"}, "features must be one of 'linear', 'fourier'; got 'cubic'"),
        ({"scale": 0.0}, "scale must be a positive number; got 0.0"),
        ({"scale": np.inf}, "scale must be a positive number; got inf"),
        ({"gain": "both"}, "gain must be one of"),
        ({"solver": None}, "solver must be one of 'subgradient', 'exact'; got None"),
        ({"intercept": "no"}, "intercept must be True or False; got 'no'"),
        ({"features": LinearMap}, "features must be one of"),
        ({"random_state": "abc"}, "random_state: "),
    ],
)
def test_parameters_that_cannot_work_are_refused(parameters, message):
    X, y = small_stream()
    with pytest.raises(ConfigError, match=message):
        AMRC(**parameters).fit(X, y)


def test_errors_are_of_one_family_and_are_value_errors():
    assert issubclass(DataError, DriftlineError)
    assert issubclass(DataError, ValueError)
    assert issubclass(ConfigError, ValueError)


def learned(**options):
    X, y = small_stream(n_steps=50, n_classes=3)
    model = AMRC(**{"n_iterations": 100, "n_subgradients": 10} | options).fit(X, y)
    return model.predict_proba(X)


@pytest.mark.parametrize(
    "options",
    [
        {"order": 0},
        {"features": "fourier"},
        {"features": "fourier", "scale": 3.0},
        {"features": "fourier", "n_components": 7},
        {"features": "fourier", "random_state": 1},
        {"intercept": False},
        {"scaling": "none"},
        {"scaling": "file"},
        {"label_window": 10},
        {"label_variance": "sample"},
        {"label_variance": "printed"},
        {"unobserved": "hold"},
        {"gain": "unidimensional"},
        {"solver": "exact"},
        {"n_subgradients": 2},
        {"n_iterations": 5},
    ],
)
def test_every_option_reaches_the_part_that_it_names(options):
    others = [{name: value for name, value in options.items() if name == "features"}, {}]
    assert all(not np.allclose(learned(**options), learned(**other)) for other in others if other != options)


def test_an_option_changed_in_mid_stream_is_refused():
    X, y = small_stream()
    model = AMRC(**QUICK).fit(X, y)
    with pytest.raises(ConfigError, match="order changed since the first call; call fit to begin anew"):
        model.set_params(order=2).partial_fit(X, y)
    assert model.set_params(order=1, deterministic=False).partial_fit(X, y).n_steps_ == 120


def test_small_integer_types_do_not_overflow():
    X, y = small_stream()
    narrow = {"n_iterations": np.int8(50), "n_subgradients": np.uint8(200), "label_window": np.uint8(200)}
    wide = {name: int(value) for name, value in narrow.items()}
    assert_same(AMRC(**narrow).fit(X, y), AMRC(**wide).fit(X, y))


def test_steps_made_before_the_model_moved_on_are_refused():
    X, y = small_stream()
    model = AMRC(**QUICK)
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


def test_steps_do_not_see_later_changes_of_the_data():
    X, y = small_stream()
    model, data = AMRC(**QUICK), X.copy()
    steps = model.steps(data, y)
    data[:] = 1e20
    list(steps)
    assert_same(model, AMRC(**QUICK).partial_fit(X, y))


def test_a_step_that_fails_changes_nothing():
    class Fragile(LinearMap):
        def transform(self, Z):
            return np.full_like(Z, np.nan) if np.any(Z == 7) else Z

    X, y = small_stream()
    model = AMRC(features=Fragile(), scaling="none", **QUICK).partial_fit(X, y, timestamps=np.arange(60))
    before = copy.deepcopy(model)
    X[0], y[0] = 7, 9  # a new class, in a row that the map cannot represent
    with pytest.raises(DataError, match="feature map returned a value that is not a number"):
        model.partial_fit(X, y, timestamps=np.arange(60, 120))
    assert_same(model, before)
    assert model._last_time == 59


def test_a_failed_fit_leaves_the_fitted_model():
    X, y = small_stream()
    model = AMRC(**QUICK).fit(X, y)
    before = copy.deepcopy(model)
    with pytest.raises(ConfigError):
        model.set_params(random_state="abc").fit(X[:, :2], y)
    assert_same(model.set_params(random_state=0), before)
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_largest_numbers_leave_the_model_finite(order):
    X, y = small_stream()
    X[20] = 1e30
    X[30] = -1e30
    model = AMRC(order=order, scaling="none", **QUICK)
    steps = list(model.steps(X, y))
    assert np.all(np.isfinite([step.bound for step in steps]))
    assert np.all(np.isfinite(model.predict_proba(X)))
    assert np.all(np.isfinite(model.uncertainty_.width))


def test_the_deterministic_rule_goes_by_the_scores():
    """Also where no score exceeds φ and the randomised rule is uniform."""
    X, y = small_stream()
    model = AMRC(**QUICK).fit(X, y)
    learner = model._learner
    rule = learner.solution.rule
    learner.solution = Solution(Rule(rule.weights, 100.0), 0.5, Status.OK)
    psi = learner._represent(X)
    assert np.allclose(model.predict_proba(X), 0.5)
    assert np.array_equal(model.predict(X), (psi @ rule.weights.T).argmax(axis=1))
    assert len(set(model.predict(X))) == 2


def test_large_whole_numbers_stay_apart_as_labels():
    X, y = small_stream()
    model = AMRC(**QUICK).partial_fit(X, np.array([1, 2**62])[y])
    model.partial_fit(X, np.array([2**63, 2**63 + 1], dtype=np.uint64)[y])
    assert set(model.classes_.tolist()) == {1, 2**62, 2**63, 2**63 + 1}


def test_numbers_in_an_object_array_are_labels():
    X, y = small_stream()
    assert AMRC(**QUICK).fit(X, y.astype(object)).classes_.tolist() == [0, 1]


def test_file_scaling_needs_more_than_one_row():
    X, y = small_stream()
    with pytest.raises(DataError, match="it has one row"):
        AMRC.paper(**QUICK).partial_fit(X[:1], y[:1])


def test_the_randomised_rule_draws_from_its_probabilities():
    X, y = small_stream(n_steps=40)
    model = AMRC(deterministic=False, **QUICK).fit(X, y)
    rows = np.repeat(X[:1], 20_000, axis=0)
    assert model.predict(rows).mean() == pytest.approx(model.predict_proba(X[:1])[0, 1], abs=0.02)
    other = AMRC(deterministic=False, random_state=1, **QUICK).fit(X, y)
    assert not np.array_equal(model.predict(rows), other.predict(rows))


def test_timestamps_may_be_dates():
    X, y = small_stream()
    dates = np.datetime64("2026-01-01") + np.arange(60).astype("timedelta64[s]")
    dated, numbered = AMRC(**QUICK).fit(X, y, timestamps=dates), AMRC(**QUICK).fit(X, y, timestamps=np.arange(60))
    assert_same(dated, numbered)
    assert_same(numbered, AMRC(**QUICK).fit(X, y))


def test_increments_of_time_matter():
    X, y = small_stream()
    slow, fast = AMRC(**QUICK).fit(X, y), AMRC(**QUICK).fit(X, y, timestamps=3 * np.arange(60))
    assert not np.allclose(slow.uncertainty_.mean, fast.uncertainty_.mean)


def test_a_feature_map_of_the_users_own_works():
    class Squares(LinearMap):
        def transform(self, Z):
            return np.hstack([Z, Z**2])

    X, y = small_stream()
    mine = Squares()
    model = AMRC(features=mine, **QUICK).fit(X, y)
    assert model.uncertainty_.mean.shape == (2, 6)
    assert clone(model).fit(X, y).error_bound_ == model.error_bound_


def test_the_exact_solver_is_an_argument_away():
    X, y = small_stream(n_steps=30)
    exact, default = AMRC(solver="exact", n_subgradients=30).fit(X, y), AMRC().fit(X, y)
    assert exact.bound_status_ in (Status.OK, Status.EMPTY)
    assert exact.predict_proba(X).shape == default.predict_proba(X).shape


def test_paper_is_the_configuration_of_the_paper():
    model = AMRC.paper(scale=0.5)
    assert (
        model.get_params()
        == AMRC(features="fourier", n_components=200, scale=0.5, intercept=False, scaling="file", order=1).get_params()
    )
    assert (model.label_window, model.n_subgradients, model.n_iterations) == (200, 100, 2000)


def test_works_in_a_pipeline_and_survives_pickling():
    X, y = small_stream()
    pipeline = make_pipeline(MinMaxScaler(), AMRC(**QUICK)).fit(X, y)
    assert pipeline.score(X, y) > 0.5
    model = AMRC(**QUICK).fit(X, y)
    restored = pickle.loads(pickle.dumps(model))
    assert_same(model.partial_fit(X, y), restored.partial_fit(X, y))


def test_bounds_are_reported_with_their_status():
    X, y = RotatingGaussians().sample(200, seed=1)
    model = AMRC.paper(features="linear", scaling="none")
    for step in model.steps(X, y, classes=[0, 1]):
        assert (step.status is Status.OK) == (-1e-9 <= step.bound <= 0.5 + 1e-9)
    assert model.mistake_rate_bound(0.05) == pytest.approx(model.mistake_bound(0.05) / 200)
    assert model.mistake_bound(0.01) > model.mistake_bound(0.1)
