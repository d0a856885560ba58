import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import ConfigError
from driftline.baselines import DWM
from helpers.bayes_rule import PlainMajority, changing
from helpers.quick_models import assert_same
from helpers.strategies import seeds

MIXED = [0, 2]
rules = st.fixed_dictionaries(
    {
        "period": st.integers(1, 7),
        "beta": st.sampled_from([0.5, 0.25, 0.9]),
        "threshold": st.sampled_from([0.01, 0.25, 0.6]),
        "max_experts": st.sampled_from([1, 2, 4, 100]),
    }
)


def weights(model):
    return model._learner.state()["method/weights"]


def irregular(seed, n_rows=120):
    """A stream with missing values, a class that comes late, and codes that grow."""
    X, y = changing(seed, n_rows, MIXED, 4, lasts=40, missing=0.1)
    y[: n_rows // 3] %= 2
    X[n_rows // 2 :, 2] += np.arange(n_rows - n_rows // 2) // 10
    return X, y


@settings(max_examples=30)
@given(seeds, rules, st.integers(2, 3))
def test_the_rule_is_that_of_kolter_and_maloof(seed, rule, n_classes):
    nominal = [0, 1, 2]
    X, y = changing(seed, 100, nominal, 3, n_classes=n_classes, lasts=30, missing=0.05)
    twin = PlainMajority(nominal, n_classes, **rule)
    model = DWM(nominal=nominal, **rule)
    said = [twin.step(x, label) for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    assert model.prequential(X, y, classes=range(n_classes)).predictions.tolist() == said
    assert weights(model).tolist() == twin.weights


@settings(max_examples=20)
@given(seeds, rules)
def test_weights_stay_between_the_threshold_and_one(seed, rule):
    X, y = changing(seed, 100, MIXED, 4, lasts=30)
    model = DWM(nominal=MIXED, **rule)
    for t in range(100):
        before = weights(model) if t else np.ones(1)
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1, 2] if t == 0 else None)
        now = weights(model)
        assert 1 <= len(now) <= rule["max_experts"]
        assert now.max() == 1
        assert now.min() >= rule["threshold"]
        if (t + 1) % rule["period"]:
            assert np.array_equal(now, before)


def test_experts_come_and_go_with_the_concepts():
    X, y = changing(1, 2000, MIXED, 4, lasts=250)
    model, sizes = DWM(nominal=MIXED, period=10), []
    wrong = model.prequential(X[:250], y[:250]).predictions != y[:250]
    for start in range(250, 2000, 50):
        part = slice(start, start + 50)
        wrong = np.append(wrong, model.prequential(X[part], y[part]).predictions != y[part])
        sizes.append(len(weights(model)))
    assert max(sizes) >= 5
    assert min(np.diff(sizes)) < 0
    alone = DWM(nominal=MIXED, max_experts=1, period=10_000).prequential(X, y).predictions != y
    assert wrong[250:].mean() < alone[250:].mean() - 0.05


@settings(max_examples=20)
@given(seeds, st.lists(st.integers(1, 119), max_size=6))
def test_grouping_rows_into_blocks_changes_nothing(seed, cuts):
    X, y = irregular(seed)

    def parts(places):
        model = DWM(nominal=MIXED, period=5)
        blocks = np.split(np.arange(120), places)
        return model, [p for rows in blocks for p in model.prequential(X[rows], y[rows]).predictions.tolist()]

    whole, predicted = parts([])
    for places in (np.unique(cuts).astype(int), np.arange(1, 120)):
        model, predictions = parts(places)
        assert predictions == predicted
        assert_same(model, whole)


@settings(max_examples=10)
@given(seeds, st.integers(1, 119))
def test_a_saved_model_continues_identically(tmp_path_factory, seed, cut):
    X, y = irregular(seed)
    path = tmp_path_factory.mktemp("models") / "dwm"
    model = DWM(nominal=np.array(MIXED), period=5).partial_fit(X[:cut], y[:cut])
    model.save(path)
    loaded = DWM.load(path)
    assert_same(loaded, model)
    assert loaded.nominal == MIXED
    predictions = model.prequential(X[cut:], y[cut:]).predictions
    assert loaded.prequential(X[cut:], y[cut:]).predictions.tolist() == predictions.tolist()
    assert_same(loaded, model)
    assert loaded.n_missing_ == model.n_missing_


def test_prediction_changes_nothing_and_says_what_comes_next():
    X, y = irregular(0)
    model = DWM(nominal=MIXED, period=5).partial_fit(X[:100], y[:100])
    twin = DWM(nominal=MIXED, period=5).partial_fit(X[:100], y[:100])
    X[101, 2] = 1000  # a code that no expert has a place for
    predictions = model.predict(X[100:])
    assert_same(model, twin)
    for t in range(100, 120):
        assert predictions[t - 100] == twin.predict(X[t : t + 1])[0]
    assert predictions[0] == twin.prequential(X[100:101], y[100:101]).predictions[0]


def test_a_class_first_seen_in_mid_stream_joins():
    X, y = changing(0, 200, MIXED, 4)
    y[:150] %= 2
    model = DWM(nominal=MIXED, period=5)
    answers = model.prequential(X, y)
    first = int(np.argmax(y == 2))
    assert first >= 150
    assert model.classes_.tolist() == [*dict.fromkeys(y[:150].tolist()), 2]
    assert set(answers.predictions[1:first]) <= {0, 1}
    assert 2 in model.predict(X)
    assert model.n_steps_ == 200


def test_what_is_no_code_counts_as_missing():
    X, y = changing(0, 60, MIXED, 4)
    odd, gone = X.copy(), X.copy()
    odd[5:10, 0] = [-1, 0.5, 1024, -1e30, 1e30]
    gone[5:10, 0] = np.nan
    ours, theirs = DWM(nominal=MIXED).fit(odd, y), DWM(nominal=MIXED).fit(gone, y)
    assert_same(ours, theirs)
    assert ours.n_missing_ == 5
    assert ours.predict(odd).tolist() == theirs.predict(gone).tolist()
    assert ours.n_missing_ == 5


def test_numbers_of_any_size_are_tolerated():
    X, y = changing(0, 60, MIXED, 4)
    X[20], X[30] = 1e30, -1e30
    model = DWM(nominal=MIXED, period=5).fit(X, y)
    assert set(model.predict(X)) <= {0, 1, 2}
    assert np.isfinite(model._learner.state()["method/squares"]).all()


def test_rows_that_are_missing_throughout_are_predicted_by_the_shares_of_the_classes():
    X, y = np.full((40, 2), np.nan), np.arange(40) % 4 // 3
    model = DWM(nominal=[0]).fit(X, y)
    assert model.n_missing_ == 80
    assert model.predict(X).tolist() == [0] * 40


def test_the_memory_of_codes_is_bounded():
    X = np.arange(5000.0)[:, None]
    model = DWM(nominal=[0]).partial_fit(X, np.arange(5000) % 2)
    assert model._learner.state()["method/counts"].shape[2] == 1024
    assert model.n_missing_ == 5000 - 1024


def test_no_nominal_columns_may_be_said_in_several_ways():
    X, y = changing(0, 60, [], 2)
    one, *others = (DWM(nominal=nominal).fit(X, y) for nominal in ((), None, [], np.array([])))
    for other in others:
        assert_same(one, other)


def test_nominal_columns_may_be_said_in_several_ways():
    X, y = changing(0, 60, MIXED, 4)
    one, *others = (DWM(nominal=said).fit(X, y) for said in (MIXED, (2, 0, 0), np.array(MIXED), range(0, 3, 2)))
    for other in others:
        assert_same(one, other)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nominal": [0, 4]}, r"nominal must be positions of columns, from 0 to 3; got \[0, 4\]"),
        ({"nominal": [-1]}, r"nominal must be a sequence of positions, whole numbers from 0 up; got \[-1\]"),
        ({"nominal": 3}, "nominal must be a sequence of positions"),
        ({"nominal": "02"}, "nominal must be a sequence of positions"),
        ({"nominal": ["a"]}, "nominal must be a sequence of positions"),
        ({"nominal": [0.5]}, "nominal must be a sequence of positions"),
        ({"nominal": [2**63]}, "nominal must be positions of columns"),
        ({"nominal": [2**70]}, "nominal must be a sequence of positions"),
        ({"nominal": [True, False]}, "nominal must be a sequence of positions"),
        ({"nominal": [[0], [1]]}, "nominal must be a sequence of positions"),
        ({"nominal": [[0], [1, 2]]}, "nominal must be a sequence of positions"),
        ({"period": 0}, "period must be a whole number from 1 up; got 0"),
        ({"beta": 1.0}, "beta must be a number between 0.0 and 1.0; got 1.0"),
        ({"threshold": 0}, "threshold must be a number between 0.0 and 1.0; got 0"),
        ({"max_experts": 0}, "max_experts must be a whole number from 1 up; got 0"),
    ],
)
def test_parameters_that_cannot_work_are_refused(changes, message):
    X, y = changing(0, 10, [], 4)
    model = DWM(**changes)
    with pytest.raises(ConfigError, match=message):
        model.partial_fit(X, y)
    assert not hasattr(model, "n_features_in_")


def test_a_parameter_changed_in_mid_stream_is_refused():
    X, y = changing(0, 60, MIXED, 4)
    model = DWM(nominal=MIXED).fit(X, y)
    model.set_params(nominal=tuple(MIXED)).partial_fit(X, y)
    with pytest.raises(ConfigError, match="nominal changed since the first call"):
        model.set_params(nominal=[0]).partial_fit(X, y)
