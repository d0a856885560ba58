"""AMRC(costs=…): the label with the smallest expected cost."""

import copy
import pickle

import numpy as np
import pytest

from driftline import AMRC, CheckpointError, ConfigError
from driftline.core.schema import check_values
from helpers.other_thread import other_thread
from helpers.quick_models import assert_same

COSTS = {"fraud": {"fine": 50}}


def costly(**changes):
    return AMRC(**{"features": "linear", "costs": COSTS} | changes)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    fraud = rng.random(1500) < 0.1
    return rng.normal(size=(1500, 3)) + 1.2 * fraud[:, None], np.where(fraud, "fraud", "fine")


def cost_of(y, predicted):
    return np.mean(np.where(y == "fraud", 50 * (predicted != "fraud"), predicted != "fine"))


def test_predictions_cost_less_than_the_most_probable_labels(rows):
    X, y = rows
    chosen, plain = (model.prequential(X, y).predicted for model in (costly(), costly(costs=None)))
    assert cost_of(y, chosen) < 0.5 * cost_of(y, plain)


def test_all_but_predictions_is_as_without_costs(rows):
    X, y = rows
    model, plain = costly(), costly(costs=None)
    with_costs, without = model.prequential(X[:600], y[:600]), plain.prequential(X[:600], y[:600])
    for name in ("probabilities", "bounds", "charges", "label_probabilities"):
        assert np.array_equal(getattr(with_costs, name), getattr(without, name))
    state = model._learner.state()
    added = {name for name in state if name.startswith("cost_rule/")}
    assert len(added) == 2
    assert {name: state[name].tolist() for name in state.keys() - added} == {
        name: array.tolist() for name, array in plain._learner.state().items()
    }
    assert np.array_equal(model.decide(X[600:]).filled("-"), plain.decide(X[600:]).filled("-"))
    assert np.array_equal(model.predict_set(X[600:]), plain.predict_set(X[600:]))
    assert model.error_interval() == plain.error_interval()
    assert not np.array_equal(model.predict(X[600:]), plain.predict(X[600:]))


def test_predict_returns_the_label_with_the_smallest_expected_cost(rows):
    X, y = rows
    model = costly().fit(X[:800], y[:800])
    p = model.predict_calibrated_proba(X[800:])
    assert np.allclose(p.sum(axis=1), 1.0)
    costs = np.array([[0, 1], [50, 0]])  # classes are fine, fraud
    assert np.array_equal(model.predict(X[800:]), model.classes_[(p @ costs).argmin(axis=1)])
    assert np.array_equal(model.assess(X[800:], y[800:]).predicted, model.predict(X[800:]))


def test_calibrated_probabilities_have_a_smaller_log_loss_than_the_rule(rows):
    X, y = rows
    model, h, p = costly(), [], []
    model.partial_fit(X[:300], y[:300])
    for t in range(300, 900):
        row = X[t : t + 1]
        h.append(model.predict_proba(row)[0, int(y[t] == "fraud")])
        p.append(model.predict_calibrated_proba(row)[0, int(y[t] == "fraud")])
        model.partial_fit(row, y[t : t + 1])
    assert np.mean(np.log(p)) > np.mean(np.log(np.maximum(h, 1e-3)))


@pytest.mark.parametrize("label_memory", [False, True])
def test_rows_are_learned_in_blocks_as_one_by_one(rows, label_memory):
    X, y = rows
    whole = costly(label_memory=label_memory)
    chosen = whole.prequential(X[:200], y[:200]).predicted
    single, predicted = costly(label_memory=label_memory), []
    for t in range(200):
        predicted.append(single.predict(X[t : t + 1])[0] if t else None)
        single.partial_fit(X[t : t + 1], y[t : t + 1])
    assert_same(single, whole)
    assert predicted == chosen.tolist()


def test_late_labels_calibrate_the_probabilities_of_their_time(rows):
    X, y = rows
    model = costly().partial_fit(X[:200], y[:200])
    twin = copy.deepcopy(model._learner.cost_rule)
    model.observe(X[200:220], ids=range(20))
    h = np.array([row.probabilities for row in model._learner.pending._rows.values()])
    model.partial_fit(X[220:300], y[220:300])
    twin.choose_then_learn(_asked_before(rows, model), np.searchsorted(model.classes_, y[220:300]))
    model.partial_fit(X[200:220], y[200:220], ids=range(20))
    twin.choose_then_learn(h, np.searchsorted(model.classes_, y[200:220]))
    assert np.array_equal(twin.state()["weights"], model._learner.cost_rule.state()["weights"])


def _asked_before(rows, model):
    """Return the probabilities that rows 220 to 299 were given before each was learned, by a model without costs."""
    X, y = rows
    plain = costly(costs=None).partial_fit(X[:200], y[:200])
    plain.observe(X[200:220], ids=range(20))
    return np.array([_predict_and_learn(plain, X[t : t + 1], y[t : t + 1]) for t in range(220, 300)])


def _predict_and_learn(model, x, label):
    h = model.predict_proba(x)[0]
    model.partial_fit(x, label)
    return h


def test_a_class_that_joins_has_its_own_costs(rows):
    X, y = rows
    later = np.where(np.arange(1500) % 7 == 0, "theft", y)
    X = X + 2.0 * (later == "theft")[:, None] * [0, 1, 0]
    model = costly(costs={"theft": {"fine": 100, "fraud": 100}}).partial_fit(X[:300], y[:300])
    model.partial_fit(X[300:], later[300:])
    p = model.predict_calibrated_proba(X)
    assert p.shape == (1500, 3)
    costs = np.ones((3, 3)) - np.eye(3)
    costs[2, :2] = 100
    assert np.array_equal(model.predict(X), model.classes_[(p @ costs).argmin(axis=1)])


def test_a_model_with_costs_is_saved_copied_and_pickled(rows, tmp_path):
    X, y = rows
    model = costly(costs={"fraud": {"fine": np.float64(50)}}).partial_fit(X[:300], y[:300])
    model.save(tmp_path / "model")
    for other in (AMRC.load(tmp_path / "model"), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_same(other, model)
        assert np.array_equal(other.predict(X), model.predict(X))
    loaded = AMRC.load(tmp_path / "model")
    twin = copy.deepcopy(model)
    assert_same(loaded.partial_fit(X[300:], y[300:]), twin.partial_fit(X[300:], y[300:]))
    assert loaded.costs == {"fraud": {"fine": 50.0}}


def test_altered_arrays_are_refused(rows):
    rule = costly().partial_fit(rows[0][:50], rows[1][:50])._learner.cost_rule
    for name, place, value in (("weights", 0, 1e9), ("covariances", 0, -1.0), ("covariances", 1, 1.0)):
        state = rule.state()
        state[name][0, place] = value
        if place == 1:
            state[name][0, [0, 2]] = 0.1  # a covariance that does not fit its variances
        with pytest.raises(CheckpointError, match=name):
            check_values(state, rule.schema())


def test_readers_see_the_model_as_it_was(rows):
    X, y = rows
    model = costly().partial_fit(X[:300], y[:300])
    before = model.predict_calibrated_proba(X[:50])
    with other_thread():  # so that readers use a copy
        reader = model._current
        model.partial_fit(X[300:600], y[300:600])
        assert np.array_equal(reader.predict_calibrated_proba(X[:50]), before)
        assert not np.array_equal(model.predict_calibrated_proba(X[:50]), before)


def test_calibrated_probabilities_need_costs(rows):
    with pytest.raises(ConfigError, match=r"pass costs=\{\}"):
        costly(costs=None).fit(*rows).predict_calibrated_proba(rows[0])


def test_invalid_costs_are_refused_before_anything_is_learned(rows):
    model = costly(costs={"fraud": 50})
    with pytest.raises(ConfigError, match="must be a mapping"):
        model.fit(*rows)
    assert not hasattr(model, "classes_")
