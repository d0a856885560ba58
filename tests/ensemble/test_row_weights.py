"""Weights of rows and classes: a row of weight w is learned as w rows."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import AMRC, ConfigError, DataError
from driftline.core.schema import check_values
from driftline.ensemble.row_weights import MAX_COPIES, RowWeights
from helpers.quick_models import assert_same, linear, small_stream
from helpers.strategies import seeds


def counted(class_weight, c=2):
    weights = RowWeights(class_weight)
    weights.add_classes(c)
    weights.name_classes(np.arange(c))
    return weights


def assert_same_but_weights(weighted, plain):
    """Assert that two models have the same state, bit for bit, but for the weights that one of them was given."""
    ours, theirs = weighted._learner.state(), plain._learner.state()
    assert {name for name in ours if not name.startswith("row_weights/")} == theirs.keys()
    assert all(np.array_equal(ours[name], theirs[name], equal_nan=ours[name].dtype.kind == "f") for name in theirs)


# How many rows a row counts as --------------------------------------------------------------------------


@given(seeds, st.lists(st.floats(0.1, 20), min_size=1, max_size=60))
def test_rows_of_a_class_add_up_to_their_weights(seed, given_weights):
    labels, weights = np.random.default_rng(seed).integers(2, size=len(given_weights)), np.array(given_weights)
    copies = counted({0: 3.0, 1: 1.5}).copies(labels, weights)
    copies = np.ones(len(labels)) if copies is None else copies
    means = np.cumsum(weights) / np.arange(1, len(weights) + 1)
    relative = np.minimum(np.array([2.0, 1.0])[labels] * weights / means, MAX_COPIES)
    for y in (0, 1):
        total = relative[labels == y].sum()
        assert total - 1.0 - 1e-6 <= copies[labels == y].sum() <= total + 1e-6


@given(st.floats(1e-3, 1e9), st.integers(1, 50))
def test_equal_weights_count_as_one_row_each(weight, n):
    assert counted(None).copies(np.zeros(n, np.int64), np.full(n, weight)) is None
    assert counted({0: weight, 1: weight}).copies(np.zeros(n, np.int64), None) is None


def test_balanced_classes_count_alike():
    labels = (np.arange(2000) % 10 == 0).astype(int)
    copies = counted("balanced").copies(labels, None)
    assert copies[labels == 1].sum() == pytest.approx(copies[labels == 0].sum(), rel=0.1)


def test_no_row_counts_as_more_than_a_hundred():
    assert counted({0: 1e-3, 1: 1e9}).copies(np.array([1]), None)[0] == MAX_COPIES


# Models -------------------------------------------------------------------------------------------------


@settings(max_examples=5)
@given(seeds, st.sampled_from([0.3, 1.0, 7.0]), st.booleans())
def test_equal_weights_change_nothing_bit_for_bit(seed, weight, by_class):
    X, y = small_stream(seed, 150, n_classes=3)
    plain = linear().partial_fit(X, y)
    if by_class:
        assert_same_but_weights(linear(class_weight=dict.fromkeys(range(3), weight)).partial_fit(X, y), plain)
    else:
        assert_same_but_weights(linear().partial_fit(X, y, sample_weight=np.full(150, weight)), plain)
        assert_same_but_weights(linear().partial_fit(X, y, sample_weight=weight), plain)


@settings(max_examples=5)
@given(seeds, st.integers(-3, 3))
def test_weights_count_by_their_ratios(seed, power):
    X, y = small_stream(seed, 100)
    weights = np.random.default_rng(seed).integers(1, 5, 100).astype(float)
    one = linear().fit(X, y, sample_weight=weights)
    other = linear().fit(X, y, sample_weight=2.0**power * weights)  # without rounding
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))


def test_rows_of_weight_0_are_ignored():
    X, y = small_stream(n_steps=200)
    weights = np.random.default_rng(0).integers(0, 3, 200).astype(float)
    taken = weights > 0
    one, other = linear(), linear()
    assert_same(
        one.partial_fit(X, y, sample_weight=weights),
        other.partial_fit(X[taken], y[taken], sample_weight=weights[taken]),
    )
    before = copy.deepcopy(one)
    assert_same(one.partial_fit(X, y, sample_weight=np.zeros(200)), before)
    assert one.n_steps_ == taken.sum()
    assert linear().partial_fit(X, y, classes=[0, 1], sample_weight=0).n_steps_ == 0


@pytest.mark.parametrize("options", [{}, {"label_memory": True}, {"class_weight": {1: 2.5}}, {"order": 0}])
def test_weighted_rows_are_learned_in_blocks_as_one_by_one(options):
    X, y = small_stream(n_steps=160, n_classes=3)
    times, weights = np.cumsum(np.random.default_rng(1).exponential(size=160)), np.tile([0.4, 1, 2.7, 0.2], 40)
    whole = linear(**options).partial_fit(X, y, timestamps=times, sample_weight=weights)
    single = linear(**options)
    for t in range(160):
        row = slice(t, t + 1)
        single.partial_fit(X[row], y[row], timestamps=times[row], sample_weight=weights[row])
    assert_same(single, whole)


def test_the_members_learn_a_row_of_weight_3_as_three_rows():
    X, y = small_stream(n_steps=40)
    plain = linear().partial_fit(X, y)
    weighted = copy.deepcopy(plain)
    weighted.partial_fit(X[:1], y[:1], sample_weight=[1e6])  # 40 rows had weight 1, so that it counts as nearly 41
    n_seen = "space0/store/n_seen"
    assert weighted._learner.state()[n_seen][0] - plain._learner.state()[n_seen][0] == 40
    assert weighted.n_steps_ == plain.n_steps_ + 1
    assert weighted.error_interval().n_rows == plain.error_interval().n_rows + 1


def test_a_class_of_larger_weight_is_predicted_more_often():
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.1).astype(int)
    X = rng.normal(size=(2000, 2)) + y[:, None]
    n_found = [
        np.sum(linear(class_weight=given).prequential(X, y).predicted[500:]) for given in (None, {1: 5}, "balanced")
    ]
    assert n_found[0] < n_found[1] < n_found[2]


@given(seeds)
@settings(max_examples=5)
def test_the_members_are_those_of_the_repeated_rows(seed):
    """So they are minimax rules of the weighted distribution, and `model_bound_` is a bound of the weighted error."""
    X, y = small_stream(seed, 20)
    repeats = np.where(y == 1, 3, 1)
    weighted, repeated = linear(class_weight={1: 3}, scaling="none"), linear(scaling="none")
    weighted.partial_fit(X, y, classes=[0, 1], timestamps=np.arange(20))
    again = (np.repeat(each, repeats, axis=0) for each in (X, y, np.arange(20)))
    repeated.partial_fit(next(again), next(again), classes=[0, 1], timestamps=next(again))
    ours, theirs = weighted._learner.state(), repeated._learner.state()
    names = [name for name in ours if name.startswith("space")]
    assert len(names) > 30
    for name in names:
        assert np.array_equal(ours[name], theirs[name], equal_nan=ours[name].dtype.kind == "f"), name
    assert weighted.members_["bound"].tolist() == repeated.members_["bound"].tolist()


def test_the_time_before_a_row_that_counts_as_none_passes_before_the_row_that_brings_a_class():
    X, y = small_stream(n_steps=42)
    X[40], y[40:] = X[39], (0, 2)  # row 40 is learned by no member, and moves no column; row 41 brings a class
    weights, times = np.append(np.ones(40), (1e-3, 1.0)), np.append(np.arange(40), (45, 46))
    model = linear(scaling="none").partial_fit(X, y, timestamps=times, sample_weight=weights)
    plain = linear(scaling="none")
    kept = np.arange(42) != 40
    plain.partial_fit(X[kept], y[kept], timestamps=times[kept])
    ours, theirs = model._learner.state(), plain._learner.state()
    names = [name for name in ours if name.startswith("space")]
    assert len(names) > 30
    for name in names:
        assert np.array_equal(ours[name], theirs[name], equal_nan=ours[name].dtype.kind == "f"), name


def test_calibrated_bounds_hold_for_unweighted_rows():
    rng = np.random.default_rng(1)
    y = (rng.random(3000) < 0.1).astype(int)
    X = rng.normal(size=(3000, 2)) + y[:, None]
    predictions = linear(class_weight={1: 9}).prequential(X, y)
    expected, charges = 1.0 - predictions.label_probabilities, predictions.charges
    n_above = sum(expected[t : t + 100].sum() > charges[t : t + 100].sum() for t in range(0, 3000, 100))
    assert expected.sum() <= charges.sum()
    assert n_above <= 15


def test_late_rows_have_their_weights():
    X, y = small_stream(n_steps=120)
    model = linear().partial_fit(X[:60], y[:60])
    model.observe(X[60:], ids=range(60))
    before = model._learner.state()["space0/store/n_seen"][0]
    model.partial_fit(X[60:], y[60:], ids=range(60), sample_weight=np.tile([0.0, 1.0, 3.0], 20))
    assert model.n_waiting_ == 20
    assert model._learner.state()["space0/store/n_seen"][0] - before > 40


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1, 1: 4.5}])
def test_a_weighted_model_is_saved_copied_and_pickled(class_weight, tmp_path):
    X, y = small_stream(n_steps=200)
    weights = np.tile([0.5, 2.0, 1.0, 0.7], 50)
    model = linear(class_weight=class_weight).partial_fit(X[:100], y[:100], sample_weight=weights[:100])
    model.save(tmp_path / "model")
    others = AMRC.load(tmp_path / "model"), copy.deepcopy(model), pickle.loads(pickle.dumps(model))
    model.partial_fit(X[100:], y[100:], sample_weight=weights[100:])
    for other in others:
        assert_same(other.partial_fit(X[100:], y[100:], sample_weight=weights[100:]), model)
    check_values(model._learner.row_weights.state(), model._learner.row_weights.schema())


def test_a_model_without_weights_has_no_arrays_of_them():
    X, y = small_stream()
    assert not any(name.startswith("row_weights") for name in linear().fit(X, y)._learner.state())


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(59), r"has the shape \(59,\), and X has 60 rows"),
        (np.ones((60, 1)), r"has the shape \(60, 1\)"),
        (np.append(np.ones(59), -1), "sample_weight of row 59 is -1.0; expected a number from 0"),
        (np.append(np.nan, np.ones(59)), "sample_weight of row 0 is nan"),
        (["heavy"] * 60, "sample_weight must be numbers"),
    ],
)
def test_weights_that_cannot_be_used_are_refused_and_change_nothing(weights, message):
    X, y = small_stream()
    model = linear().partial_fit(X, y)
    before = copy.deepcopy(model)
    with pytest.raises(DataError, match=message):
        model.partial_fit(X, y, sample_weight=weights)
    assert_same(model, before)


@pytest.mark.parametrize("value", ["even", 5, {}, {0: 0}, {0: -1}, {0: np.inf}, [1, 2]])
def test_class_weights_that_cannot_be_used_are_refused(value):
    with pytest.raises(ConfigError, match="class_weight"):
        linear(class_weight=value).fit(*small_stream())


def test_fit_needs_a_row_that_counts():
    X, y = small_stream()
    with pytest.raises(DataError, match="zero for all rows"):
        linear().fit(X, y, sample_weight=np.zeros(60))
