"""Rows that are learned one at a time: in one call of a kernel, after they were asked about or not."""

import copy
import pickle
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import AMRC, ConfigError, DataError
from driftline.ensemble import learner as learner_module
from driftline.ensemble.learner import EnsembleLearner
from driftline.guarantees import Guarantees
from helpers.quick_models import assert_same
from helpers.spaces import learn_in_filters, learn_in_space, learn_in_tree_space
from helpers.strategies import seeds

GUARANTEES = [None, Guarantees(tolerated=None, rise=None), Guarantees(errors={0: 0.1, 1: 0.2, 2: 0.3}, per_class=True)]


def stream(seed, n=60, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n_classes, 3))[y] + rng.normal(size=(n, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def learn_space_by_space(learner, X, labels, elapsed, features, *_):
    """Do what the kernel does to spaces and column filters, each with a kernel of its own."""
    members = []
    for space in learner.spaces:
        if space.plan.forest is not None:
            Psi = learn_in_tree_space(space, X, labels)
        else:
            n_entries = len(X) * space._store.rows.shape[1]
            Psi, features = features[:n_entries].reshape(len(X), -1), features[n_entries:]
        members.append(learn_in_space(space, Psi, labels, elapsed))
    learn_in_filters(learner.column_filters, X, labels, elapsed)
    return np.concatenate(members, axis=1), None, None, None


def arrays_of(model):
    return {name: array.copy() for name, array in model._learner.state().items()}


def assert_equal_arrays(model, other):
    one, two = arrays_of(model), arrays_of(other)
    assert one.keys() == two.keys()
    for name, array in one.items():
        assert np.array_equal(array, two[name], equal_nan=True), name


@settings(max_examples=12)
@given(
    seeds,
    st.sampled_from(["linear", "fourier", "auto"]),
    st.sampled_from(GUARANTEES),
    st.sampled_from(["running", "none"]),
)
def test_one_call_learns_what_the_parts_learn_one_after_the_other(seed, features, guarantees, scaling):
    X, y = stream(seed)
    parameters = {"features": features, "n_components": 5, "guarantees": guarantees, "scaling": scaling}
    at_once, singly, by_parts = (AMRC(**parameters) for _ in range(3))
    predicted = at_once.prequential(X, y)
    for t in range(len(X)):
        singly.partial_fit(X[t : t + 1], y[t : t + 1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EnsembleLearner, "_can_learn_in_one_call", False)
        patch.setattr(EnsembleLearner, "_learn_rows", learn_space_by_space)
        expected = by_parts.prequential(X, y)
    for name in ("probabilities", "bounds", "charges", "label_probabilities"):
        assert np.array_equal(getattr(predicted, name), getattr(expected, name)), name
    assert_equal_arrays(at_once, by_parts)
    assert_equal_arrays(singly, by_parts)


ACTIONS = ("ask", "ask about another", "learn", "learn two", "observe", "add column", "copy", "acknowledge")


@settings(max_examples=25)
@given(seeds, st.sampled_from(["linear", "auto"]), st.lists(st.sampled_from(ACTIONS), max_size=25))
def test_asking_does_not_change_what_is_learned(seed, features, actions):
    X, y = stream(seed, 200)
    asked, other = (AMRC(features=features, n_components=5).partial_fit(X[:30], y[:30]) for _ in range(2))
    t, n_added = 30, 0
    for action in actions:
        rows = np.hstack([X[t : t + 2], X[t : t + 2, :1].repeat(n_added, axis=1)])
        if action == "ask":
            asked.predict_proba(rows[:1])
        elif action == "ask about another":
            asked.predict(rows[1:])
        for model in (asked, other):
            if action in ("learn", "learn two"):
                n = 1 if action == "learn" else 2
                model.partial_fit(rows[:n], y[t : t + n])
            elif action == "observe":
                model.observe(rows[1:])
            elif action == "add column":
                model.add_columns(1)
            elif action == "acknowledge":
                model.acknowledge_alarm()
        if action == "copy":
            asked = pickle.loads(pickle.dumps(copy.deepcopy(asked)))
        t += {"learn": 1, "learn two": 2}.get(action, 0)
        n_added += action == "add column"
    assert_equal_arrays(asked, other)


def test_features_of_a_row_that_was_asked_about_are_not_computed_again(monkeypatch):
    X, y = stream(0)
    model = AMRC(features="linear").partial_fit(X[:30], y[:30])
    model.partial_fit(X[30:31], y[30:31]).predict(X[31:32])
    monkeypatch.setattr(type(model._learner.spaces[0]), "represent", None)
    model.partial_fit(X[31:32], y[31:32])
    with pytest.raises(TypeError):
        model.partial_fit(X[32:33], y[32:33])


def test_a_copy_and_its_original_learn_without_each_other():
    X, y = stream(1)
    model, twin = (AMRC(features="linear").partial_fit(X[:30], y[:30]) for _ in range(2))
    other = copy.deepcopy(model)
    for t in range(30, 40):
        other.partial_fit(X[t : t + 1], y[t : t + 1])
    assert_equal_arrays(model, twin)
    assert_equal_arrays(model.partial_fit(X[30:40], y[30:40]), other)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("comes_first", [True, False])
def test_an_interrupted_row_is_learned_by_all_parts_or_by_none(monkeypatch, comes_first):
    X, y = stream(2)
    model, twin = (AMRC(features="linear").partial_fit(X[:30], y[:30]) for _ in range(2))
    learn_rows = learner_module.learn_rows

    def interrupted(*arguments):
        if comes_first:
            signal.raise_signal(signal.SIGINT)
        result = learn_rows(*arguments)
        signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(learner_module, "learn_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[30:31], y[30:31])
    monkeypatch.undo()
    if not comes_first:
        twin.partial_fit(X[30:31], y[30:31])
    assert_equal_arrays(model, twin)
    assert np.array_equal(model.predict_proba(X[31:]), twin.predict_proba(X[31:]))


@pytest.mark.usefixtures("interruptible")
def test_members_are_reviewed_although_ctrl_c_comes_at_the_row_before(monkeypatch):
    n = learner_module.LABELS_PER_REVIEW
    X, y = stream(2, n)
    model = AMRC(features="linear").partial_fit(X[:-1], y[:-1])
    learn_rows, reviews = learner_module.learn_rows, []

    def interrupted(*arguments):
        result = learn_rows(*arguments)
        signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(learner_module, "learn_rows", interrupted)
    monkeypatch.setattr(EnsembleLearner, "_review_members", lambda learner: reviews.append(learner.n_steps))
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[-1:], y[-1:])
    assert reviews == [n]


@pytest.mark.parametrize(
    ("x", "label"),
    [
        ([[1.0, 2.0]], 0),
        ([[1.0, 2.0, np.inf]], 0),
        ([[1.0, 2.0, 1e31]], 0),
        ([[np.nan, 2.0, -np.inf]], 0),
        ([[1.0, 2.0, 3.0]], "zero"),
        ([[1.0, 2.0, 3.0]], 0.5),
    ],
)
def test_a_single_row_that_is_refused_changes_nothing(x, label):
    X, y = stream(3)
    model, twin = (AMRC(features="linear").partial_fit(X[:30], y[:30]) for _ in range(2))
    with pytest.raises(DataError):
        model.partial_fit(np.array(x), np.array([label]))
    assert_equal_arrays(model, twin)
    assert_same(model.partial_fit(X[30:], y[30:]), twin.partial_fit(X[30:], y[30:]))


def test_a_parameter_that_was_changed_is_noticed_at_a_single_row():
    X, y = stream(4)
    model = AMRC(features="linear").partial_fit(X[:30], y[:30])
    model.order = 0
    with pytest.raises(ConfigError, match="order changed"):
        model.partial_fit(X[30:31], y[30:31])


def test_timestamps_are_needed_at_a_single_row_if_they_were_given_before():
    X, y = stream(5)
    model = AMRC(features="linear").partial_fit(X[:30], y[:30], timestamps=np.arange(30))
    with pytest.raises(DataError, match="timestamps"):
        model.partial_fit(X[30:31], y[30:31])


@pytest.mark.parametrize("kind", [float, object, np.int8, str])
def test_labels_of_all_kinds_are_learned_one_at_a_time(kind):
    X, y = stream(6)
    labels = y.astype(kind)
    model, twin = AMRC(features="linear"), AMRC(features="linear").partial_fit(X, labels)
    for t in range(len(X)):
        model.partial_fit(X[t : t + 1], labels[t : t + 1])
    assert_equal_arrays(model, twin)
    assert np.array_equal(model.classes_, twin.classes_)
