import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.ensemble.label_members import N_PENDING, LabelMembers
from driftline.kernels.label_chain import MAX_BEHIND
from helpers.reference_labels import ReferenceLabels, forgetting_counts
from helpers.strategies import seeds


def random_rows(seed, n, c):
    """Probabilities, some of them 0, and labels in runs."""
    rng = np.random.default_rng(seed)
    h = rng.dirichlet(np.full(c, 0.3), n)
    h[h < 0.05] = 0.0
    changes, fresh = rng.random(n) < rng.choice([0.1, 0.5, 1.0]), rng.integers(0, c, n)
    labels = [0]
    for t in range(n):
        labels.append(fresh[t] if changes[t] else labels[-1])
    return h / h.sum(axis=1, keepdims=True), np.array(labels[1:])


def new_members(c):
    members = LabelMembers()
    members.add_classes(c)
    return members


def assert_equal_states(one, other):
    assert all(np.array_equal(array, other.state()[name]) for name, array in one.state().items())


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 60), st.integers(1, 4))
def test_the_rules_equal_their_formulas(seed, n, c):
    h, labels = random_rows(seed, n, c)
    members, twin, used = new_members(c), ReferenceLabels(c), h.copy()
    members.choose_and_learn(used, labels)
    for t in range(n):
        rules = twin.rules(h[t])
        assert np.allclose(used[t], rules[twin.chosen], atol=1e-9)
        twin.learn(rules, twin.last_two, labels[t])
    state = members.state()
    assert np.allclose(state["exponents"], twin.exponents, atol=1e-9)
    assert state["behind"].tolist() == twin.behind.tolist()
    assert state["last"].tolist() == list(twin.last_two)
    assert np.allclose(used.sum(axis=1), 1.0)
    assert used.min() >= 0.0


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 80), st.integers(1, 4))
def test_the_chain_counts_each_label_after_the_last_one(seed, n, c):
    h, labels = random_rows(seed, n, c)
    members = new_members(c)
    members.choose_and_learn(h, labels)
    state, before = members.state(), [-1, *labels[:-1].tolist()]
    expected = np.array([forgetting_counts(before, labels, last, c) for last in range(c)])
    assert np.allclose(state["transitions"][0], expected)
    assert state["counts"].tolist() == np.bincount(labels, minlength=c).tolist()


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(2, 60), st.integers(1, 4), st.integers(1, 59))
def test_blocks_are_learned_like_single_rows(seed, n, c, cut):
    h, labels = random_rows(seed, n, c)
    whole, parts = new_members(c), new_members(c)
    used, used_in_parts = h.copy(), h.copy()
    whole.choose_and_learn(used, labels)
    for part in (slice(0, cut), *(slice(t, t + 1) for t in range(cut, n))):
        assert np.array_equal(parts.probabilities(used_in_parts[part])[:1], _first_used(parts, h, labels, part))
        parts.choose_and_learn(used_in_parts[part], labels[part])
    assert np.array_equal(used, used_in_parts)
    assert_equal_states(whole, parts)


def _first_used(members, h, labels, part):
    copy, used = members.snapshot(), h[part][:1].copy()
    copy.choose_and_learn(used, labels[part][:1])
    return used


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 60), st.integers(2, 4), st.integers(0, 7))
def test_a_late_label_counts_for_the_last_labels_of_its_prediction(seed, n, c, delay):
    h, labels = random_rows(seed, n, c)
    members, twin, waiting = new_members(c), ReferenceLabels(c), []
    for t in range(n):
        kept, rules = members.pending(h[t : t + 1])[0], twin.rules(h[t])
        assert kept.shape == (N_PENDING, c)
        assert np.allclose(kept[:4], rules, atol=1e-9)
        waiting.append((kept, rules, twin.last_two, int(labels[t])))
        if len(waiting) > delay:
            kept, rules, context, y = waiting.pop(0)
            members.learn_pending(kept, y)
            twin.learn(rules, context, y)
    assert np.allclose(members.state()["exponents"], twin.exponents, atol=1e-9)
    assert members.state()["behind"].tolist() == twin.behind.tolist()


def test_without_delay_a_pending_row_is_learned_like_any_other():
    h, labels = random_rows(0, 200, 3)
    one, other = new_members(3), new_members(3)
    one.choose_and_learn(h.copy(), labels)
    for t in range(200):
        other.learn_pending(other.pending(h[t : t + 1])[0], int(labels[t]))
    assert_equal_states(one, other)


def test_a_rule_that_becomes_the_best_is_used_after_so_many_mistakes():
    members, n = new_members(2), 1000
    h = np.tile([1.0, 0.0], (n, 1))
    members.choose_and_learn(h.copy(), np.zeros(n, np.int64))  # the other rules are right too
    assert members.weights.tolist() == [1, 0, 0, 0]
    members.choose_and_learn(h[: MAX_BEHIND + 5].copy(), np.ones(MAX_BEHIND + 5, np.int64))
    assert members.weights[0] == 0
    assert members.weights.sum() == 1
    members.choose_and_learn(h.copy(), np.arange(n) % 2)
    assert members.weights[1] == 1  # which has learned that labels alternate


@pytest.mark.parametrize("c", [1, 2, 5])
def test_bounds_are_the_mean_mistakes_and_a_margin(c):
    h, labels = random_rows(1, 400, c)
    members, losses = new_members(c), []
    for t in range(400):
        losses.append(1 - members.pending(h[t : t + 1])[0, 1:4, labels[t]])
        members.choose_and_learn(h[t : t + 1].copy(), labels[t : t + 1])
    weights = 0.995 ** np.arange(400)[::-1]
    mean = np.average(losses, axis=0, weights=weights)
    deviation = np.sqrt(np.average((np.array(losses) - mean) ** 2, axis=0, weights=weights))
    expected = mean + 0.3 * deviation * np.sqrt((weights**2).sum()) / weights.sum()
    assert np.allclose(members.bounds, np.minimum(expected, 1 - 1 / c))
