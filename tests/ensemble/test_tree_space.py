"""`AMRC` with trees: what it learns that others do not, and that it is saved, copied and grown like any model."""

import copy
import pickle

import numpy as np
import pytest

from driftline import AMRC
from driftline.ensemble.forest import Forest
from driftline.ensemble.plan import ForestPlan, MemberPlan, SpacePlan
from driftline.ensemble.tree_space import TreeSpace
from helpers.quick_models import assert_same
from helpers.spaces import learn_in_space, learn_in_tree_space
from helpers.tree_streams import rule_stream

QUICK = {"n_components": 6}


def tree_space(c=2, p=3):
    plan = SpacePlan("trees", (MemberPlan(0.01, 0.1), MemberPlan(0.001, 0.1, average_gain=0.05)), forest=ForestPlan())
    space = TreeSpace(plan, Forest(ForestPlan(), p, [0]), [0])
    space.add_classes(c)
    return space


def spaces_of(model):
    return set(model.members_["space"].tolist())


@pytest.fixture(scope="module")
def rows():
    return rule_stream()


def test_rules_on_single_columns_are_learned_and_learned_anew_after_a_change(rows):
    X, y = rows
    wrong = {name: AMRC(features=name).prequential(X, y).predicted != y for name in ("auto", "fourier")}
    last = {name: each[-500:].mean() for name, each in wrong.items()}
    assert last["auto"] < 0.04
    assert last["auto"] < last["fourier"] / 3
    assert wrong["auto"][:1000].mean() < wrong["fourier"][:1000].mean() / 2


def test_the_members_of_trees_have_the_weight_where_rules_are_on_single_columns(rows):
    X, y = rows
    model = AMRC(**QUICK).partial_fit(X[:1000], y[:1000])
    members = model.members_
    assert members["weight"][members["space"] == "trees"].sum() > 0.8
    assert np.isclose(members["weight"].sum(), 1.0)


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


@pytest.mark.parametrize("features", ["linear", "fourier", Squares()], ids=["linear", "fourier", "custom"])
def test_only_the_default_features_have_trees(rows, features):
    X, y = rows
    assert "trees" not in spaces_of(AMRC(features=features, n_components=3).partial_fit(X[:20], y[:20]))
    assert "trees" in spaces_of(AMRC(n_components=6).partial_fit(X[:20], y[:20]))
    assert "trees" in spaces_of(AMRC(n_components=3).partial_fit(X[:20], y[:20]))  # too few for Fourier features


@pytest.mark.parametrize("n", [1, 64, 333])
def test_a_model_goes_on_from_a_file_a_pickle_and_a_copy(rows, tmp_path, n):
    X, y = rows
    model = AMRC(**QUICK).partial_fit(X[:n], y[:n], classes=[0, 1])
    model.save(tmp_path / "model")
    others = AMRC.load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)
    expected = model.prequential(X[n : n + 200], y[n : n + 200]).probabilities
    for other in others:
        assert np.array_equal(other.prequential(X[n : n + 200], y[n : n + 200]).probabilities, expected)
        assert_same(model, other)


def test_predicting_changes_nothing(rows):
    X, y = rows
    asked, other = (AMRC(**QUICK).partial_fit(X[:100], y[:100]) for _ in range(2))
    for t in range(100, 240):
        asked.predict_proba(X[t : t + 1])
        asked.predict(X[t - 50 : t + 50])
        for model in (asked, other):
            model.partial_fit(X[t : t + 1], y[t : t + 1])
    assert_same(asked, other)


def test_what_is_predicted_and_learned_row_by_row_is_what_blocks_give(rows):
    X, y = rows
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)[:300]
    whole, singly = AMRC(**QUICK), AMRC(**QUICK)
    expected = whole.prequential(X, y[:300], classes=[0, 1]).probabilities
    singly.partial_fit(X[:1], y[:1], classes=[0, 1])
    for t in range(1, 300):
        assert np.array_equal(singly.predict_proba(X[t : t + 1])[0], expected[t])
        singly.partial_fit(X[t : t + 1], y[t : t + 1])
    assert_same(whole, singly)


def test_missing_values_are_learned(rows):
    """The class follows from whether a value is missing, which only trees see."""
    X, _ = rows
    X, y = X[:800].copy(), np.random.default_rng(1).integers(0, 2, 800)
    X[y == 1, 4] = np.nan
    wrong = {name: AMRC(features=name, **QUICK).prequential(X, y).predicted != y for name in ("auto", "fourier")}
    assert wrong["auto"][400:].mean() < 0.02
    assert wrong["fourier"][400:].mean() > 0.2


def test_a_new_class_and_a_new_column_in_mid_stream(rows, tmp_path):
    X, y = rows
    y = np.where((np.arange(2000) > 300) & (X[:, 5] > 0.7), 2, y)
    model = AMRC(**QUICK).partial_fit(X[:500, :5], y[:500])
    model.add_columns(1)
    model.save(tmp_path / "model")
    other = AMRC.load(tmp_path / "model")
    predicted = model.prequential(X[500:1000], y[500:1000]).predicted
    assert np.mean(predicted[-200:] != y[800:1000]) < 0.15
    assert model.classes_.tolist() == [0, 1, 2]
    other.partial_fit(X[500:1000], y[500:1000])
    assert_same(model, other)


def test_rows_whose_labels_come_late_are_learned(rows):
    X, y = rows
    model = AMRC(**QUICK).partial_fit(X[:50], y[:50])
    for start in range(50, 650, 50):
        model.observe(X[start : start + 50])
        if start > 50:
            model.partial_fit(X[start - 50 : start], y[start - 50 : start])
    assert model.n_waiting_ == 50
    assert np.mean(model.predict(X[700:1000]) != y[700:1000]) < 0.1


def test_features_of_a_space_do_not_depend_on_the_label_that_is_learned_with_them(rows):
    X, y = rows
    one, other = tree_space(p=6), tree_space(p=6)
    for space, last in ((one, 0), (other, 1)):
        labels = np.append(y[:120], last)
        Psi = learn_in_tree_space(space, X[:121], labels)
        assert np.array_equal(Psi[120], features_after(X[:120], y[:120], X[120]))
        learn_in_space(space, Psi, labels, np.ones(121))
    assert np.array_equal(one._store.rows[:121], other._store.rows[:121])


def features_after(X, y, x):
    """Return the features of a row in a space that has learned others."""
    space = tree_space(p=6)
    learn_in_tree_space(space, X, y)
    return space.represent(x[None], x[None])[0]


def test_features_of_a_new_class_are_0_in_the_rows_so_far(rows):
    X, y = rows
    space = tree_space(p=6)
    Psi = learn_in_tree_space(space, X[:100], y[:100])
    learn_in_space(space, Psi, y[:100], np.ones(100))
    space.add_classes(1)
    assert space._store.rows.shape[1] == space.represent(X[:1], X[:1]).shape[1] == 7
    assert np.array_equal(space._store.rows[:100, :5], Psi)
    assert np.all(space._store.rows[:, 5:] == 0)


def test_learning_does_not_change_a_snapshot(rows):
    X, y = rows
    model = AMRC(**QUICK).partial_fit(X[:200], y[:200])
    snapshot, before = model._learner.snapshot(), model.predict_proba(X[:100])
    model.partial_fit(X[200:400], 1 - y[200:400])
    assert np.array_equal(snapshot.probabilities(X[:100]), before)


@pytest.mark.slow
def test_a_file_of_many_rows_is_small(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 8))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=12_000) > 0).astype(int)
    AMRC().partial_fit(X, y).save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 20e6
