"""Guarantees for River's classifiers, with River's interface."""

import pickle

import numpy as np
import pytest

from driftline import DataError
from driftline.adapters import RiverClassifier
from driftline.guarantees import Guarantees
from driftline.guarantees import Guarded as GuardedArrays

pytest.importorskip("river")
from river import checks, compose, linear_model, naive_bayes, preprocessing

from driftline.adapters.river import AMRC, Guarded


def rows(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    X = rng.normal(size=(n, 2)) + np.where(y, 1.2, 0.0)[:, None]
    return X, np.array(["no", "yes"])[y.astype(int)]


def as_dicts(X):
    return [{"x0": a, "x1": b} for a, b in X.tolist()]


def test_it_passes_rivers_checks():
    checks.check_estimator(Guarded(linear_model.LogisticRegression()))


def test_it_says_the_same_as_the_wrapper_for_arrays():
    X, y = rows()
    river, arrays = Guarded(naive_bayes.GaussianNB()), GuardedArrays(RiverClassifier(naive_bayes.GaussianNB()))
    for t, x in enumerate(as_dicts(X)):
        if t > 200 and t % 50 == 0:
            row, places = X[t : t + 1], [list(arrays.classes_).index(label) for label in ("no", "yes")]
            answer = arrays.decide(row, 0.1)
            assert river.decide_one(x, error=0.1) == (None if answer.mask[0] else answer[0])
            inside = arrays.predict_set(row, 0.95)[0, places]
            assert river.predict_set_one(x, coverage=0.95) == set(np.array(["no", "yes"])[inside])
            assert river.predict_confidence_one(x) == pytest.approx(arrays.predict_confidence(row)[0], rel=1e-9)
            assert river.predict_bound_one(x) == pytest.approx(arrays.predict_bound(row)[0], rel=1e-9)
        river.learn_one(x, y[t])
        arrays.partial_fit(X[t : t + 1], y[t : t + 1])
    assert river.error_interval() == arrays.error_interval()
    assert river.error_interval(last=1000) == arrays.error_interval(last=1000)
    assert river.answered_error(0.05) == arrays.answered_error(0.05)
    assert river.answered_error(0.05).n_rows > 100


def test_a_late_label_counts_for_what_was_said_when_the_row_was_observed():
    X, y = rows()
    model = Guarded(preprocessing.StandardScaler() | linear_model.LogisticRegression())
    for x, label in zip(as_dicts(X[:800]), (y[:800] == "yes").tolist(), strict=True):
        model.learn_one(x, label)
    late, start = as_dicts(X[800:810]), model.answered_error()
    decided = [model.decide_one(x) for x in late]
    for i, x in enumerate(late):
        model.observe_one(x, id=i)
    for x, label in zip(as_dicts(X[810:]), (y[810:] == "no").tolist(), strict=True):  # the classes change places
        model.learn_one(x, label)
    between = model.answered_error()
    assert model.n_waiting == 10
    for i in reversed(range(10)):
        model.learn_one(late[i], True, id=i)
    end = model.answered_error()
    assert model.n_waiting == model.n_expired == 0
    assert end.n_rows - between.n_rows == sum(label is not None for label in decided)
    assert end.n_wrong - between.n_wrong == sum(label is False for label in decided)
    assert start.n_rows < between.n_rows


def test_rows_whose_label_never_comes_are_given_up_and_counted():
    X, y = rows(60)
    model = Guarded(naive_bayes.GaussianNB(), expire_after_labels=20)
    model.observe_one({"x0": 0.0}, id="before any label")  # nothing is said of it
    model.learn_one(as_dicts(X)[0], y[0])
    model.observe_one(as_dicts(X)[1], id="lost")
    with pytest.raises(DataError, match="ids must be different"):
        model.observe_one(as_dicts(X)[2], id="lost")
    with pytest.raises(DataError, match="id is None"):
        model.observe_one(as_dicts(X)[2], id=None)
    for x, label in zip(as_dicts(X)[1:21], y[1:21], strict=True):
        model.learn_one(x, label)
    assert (model.n_waiting, model.n_expired) == (0, 1)


def test_an_error_of_the_classifier_leaves_the_guarantees_as_they_were():
    class Failing(naive_bayes.GaussianNB):
        def learn_one(self, x, y):
            if y == "bad":
                raise ValueError("cannot learn this")
            super().learn_one(x, y)

    X, y = rows(50)
    model = Guarded(Failing())
    for x, label in zip(as_dicts(X), y, strict=True):
        model.learn_one(x, label)
    model.observe_one(as_dicts(X)[0], id=1)
    before = pickle.dumps(model._tracker.state())
    with pytest.raises(ValueError, match="cannot learn this"):
        model.learn_one(as_dicts(X)[0], "bad", id=1)
    assert pickle.dumps(model._tracker.state()) == before
    assert model.n_waiting == 1


def test_labels_of_any_kind_and_levels_by_label():
    X, y = rows()
    labels = {"no": ("a", 1), "yes": frozenset({2})}
    levels = {labels["no"]: 0.05, labels["yes"]: 0.2}
    model = Guarded(naive_bayes.GaussianNB(), Guarantees(errors=levels, tolerated=0.01))
    assert model.decide_one({"x0": 0.0}) is None
    assert model.predict_set_one({"x0": 0.0}) == set()
    assert (model.predict_confidence_one({}), model.predict_bound_one({})) == (0.0, 1.0)
    decided = []
    for x, label in zip(as_dicts(X), y, strict=True):
        decided.append(model.decide_one(x))
        model.learn_one(x, labels[label])
    assert {None, *labels.values()} >= set(decided) > {None}
    of_answers = [model.answered_error(predicted=label).n_rows for label in labels.values()]
    assert sum(of_answers) == sum(label is not None for label in decided)
    of_classes = [model.error_interval(label=label).n_rows for label in labels.values()]
    assert sum(of_classes) == model.error_interval().n_rows == 1499
    assert model.alarm is not None
    model.acknowledge_alarm()
    assert model.alarm is None


def test_amrc_of_river_in_a_pipeline_can_be_guarded():
    X, y = rows(300)
    model = Guarded(compose.Select("x0", "x1") | AMRC(features="linear"))
    for x, label in zip(as_dicts(X), y, strict=True):
        model.learn_one(x, label)
    assert model.error_interval().n_rows == 299
    assert model.predict_one(as_dicts(X)[0]) in ("no", "yes")


def test_the_label_that_the_classifier_predicts_is_the_one_that_counts():
    model = Guarded(linear_model.LogisticRegression())
    model.learn_one({"x": 1.0}, True)
    assert model.predict_one({"x": -5.0}) is False  # a label that has not occurred
    assert model.decide_one({"x": -5.0}) is None
    model.learn_one({"x": -5.0}, False)
    interval = model.error_interval()
    assert (interval.n_rows, interval.n_wrong) == (1, 0)
