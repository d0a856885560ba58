import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driftline.kernels.simplex import randomised_rule, support_value
from helpers import reference_kernels
from helpers.strategies import moderate, scores


@given(scores())
def test_support_value_equals_enumeration_of_label_subsets(s):
    assert np.isclose(support_value(s), reference_kernels.support_value(s), atol=1e-12)


@given(scores(max_classes=50))
def test_support_value_is_the_threshold_of_the_simplex_projection(s):
    assert np.isclose(np.maximum(s - support_value(s), 0).sum(), 1, atol=1e-9)


@given(scores(), st.one_of(moderate, st.just(-np.inf)))
def test_rule_equals_its_formula(s, offset):
    h = randomised_rule(s[None], offset)[0]
    assert np.allclose(h, reference_kernels.randomised_rule(s, offset), atol=1e-9)


@given(scores(max_classes=50), moderate)
def test_rule_is_a_probability_vector(s, offset):
    h = randomised_rule(s[None], offset)[0]
    assert np.all(h >= 0)
    assert np.isclose(h.sum(), 1)


@given(scores(), moderate)
def test_loss_of_the_rule_is_at_most_one_minus_score_plus_support_value(s, offset):
    """The inequality that makes R(U) a bound, at every instance and label, for any weights."""
    h = randomised_rule(s[None], offset)[0]
    assert np.all(1 - h <= 1 - s + max(offset, support_value(s)) + 1e-9)


@given(scores(), moderate)
def test_deterministic_rule_errs_at_most_twice_as_often(s, offset):
    h = randomised_rule(s[None], offset)[0]
    wrong = np.arange(s.size) != np.argmax(h)
    assert np.all(wrong <= 2 * (1 - h) + 1e-9)


def test_rule_is_uniform_where_no_score_reaches_the_offset():
    assert np.array_equal(randomised_rule(np.array([[1.0, 2.0, 0.0, 1.0]]), 3.0), np.full((1, 4), 0.25))
