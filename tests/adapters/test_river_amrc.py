"""AMRC as a classifier of River."""

import copy
import pickle
import warnings
from collections import Counter, defaultdict
from datetime import date
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import driftline
from driftline import ConfigError, DataError
from driftline.streams import RotatingGaussians
from helpers.quick_models import small_stream

pytest.importorskip("river", reason="needs river: pip install 'driftline[river]'")

from river import checks, compose, datasets, drift, ensemble, evaluate, metrics, preprocessing, stream

from driftline.adapters.river import AMRC

QUICK = {"features": "linear"}
NAMES = ("x0", "x1", "x2")


def dictionaries(X, names=NAMES):
    """Rows as River has them: without what is missing."""
    return [{n: v for n, v in zip(names, row, strict=True) if not np.isnan(v)} for row in X.tolist()]


def scenario(name):
    """Return rows and labels of a stream."""
    X, y = small_stream(n_steps=300, n_classes=3)
    X[0] = 0.5  # the first row has all features
    if name == "missing features":
        X[1:][np.random.default_rng(1).random((299, 3)) < 0.3] = np.nan
    if name == "text":
        return X, np.array(["cow", "ant", "bee"])[y]
    if name == "a late class":
        y[:200] %= 2
    if name == "units of their own":
        X = X * [1e-3, 1.0, 1e4] + [0.0, 50.0, -1e5]
    return X, y


def followed(model, rows, labels):
    """Return what a River model says of each row before it learns it, and its bounds then."""
    said = []
    for x, y in zip(rows, labels, strict=True):
        said.append((model.predict_proba_one(x), model.predict_one(x), model.error_bound, model.rate_bound))
        model.learn_one(x, y)
    return said


@pytest.mark.parametrize("features", ["linear", "auto"])
@pytest.mark.parametrize(
    "name", ["as it is", "units of their own", "missing features", "text", "a late class"], ids=lambda name: name
)
def test_the_same_rows_give_the_same_predictions_and_bounds_as_the_native_estimator(name, features):
    X, y = scenario(name)
    native, adapted = driftline.AMRC(features=features, n_components=30), AMRC(features=features, n_components=30)
    said = followed(adapted, dictionaries(X), y.tolist())
    assert said[0] == ({}, None, 1.0, 1.0)
    native.partial_fit(X[:1], y[:1])
    for t in range(1, len(X)):
        row = X[t : t + 1]
        given = dict(zip(native.classes_.tolist(), native.predict_proba(row)[0].tolist(), strict=True))
        assert said[t] == (given, native.predict(row)[0], native.error_bound_, native.rate_bound_), t
        native.partial_fit(row, y[t : t + 1])
    assert adapted.mistake_bound(0.1) == native.mistake_bound(0.1)
    assert adapted.labels == native.classes_.tolist()
    assert adapted.n_missing == native.n_missing_
    table, expected = adapted.drift(), native.drift(columns=adapted.feature_names)
    assert table["label"].tolist() == expected["label"].tolist()
    assert np.array_equal(table[["feature", "mean", "surprise"]], expected[["feature", "mean", "surprise"]])


def test_the_same_rows_give_what_the_native_estimator_says_in_blocks():
    X, y = scenario("as it is")
    answers = driftline.AMRC(**QUICK).prequential(X, y)
    said = followed(AMRC(**QUICK), dictionaries(X), y.tolist())
    assert answers.bounds.tolist() == [bound for _, _, bound, _ in said]
    assert answers.predicted.tolist() == [prediction for _, prediction, _, _ in said]
    given = [h.get(label, 0.0) for (h, *_), label in zip(said, y.tolist(), strict=True)]
    assert np.allclose(answers.label_probabilities, given, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("deterministic", [True, False])
def test_the_randomised_rule_draws_what_the_native_one_draws(deterministic):
    X, y = scenario("text")
    parameters = {**QUICK, "deterministic": deterministic}
    native, adapted = driftline.AMRC(random_state=3, **parameters), AMRC(seed=3, **parameters)
    native.partial_fit(X, y)
    for x, label in zip(dictionaries(X), y.tolist(), strict=True):
        adapted.learn_one(x, label)
    frame = pd.DataFrame(X, columns=NAMES)
    assert adapted.predict_many(frame).tolist() == native.predict(X).tolist()
    assert adapted.predict_one(dictionaries(X)[0]) == native.predict(X[:1])[0]


def test_weights_are_those_of_the_native_estimator():
    X, y = scenario("as it is")
    weights = np.where(np.arange(len(X)) < 20, 1.0, np.tile([0.5, 1, 3, 0], len(X))[: len(X)])
    native, adapted = driftline.AMRC(**QUICK).partial_fit(X, y, sample_weight=weights), AMRC(**QUICK)
    for x, label, weight in zip(dictionaries(X), y.tolist(), weights.tolist(), strict=True):
        adapted.learn_one(x, label, w=weight)
    ours = pd.DataFrame(X, columns=NAMES)
    assert np.array_equal(adapted.predict_proba_many(ours)[native.classes_.tolist()], native.predict_proba(X))


@pytest.mark.parametrize("late_labels", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_river_accepts_the_estimator(late_labels):
    model = AMRC(late_labels=late_labels, **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows that are learned and never asked about
        checks.check_estimator(model)
    skipped = model._unit_test_skips()
    assert len(skipped) == 2 * late_labels
    assert skipped <= {check.__name__ for check in checks.yield_checks(model)}


@pytest.mark.slow
def test_river_accepts_the_default_and_one_that_is_not_seeded():
    for model in (AMRC(), AMRC(seed=None)):
        checks.check_estimator(model)
        assert model._unit_test_skips() == set()


@pytest.mark.parametrize("params", [{}, *AMRC._unit_test_params()])
def test_all_parameters_of_the_native_estimator_are_there(params):
    ours, native = AMRC(**params)._get_params(), driftline.AMRC(**params).get_params()
    assert ours.pop("seed") == native.pop("random_state")
    assert not ours.pop("late_labels")
    assert native.pop("expire_after_time") is None  # River's learn_one has no times
    assert native.pop("guarantees") is None  # they come with Guarded, for labels of any type
    assert native.pop("costs") is native.pop("class_weight") is None  # they name labels; rows have weights
    assert ours == native


# Features -----------------------------------------------------------------------------------------------


def emerging(n_rows=900, at=300):
    """A feature that decides comes in mid-stream, and for a while it goes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    labels = np.where(X[:, 2] > 0, "up", "down").tolist()
    rows = dictionaries(X)
    for row in [*rows[:at], *rows[700:720]]:
        del row["x2"]
    return rows, labels


def test_a_feature_that_emerges_is_used_and_one_that_vanishes_is_missed():
    rows, labels = emerging()
    model = AMRC()
    wrong = np.array(
        [p != y for (_, p, *_), y in zip(followed(model, rows, labels), labels, strict=True)],
    )
    assert wrong[100:300].mean() > 0.35
    assert wrong[400:700].mean() < 0.1
    assert wrong[720:].mean() < 0.1
    assert model.feature_names == ["x0", "x1", "x2"]
    assert model.n_missing == 20


def test_a_feature_that_nothing_was_learned_of_changes_no_prediction_and_no_model():
    rows, labels = emerging()
    model = AMRC(**QUICK)
    for x, y in zip(rows[:50], labels, strict=False):
        model.learn_one(x, y)
    before = pickle.dumps(model)
    assert model.predict_proba_one(rows[60] | {"unheard of": 1e6}) == model.predict_proba_one(rows[60])
    assert pickle.dumps(model) == before


def test_the_order_of_features_does_not_matter_and_names_may_be_of_any_kind():
    names = ["b", 7, ("a", 1), None]
    X, y = small_stream(n_steps=100)
    X = np.column_stack([X, X[:, 0] ** 2])
    models = AMRC(), AMRC()
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = dict(zip(names, row, strict=True))
        models[0].learn_one(x, label)
        models[1].learn_one(dict(reversed(x.items())), label)
    assert models[0].feature_names == models[1].feature_names
    assert models[0].predict_proba_one(x) == models[1].predict_proba_one(x)
    assert set(models[0].drift()["feature"]) == {"b", "7", "('a', 1)", "None"}


def test_rows_without_features_are_learned_by_their_labels():
    model = AMRC(**QUICK)
    for label in "aab":
        model.learn_one({}, label)
    assert model.feature_names == []
    assert model.predict_one({}) == "a"
    assert len(model.drift()) == 2
    model.learn_one({"x": 1.0}, "b")
    assert model.feature_names == ["x"]
    assert model._named.model.n_features_in_ == 1
    assert model.predict_one({"x": 2.0, "y": 3.0}) in "ab"


@pytest.mark.parametrize("value", [True, 1, np.float32(1.0), np.int8(1), np.bool_(True), Fraction(1), 1.0])
def test_whatever_is_a_number_is_one(value):
    X, y = small_stream()
    models = AMRC(**QUICK), AMRC(**QUICK)
    for x, label in zip(dictionaries(X), y.tolist(), strict=True):
        models[0].learn_one(x | {"x1": value}, label)
        models[1].learn_one(x | {"x1": 1.0}, label)
    assert models[0].predict_proba_one(x) == models[1].predict_proba_one(x)


@pytest.mark.parametrize("gone", [None, float("nan"), np.nan, "absent"])
def test_what_is_missing_is_missing_however_it_is_said(gone):
    model = AMRC(**QUICK)
    for value in (1.0, 2.0):
        model.learn_one({"a": value, "b": value}, value > 1)
    row = {"a": 3.0} if gone == "absent" else {"a": 3.0, "b": gone}
    model.learn_one(row, True)
    assert model.n_missing == 1
    assert model.predict_proba_one(row) == model.predict_proba_one({"a": 3.0})


def test_dictionaries_with_a_default_stay_as_they_are_and_lack_what_they_lack():
    model = AMRC(**QUICK)
    model.learn_one({"a": 1.0, "b": 2.0}, 0)
    for x in (defaultdict(float, a=3.0), Counter(a=3)):
        given = model.predict_proba_one(x)
        model.learn_one(x, 1)
        assert list(x) == ["a"]
        assert given
    assert model.n_missing == 2


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"a": "red"}, r"feature 'a' is the text 'red'; expected a number.*OneHotEncoder"),
        ({"a": "1.5"}, r"feature 'a' is the text '1.5'"),
        ({"a": 1.0, "b": b"x"}, r"feature 'b' is the text b'x'"),
        ({"a": date(2026, 1, 1)}, r"feature 'a' is datetime.date\(2026, 1, 1\) \(date\); expected a number"),
        ({"a": [1.0, 2.0]}, r"feature 'a' is \[1.0, 2.0\] \(list\)"),
        ({"a": 1j}, r"feature 'a' is 1j \(complex\)"),
        ({"a": 1.0, "b": float("inf")}, r"feature 'b' is inf; expected finite numbers up to 1e\+"),
        ({"a": -1e300}, r"feature 'a' is -1e\+300; expected finite numbers up to"),
        ({"a": 10**400}, r"feature 'a' is 1000"),
        ([1.0, 2.0], r"x is \[1.0, 2.0\]; expected a dictionary"),
        (None, r"x is None; expected a dictionary"),
    ],
)
@pytest.mark.parametrize("learned", [True, False])
def test_what_is_no_number_is_refused_by_name_and_leaves_no_trace(x, message, learned):
    model = AMRC(**QUICK)
    if learned:
        for label in range(3):
            model.learn_one({"a": float(label)}, label)
    before = pickle.dumps(model._named.model), model.labels, model.feature_names if learned else None
    with pytest.raises(DataError, match=message):
        model.learn_one(x, "new")
    if learned and (not isinstance(x, dict) or "b" not in x):
        with pytest.raises(DataError, match=message):
            model.predict_proba_one(x)
    assert before == (pickle.dumps(model._named.model), model.labels, model.feature_names if learned else None)
    model.learn_one({"c": 1.0}, "new")
    assert model.feature_names == (["a", "c"] if learned else ["c"])


class Limited:
    """A custom feature map that rejects large numbers."""

    def start(self, n_columns):
        pass

    def transform(self, Z):
        if np.any(Z > 3.0):
            raise DataError("too large")
        return Z

    def state(self):
        return {}

    def restore(self, state):
        pass


def test_a_feature_map_of_the_users_own_takes_no_new_features_and_says_so():
    model = AMRC(features=Limited(), scaling="none")
    with pytest.raises(DataError, match="too large"):
        model.learn_one({"a": 5.0, "b": 1.0}, 0)
    model.learn_one({"a": 1.0}, 0)
    with pytest.raises(ConfigError, match="columns cannot be added with a custom feature map"):
        model.learn_one({"a": 1.0, "b": 1.0}, 1)
    table = pd.DataFrame({"a": [1.0, 2.0, 5.0]})
    with pytest.raises(DataError, match="too large"):
        model.learn_many(table, pd.Series([0, 1, 2]))
    assert model.labels == [0, 1]
    assert model.predict_one({"a": 1.0}) in (0, 1)


# Labels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        [("a", 1), ("b", 2)],
        ["text", 7, 2.5, ("a",), frozenset({1})],
        [False, True],
        [np.bool_(False), np.bool_(True)],
        [date(2026, 1, 1), date(2026, 1, 2)],
        [10**30, -(10**30)],
    ],
    ids=str,
)
def test_labels_are_anything_hashable(labels):
    X, y = small_stream(n_steps=200, n_classes=len(labels))
    model, plain = AMRC(**QUICK), AMRC(**QUICK)
    for x, place in zip(dictionaries(X), y.tolist(), strict=True):
        model.learn_one(x, labels[place])
        plain.learn_one(x, place)
    assert model.labels == [labels[place] for place in plain.labels]
    assert list(model.predict_proba_one(x).values()) == list(plain.predict_proba_one(x).values())
    frame = pd.DataFrame(X, columns=NAMES)
    expected = [model.predict_one(x) for x in dictionaries(X)]
    assert model.predict_many(frame).tolist() == expected
    table = model.predict_proba_many(frame)
    assert list(table.columns) == model.labels
    assert {*model.drift()["label"]} == {*labels}


@pytest.mark.parametrize("label", [None, float("nan"), [1], {}])
def test_what_cannot_be_a_label_is_refused(label):
    model = AMRC(**QUICK)
    for learn in (lambda: model.learn_one({"a": 1.0}, label), lambda: model.learn_many(pd.DataFrame([[1.0]]), [label])):
        with pytest.raises(DataError, match="expected a label"):
            learn()
    assert model.labels == []


# Tables -------------------------------------------------------------------------------------------------


def test_tables_are_learned_and_predicted_like_rows():
    X, y = scenario("missing features")
    frame = pd.DataFrame(X, columns=NAMES, index=range(1000, 1300)).assign(flag=X[:, 0] > 0, kind=1)
    labels = pd.Series(np.array(["cow", "ant", "bee"])[y])
    rows, tables = AMRC(**QUICK), AMRC(**QUICK)
    for x, label in zip(frame.to_dict("records"), labels, strict=True):
        rows.learn_one(x, label)
    for start in (0, 100):
        tables.learn_many(
            frame.iloc[start : start + (100 if start == 0 else 200)], labels.iloc[start : start + 200 if start else 100]
        )
    given = tables.predict_proba_many(frame)
    assert given.index.equals(frame.index)
    assert given.to_dict("records") == [rows.predict_proba_one(x) for x in frame.to_dict("records")]
    assert tables.error_bound == rows.error_bound


def test_tables_before_anything_was_learned_and_without_rows():
    model, frame = AMRC(**QUICK), pd.DataFrame({"a": [1.0, 2.0]}, index=["p", "q"])
    assert model.predict_proba_many(frame).shape == (2, 0)
    assert model.predict_many(frame).to_dict() == {"p": None, "q": None}
    model.learn_many(frame[:0], pd.Series([], dtype=object))
    assert model.labels == []
    model.learn_many(frame, pd.Series(["x", "y"]))
    assert model.predict_proba_many(frame[:0]).shape == (0, 2)
    assert model.predict_many(frame[:0]).shape == (0,)


def test_tables_that_cannot_be_read_are_refused():
    model = AMRC(**QUICK)
    with pytest.raises(DataError, match="X has 2 rows and y 1 labels"):
        model.learn_many(pd.DataFrame({"a": [1.0, 2.0]}), pd.Series([1]))
    with pytest.raises(DataError, match="feature 'a' is the text 'red'"):
        model.learn_many(pd.DataFrame({"a": ["red"]}), pd.Series([1]))
    with pytest.raises(DataError, match="several columns named 'a'"):
        model.learn_many(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), pd.Series([1]))
    with pytest.raises(DataError, match="expected a pandas DataFrame"):
        model.learn_many(np.zeros((1, 2)), [1])
    nullable = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.array([True, None], dtype="boolean")})
    model.learn_many(nullable, pd.Series([1, 2]))
    assert model.n_missing == 2


# River's tools ------------------------------------------------------------------------------------------


def test_it_works_in_pipelines_ensembles_and_the_evaluation_of_river():
    models = {
        "alone": AMRC(**QUICK),
        "scaled": preprocessing.StandardScaler() | AMRC(**QUICK),
        "selected": compose.Select("empty_server_form_handler", "https") | AMRC(**QUICK),
        "watched": drift.DriftRetrainingClassifier(AMRC(**QUICK)),
        "voted": ensemble.VotingClassifier([AMRC(**QUICK), AMRC(order=0, **QUICK)]),
    }
    scores = {
        name: evaluate.progressive_val_score(datasets.Phishing().take(500), model, metrics.Accuracy()).get()
        for name, model in models.items()
    }
    assert min(scores.values()) > 0.75, scores


def test_text_goes_through_river_encoder():
    rows = [{"colour": colour, "size": float(t % 3)} for t, colour in enumerate(["red", "blue", "green"] * 40)]
    model = (compose.SelectType(str) | preprocessing.OneHotEncoder()) + compose.SelectType(float) | AMRC(**QUICK)
    labels = [row["colour"] == "blue" for row in rows]
    score = evaluate.progressive_val_score(list(zip(rows, labels, strict=True)), model, metrics.Accuracy())
    assert score.get() > 0.9


def test_copies_pickles_and_clones_go_on_alike():
    X, y = scenario("text")
    rows, labels = dictionaries(X), y.tolist()
    model = AMRC()
    followed(model, rows[:100], labels[:100])
    copies = copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.clone(include_attributes=True)
    fresh = model.clone()
    assert fresh.labels == []
    followed(fresh, rows[:100], labels[:100])
    expected = followed(model, rows[100:], labels[100:])
    for other in (*copies, fresh):
        assert followed(other, rows[100:], labels[100:]) == expected


def test_before_anything_was_learned_nothing_is_claimed():
    model = AMRC(**QUICK)
    assert model.predict_proba_one({"a": 1.0}) == {}
    assert model.predict_one({"a": 1.0}) is None
    assert (model.error_bound, model.rate_bound, model.mistake_bound()) == (1.0, 1.0, 0.0)
    assert (model.n_missing, model.n_waiting) == (0, 0)


def test_parameters_that_cannot_work_are_refused_when_it_learns():
    model = AMRC(order=7)
    with pytest.raises(ConfigError, match="order must be 0 or 1"):
        model.learn_one({"a": 1.0}, 0)


# Late labels --------------------------------------------------------------------------------------------


def turning(n_rows=1500):
    X, y = RotatingGaussians(angular_rate=0.01).sample(n_rows, seed=0)
    return list(zip(dictionaries(X, ("a", "b")), y.tolist(), strict=True)), X, y


def delayed(model, pairs, delay):
    """Return the expected errors of the randomised rule, and the bounds when it spoke."""
    errors, bounds, said = [], [], {}
    for i, x, *label in stream.simulate_qa(pairs, None, delay, copy=True):
        y = label[0]
        if y is None:
            said[i] = model.predict_proba_one(x), model.error_bound
            continue
        h, bound = said.pop(i)
        if h:
            errors.append(1.0 - h.get(y, 0.0))
            bounds.append(bound)
        model.learn_one(x, y)
    return np.array(errors), np.array(bounds)


def test_with_late_labels_the_bound_allows_for_the_delay():
    pairs, _, _ = turning()
    model, unaware = AMRC(late_labels=True, **QUICK), AMRC(**QUICK)
    errors, bounds = delayed(model, pairs, 100)
    assert np.mean(bounds[300:]) >= np.mean(errors[300:]) > 0.3
    errors, bounds = delayed(unaware, pairs, 100)
    assert np.mean(bounds[300:]) < np.mean(errors[300:]) - 0.2  # what the parameter is for
    assert unaware.n_waiting == 0


def test_with_late_labels_predictions_are_those_of_the_native_estimator_that_observes():
    pairs, X, y = turning(300)
    model, native = AMRC(late_labels=True, **QUICK), driftline.AMRC(**QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for t, (x, _) in enumerate(pairs):
            said = model.predict_proba_one(x)
            if t > 20:
                assert list(said.values()) == native.predict_proba(X[t : t + 1])[0].tolist()
            native.observe(X[t : t + 1])
            if t > 20:
                assert (model.error_bound, model.n_waiting) == (native.error_bound_, native.n_waiting_)
            if t >= 20:
                model.learn_one(*pairs[t - 20])
                native.partial_fit(X[t - 20 : t - 19], y[t - 20 : t - 19])
    assert model.n_waiting == native.n_waiting_ == 20


def test_rows_predicted_before_any_label_arrives_do_not_make_the_bound_small():
    """They are learned late: what the model would say of them by then says nothing about its predictions."""
    pairs, _, _ = turning(400)
    model = AMRC(late_labels=True, **QUICK)
    for x, _ in pairs[:150]:
        assert model.predict_one(x) is None
    assert model.n_waiting == 150
    for x, y in pairs[:150]:
        model.learn_one(x, y)
    assert model.n_waiting == model.n_expired == 0
    assert model.error_bound == 0.5


def test_early_rows_that_cannot_be_read_are_left_out():
    model = AMRC(late_labels=True, **QUICK)
    for x in ({"a": 1.0}, {"a": "text"}, {"a": float("inf")}, 5, {}):
        assert model.predict_one(x) is None
    model.learn_one({"a": 1.0}, "yes")
    assert model.n_waiting == 1  # the row without features


def test_pending_rows_are_given_up_after_a_number_of_labels():
    pairs, _, _ = turning(60)
    model = AMRC(late_labels=True, expire_after_labels=20, **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for t, (x, y) in enumerate(pairs):
            model.predict_one(x)
            if t % 2:
                model.learn_one(x, y)
    assert model.n_waiting + model.n_expired == 30
    assert model.n_waiting == 19  # 20 labels were learned after the twentieth row from the end


def test_rivers_evaluation_with_a_delay():
    for late_labels in (False, True):
        model = AMRC(late_labels=late_labels, **QUICK)
        score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy(), delay=20)
        assert score.get() > 0.8
        assert model.n_waiting == 0


def test_a_feature_that_emerges_while_rows_wait_is_found_again():
    rows, labels = emerging()
    pairs = list(zip(rows, labels, strict=True))
    model = AMRC(late_labels=True, **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate.progressive_val_score(pairs, model, metrics.Accuracy(), delay=30)
    assert model.n_waiting == 0
    assert model.feature_names == ["x0", "x1", "x2"]


def test_rows_that_were_changed_in_between_are_warned_of_once():
    pairs, _, _ = turning(200)
    model = preprocessing.StandardScaler() | AMRC(late_labels=True, **QUICK)
    with pytest.warns(UserWarning, match="is not pending.*AMRC needs no scaler") as caught:
        evaluate.progressive_val_score(pairs, model, metrics.Accuracy(), delay=20)
    assert len(caught) == 1
    assert model["AMRC"].n_waiting > 0


# The other way round ------------------------------------------------------------------------------------


def test_rivers_amrc_in_our_evaluation_errs_as_ours_does():
    X, y = scenario("text")
    answers = driftline.adapters.RiverClassifier(AMRC(**QUICK)).prequential(X, y)
    assert answers.predicted[1:].tolist() == driftline.AMRC(**QUICK).prequential(X, y).predicted[1:].tolist()


def test_a_table_is_asked_about_as_a_loop_over_its_rows_is_while_labels_are_late():
    X, y = scenario("units of their own")
    rows = dictionaries(X)
    model = AMRC(late_labels=True, **QUICK)
    for x, label in zip(rows[:30], y[:30].tolist(), strict=True):
        model.learn_one(x, label)
    twin, frame = copy.deepcopy(model), pd.DataFrame(X[30:], columns=NAMES)
    said = model.predict_proba_many(frame)
    assert said.to_dict("records") == [twin.predict_proba_one(x) for x in rows[30:]]
    assert model.predict_many(frame).tolist() == [twin.predict_one(x) for x in rows[30:]]
