import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from driftline.baselines.naive_bayes import (
    class_weight,
    copy_expert,
    empty_experts,
    learn,
    most_probable_class,
    reset_expert,
    resized,
    with_room_for_codes,
)
from helpers.bayes_rule import PlainBayes, changing
from helpers.strategies import seeds

MIXED = [0, 2]


def room(n_columns, nominal, n_experts=1, n_classes=3):
    return resized(empty_experts(n_columns, nominal), n_experts, n_classes)


def taught(X, y, nominal, n_classes=3):
    """One expert that learned some rows."""
    experts = with_room_for_codes(room(X.shape[1], nominal, n_classes=n_classes), X)
    for row, label in zip(X, y, strict=True):
        learn(experts, 0, row, label)
    return experts


def plain(X, y, nominal, n_classes=3):
    twin = PlainBayes(nominal, n_classes)
    for row, label in zip(X, y, strict=True):
        twin.learn(row.tolist(), label)
    return twin


def product(experts, c, x, e=0):
    m, k = class_weight(experts, e, c, x)
    assert m == 0.0 or 0.5 <= m < 1.0
    return math.ldexp(m, int(k))


def log_product(experts, c, x):
    m, k = class_weight(experts, 0, c, x)
    return -math.inf if m == 0.0 else math.log(m) + k * math.log(2)


def arrays(experts):
    return [array.tolist() for array in experts]


@settings(max_examples=40)
@given(seeds, st.integers(0, 30), st.sampled_from([0.0, 0.3]))
def test_the_weight_of_a_class_is_the_product_of_its_probabilities(seed, n_rows, missing):
    X, y = changing(seed, n_rows + 5, MIXED, 4, missing=missing)
    experts, twin = taught(X[:n_rows], y[:n_rows], MIXED), plain(X[:n_rows], y[:n_rows], MIXED)
    for x in X:
        for c in range(3):
            assert product(experts, c, x) == pytest.approx(twin.weight(c, x.tolist()), rel=1e-9, abs=1e-290)


@settings(max_examples=40)
@given(seeds, st.integers(0, 30), st.integers(1, 6))
def test_nominal_columns_give_what_plain_products_give_to_the_bit(seed, n_rows, n_columns):
    nominal = list(range(n_columns))
    X, y = changing(seed, n_rows + 5, nominal, n_columns, missing=0.1)
    experts, twin = taught(X[:n_rows], y[:n_rows], nominal), plain(X[:n_rows], y[:n_rows], nominal)
    for x in X:
        assert [product(experts, c, x) for c in range(3)] == [twin.weight(c, x.tolist()) for c in range(3)]
        assert most_probable_class(experts, 0, x) == twin.opinion(x.tolist())


def test_numeric_columns_have_gaussian_densities():
    X, y = changing(0, 60, [], 5)
    experts = taught(X, y, [])
    for c in range(3):
        own = X[y == c]
        expected = math.log(len(own) / 60) + norm.logpdf(X[0], own.mean(axis=0), own.std(axis=0, ddof=1)).sum()
        assert log_product(experts, c, X[0]) == pytest.approx(expected, rel=1e-12)


def test_many_columns_do_not_underflow():
    nominal = list(range(3000))
    X, y = changing(0, 40, nominal, 3000)
    experts, twin = taught(X[:30], y[:30], nominal), plain(X[:30], y[:30], nominal)
    x = X[35]
    for c in range(3):
        expected = math.log((y[:30] == c).mean()) + sum(math.log(twin.factor(j, c, x[j])) for j in nominal)
        assert expected < math.log(5e-324)
        assert log_product(experts, c, x) == pytest.approx(expected, rel=1e-12)
    assert most_probable_class(experts, 0, x) == y[35]


def test_a_row_far_from_all_classes_goes_to_the_one_it_is_nearest_to_in_deviations():
    X = np.array([[-1.0], [0.0], [1.0], [9.0], [10.0], [11.0]])
    experts = taught(X, np.array([0, 0, 0, 1, 1, 1]), [], n_classes=2)
    assert most_probable_class(experts, 0, np.array([1e9])) == 1
    assert most_probable_class(experts, 0, np.array([-1e9])) == 0


@pytest.mark.parametrize("large", [1e30, -1e30])
@pytest.mark.parametrize("small", [0.0, 5e-324, 1e-160])  # the last has nearly the smallest variance
def test_numbers_of_any_size_have_a_weight(large, small):
    X = np.array([[0.0, 0.0], [small, 0.0], [1.0, large], [2.0, 0.0]])
    experts = taught(X, np.array([0, 0, 1, 1]), [], n_classes=2)
    for x in [*X, np.array([large, large]), np.array([small, large])]:
        m, k = zip(*(class_weight(experts, 0, c, x) for c in range(2)), strict=True)
        assert np.isfinite([*m, *k]).all()
    assert most_probable_class(experts, 0, X[2]) == 1


def test_without_variance_a_class_is_ruled_out_by_any_value_but_its_own():
    experts = taught(np.array([[3.0], [3.0], [4.0], [6.0]]), np.array([0, 0, 1, 1]), [], n_classes=2)
    assert product(experts, 0, np.array([3.0])) == 0.5
    assert product(experts, 0, np.array([3.5])) == 0.0
    assert most_probable_class(experts, 0, np.array([3.0])) == 0
    assert most_probable_class(experts, 0, np.array([3.5])) == 1


@pytest.mark.parametrize("nominal", [[], [0, 1]])
def test_missing_values_are_passed_over(nominal):
    X, y = changing(0, 30, nominal, 2)
    X[::3, 1] = np.nan
    experts, x = taught(X, y, nominal), X[1]
    alone = taught(X[:, :1], y, nominal[:1])
    for c in range(3):
        assert product(experts, c, np.array([x[0], np.nan])) == product(alone, c, x[:1])
        assert product(experts, c, np.full(2, np.nan)) == pytest.approx((y == c).mean(), rel=1e-15)


@pytest.mark.parametrize("nominal", [[], [0]])
def test_a_class_of_which_a_column_has_no_value_is_ruled_out_where_there_is_one(nominal):
    experts = taught(np.array([[np.nan], [2.0], [2.0]]), np.array([0, 1, 1]), nominal)
    assert product(experts, 0, np.array([2.0])) == 0.0
    assert most_probable_class(experts, 0, np.array([np.nan])) == 1


def test_a_code_that_never_came_counts_as_seen_once():
    experts = taught(np.array([[1.0], [0.0], [1.0]]), np.zeros(3, int), [0], n_classes=1)
    assert product(experts, 0, np.array([1023.0])) == pytest.approx(1 / (3 + 2), rel=1e-15)


def test_an_expert_that_has_learned_nothing_votes_for_the_first_class():
    assert most_probable_class(room(2, [0]), 0, np.array([1.0, 2.0])) == 0


@settings(max_examples=20)
@given(seeds)
def test_room_for_more_changes_nothing(seed):
    X, y = changing(seed, 30, MIXED, 4, missing=0.1)
    experts = taught(X, y, MIXED)
    wider = np.zeros((1, 4))
    wider[0, MIXED] = [9, 2]
    larger = with_room_for_codes(resized(experts, 3, 5), wider)
    assert np.diff(larger.starts).tolist() == [10, 0, max(np.diff(experts.starts)[2], 3), 0]
    for x in X:
        assert [class_weight(larger, 0, c, x) for c in range(3)] == [class_weight(experts, 0, c, x) for c in range(3)]
        assert class_weight(larger, 0, 4, x) == class_weight(larger, 2, 0, x) == (0.0, 0.0)
    smaller = resized(larger, 1, 5)
    assert smaller.counts.shape[:2] == (1, 5)
    learn(larger, 0, X[0], 4)
    assert larger.rows[0, 4] == 1
    assert smaller.rows[0, 4] == 0


def test_experts_can_take_the_place_of_others():
    X, y = changing(0, 30, MIXED, 4)
    experts = resized(taught(X, y, MIXED), 2, 3)
    one = arrays(resized(experts, 1, 3))
    copy_expert(experts, 1, 0)
    assert arrays(resized(experts, 1, 3)) == one
    reset_expert(experts, 0)
    assert arrays(resized(experts, 1, 3)) == arrays(with_room_for_codes(room(4, MIXED), X))
    copy_expert(experts, 0, 1)
    assert arrays(resized(experts, 1, 3)) == one
