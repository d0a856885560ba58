from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from driftline.core.features import LinearFourierMap
from driftline.ensemble.plan import MemberPlan, SpacePlan
from driftline.ensemble.space import Space, ages_of
from driftline.kernels.descent import age_of, draw_rows, next_uniform
from driftline.kernels.member_state import Members
from driftline.kernels.simplex import single_support
from helpers import reference_kernels
from helpers.spaces import learn_in_space
from helpers.strategies import moderate, seeds


@given(st.integers(1, 6).flatmap(lambda c: st.lists(moderate, min_size=c, max_size=c)))
def test_support_equals_enumeration_of_label_subsets(values):
    scores = np.array(values, np.float32)
    order = np.zeros(scores.size, np.int64)
    phi, size = single_support(scores, order)
    exact = scores.astype(float)
    assert phi == pytest.approx(reference_kernels.support_value(exact), abs=1e-5)
    assert np.array_equal(np.sort(order), np.arange(scores.size))
    assert np.all(np.diff(scores[order]) <= 0)
    attained = (exact[order[:size]].sum() - 1) / size
    assert attained == pytest.approx(reference_kernels.support_value(exact), abs=1e-5)


def test_labels_that_attain_the_support_are_those_of_the_largest_scores_that_share_it():
    rng = np.random.default_rng(0)
    for _ in range(300):
        scores = rng.normal(size=rng.integers(1, 7)).astype(np.float32)
        order = np.zeros(scores.size, np.int64)
        _, size = single_support(scores, order)
        assert set(order[:size]) == set(reference_kernels.active_labels(scores.astype(float)))


def test_random_numbers_are_uniform_and_come_again():
    state, twin, numbers = np.array([12345], np.uint64), 12345, []
    for _ in range(20_000):
        numbers.append(next_uniform(state))
        expected, twin = reference_kernels.xorshift(twin)
        assert numbers[-1] == expected
    assert int(state[0]) == twin
    assert 0 <= min(numbers) < max(numbers) < 1
    assert chisquare(np.histogram(numbers[100:], 20, (0, 1))[0]).pvalue > 1e-3


@pytest.mark.parametrize(("n", "gain"), [(1, 0.2), (7, 0.2), (40, 0.05), (3000, 0.001), (9, 0.0), (900, 0.0)])
def test_ages_are_drawn_with_the_weights_of_the_window(n, gain):
    twin, quantiles, ages = 987654321, np.array([ages_of(gain)]), Counter()
    for t in range(64 * 320):
        u, twin = reference_kernels.xorshift(twin)
        age = age_of(u, quantiles, 0, t % 64, n)
        assert age == reference_kernels.age_of(u, t % 64, n, gain)
        ages[age] += 1
    weights = (1 - gain) ** np.arange(n)
    drawn = np.cumsum([ages[age] for age in range(n)]) / (64 * 320)
    assert np.abs(drawn - np.cumsum(weights / weights.sum())).max() < 0.01


@pytest.mark.parametrize("n_seen", [1, 40, 100, 170])
def test_rows_are_drawn_by_their_ages_from_the_ring_buffer(n_seen):
    space, drawn = new_space(PLANS["plain"], 2, 3), np.zeros(64, np.int64)
    space._store.n_seen[0], size, n = n_seen, len(space._store.labels), min(n_seen, 25)
    state, expected = int(space._store.random_state[0]), [(n_seen - 1) % size]
    draw_rows(space._store, space._members, 1, n, drawn)
    for b in range(1, 64):
        u, state = reference_kernels.xorshift(state)
        expected.append((n_seen - 1 - reference_kernels.age_of(u, b, n, 0.2)) % size)
    assert drawn.tolist() == expected
    assert int(space._store.random_state[0]) == state


LEARNED = set(Members._fields) - {"gain", "average_gain", "width", "reach", "age_quantiles", "partner", "interval"}
PLANS = {
    "plain": SpacePlan("plain", (MemberPlan(0.5, 0.3), MemberPlan(0.2, 0.0, average_gain=0.1))),
    "growing": SpacePlan("growing", (MemberPlan(0.2, 0.3), MemberPlan(0.0, 0.3, partner=0))),
    "compensated": SpacePlan("compensated", (MemberPlan(0.3, 0.3), MemberPlan(0.1, 0.3)), orders=(0, 1)),
}


def new_space(plan, c, p, *, scale=0.0, n_components=4):
    features = LinearFourierMap(scale=scale, n_components=n_components, seed=[0])
    features.start(p)
    space = Space(plan, features, features.transform(np.zeros((1, p))).shape[1], [0])
    for _ in range(c):
        space.add_classes(1)
    return space


def flipping(seed, n_steps, c, p):
    """A stream whose classes change places in the middle."""
    rng = np.random.default_rng(seed)
    centres, y = 1.5 * rng.normal(size=(c, p)), rng.integers(0, c, n_steps)
    places = np.where(np.arange(n_steps) < n_steps // 2, y, (y + 1) % c)
    return centres[places] + 0.5 * rng.normal(size=(n_steps, p)), y, rng.exponential(size=n_steps)


@pytest.mark.parametrize("scale", [1.0, pytest.param(0.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("plan", PLANS)
def test_a_step_of_every_member_equals_its_formulas(plan, c, scale):
    space = new_space(PLANS[plan], c, 3, scale=scale)
    if plan == "growing":  # so that its memory also becomes full
        space._members = space._members._replace(reach=np.array([15, 25]))
    Z, y, elapsed = flipping(c, 36, c, 3)
    Psi = space.represent(Z, Z)
    filters = reference_kernels.ReferenceFilterBank(space._filters.gains, c, Psi.shape[1])
    for t in range(36):
        twin = reference_kernels.ReferenceMembers(space._store, space._members, space._workspace.centres)
        psi, kept = Psi[t].astype(float), Psi[t].astype(float)
        if plan == "compensated":
            kept = (psi - filters.forecast(y[t], elapsed[t])) * (filters.n_rows[y[t]] > 0)
            filters.update(psi, y[t], elapsed[t])
            twin.centres = np.array([filters.forecast(k, elapsed[t]) for k in range(c)])
        expected = twin.predict(psi)
        said = learn_in_space(space, Psi[t : t + 1], y[t : t + 1], elapsed[t : t + 1])
        assert np.allclose(said[0], expected, atol=1e-4)
        twin.learn(psi, kept, y[t], expected, is_compensated=plan == "compensated")
        assert int(space._store.random_state[0]) == twin.random_state
        for name in LEARNED:
            ours, theirs = getattr(space._members, name), getattr(twin, name)
            assert np.allclose(ours, theirs, rtol=1e-3, atol=2e-3), (t, name)
    if plan == "growing":
        assert space.n_cuts[1] > 0


def test_a_cut_gives_a_member_the_memory_of_its_partner():
    space, n_cuts = new_space(PLANS["growing"], 2, 3), 0
    Z, y, elapsed = flipping(1, 200, 2, 3)
    Psi = space.represent(Z, Z)
    for t in range(200):
        learn_in_space(space, Psi[t : t + 1], y[t : t + 1], elapsed[t : t + 1])
        members = space._members
        if members.n_cuts[1] > n_cuts:
            n_cuts += 1
            assert np.array_equal(members.mu[1], members.mu[0])
            assert np.array_equal(members.sums[1], members.sums[0])
            assert np.array_equal(members.mass[1], members.mass[0])
            assert members.n_since_cut[1] == 10
            assert members.partner_lead[1] == 0
    assert n_cuts > 0


def weighted_sample(seed, c, d, n=12):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, c, n), rng.dirichlet(np.ones(n)), 2 * rng.normal(size=(c, d)), rng


def rule_of(scores):
    """h = (s - φ_x)_+ for each row of scores, and φ_x."""
    phi = np.array([reference_kernels.support_value(s) for s in scores])
    return np.maximum(scores - phi[:, None], 0), phi


@given(seeds, st.integers(2, 5), st.integers(1, 4))
def test_the_mean_loss_is_the_risk_of_the_sample_without_width_and_bounds_the_error_on_it(seed, c, d):
    """Σ w (1 - s_y + φ_x) = 1 - τᵀμ + Σ w φ_x ≥ the error of h = (s - φ_x)_+ ≥ 0, for any μ."""
    X, y, w, mu, _ = weighted_sample(seed, c, d)
    scores = X @ mu.T
    h, phi = rule_of(scores)
    tau = np.zeros((c, d))
    np.add.at(tau, y, w[:, None] * X)
    given_label = np.arange(len(y)), y
    mean_loss = w @ (1 - scores[given_label] + phi)
    assert mean_loss == pytest.approx(1 - np.sum(tau * mu) + w @ phi, abs=1e-9)
    assert np.allclose(h.sum(axis=1), 1)
    assert mean_loss >= w @ (1 - h[given_label]) - 1e-9
    assert w @ (1 - h[given_label]) >= -1e-9


@settings(max_examples=50)
@given(seeds, st.integers(2, 5), st.integers(1, 4))
def test_the_risk_with_a_tracked_marginal_bounds_the_error_under_every_distribution_in_the_set(seed, c, d):
    """R(h) ≤ 1 - τᵀμ + λᵀ|μ| + E φ_x if |E_p Φ - τ| ≤ λ; optimality of μ is not needed."""
    X, _, _, mu, rng = weighted_sample(seed, c, d)
    p = rng.dirichlet(np.full(X.shape[0] * c, 0.3)).reshape(-1, c)
    width = rng.random((c, d))
    tau = p.T @ X + rng.uniform(-1, 1, (c, d)) * width
    h, phi = rule_of(X @ mu.T)
    risk = 1 - np.sum(tau * mu) + np.sum(width * np.abs(mu)) + p.sum(axis=1) @ phi
    assert np.sum(p * (1 - h)) <= risk + 1e-9
