"""What the default AMRC has alone: members, drift, its options."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings

from driftline import AMRC, ConfigError
from driftline.core.features import LinearMap
from driftline.streams import DriftingFeatures, MovingClass, RotatingGaussians
from helpers.quick_models import assert_same, fourier, linear, small_stream
from helpers.strategies import seeds

MAKERS = pytest.mark.parametrize("make", [linear, fourier])


@MAKERS
def test_long_blocks_are_learned_as_single_rows_are(make):
    X, y = RotatingGaussians(n_classes=3).sample(600, seed=0)
    y[:300] %= 2  # the third class comes in the middle of a block
    whole, rows = make().partial_fit(X, y), make()
    for t in range(600):
        rows.partial_fit(X[t : t + 1], y[t : t + 1])
    assert_same(whole, rows)
    assert np.array_equal(whole.predict_proba(X), np.concatenate([whole.predict_proba(x[None]) for x in X]))


@MAKERS
@settings(max_examples=10)
@given(seed=seeds)
def test_members_have_weights_that_sum_to_one_and_bounds_in_range(make, seed):
    X, y = small_stream(seed, n_classes=3)
    model = make().fit(X, y)
    members = model.members_
    assert members["weight"].sum() == pytest.approx(1, abs=1e-12)
    assert np.all(members["weight"] > 0)
    assert np.all(members["bound"] >= 0)
    assert np.all(members["bound"] <= 1 - 1 / 3)
    assert model.model_bound_ == pytest.approx(members["weight"] @ members["bound"], abs=1e-12)


def test_members_are_those_of_the_features():
    X, y = small_stream()
    assert set(linear().fit(X, y).members_["space"]) == {"linear", "compensated"}
    with_fourier = {"coarse", "fine", "linear", "compensated"}
    assert set(AMRC(features="fourier", n_components=2).fit(X, y).members_["space"]) == with_fourier
    assert set(AMRC(n_components=3).fit(X, y).members_["space"]) == with_fourier | {"trees"}
    assert set(AMRC(n_components=2).fit(X, y).members_["space"]) == {"linear", "compensated", "trees"}  # three columns


def test_a_memory_is_cut_where_the_stream_changes_at_once():
    X, y = small_stream(n_steps=600)
    steady, flipped = linear().fit(X, y), linear().fit(X, np.where(np.arange(600) < 400, y, 1 - y))
    assert steady.members_["cuts"].sum() == 0
    assert flipped.members_["cuts"].sum() > 0
    assert flipped.score(X[400:], 1 - y[400:]) > 0.8


@pytest.mark.parametrize("n_steps", [600, 1000, 1500])
@pytest.mark.parametrize("seed", range(3))
def test_drift_names_the_components_of_the_class_that_moves(seed, n_steps):
    X, y = MovingClass().sample(n_steps, seed=seed)
    table = linear().fit(X, y).drift()
    assert set(table[["label", "feature"]][:2].tolist()) == {(0, "x0"), (0, "x1")}
    assert np.all(np.diff(table["surprise"]) <= 0)


@pytest.mark.parametrize("times", ["regular", "even", "uneven"])
@pytest.mark.parametrize("slope", [0.0, 0.05])
def test_rates_lie_within_two_errors_of_the_truth_as_often_as_they_should(times, slope):
    n, within = 500, []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = np.arange(n) % 2 if times == "regular" else rng.integers(0, 2, n)
        t = np.cumsum(rng.exponential(size=n)) if times == "uneven" else np.arange(n)
        X = rng.normal(size=(n, 20)) + slope * t[:, None]
        table = linear().fit(X, y, timestamps=t).drift()
        within.append(np.abs(table["rate"] - slope) <= 2 * table["rate_error"])
    assert np.mean(within) > 0.9


def test_drift_calls_columns_as_it_is_told():
    X, y = MovingClass().sample(300, seed=0)
    model = linear().fit(X, y)
    table, named = model.drift(), model.drift(columns=["east", "north"])
    assert named["feature"].tolist() == [{"x0": "east", "x1": "north"}[name] for name in table["feature"].tolist()]
    assert named["surprise"].tolist() == table["surprise"].tolist()
    with pytest.raises(ConfigError, match="columns must be 2 names, one for each column; got 1"):
        model.drift(columns=["east"])


def test_drift_is_kept_with_the_model(tmp_path):
    X, y = MovingClass().sample(600, seed=0)
    model = linear().fit(X[:400], y[:400])
    model.save(tmp_path / "model")
    loaded = AMRC.load(tmp_path / "model")
    assert np.array_equal(loaded.drift(), model.drift())
    assert np.array_equal(loaded.partial_fit(X[400:], y[400:]).drift(), model.partial_fit(X[400:], y[400:]).drift())


@pytest.mark.parametrize("seed", range(5))
def test_rates_have_the_sign_of_the_motion_where_it_is_a_surprise(seed):
    rng = np.random.default_rng(seed)
    y, t = rng.integers(0, 2, 800), np.arange(800)
    X = rng.normal(size=(800, 3)) + np.column_stack([0.02 * t * (y == 0), -0.03 * t * (y == 1), np.zeros(800)])
    table = linear(scaling="none").fit(X, y).drift()
    rates = {(row["label"], row["feature"]): row for row in table}
    for place, rate in {(0, "x0"): 0.02, (1, "x1"): -0.03}.items():
        row = rates[place]
        assert row["surprise"] > 3
        assert row["rate"] == pytest.approx(rate, abs=max(5 * row["rate_error"], 0.005))
        assert np.sign(row["rate"]) == np.sign(rate)


def test_drift_is_in_the_units_of_the_columns():
    X, y = DriftingFeatures().sample(500, seed=0)
    wide = X * np.r_[1000.0, np.ones(X.shape[1] - 1)]
    one, other = (np.sort(linear().fit(rows, y).drift(), order=["label", "feature"]) for rows in (X, wide))
    factor = np.where(one["feature"] == "x0", 1000.0, 1.0)
    for name in ("mean", "mean_error", "rate", "rate_error"):
        assert np.allclose(other[name], factor * one[name], rtol=1e-3, atol=1e-6 * factor.max()), name
    assert np.allclose(other["surprise"], one["surprise"], rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("first", [1e9, -1e14])
def test_a_first_value_far_from_all_others_does_not_blur_the_means_of_other_classes(first):
    y = np.arange(500) % 2
    X = np.random.default_rng(0).normal(size=(500, 1)) + 3.0 * y[:, None]
    X[0] = first
    (row,) = [row for row in linear().fit(X, y).drift() if row["label"] == 1]
    assert row["mean"] == pytest.approx(3.0, abs=4 * row["mean_error"])
    assert 0.05 < row["mean_error"] < 0.5


def test_tracked_means_are_those_of_the_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1500)
    X = np.array([[5.0, -100.0], [7.0, 300.0]])[y] + rng.normal(size=(1500, 2)) * [1.0, 50.0]
    for row in linear().fit(X, y).drift():
        truth = {"x0": [5.0, 7.0], "x1": [-100.0, 300.0]}[row["feature"]][row["label"]]
        assert row["mean"] == pytest.approx(truth, abs=5 * row["mean_error"] + 1e-9)


def test_drift_has_the_form_that_is_asked_for():
    pandas = pytest.importorskip("pandas")
    X, y = small_stream(n_classes=3)
    names = np.array(["ham", "spam", "phishing"])
    model = linear().fit(pandas.DataFrame(X, columns=["a", "b", "c"]), names[y])
    record, frame = model.drift(), model.drift(as_frame=True)
    assert list(frame.columns) == list(record.dtype.names)
    assert set(frame["feature"]) == {"a", "b", "c"}
    assert set(frame["label"]) == set(names)
    assert len(record) == len(frame) == 9
    assert frame.equals(pandas.DataFrame(record))


def test_a_notebook_shows_drift_as_a_table_and_interprets_no_name():
    pandas = pytest.importorskip("pandas")
    X, y = small_stream(n_classes=3)
    table = linear().fit(pandas.DataFrame(X, columns=["<img src=x>", "b", "c"]), y).drift()
    html = table._repr_html_()
    assert html.count("<tr>") == 10
    assert "&lt;img src=x&gt;" in html
    assert "<img" not in html
    assert f"{table['surprise'][0]:.4g}" in html
    assert table[:2]._repr_html_().count("<tr>") == 3
    assert table["surprise"]._repr_html_() is None


def test_order_zero_has_no_rates():
    X, y = small_stream()
    table = linear(order=0).fit(X, y).drift()
    assert np.all(np.isnan(table["rate"]))
    assert np.all(np.isfinite(table["mean"]))


def test_drift_is_about_the_columns_whatever_the_features():
    class Squares(LinearMap):
        def transform(self, Z):
            return np.hstack([Z, Z**2])

    X, y = small_stream()
    own, default = AMRC(features=Squares()).fit(X, y).drift(), AMRC(features="linear").fit(X, y).drift()
    assert np.array_equal(own, default)


def test_a_column_that_rises_steadily_is_seen_to_do_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 2)), rng.integers(0, 2, 2000)
    X[:, 0] += 0.05 * np.arange(2000)
    table = AMRC(features="linear").fit(X, y).drift()
    assert table["feature"][:2].tolist() == ["x0", "x0"]
    assert np.allclose(table["rate"][:2], 0.05, atol=3 * table["rate_error"][:2])
    assert np.allclose(table["mean"][:2], 100.0, atol=4.0 * table["mean_error"][:2])
    assert table["surprise"][:2].min() > 10
    assert table["surprise"][2:].max() < 3


def test_one_wild_value_does_not_ruin_the_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = (X[:, 0] > 0).astype(int)
    X[100, 0] = -99999.0
    wrong = AMRC(features="linear").prequential(X, y).predicted != y
    assert wrong[200:].mean() < 0.08


@pytest.mark.parametrize("factor", [1e3, 1e7, 1e12])
def test_probabilities_of_rows_far_away_sum_to_one(factor):
    X, y = small_stream()
    model = AMRC(features="linear", scaling="none").fit(X, y)
    h = model.predict_proba(factor * X)
    assert np.allclose(h.sum(axis=1), 1)
    assert np.array_equal(model.predict(factor * X), model.classes_[h.argmax(axis=1)])


def test_a_class_that_was_announced_but_never_seen_is_not_in_the_table():
    X, y = small_stream()
    assert set(linear().partial_fit(X, y, classes=[0, 1, 2]).drift()["label"]) == {0, 1}


BAD = {
    "order must be 0 or 1; got 2": {"order": 2},
    "order must be a whole number from 0 up; got -1": {"order": -1},
    "n_components must be a whole number from 1 up; got 0": {"n_components": 0},
    "features must be one of 'auto', 'linear', 'fourier'; got 'cubic'": {"features": "cubic"},
    "scaling must be one of 'running', 'none'; got 'file'": {"scaling": "file"},
    "coverage": {"coverage": 1.0},
    "deterministic must be True or False; got 'no'": {"deterministic": "no"},
    "random_state: ": {"random_state": "abc"},
}


@pytest.mark.parametrize("message", BAD)
def test_parameters_that_cannot_work_are_refused_and_nothing_changes(message):
    X, y = small_stream()
    with pytest.raises(ConfigError, match=message):
        AMRC(**BAD[message]).fit(X, y)
    model = linear().fit(X, y)
    before = copy.deepcopy(model)
    with pytest.raises(ConfigError, match=message):
        model.set_params(**BAD[message]).partial_fit(X, y)
    assert_same(model, before)


@pytest.mark.parametrize(
    "options",
    [
        {"features": "fourier"},
        {"features": "fourier", "n_components": 7},
        {"order": 0},
        {"scaling": "none"},
        {"random_state": 1},
    ],
)
def test_every_option_reaches_the_part_that_it_names(options):
    X, y = small_stream(n_classes=3)
    others = [{name: value for name, value in options.items() if name == "features"}, {}]
    made = linear(**options).fit(X, y).predict_proba(X)
    for other in others:
        assert other == options or not np.array_equal(made, linear(**other).fit(X, y).predict_proba(X))


@pytest.mark.parametrize("seed", [0, 1])
@MAKERS
def test_a_class_that_vanishes_leaves_no_subnormal_numbers(make, seed):
    X, y = small_stream(seed, n_steps=5300, n_classes=3)
    y[300:] = 1 + y[300:] % 2
    model = make().fit(X, y)
    tiny = np.finfo(np.float32).tiny
    for name, array in model._learner.state().items():
        if array.dtype.kind == "f":
            smallest = tiny if array.dtype == np.float32 else np.finfo(float).tiny
            assert not np.any((array != 0) & (np.abs(array) < smallest)), name
