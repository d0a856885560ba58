"""A fleet is what separate light models are, bit for bit, whatever the keys and the grouping of rows."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline import AMRC
from driftline.errors import ConfigError, DataError
from driftline.fleet import AMRCFleet
from driftline.fleet.streams import STREAMS_PER_BUFFER
from driftline.guarantees import Guarantees
from helpers.fleets import CLASSES, assert_same_model, learn_separately, rows_of


@pytest.mark.parametrize("features", ["auto", "linear", "fourier"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fleet_gives_the_results_of_separate_models(features, n_classes):
    rng = np.random.default_rng(n_classes)
    classes = CLASSES[:n_classes]
    fleet, models = AMRCFleet(3, classes, start="blank", features=features), {}
    for n in (1, 40, 300):
        X, y, keys = rows_of(rng, n, 5, n_classes=n_classes)
        result = fleet.step(X, y, keys)
        said = learn_separately(models, X, y, keys, classes, features=features)
        assert result.probabilities.tobytes() == np.concatenate([each.probabilities for each in said]).tobytes()
        assert result.labels.tolist() == [each.predicted[0] for each in said]
    assert len(fleet) == len(models)
    now = fleet.predict_with_guarantees(X, keys)
    for key, model in models.items():
        assert_same_model(fleet.model(key), model)
        expected = model.predict_with_guarantees(X[keys == key])
        assert now.confidences[keys == key].tobytes() == expected.confidences.tobytes()
        assert now.row_bounds[keys == key].tobytes() == expected.bounds.tobytes()
        assert now.answers.mask[keys == key].tolist() == expected.answers.mask.tolist()
        assert now.sets[keys == key].tolist() == expected.sets.tolist()
        assert (now.error_bounds[keys == key] == model.error_bound_).all()


@given(st.lists(st.integers(1, 50), min_size=1, max_size=4), st.integers(1, 80), st.integers(1, 3), st.integers(0, 99))
def test_the_grouping_of_rows_and_the_number_of_threads_change_nothing(sizes, n_keys, n_threads, seed):
    rng = np.random.default_rng(seed)
    X, y, keys = rows_of(rng, sum(sizes), n_keys)
    whole = AMRCFleet(3, CLASSES, start="blank", features="linear", n_threads=n_threads)
    parts = AMRCFleet(3, CLASSES, start="blank", features="linear", n_threads=1)
    expected = whole.step(X, y, keys)
    start = 0
    for size in sizes:
        part = slice(start, start + size)
        assert parts.step(X[part], y[part], keys[part]).probabilities.tobytes() == (
            expected.probabilities[part].tobytes()
        )
        start += size
    assert whole.keys == parts.keys


def test_predictions_change_nothing_and_repeat_themselves():
    X, y, keys = rows_of(np.random.default_rng(0), 200, 7)
    fleet = AMRCFleet(3, CLASSES)
    fleet.step(X, y, keys)
    before = [fleet.model(key) for key in fleet.keys]
    first = fleet.predict_with_guarantees(X, keys)
    unknown = fleet.predict_proba(X, ["a new key"] * 200)
    assert first.probabilities.tobytes() == fleet.predict_proba(X, keys).tobytes()
    assert unknown.tobytes() == fleet.predict_proba(X, keys + 1000).tobytes()
    assert fleet.decide(X, ["a new key"] * 200).mask.all()  # it knows something, but nothing of its mistakes
    assert len(fleet) == len(before)
    for key, model in zip(fleet.keys, before, strict=True):
        assert_same_model(fleet.model(key), model)


def test_a_removed_key_begins_anew_and_leaves_the_others_as_they_are():
    X, y, keys = rows_of(np.random.default_rng(0), 400, 2 * STREAMS_PER_BUFFER)
    fleet = AMRCFleet(3, CLASSES, start="blank", features="linear")
    fleet.step(X, y, keys)
    kept = {key: fleet.model(key) for key in fleet.keys[1:]}
    gone = fleet.keys[0]
    fleet.remove(gone)
    assert gone not in fleet
    with pytest.raises(DataError, match="the fleet has no key"):
        fleet.model(gone)
    fleet.step(X[:1], y[:1], ["another"])  # in the memory of the one that is gone
    assert_same_model(
        fleet.model("another"), AMRC(memory="light", features="linear").partial_fit(X[:1], y[:1], CLASSES)
    )
    for key, model in kept.items():
        assert_same_model(fleet.model(key), model)


def test_a_model_goes_into_a_fleet_and_comes_back():
    X, y, _ = rows_of(np.random.default_rng(0), 300, 1)
    model = AMRC(memory="light", guarantees=Guarantees(errors=(0.1, 0.02))).partial_fit(X[:200], y[:200], CLASSES)
    fleet = AMRCFleet(3, CLASSES, guarantees=Guarantees(errors=(0.1, 0.02))).put("one", model)
    fleet.step(X[200:], y[200:], ["one"] * 100)
    assert_same_model(fleet.model("one"), model.partial_fit(X[200:], y[200:]))


@pytest.mark.parametrize("given", [{"timestamps": [0.0, 1.5]}, {"sample_weight": [1.0, 2.0]}])
def test_a_model_with_what_fleets_do_not_have_is_refused(given):
    model = AMRC(memory="light", features="linear").partial_fit(np.eye(2, 3), ["fine", "hot"], CLASSES, **given)
    fleet = AMRCFleet(3, CLASSES, features="linear")
    with pytest.raises(ConfigError, match="timestamps or weights"):
        fleet.put("one", model)
    assert fleet.keys == []


def test_a_new_key_begins_with_what_a_common_model_knows_but_with_figures_of_its_own():
    rng = np.random.default_rng(0)
    X, y, keys = rows_of(rng, 3000, 300)
    fleet = AMRCFleet(3, CLASSES)
    for t in range(0, 3000, 50):
        fleet.step(X[t : t + 50], y[t : t + 50], keys[t : t + 50])
    known = fleet.predict(X, ["new"] * 3000)
    assert np.mean(known != y) < np.mean(AMRCFleet(3, CLASSES).predict(X, keys) != y) - 0.2
    fleet.step(X[:1], y[:1], ["new"])
    model = fleet.model("new")
    assert model.n_steps_ == 1
    assert model.error_interval().n_rows == 1


def test_every_key_begins_with_a_given_model():
    X, y, keys = rows_of(np.random.default_rng(0), 300, 3)
    model = AMRC(memory="light").partial_fit(X, y, CLASSES)
    fleet = AMRCFleet(3, CLASSES, start=model)
    before = model.predict_proba(X)
    assert fleet.predict_proba(X, keys).tobytes() == before.tobytes()
    fleet.step(X, y, keys)
    assert fleet.predict_proba(X, ["new"] * 300).tobytes() == before.tobytes()  # the given model stays as it was
    assert model.predict_proba(X).tobytes() == before.tobytes()


@pytest.mark.parametrize(
    ("X", "y", "keys", "message"),
    [
        (np.zeros((2, 4)), ["fine", "hot"], [1, 2], "X has 4 columns, and the fleet 3"),
        (np.zeros((2, 3)), ["fine", "cold"], [1, 2], "the label of row 1 is 'cold'"),
        (np.zeros((2, 3)), ["fine"], [1, 2], "X has 2 rows and y 1 labels"),
        (np.zeros((2, 3)), ["fine", "hot"], [1], "keys must be a sequence of 2"),
        (np.zeros((2, 3)), ["fine", "hot"], [1, None], "key of row 1 is None"),
        (np.zeros((2, 3)), ["fine", "hot"], np.ma.array([1, 2], mask=[0, 1]), "key of row 1 is None"),
        (np.zeros((2, 3)), ["fine", "hot"], [1, 10**5000], "key of row 1 takes more than 256 characters"),
        (np.full((2, 3), np.inf), ["fine", "hot"], [1, 2], "expected numbers up to"),
    ],
)
def test_rows_that_are_refused_change_nothing(X, y, keys, message):
    rows = rows_of(np.random.default_rng(0), 50, 2)
    fleet = AMRCFleet(3, CLASSES, features="linear")
    fleet.step(*rows)
    before = [fleet.model(key) for key in fleet.keys]
    with pytest.raises(DataError, match=message):
        fleet.step(X, y, keys)
    assert sorted(fleet.keys) == [0, 1]
    for key, model in zip(fleet.keys, before, strict=True):
        assert_same_model(fleet.model(key), model)


@pytest.mark.parametrize("table_of", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_in_another_order_are_refused_also_after_loading(tmp_path, table_of):
    X, y, keys = rows_of(np.random.default_rng(0), 20, 2)
    table, swapped = (table_of(dict(zip(names, X.T, strict=True))) for names in (["a", "b", "c"], ["b", "a", "c"]))
    fleet = AMRCFleet(3, CLASSES, features="linear")
    fleet.predict(swapped, keys)  # what is only predicted gives the columns no names
    fleet.step(table, y, keys)
    fleet.save(tmp_path / "all.fleet")
    for each in (fleet, AMRCFleet.load(tmp_path / "all.fleet")):
        with pytest.raises(DataError, match=r"X has the columns \['b', 'a', 'c'\], and the fleet \['a', 'b', 'c'\]"):
            each.step(swapped, y, keys)
        with pytest.raises(DataError, match="pass the same ones in the same order"):
            each.predict(swapped, keys)
        with pytest.raises(DataError, match="pass the same ones in the same order"):
            each.observe(swapped, keys, range(20))
        assert len(each.step(table, y, keys).labels) == 20
        assert len(each.predict(X, keys)) == 20  # without names


def test_models_know_the_names_of_the_columns_and_bring_them():
    X, y, keys = rows_of(np.random.default_rng(0), 20, 2)
    table, swapped = (pd.DataFrame(X, columns=names) for names in (["a", "b", "c"], ["b", "a", "c"]))
    model, other = (AMRC(memory="light", features="linear").partial_fit(rows, y, CLASSES) for rows in (table, swapped))
    started = AMRCFleet(3, CLASSES, features="linear", start=model)
    for fleet in (started, AMRCFleet(3, CLASSES, features="linear").put("new", model)):
        with pytest.raises(DataError, match="and the fleet"):
            fleet.step(swapped, y, keys)
        with pytest.raises(ConfigError, match=r"from the columns \['b', 'a', 'c'\], and the fleet from"):
            fleet.put("other", other)
        fleet.step(table, y, keys)
        assert fleet.model(0).feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("key", ["new", True, np.True_, [1], None])
def test_a_key_without_a_model_is_named(key):
    fleet = AMRCFleet(3, CLASSES, features="linear")
    fleet.step(*rows_of(np.random.default_rng(0), 9, 2))
    for call in (fleet.model, fleet.remove, fleet.key_state, fleet.give_up):
        with pytest.raises(DataError, match="the fleet has no key"):
            call(key)
    assert key not in fleet


def test_a_fleet_is_not_copied_or_pickled():
    fleet = AMRCFleet(3, CLASSES, features="linear")
    for call in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="use save"):
            call(fleet)


def test_the_status_of_many_keys_is_made_in_parts(monkeypatch):
    fleet = AMRCFleet(3, CLASSES, features="linear")
    X, y, keys = rows_of(np.random.default_rng(0), 60, 7)
    fleet.step(X, y, keys)
    whole, gather, sizes = fleet.status(), fleet._streams.gather, []
    monkeypatch.setattr("driftline.fleet.fleet.KEYS_PER_COPY", 3)
    monkeypatch.setattr(fleet._streams, "gather", lambda slots: [sizes.append(len(slots)), gather(slots)][1])
    assert fleet.status().tolist() == whole.tolist()
    assert sizes == [3, 3, 1]
    assert len(fleet.status([])) == 0


def test_what_cannot_be_a_fleet_is_refused():
    full = AMRC().partial_fit(np.zeros((1, 3)), ["hot"], CLASSES)
    for parameters, message in (
        ({"classes": ["fine"]}, "two or more"),
        ({"features": "trees"}, "must be 'auto', 'linear' or 'fourier'"),
        ({"start": "warm"}, "start must be 'pooled', 'blank' or an AMRC"),
        ({"start": np.arange(3)}, "start must be 'pooled', 'blank' or an AMRC"),
        ({"random_state": None}, "random_state must be a whole number"),
        (
            {"start": full},
            "differs from those of the fleet in memory",
        ),
        ({"start": AMRC(memory="light").partial_fit(np.zeros((1, 2)), ["hot"], CLASSES)}, "2 columns"),
    ):
        with pytest.raises(ConfigError, match=message):
            AMRCFleet(**{"n_columns": 3, "classes": CLASSES} | parameters)


@pytest.mark.parametrize(("features", "kibibytes"), [("linear", 64), ("auto", 64), ("fourier", 200)])
def test_the_state_of_a_model_with_8_columns_is_small(features, kibibytes):
    assert AMRCFleet(8, ["a", "b"], features=features).n_bytes_per_key <= kibibytes * 1024


def test_acknowledged_alarms_are_armed_again_and_those_of_other_keys_stay():
    rng = np.random.default_rng(0)
    guarantees = Guarantees(tolerated=0.1)
    fleet = AMRCFleet(1, CLASSES[:2], start="blank", features="linear", guarantees=guarantees)
    for _ in range(300):
        X, y = rng.normal(size=(3, 1)), rng.choice(CLASSES[:2], 3)  # nobody can be better than guessing
        fleet.step(X, y, ["a", "b", "c"])
    models = {key: fleet.model(key) for key in fleet.keys}
    assert fleet.status()["has_alarm"].all()
    with pytest.raises(DataError, match="no key 'd'"):
        fleet.acknowledge_alarm(["a", "d"])
    assert fleet.status()["has_alarm"].all()
    assert fleet.acknowledge_alarm(["a", "c"]) is fleet
    assert fleet.status(["a", "b", "c"])["has_alarm"].tolist() == [False, True, False]
    for key, model in models.items():
        if key != "b":
            model.acknowledge_alarm()
        assert_same_model(fleet.model(key), model)
    before = fleet.key_state("a")
    assert fleet.acknowledge_alarm(["a"]).key_state("a") == before
