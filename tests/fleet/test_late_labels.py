"""Labels that come later, in any order or never: each key of a fleet is what a model of its own is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import AMRC
from driftline.errors import DataError
from driftline.fleet import AMRCFleet
from helpers.fleets import CLASSES, assert_same_model, rows_of, state_of


def new_fleet(**parameters):
    return AMRCFleet(3, CLASSES, start="blank", features="linear", **parameters)


@settings(max_examples=20)
@given(st.integers(0, 999), st.lists(st.sampled_from(["step", "observe", "label"]), min_size=3, max_size=30))
def test_a_fleet_with_late_labels_gives_the_results_of_separate_models(seed, actions):
    rng = np.random.default_rng(seed)
    fleet, models, waiting, n_ids = new_fleet(), {}, [], 0
    for action in actions:
        X, y, keys = rows_of(rng, 1, 3)
        key = int(keys[0])
        model = models.setdefault(key, AMRC._new(3, np.array(CLASSES), {"memory": "light", "features": "linear"}))
        if action == "step":
            fleet.step(X, y, keys)
            model.partial_fit(X, y)
        elif action == "observe":
            expected = model.predict_proba(X)
            assert fleet.observe(X, keys, [n_ids]).probabilities.tobytes() == expected.tobytes()
            model.observe(X, ids=[n_ids])
            waiting.append((key, n_ids, y))
            n_ids += 1
        elif waiting:
            key, row_id, label = waiting.pop(rng.integers(len(waiting)))
            assert fleet.label([key], [row_id], label).all()
            assert not fleet.label([key], [row_id], label).any()  # a label is learned once
            models[key].partial_fit(np.full((1, 3), np.nan), label, ids=[row_id])
    for key in fleet.keys:
        assert_same_model(fleet.model(key), models[key])
        assert fleet.model(key).n_waiting_ == models[key].n_waiting_ == fleet.status([key])["n_waiting"][0]


def test_rows_that_are_given_up_are_not_learned():
    X, y, _ = rows_of(np.random.default_rng(0), 4, 1)
    fleet = new_fleet()
    fleet.step(X[:1], y[:1], ["a"])
    fleet.observe(X[1:], ["a"] * 3, [1, 2, 3])
    before = state_of(fleet.model("a"))
    assert fleet.give_up("a", [1]).label(["a", "b"], [1, 1], y[:2]).tolist() == [False, False]
    assert fleet.give_up("a").status()["n_waiting"].tolist() == [0]
    after = state_of(fleet.model("a"))
    assert fleet.model("a").n_expired_ == 3
    assert all(array.tobytes() == after[name].tobytes() for name, array in before.items() if name != "n_expired")


@pytest.mark.parametrize("ids", [[1, 1], [1, 7]])
def test_ids_that_are_not_of_one_row_are_refused_and_nothing_changes(ids):
    X, _, _ = rows_of(np.random.default_rng(0), 2, 1)
    fleet = new_fleet()
    fleet.observe(X[:1], ["a"], [7])
    with pytest.raises(DataError, match="an id of its own"):
        fleet.observe(X, ["a", "a"], ids)
    assert fleet.status()["n_waiting"].tolist() == [1]


def test_new_keys_begin_with_what_late_labels_have_taught_the_common_model():
    X, y, keys = rows_of(np.random.default_rng(0), 200, 20)
    at_once, late = (AMRCFleet(3, CLASSES, features="linear") for _ in range(2))
    at_once.step(X, y, keys)
    late.observe(X, keys, range(200))
    assert late.label(keys, range(200), y).all()
    expected = at_once.predict_proba(X, ["new"] * 200)
    assert late.predict_proba(X, ["new"] * 200).tobytes() == expected.tobytes()
    assert np.ptp(expected) > 0.5


def test_a_model_that_waits_for_labels_goes_into_a_fleet_and_comes_back():
    X, y, _ = rows_of(np.random.default_rng(0), 50, 1)
    model = AMRC(memory="light", features="linear").partial_fit(X[:40], y[:40], CLASSES).observe(X[40:], ids=range(10))
    fleet = new_fleet().put("a", model)
    assert fleet.label(["a"] * 10, range(10), y[40:]).all()
    assert_same_model(fleet.model("a"), model.partial_fit(X[40:], y[40:], ids=range(10)))
