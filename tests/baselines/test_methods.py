"""The compiled methods against plain ones, and what each is known to fulfil."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from driftline import ConfigError
from driftline.baselines import NORMA, Projectron
from driftline.baselines.adaraker import AdaRakerMethod, orthogonal_directions
from driftline.baselines.fogd import FOGDMethod
from driftline.baselines.forgetron import ForgetronMethod, shrink_factor
from driftline.baselines.lambda_perceptron import LambdaPerceptronMethod
from driftline.baselines.nogd import NOGDMethod
from driftline.baselines.norma import NORMAMethod
from driftline.baselines.projectron import ProjectronMethod
from driftline.baselines.projectron_plus import ProjectronPlusPlusMethod
from driftline.baselines.rbp import RBPMethod, uniforms
from driftline.baselines.span import project
from driftline.core.features import FourierMap
from helpers.reference_baselines import (
    PlainAdaRaker,
    PlainFOGD,
    PlainForgetron,
    PlainLambdaPerceptron,
    PlainNOGD,
    PlainNORMA,
    PlainProjectron,
    PlainProjectronPlusPlus,
    PlainRBP,
)
from helpers.strategies import seeds

COLUMNS = 3
BUDGET = 7
SCALE = 0.8


def stream(seed, n_classes, n_rows=150):
    """Classes that wander, so that there are mistakes to the end; some rows come twice."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    centres = np.cumsum(rng.normal(scale=0.15, size=(n_rows, n_classes, COLUMNS)), axis=0)
    Z = centres[np.arange(n_rows), y] + rng.normal(scale=0.7, size=(n_rows, COLUMNS))
    Z[41::17] = Z[24::17][: len(Z[41::17])]
    return Z, y


def norma(seed, c, **changes):
    settings = {"budget": BUDGET, "learning_rate": 0.3, "decay": 0.1, "nu": 0.4, "margin": 0.5, "intercept": True}
    given = settings | changes
    ours = NORMAMethod(COLUMNS, SCALE, given)
    return ours, PlainNORMA(c, SCALE, *(given[name] for name in settings))


def rbp(seed, c):
    return RBPMethod(COLUMNS, BUDGET, SCALE, seed), PlainRBP(c, SCALE, BUDGET, uniforms(seed, 0, 10_000))


def fogd(seed, c):
    features = FourierMap(n_components=20, scale=SCALE, seed=seed)
    features.start(COLUMNS)
    return FOGDMethod(features, 40, 0.5), PlainFOGD(c, features.state()["directions"], 0.5 / 20)


def adaraker(seed, c):
    method = AdaRakerMethod(COLUMNS, 5, np.random.default_rng(seed))
    return method, PlainAdaRaker(c, method.state()["directions"])


PAIRS = {
    "rbp": rbp,
    "forgetron": lambda _, c: (ForgetronMethod(COLUMNS, BUDGET, SCALE), PlainForgetron(c, SCALE, BUDGET)),
    "projectron": lambda _, c: (
        ProjectronMethod(COLUMNS, BUDGET, SCALE, None),
        PlainProjectron(c, SCALE, BUDGET, None),
    ),
    "projectron with a tolerance": lambda _, c: (
        ProjectronMethod(COLUMNS, 50, SCALE, 0.5),
        PlainProjectron(c, SCALE, 50, 0.5),
    ),
    "projectron++": lambda _, c: (
        ProjectronPlusPlusMethod(COLUMNS, BUDGET, SCALE, None),
        PlainProjectronPlusPlus(c, SCALE, BUDGET, None),
    ),
    "projectron++ with a tolerance": lambda _, c: (
        ProjectronPlusPlusMethod(COLUMNS, 50, SCALE, 0.5),
        PlainProjectronPlusPlus(c, SCALE, 50, 0.5),
    ),
    "norma": norma,
    "norma with a fixed margin": lambda seed, c: norma(seed, c, nu=None, intercept=False),
    "fogd": fogd,
    "nogd": lambda _, c: (
        NOGDMethod(COLUMNS, SCALE, {"budget": 20, "rank": 0.4, "learning_rate": 0.4}),
        PlainNOGD(c, SCALE, 20, 8, 0.4),
    ),
    "lambda-perceptron": lambda _, c: (
        LambdaPerceptronMethod(COLUMNS, 0.001),
        PlainLambdaPerceptron(c, COLUMNS, 0.001),
    ),
    "adaraker": adaraker,
}


def decided_by_rounding(scores):
    """Whether two classes have nearly the same score, or one is nearly 1 ahead."""
    ahead = np.abs(scores[:, None] - scores)
    return ((ahead > 0) & (ahead < 1e-9)).any() or (np.abs(ahead - 1) < 1e-9).any()


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=5)
@given(seeds, st.sampled_from([2, 3, 5]))
def test_a_method_predicts_as_its_publication_says(name, seed, n_classes):
    ours, plain = PAIRS[name](seed, n_classes)
    for _ in range(n_classes):
        ours.add_classes(1)
    Z, y = stream(seed, n_classes)
    said = ours.advance(Z, y)
    for t, x in enumerate(Z):
        if decided_by_rounding(plain.scores(x)):  # from here on the two may part
            return
        assert said[t] == plain.predict(x)
        plain.learn(x, int(y[t]))
    assert np.array_equal(ours.predict(Z), [plain.predict(x) for x in Z])


@settings(max_examples=300)
@given(
    st.floats(1e-3, 1.0),
    st.floats(-20.0, 20.0),
    st.integers(2, 10_000),
    st.floats(0.0, 1.0),
)
def test_the_forgetron_shrinks_no_more_than_it_must(s, m, n_mistakes, used):
    damage = used * 15 / 32 * (n_mistakes - 1)  # as the last removal left it
    limit = 15 / 32 * n_mistakes

    def after(phi):
        return damage + (s * phi) ** 2 + 2 * s * phi * (1 - phi * m)

    phi = shrink_factor(s, m, damage, n_mistakes)
    assert 0 < phi <= 1
    assert after(phi) <= limit + 1e-9 * n_mistakes
    grid = np.linspace(0, 1, 20_001)
    allowed = grid[after(grid) <= limit]
    assert phi >= allowed.max() - 1e-4
    plain = PlainForgetron(2, 1.0, 1)
    plain.Q, plain.M = damage, n_mistakes
    A = s * s - 2 * s * m
    assume(A == 0 or abs(A) > 1e-6)  # the other formula cancels there
    assert phi == pytest.approx(plain.shrink(s, m), rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_damage_of_the_forgetron_stays_within_its_proof(n_classes):
    ours = ForgetronMethod(COLUMNS, 5, SCALE)
    for _ in range(n_classes):
        ours.add_classes(1)
    Z, y = stream(1, n_classes, 2000)
    for t in range(len(Z)):
        ours.advance(Z[t : t + 1], y[t : t + 1])
        state = ours.state()
        assert state["damage"][0] <= 15 / 32 * state["count"][0] + 1e-9
        assert np.count_nonzero(state["weights"].any(axis=0)) <= 5
    assert state["count"][0] > 100


@pytest.mark.parametrize("kind", [ProjectronMethod, ProjectronPlusPlusMethod])
def test_the_inverse_of_the_projectron_is_that_of_its_gram_matrix(kind):
    ours = kind(COLUMNS, 40, SCALE, None)
    for _ in range(2):
        ours.add_classes(1)
    Z, y = stream(2, 2, 1500)
    ours.advance(Z, y)
    state = ours.state()
    supports = state["supports"][: ours.size]
    gram = np.exp(-(SCALE**2) * ((supports[:, None] - supports) ** 2).sum(axis=2) / 2)
    assert ours.size == 40
    inverse = state["inverse"][: ours.size, : ours.size]
    assert np.abs(inverse @ gram - np.eye(ours.size)).max() < 1e-6


@pytest.mark.parametrize("kind", [ProjectronMethod, ProjectronPlusPlusMethod])
@pytest.mark.parametrize(("n_columns", "scale"), [(1, 1.0), (1, 1.5), (2, 1.0), (2, 0.3)])
def test_distances_from_few_columns_are_right_where_kernels_are_nearly_alike(kind, n_columns, scale):
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(3000, n_columns)), rng.integers(0, 2, 3000)
    ours = kind(n_columns, 100, scale, None)
    for _ in range(2):
        ours.add_classes(1)
    ours.advance(Z, y)
    state, n = ours.state(), ours.size
    factor = np.linalg.qr(np.linalg.cholesky(gaussian(state["supports"][:n], state["supports"][:n], scale)).T)[1]
    for x in Z[:200]:
        row = gaussian(state["supports"][:n], x[None], scale)[:, 0]
        explained = np.linalg.norm(np.linalg.solve(factor.T, row)) ** 2
        assert project(state["inverse"], row, n, np.empty(n)) == pytest.approx(max(1 - explained, 0), abs=1e-5)


def gaussian(A, B, scale):
    return np.exp(-(scale**2) * ((A[:, None] - B) ** 2).sum(axis=2) / 2)


def test_an_instance_that_comes_again_is_projected_not_added():
    Z, y = np.tile([[0.3, 0.7]], (50, 1)), np.arange(50) % 2
    model = Projectron(scaling="none", scale=1.0).partial_fit(Z, y, classes=[0, 1])
    assert model._learner._method.size == 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_norma_without_decay_and_with_a_fixed_margin_is_kernel_gradient_descent(n_classes):
    given = {"budget": 1000, "learning_rate": 0.3, "decay": 0.0, "nu": None, "margin": 1.0, "intercept": False}
    ours = NORMAMethod(COLUMNS, SCALE, given)
    for _ in range(n_classes):
        ours.add_classes(1)
    Z, y = stream(3, n_classes)
    said = ours.advance(Z, y)
    K = np.exp(-(SCALE**2) * ((Z[:, None] - Z) ** 2).sum(axis=2) / 2)
    A = np.zeros((len(Z), n_classes))  # coefficients: half a step to the class, half from its rival
    for t, label in enumerate(y):
        f = K[t] @ A
        assert said[t] == (int(f[1] >= f[0]) if n_classes == 2 else np.argmax(f))
        r = max((j for j in range(n_classes) if j != label), key=lambda j: (f[j], -j))
        if f[label] - f[r] <= 1:
            A[t, label], A[t, r] = 0.15, -0.15


def test_norma_without_all_that_is_the_kernel_perceptron():
    given = {"budget": 1000, "learning_rate": 1.0, "decay": 0.0, "nu": 0.0, "margin": 0.0, "intercept": False}
    ours = NORMAMethod(COLUMNS, SCALE, given)
    for _ in range(2):
        ours.add_classes(1)
    Z, y = stream(4, 2)
    said = ours.advance(Z, y)
    K = np.exp(-(SCALE**2) * ((Z[:, None] - Z) ** 2).sum(axis=2) / 2)
    a = np.zeros(len(Z))
    for t, sign in enumerate(2 * y - 1):
        f = K[t] @ a
        assert said[t] == (f >= 0)
        if sign * f <= 0:
            a[t] = sign


def test_norma_puts_the_wanted_share_below_its_margin():
    Z, y = stream(5, 2, 6000)
    model = NORMA(nu=0.3, learning_rate=0.05, decay=0.1, scaling="none", scale=SCALE)
    model.partial_fit(Z[:3000], y[:3000], classes=[0, 1])
    begun = int(model._learner._method.state()["count"][0])
    model.partial_fit(Z[3000:], y[3000:])
    below = (int(model._learner._method.state()["count"][0]) - begun) / 3000
    assert below == pytest.approx(0.3, abs=0.02)


def test_norma_refuses_steps_that_turn_signs():
    with pytest.raises(ConfigError, match="learning_rate times decay must be below 1"):
        NORMA(learning_rate=2.0, decay=0.6).fit([[0.0], [1.0]], [0, 1])


def test_the_features_of_fogd_approximate_the_kernel():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40, COLUMNS))
    K = np.exp(-(SCALE**2) * ((Z[:, None] - Z) ** 2).sum(axis=2) / 2)
    errors = []
    for n_components in (100, 10_000):
        features = FourierMap(n_components=n_components, scale=SCALE, seed=0)
        features.start(COLUMNS)
        F = FOGDMethod(features, 2 * n_components, 0.4)._represent(Z)
        errors.append(np.abs(F @ F.T - K).max())
    assert errors[0] < 0.4
    assert errors[1] < 0.04


def test_the_features_of_nogd_are_those_of_the_best_approximation_of_the_gram_matrix():
    ours = NOGDMethod(COLUMNS, SCALE, {"budget": 20, "rank": 0.4, "learning_rate": 0.4})
    for _ in range(2):
        ours.add_classes(1)
    Z, y = stream(6, 2, 600)
    ours.advance(Z, y)
    state = ours.state()
    supports = state["supports"]
    K = np.exp(-(SCALE**2) * ((supports[:, None] - supports) ** 2).sum(axis=2) / 2)
    F = ours._represent(supports)
    values, vectors = np.linalg.eigh(K)
    best = (vectors[:, -8:] * values[-8:]) @ vectors[:, -8:].T
    assert F.shape == (20, 8)
    assert np.allclose(F @ F.T, best, atol=1e-9)


def test_supports_that_are_alike_leave_the_features_of_nogd_finite():
    Z = np.repeat(np.random.default_rng(0).normal(size=(30, COLUMNS)), 4, axis=0)
    y = np.tile([0, 1, 1, 0], 30)
    ours = NOGDMethod(COLUMNS, SCALE, {"budget": 20, "rank": 0.99, "learning_rate": 0.4})
    for _ in range(2):
        ours.add_classes(1)
    ours.advance(Z, y)
    features = ours._represent(Z)
    assert 0 < features.shape[1] < 20
    assert np.linalg.norm(features, axis=1).max() <= 1 + 1e-6


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_memories_of_adaraker_have_the_weights_of_its_publication(n_classes):
    ours, plain = adaraker(0, n_classes)
    for _ in range(n_classes):
        ours.add_classes(1)
    Z, y = stream(0, n_classes)
    ours.advance(Z, y)
    for x, label in zip(Z, y.tolist(), strict=True):
        plain.learn(x, label)
    for j, (_, q, h) in enumerate(plain.machines):
        assert np.allclose(ours.state()["h"][j, : len(h)], h, rtol=1e-9)
        assert np.allclose(ours.state()["q"][j, : len(q)], q, rtol=1e-9)


def test_directions_are_orthogonal_in_groups_and_as_long_as_gaussian_ones():
    directions = orthogonal_directions(4, 4000, np.random.default_rng(0))
    assert directions.shape == (4000, 4)
    lengths = np.linalg.norm(directions, axis=1)
    unit = directions / lengths[:, None]
    groups = unit.reshape(1000, 4, 4)
    assert np.allclose(groups @ groups.transpose(0, 2, 1), np.eye(4), atol=1e-9)
    assert np.mean(lengths**2) == pytest.approx(4, rel=0.1)
    assert orthogonal_directions(7, 5, np.random.default_rng(0)).shape == (5, 7)


@given(seeds, st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_a_sequence_of_draws_is_the_same_however_it_is_cut(seed, lengths):
    starts = np.concatenate([[0], np.cumsum(lengths)])
    parts = [uniforms(seed, int(start), n) for start, n in zip(starts, lengths, strict=False)]
    assert np.array_equal(np.concatenate(parts), uniforms(seed, 0, sum(lengths)))


def test_the_random_budget_removes_every_support_alike():
    draws = uniforms(0, 0, 100_000)
    counts = np.bincount((draws * 10).astype(int), minlength=10)
    assert np.abs(counts / 10_000 - 1).max() < 0.05
    assert math.isclose(draws.mean(), 0.5, abs_tol=0.01)


@pytest.mark.parametrize("name", PAIRS)
def test_a_class_that_joins_leaves_the_scores_of_the_others(name):
    ours, _ = PAIRS[name](0, 2)
    for _ in range(2):
        ours.add_classes(1)
    Z, y = stream(7, 2)
    ours.advance(Z, y)
    before = ours.predict(Z)
    ours.add_classes(1)
    after = ours.predict(Z)
    assert np.array_equal(after[after < 2], before[after < 2])
