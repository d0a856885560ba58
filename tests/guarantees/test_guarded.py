"""Guarantees for classifiers of scikit-learn, of River and of our own, that know nothing of them."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier

from driftline import ConfigError, DataError, baselines
from driftline.guarantees import Guarantees, Guarded, waiting_rows
from helpers.adversaries import FIRST_CREDIT, LIMIT, largest_rise
from helpers.quick_models import paper, small_stream


def river():
    pytest.importorskip("river", reason="needs river: pip install 'driftline[river]'")
    from river import naive_bayes  # noqa: PLC0415

    from driftline.adapters import RiverClassifier  # noqa: PLC0415

    return RiverClassifier(naive_bayes.GaussianNB())


def river_without_probabilities():
    river()
    from river import linear_model, multiclass  # noqa: PLC0415

    from driftline.adapters import RiverClassifier  # noqa: PLC0415

    return RiverClassifier(multiclass.OneVsOneClassifier(linear_model.LogisticRegression()))


MODELS = {
    "log loss": lambda: SGDClassifier(loss="log_loss", random_state=0),
    "hinge": lambda: SGDClassifier(loss="hinge", random_state=0),
    "bayes": GaussianNB,
    "network": lambda: MLPClassifier(hidden_layer_sizes=3, random_state=0),
    "paper": paper,
    "baseline": baselines.DWM,
    "river": river,
    "river without probabilities": river_without_probabilities,
}
LEVELS = Guarantees(errors=(0.2, 0.1), coverages=(0.8, 0.9), tolerated=0.6)


def stream(n=240, names=("cow", "ant", "bee"), n_classes=3, seed=0):
    X, y = small_stream(seed=seed, n_steps=n, n_classes=n_classes)
    return X, np.array(names)[y]


def statements(model, X):
    """Return all that is said of rows, and of the past."""
    figures = [model.error_interval(), model.error_interval(last=100), model.answered_error(), model.alarm_]
    arrays = [model.predict(X), model.predict_proba(X), model.predict_confidence(X), model.predict_bound(X)]
    for error in model.guarantees.errors if model.guarantees else (None,):
        decided = model.decide(X, error)
        arrays += [decided.data, decided.mask]
    arrays += [model.predict_set(X), model.classes_]
    return figures, arrays


def assert_same_statements(one, other, X):
    (figures, arrays), (other_figures, other_arrays) = statements(one, X), statements(other, X)
    assert figures == other_figures
    assert all(np.array_equal(a, b) for a, b in zip(arrays, other_arrays, strict=True))


def learn(model, X, y, size=10, **arguments):
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size], y[start : start + size], **arguments)
    return model


@pytest.mark.parametrize("name", MODELS)
def test_any_classifier_has_guarantees_that_are_counted_as_they_were_given(name):
    X, y = stream()
    classes = ["ant", "bee", "cow"]
    model = Guarded(MODELS[name](), LEVELS).partial_fit(X[:20], y[:20], classes=classes)
    n_wrong = n_answered = n_answered_wrong = 0
    for start in range(20, 240, 20):
        part = slice(start, start + 20)
        predicted, decided = model.predict(X[part]), model.decide(X[part], 0.1)
        n_wrong += (predicted != y[part]).sum()
        n_answered += decided.count()
        n_answered_wrong += (decided.compressed() != y[part][~decided.mask]).sum()
        model.partial_fit(X[part], y[part])
    overall, answered = model.error_interval(), model.answered_error(0.1)
    assert (overall.n_rows, overall.n_wrong) == (220, n_wrong)
    assert (answered.n_rows, answered.n_wrong) == (n_answered, n_answered_wrong)
    assert sorted(model.classes_) == classes
    h, confidence, sets = model.predict_proba(X), model.predict_confidence(X), model.predict_set(X, 0.9)
    assert h.shape == sets.shape == (240, 3)
    assert ((h >= 0) & (h <= 1)).all()
    assert ((confidence >= 0) & (confidence <= 1)).all()
    assert ((model.predict_bound(X) >= 0) & (model.predict_bound(X) <= 1)).all()
    assert sets.dtype == bool
    recall = model.error_interval(label="ant")
    assert recall.n_rows == (y[20:] == "ant").sum()
    assert sum(model.error_interval(predicted=label).n_rows for label in classes) == 220
    twin = clone(model)
    assert isinstance(twin.model, type(model.model))
    with pytest.raises(NotFittedError):
        twin.decide(X)
    again = pickle.loads(pickle.dumps(model))
    assert_same_statements(again, model, X)
    for each in (again, model):
        each.partial_fit(X[:5], y[:5])
    assert_same_statements(again, model, X)


def test_the_classifier_that_is_given_does_not_change_and_a_fitted_one_is_continued():
    X, y = stream()
    fitted = GaussianNB().fit(X[:100], y[:100])
    before = copy.deepcopy(fitted)
    model = Guarded(fitted).partial_fit(X[100:200], y[100:200])
    assert np.array_equal(fitted.theta_, before.theta_)
    assert np.array_equal(model.model_.theta_, before.partial_fit(X[100:200], y[100:200]).theta_)
    assert model.error_interval().n_rows == 100  # also the first rows were predicted
    assert model.fit(X, y).error_interval().n_rows == 240


@pytest.mark.parametrize("make", [GaussianNB, lambda: SGDClassifier(loss="hinge", random_state=0)])
def test_tables_and_lists_are_taken_as_arrays_are(make):
    X, y = stream()
    array, table, lists = (Guarded(make()) for _ in range(3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for start in range(0, 240, 40):
        part = slice(start, start + 40)
        array.partial_fit(X[part], y[part], classes=np.unique(y))
        table.partial_fit(frame[part], pd.Series(y[part]), classes=np.unique(y))
        lists.partial_fit(X[part].tolist(), y[part].tolist(), classes=np.unique(y))
    assert_same_statements(array, lists, X)
    assert np.array_equal(table.decide(frame), array.decide(X))
    assert table.answered_error() == array.answered_error()


class Prototypes(ClassifierMixin, BaseEstimator):
    """A classifier that takes any new class, and fails when it is told to."""

    def __init__(self, fails=False):
        self.fails = fails

    def partial_fit(self, X, y):
        if self.fails:
            raise RuntimeError("no")
        self.means_ = getattr(self, "means_", {}) | {label: x for x, label in zip(np.asarray(X), y, strict=True)}
        self.classes_ = np.array(list(self.means_))
        return self

    def predict(self, X):
        means = np.array(list(self.means_.values()))
        return self.classes_[((np.asarray(X)[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)]


@pytest.mark.parametrize("guarantees", [LEVELS, Guarantees({"ant": 0.3, "cow": 0.1}, per_class=True, tolerated=0.5)])
def test_classes_may_join_later(guarantees):
    X, y = stream()
    model = Guarded(Prototypes(), guarantees)
    for start in range(0, 240, 6):  # rows of new classes among others
        model.partial_fit(X[start : start + 6], y[start : start + 6])
    assert model.error_interval().n_rows == 234
    assert model.predict_set(X).shape == (240, len(model.classes_))
    assert set(model.classes_) == {"ant", "bee", "cow"}
    model.observe(X[:2], ids=["a", "b"])
    model.partial_fit(X[3:4] + 50, ["dog"])
    model.partial_fit(X[:2] + 60, ["emu", "emu"], ids=["b", "a"])  # what was said of them knew neither dog nor emu
    assert model.predict_set(X).shape == (240, 5)
    assert model.error_interval(label="emu").n_wrong == 2
    assert model.n_waiting_ == 0
    if guarantees.per_class:
        levels = model._keeper.rows.state()["answers_levels"][0].tolist()
        names = dict(zip(model.classes_.tolist(), levels[1:], strict=True))
        assert names == {"ant": 0.3, "bee": 0.1, "cow": 0.1, "dog": 0.1, "emu": 0.1}


def test_a_classifier_that_fails_changes_nothing():
    X, y = stream()
    model = Guarded(Prototypes(fails=True), LEVELS)
    with pytest.raises(RuntimeError, match="no"):
        model.partial_fit(X, y)
    assert vars(model).keys() == {"model", "guarantees", "expire_after_labels"}
    model.set_params(model=Prototypes(), guarantees=Guarantees(errors=0.3))
    model.partial_fit(X[:100], y[:100]).observe(X[:3], ids=[1, 2, 3])
    assert model.error_interval().n_rows == 0
    assert model.decide(X, 0.3).shape == (240,)  # settings of a call that failed are not kept
    model.model_.fails = True
    before = pickle.dumps(model)
    for arguments in ({}, {"ids": [1, 7, 2]}):
        with pytest.raises(RuntimeError, match="no"):
            model.partial_fit(X[:3], ["new", *y[1:3]], **arguments)
    assert pickle.dumps(model) == before
    with pytest.raises(RuntimeError, match="no"):
        model.set_params(model__fails=True).fit(X, y)
    assert_same_statements(model, pickle.loads(before).set_params(model__fails=True), X)


def test_other_input_is_refused_before_the_classifier_learns():
    X, y = stream()
    model = learn(Guarded(GaussianNB(), LEVELS), X, y, classes=np.unique(y)).observe(X[:2], ids=["a", "b"])
    before = pickle.dumps(model)
    refused = [
        (lambda: model.partial_fit(X[:3], y[:2]), "labels"),
        (lambda: model.partial_fit(X[:2], y[:2], ids=[1]), "ids"),
        (lambda: model.partial_fit(X[:1], [None]), "no label"),
        (lambda: model.observe(X[:2], ids=["c", "a"]), "different from each other"),
        (lambda: model.observe(X[:2], ids=["c", "c"]), "different from each other"),
        (lambda: model.observe(X[:2], ids=["c"]), "ids must be a sequence of 2"),
    ]
    for call, match in refused:
        with pytest.raises(DataError, match=match):
            call()
    for call, match in [
        (lambda: model.decide(X, error=0.07), "error must be one of the levels that the model follows, 0.2, 0.1"),
        (lambda: model.predict_set(X, coverage=90), "coverage must be one of the levels"),
        (lambda: model.answered_error(error="x"), "error must be one of"),
        (lambda: model.error_interval(label="dog"), "label must be one of the classes, 'ant', 'bee', 'cow'; got 'dog'"),
        (lambda: model.error_interval(predicted=np.array([1, 2])), "predicted must be one of the classes"),
        (lambda: model.error_interval(label="ant", last=100), "only one of"),
        (lambda: model.error_interval(last=17), "one of 100, 1000, 10000"),
        (lambda: model.error_interval(delta=2), "delta"),
    ]:
        with pytest.raises(ConfigError, match=match):
            call()
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"guarantees": {"errors": 0.1}}, "guarantees must be a Guarantees"),
        ({"expire_after_labels": 0}, "expire_after_labels"),
        ({"model": 3}, "model must have predict and partial_fit"),
    ],
)
def test_wrong_parameters_are_refused_at_the_first_call(wrong, match):
    X, y = stream()
    model = Guarded(GaussianNB()).set_params(**wrong)
    with pytest.raises(ConfigError, match=match):
        model.partial_fit(X, y, classes=np.unique(y))
    assert not hasattr(model, "model_")
    for call in (model.decide, model.predict_set, model.predict_confidence, model.predict_bound, model.predict):
        with pytest.raises(NotFittedError):
            call(X)
    for ask in (model.error_interval, model.answered_error, model.acknowledge_alarm, lambda: model.alarm_):
        with pytest.raises(NotFittedError):
            ask()


class Stubborn(ClassifierMixin, BaseEstimator):
    """A classifier that predicts a label that nobody has given it."""

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), "unheard-of")

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_a_label_that_is_predicted_and_is_no_class_is_refused():
    X, y = stream()
    model = Guarded(Stubborn()).partial_fit(X, y)
    for call in (lambda: model.decide(X), lambda: model.partial_fit(X, y), lambda: model.observe(X, ids=range(240))):
        with pytest.raises(DataError, match="predicted 'unheard-of'"):
            call()


# Late labels ----------------------------------------------------------------------------------------------------------


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Predicts 1 with the probability in the first column; learns nothing."""

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return (np.asarray(X)[:, 0] > 0.5).astype(int)

    def predict_proba(self, X):
        p = np.asarray(X)[:, 0]
        return np.column_stack([1 - p, p])


calls = st.lists(
    st.tuples(
        st.sampled_from(["observe", "learn", "learn by ids"]), st.lists(st.integers(0, 30), min_size=1, max_size=8)
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=40)
@given(calls, st.sampled_from([2, 10, 1000]))
def test_late_labels_count_by_what_was_said_when_their_rows_were_observed(sequence, expire_after):
    """Ids that never come, come too late, were never observed, or come twice: each label is counted once."""
    rng = np.random.default_rng(0)
    model = Guarded(FirstColumn(), Guarantees(0.2, 0.8), expire_after_labels=expire_after)
    model.partial_fit([[0.0], [1.0]], [0, 1])
    waiting, n_expired, n_wrong, n_labels = {}, 0, 0, 2
    for name, ids in sequence:
        X = rng.random((len(ids), 1))
        predicted = (X[:, 0] > 0.5).astype(int)
        if name == "observe":
            if len(set(ids)) < len(ids) or waiting.keys() & set(ids):
                with pytest.raises(DataError):
                    model.observe(X, ids)
                continue
            model.observe(X, ids)
            waiting |= {each: (k, n_labels) for each, k in zip(ids, predicted, strict=True)}
            continue
        labels = rng.integers(0, 2, len(ids))
        if name == "learn":
            model.partial_fit(X, labels)
            n_wrong += (predicted != labels).sum()
        else:
            model.partial_fit(X, labels, ids=ids)
            said = [waiting.pop(each, (k, 0))[0] for each, k in zip(ids, predicted, strict=True)]
            n_wrong += (np.array(said) != labels).sum()
        n_labels += len(ids)
        old = [each for each, (_, since) in waiting.items() if n_labels - since >= expire_after]
        n_expired += len(old)
        for each in old:
            del waiting[each]
    overall = model.error_interval()
    assert (overall.n_rows, overall.n_wrong) == (n_labels - 2, n_wrong)
    assert (model.n_waiting_, model.n_expired_) == (len(waiting), n_expired)


def test_above_the_limit_the_oldest_rows_are_given_up(monkeypatch):
    monkeypatch.setattr(waiting_rows, "MAX_WAITING", 10)
    model = Guarded(FirstColumn()).partial_fit([[0.0], [1.0]], [0, 1]).observe(np.zeros((15, 1)), ids=range(15))
    assert (model.n_waiting_, model.n_expired_) == (10, 5)
    assert model.partial_fit(np.zeros((2, 1)), [0, 0], ids=[4, 5]).n_waiting_ == 9


@pytest.mark.parametrize("size", [1, 7, 250])
def test_the_limit_holds_with_batches_whose_labels_depend_on_the_decisions(size):
    """All rows of a batch are decided at once, so the limit grows by their number."""
    rng, changes = np.random.default_rng(0), []
    model = Guarded(FirstColumn(), Guarantees(errors=0.2, coverages=0.8))
    model.partial_fit([[0.0], [1.0]], [0, 1])
    for _ in range(6000 // size):
        X = np.full((size, 1), 0.9) if size > 1 else rng.random((1, 1))
        said = model._statements(X)[2].decisions[:, 0]
        predicted = model.predict(X)
        labels = np.where(said == 1, 1 - predicted, predicted)
        model.partial_fit(X, labels)
        changes.append((said == 1) * 0.8 - (said == 2) * 0.2)
    anywhere, from_start = largest_rise(np.concatenate(changes))
    assert model.answered_error().n_wrong > size
    assert from_start <= LIMIT + 1 + FIRST_CREDIT + size
    assert anywhere <= 2 * LIMIT + 1 + size


def test_the_alarm_is_raised_once_and_can_be_armed_again():
    model = Guarded(FirstColumn(), Guarantees(errors=0.2, tolerated=0.2, rise=None))
    X, y = np.tile([[0.1], [0.9]], (200, 1)), np.tile([0, 1], 200)
    assert learn(model, X, y).alarm_ is None
    model.acknowledge_alarm()
    alarm = learn(model, X[:40], 1 - y[:40]).alarm_
    assert alarm.kind == "tolerated"
    model.acknowledge_alarm()
    assert model.alarm_ is None
    silent = Guarded(FirstColumn(), Guarantees(rise=None)).partial_fit(X, y)
    silent.acknowledge_alarm()
    assert silent.alarm_ is None


def test_a_fitted_classifier_is_asked_before_the_first_label():
    X, y = small_stream()
    fitted = GaussianNB().fit(X, y)
    model = Guarded(fitted)
    assert (model.predict(X) == fitted.predict(X)).all()
    assert model.decide(X).mask.all()  # nothing is answered before 100 labels
    model.observe(X[:3], ids=[1, 2, 3]).partial_fit(X[:3], y[:3], ids=[1, 2, 3])
    assert model.error_interval().n_rows == 3
    with pytest.raises(NotFittedError):
        Guarded(GaussianNB()).predict(X)


def test_probabilities_of_a_classifier_that_does_not_name_its_classes_are_not_used():
    class Nameless(ClassifierMixin, BaseEstimator):
        def partial_fit(self, X, y):
            self.fitted_ = True
            return self

        def predict(self, X):
            return np.zeros(len(X), int)

        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    model = Guarded(Nameless()).partial_fit([[0.0], [1.0]], [0, 1])
    assert model.predict_proba([[0.0]]).tolist() == [[1.0, 0.0]]
