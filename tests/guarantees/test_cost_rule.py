"""The rule that predicts the label with the smallest expected cost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.core.costs import Costs
from driftline.core.schema import check_values
from driftline.guarantees.cost_rule import CostRule
from helpers.reference_cost_rule import ReferenceCostRule
from helpers.strategies import seeds


def rule_of(c, costs=None):
    rule = CostRule(Costs({} if costs is None else costs))
    rule.add_classes(c)
    rule.name_classes(np.arange(c))
    return rule


def random_rows(seed, n, c):
    """Probabilities, many of them 0 or 1, and labels that follow them loosely."""
    rng = np.random.default_rng(seed)
    h = rng.dirichlet(np.full(c, 0.3), n)
    h = np.where(h < 0.1, 0.0, h)
    h /= h.sum(axis=1, keepdims=True)
    return h, np.array([rng.choice(c, p=0.7 * p + 0.3 / c) for p in h])


@settings(max_examples=20)
@given(seeds, st.integers(2, 5), st.integers(1, 80))
def test_the_kernel_does_what_its_twin_in_numpy_does(seed, c, n):
    rng = np.random.default_rng(seed)
    matrix = rng.exponential(size=(c, c)).round(2)
    rule = rule_of(c, {y: dict(enumerate(matrix[y])) for y in range(c)})
    twin, (h, labels) = ReferenceCostRule(matrix), random_rows(seed, n, c)
    for t in range(n):
        p = twin.probabilities(h[t])
        assert np.allclose(rule.probabilities(h[t : t + 1])[0], p, rtol=0, atol=1e-9)
        (chosen,) = rule.choose_then_learn(h[t : t + 1], labels[t : t + 1])
        assert p @ matrix[:, chosen] == pytest.approx((p @ matrix).min(), abs=1e-9)
        twin.learn(h[t], labels[t])
    check_values(rule.state(), rule.schema())


@given(seeds, st.integers(2, 4), st.integers(1, 40), st.integers(0, 40))
def test_rows_in_blocks_are_learned_as_one_by_one(seed, c, n, cut):
    h, labels = random_rows(seed, n, c)
    whole, parts = rule_of(c), rule_of(c)
    together = whole.choose_then_learn(h, labels)
    apart = [parts.choose_then_learn(h[rows], labels[rows]) for rows in (slice(cut), slice(cut, None))]
    assert np.array_equal(np.concatenate(apart), together)
    assert all(np.array_equal(whole.state()[name], parts.state()[name]) for name in whole.state())


@given(seeds, st.integers(2, 5))
def test_calibrated_probabilities_sum_to_one_and_choosing_changes_nothing(seed, c):
    h, labels = random_rows(seed, 60, c)
    rule = rule_of(c)
    rule.choose_then_learn(h[:40], labels[:40])
    before = rule.state()
    p, chosen = rule.probabilities(h[40:]), rule.choose(h[40:])
    assert np.all(p > 0)
    assert np.allclose(p.sum(axis=1), 1.0)
    assert np.array_equal(chosen, p.argmax(axis=1))  # all mistakes cost 1
    assert all(np.array_equal(before[name], array) for name, array in rule.state().items())


@given(seeds)
def test_two_classes_are_mirror_images(seed):
    h, labels = random_rows(seed, 80, 2)
    rule, mirrored = rule_of(2), rule_of(2)
    rule.choose_then_learn(h, labels)
    mirrored.choose_then_learn(np.ascontiguousarray(h[:, ::-1]), 1 - labels)
    assert np.allclose(rule.probabilities(h), mirrored.probabilities(np.ascontiguousarray(h[:, ::-1]))[:, ::-1])


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_probabilities_that_are_too_sure_become_calibrated(share):
    rng = np.random.default_rng(0)
    p = share * rng.uniform(0, 2, 8000)
    labels = (rng.random(8000) < p).astype(int)
    too_sure = 1 / (1 + ((1 - p) / p) ** 2)
    h = np.stack([1 - too_sure, too_sure], axis=1)
    rule = rule_of(2)
    rule.choose_then_learn(h, labels)
    calibrated = rule.probabilities(h)[:, 1]
    inner = too_sure > 0.01  # below, the smoothing shows
    assert np.mean(np.abs(calibrated - p)[inner]) < 0.3 * np.mean(np.abs(too_sure - p)[inner])
    assert calibrated.mean() == pytest.approx(p.mean(), rel=0.1)


def test_labels_that_contradict_the_probabilities_for_ever_leave_weights_in_their_range():
    rule, h = rule_of(2), np.tile([1.0, 0.0], (5000, 1))
    rule.choose_then_learn(h, np.ones(5000, np.int64))
    rule.choose_then_learn(h, np.zeros(5000, np.int64))
    check_values(rule.state(), rule.schema())
    assert np.isfinite(rule.probabilities(h[:1])).all()


def test_a_label_without_a_column_changes_nothing():
    rule = rule_of(2)
    before = rule.state()
    rule.choose_then_learn(np.array([[0.4, 0.6]]), np.array([2]))
    assert all(np.array_equal(before[name], array) for name, array in rule.state().items())
