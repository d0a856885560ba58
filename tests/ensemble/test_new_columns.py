"""Columns that are added in mid-stream."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from driftline import AMRC, ConfigError, DataError
from helpers.quick_models import assert_same

FEATURES = ["linear", "auto"]


def stream(n_rows=300, seed=0):
    """Three columns; the last one decides."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, (0.3 * X[:, 0] + X[:, 2] > 0).astype(int)


def begun(features="linear", **parameters):
    X, y = stream()
    return AMRC(features=features, n_components=20, **parameters).partial_fit(X[:100, :1], y[:100])


@pytest.mark.parametrize("features", FEATURES)
def test_as_long_as_it_is_missing_a_new_column_changes_nothing(features):
    X, _ = stream()
    model = begun(features, scaling="none")
    before, bound, drift = model.predict_proba(X[:, :1]), model.error_bound_, model.drift()
    model.add_columns(2)
    X[:, 1:] = np.nan
    assert np.allclose(model.predict_proba(X), before, atol=1e-6)
    assert model.error_bound_ == bound
    assert np.array_equal(model.drift()[model.drift()["feature"] == "x0"], drift)


@pytest.mark.parametrize("features", FEATURES)
def test_a_new_column_is_used_as_if_it_had_been_there_and_missing(features):
    X, y = stream(1200)
    known = X.copy()
    known[:400, 1:] = np.nan
    ahead = AMRC(features=features).partial_fit(known[:400], y[:400])
    grown = AMRC(features=features).partial_fit(X[:400, :1], y[:400])
    blind = copy.deepcopy(grown)
    grown.add_columns(2)
    errors = {
        name: (model.prequential(rows[400:], y[400:]).predicted != y[400:])[200:].mean()
        for name, model, rows in (("ahead", ahead, X), ("grown", grown, X), ("blind", blind, X[:, :1]))
    }
    assert errors["blind"] > 0.3
    assert errors["grown"] < errors["ahead"] + 0.02 < 0.1


@pytest.mark.parametrize("features", FEATURES)
def test_it_does_not_matter_how_new_columns_are_grouped(features):
    X, y = stream()
    one, other = begun(features), begun(features)
    one.add_columns(2)
    other.add_columns(1).add_columns(1)
    for model in (one, other):
        model.partial_fit(X[100:], y[100:])
    assert_same(one, other)


@pytest.mark.parametrize("features", FEATURES)
def test_a_model_that_has_grown_is_copied_and_saved_as_it_is(features, tmp_path):
    X, y = stream()
    model = begun(features).add_columns(2).partial_fit(X[100:200], y[100:200])
    model.save(tmp_path / "model")
    for twin in (AMRC.load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert twin.n_features_in_ == 3
        assert_same(twin, model)
        wider, labels = np.column_stack([X, X[:, 0]])[200:], y[200:]
        assert_same(*(each.add_columns(1).partial_fit(wider, labels) for each in (twin, copy.deepcopy(model))))


def test_the_features_of_the_start_are_kept_when_there_are_more_columns_than_directions(tmp_path):
    X, y = stream()
    model = AMRC(n_components=2).partial_fit(X[:, :2], y).add_columns(1).partial_fit(X, y)
    assert set(model.members_["space"]) >= {"coarse", "fine"}
    model.save(tmp_path / "model")
    assert_same(AMRC.load(tmp_path / "model"), model)


def test_classes_join_and_columns_come_in_any_order():
    X, y = stream()
    model = begun().add_columns(1).partial_fit(X[:10, :2], np.full(10, 7)).add_columns(1).partial_fit(X, y + 8)
    assert set(model.classes_.tolist()[2:]) == {7, 8, 9}
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_rows_that_wait_are_found_again_without_the_new_columns():
    X, y = stream()
    model = begun().observe(X[100:103, :1])
    model.add_columns(2)
    waited = np.column_stack([X[100:103, 0], np.full((3, 2), np.nan)])
    assert model.partial_fit(waited, y[100:103]).n_waiting_ == 0


def test_the_table_of_drift_begins_where_a_new_column_does():
    X, y = stream()
    table = begun().add_columns(2).partial_fit(X[100:] + 1000.0, y[100:]).drift(columns=["a", "b", "c"])
    assert set(table["feature"]) == {"a", "b", "c"}
    late = table[table["feature"] == "c"]
    assert np.allclose(late["mean"], 1000.0, atol=5.0)


def test_columns_of_a_table_are_added_by_name():
    X, y = stream()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = AMRC(features="linear").partial_fit(frame[["a"]], y).add_columns(["b", "c"]).partial_fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(DataError, match="feature names"):
        model.partial_fit(frame[["a", "c", "b"]], y)
    for columns in (1, "d", ["a"], ["d", "d"], [1], []):
        with pytest.raises(ConfigError, match="columns must be new names"):
            model.add_columns(columns)


class Squares:
    """A custom feature map."""

    def start(self, n_columns):
        pass

    def transform(self, Z):
        return Z**2

    def state(self):
        return {}

    def restore(self, state):
        pass


def test_what_cannot_grow_says_so_and_stays_as_it_is():
    with pytest.raises(NotFittedError):
        AMRC().add_columns(1)
    for columns in (0, -1, 1.5, ["a"], True):
        with pytest.raises(ConfigError, match="columns must be a whole number from 1 up"):
            begun().add_columns(columns)
    X, y = stream()
    model = AMRC(features=Squares()).partial_fit(X, y)
    with pytest.raises(ConfigError, match="custom feature map"):
        model.add_columns(1)
    assert model.partial_fit(X, y).n_features_in_ == 3


def test_steps_that_began_with_fewer_columns_are_refused():
    X, y = stream()
    model = AMRC(features="linear")
    steps = model.steps(X, y, classes=[0, 1])
    next(steps)
    twin = copy.deepcopy(model.add_columns(1))
    with pytest.raises(DataError, match="columns were added to the model since these steps began"):
        next(steps)
    wider = np.column_stack([X, X[:, 0]])
    assert_same(model.partial_fit(wider, y), twin.partial_fit(wider, y))


@pytest.mark.parametrize("columns", [np.int64(1), None, [["d"]], "d", [], ["a"]])
def test_what_is_no_list_of_new_names_is_refused(columns):
    X, y = stream()
    model = AMRC(features="linear").partial_fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    with pytest.raises(ConfigError, match="columns must be new names"):
        model.add_columns(columns)
