import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from ranks import critical_difference, friedman, holm, mean_ranks, signed_rank_tests

ERRORS = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 1.0], [5.0, 4.0, 6.0], [0.1, 0.2, 0.3]])


def test_equal_errors_share_the_mean_of_their_ranks():
    assert mean_ranks(ERRORS) == pytest.approx([(1 + 2.5 + 2 + 1) / 4, (2 + 2.5 + 1 + 2) / 4, (3 + 1 + 3 + 3) / 4])


def test_ranks_do_not_depend_on_the_size_of_errors():
    assert np.array_equal(mean_ranks(ERRORS), mean_ranks(ERRORS**3 * [[1.0], [10.0], [2.0], [0.5]]))


@pytest.mark.parametrize(("n_classifiers", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_is_that_of_the_published_table(n_classifiers, q):
    """Table 5 of Demšar (2006)."""
    expected = q * np.sqrt(n_classifiers * (n_classifiers + 1) / (6 * 14))
    assert critical_difference(n_classifiers, 14) == pytest.approx(expected, rel=1e-3)


def test_friedmans_test_is_significant_only_if_classifiers_rank_differently():
    same = np.tile([1.0, 2.0, 3.0], (15, 1))
    in_turn = np.array([np.roll([1.0, 2.0, 3.0], position) for position in range(15)])
    assert friedman(same) < 1e-5
    assert friedman(in_turn) == 1.0


def test_holms_correction_of_an_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_corrected_p_values_keep_their_order_and_lie_between_the_plain_ones_and_bonferronis(p_values):
    p, corrected = np.array(p_values), holm(p_values)
    assert np.all(np.diff(corrected[np.argsort(p)]) >= 0)
    assert np.all(corrected >= p)
    assert np.all(corrected <= np.minimum(1.0, p * len(p)))


def test_the_first_classifier_is_tested_against_each_other_one():
    errors = np.random.default_rng(1).random((12, 3))
    errors[:, 2] = errors[:, 0]
    errors[3, 1] = np.nan
    plain = wilcoxon(*np.delete(errors[:, :2], 3, axis=0).T).pvalue
    assert signed_rank_tests(errors) == pytest.approx([min(1.0, 2 * plain), 1.0])
