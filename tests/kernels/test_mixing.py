import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driftline.kernels.mixing import (
    FIXED_SHARE,
    LEARNING_RATE,
    label_entries,
    largest_entries,
    mix_and_reweigh,
    mixture,
)
from helpers.strategies import seeds


def random_saying(seed, n, n_members, c):
    rng = np.random.default_rng(seed)
    said = rng.dirichlet(np.ones(c), (n, n_members))
    return said, rng.integers(0, c, n), rng.dirichlet(np.ones(n_members))


@given(seeds, st.integers(1, 20), st.integers(1, 6), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0]))
def test_mixing_equals_its_formula(seed, n, n_members, c, share):
    said, labels, weights = random_saying(seed, n, n_members, c)
    expected, h = weights.copy(), np.empty((n, c))
    mix_and_reweigh(said, labels, weights, h, share)
    for t in range(n):
        assert np.allclose(h[t], expected @ said[t], atol=1e-12)
        is_wrong = said[t].argmax(axis=1) != labels[t]  # no two probabilities are equal
        losses = (1 - share) * (1 - said[t, :, labels[t]]) + share * is_wrong
        expected = expected * np.exp(-LEARNING_RATE * losses)
        expected = (1 - FIXED_SHARE) * expected / expected.sum() + FIXED_SHARE / n_members
    assert np.allclose(weights, expected, atol=1e-12)
    assert np.isclose(weights.sum(), 1, atol=1e-12)
    assert np.all(weights >= FIXED_SHARE / n_members - 1e-15)
    assert np.allclose(mixture(said, weights), np.einsum("m,tmy->ty", weights, said), atol=1e-12)


@given(seeds, st.integers(2, 6))
def test_the_mixture_errs_little_more_often_than_the_best_member(seed, n_members):
    """Exponential weights with a fixed share: regret ≤ log(m)/η + ηT/8, and what the share costs."""
    said, labels, _ = random_saying(seed, 300, n_members, 3)
    weights, h = np.full(n_members, 1 / n_members), np.empty((300, 3))
    mix_and_reweigh(said, labels, weights, h, 0.0)
    steps = np.arange(300)
    best = (1 - said[steps, :, labels]).sum(axis=0).min()
    regret = (1 - h[steps, labels]).sum() - best
    share_cost = 300 * np.log(1 / (1 - FIXED_SHARE)) / LEARNING_RATE
    assert regret <= np.log(n_members) / LEARNING_RATE + LEARNING_RATE * 300 / 8 + share_cost


@given(seeds, st.integers(2, 12))
def test_what_all_members_are_sure_of_is_not_more_than_sure(seed, n_members):
    """Weights that sum to 1 sum to a little more if they are rounded."""
    weights, said = np.random.default_rng(seed).dirichlet(np.ones(n_members)), np.zeros((1, n_members, 2))
    said[:, :, 0] = 1.0
    h = np.empty((1, 2))
    assert mixture(said, weights * (1 + 1e-15)).max() <= 1.0
    mix_and_reweigh(said, np.zeros(1, np.int64), weights * (1 + 1e-15), h, 0.5)
    assert h.max() <= 1.0


@given(seeds, st.integers(0, 20), st.integers(1, 5))
def test_entries_equal_those_of_numpy(seed, n, c):
    rng = np.random.default_rng(seed)
    h, labels = rng.integers(0, 3, (n, c)) / 2, rng.integers(0, c, n)
    assert np.array_equal(largest_entries(h), np.argmax(h, axis=1))
    assert np.array_equal(label_entries(h, labels), h[np.arange(n), labels])


def test_of_equal_probabilities_each_counts_in_part():
    said = np.array([[[0.4, 0.4, 0.2], [0.8, 0.1, 0.1], [1 / 3, 1 / 3, 1 / 3]]])
    weights, h = np.full(3, 1 / 3), np.empty((1, 3))
    mix_and_reweigh(said, np.array([1]), weights, h, 1.0)
    raised = np.exp(LEARNING_RATE * np.array([1 / 2, 0, 1 / 3]))
    assert np.allclose(weights, (1 - FIXED_SHARE) * raised / raised.sum() + FIXED_SHARE / 3)
