"""The true error of rules, against Monte Carlo, other formulas and each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from driftline import ConfigError, DataError
from driftline.paper import rules
from driftline.streams import GaussianClasses, GradualDrift, RotatingGaussians
from driftline.types import Rule
from helpers.strategies import moderate, seeds
from helpers.synthetic_distributions import EVERY_KIND, rows_at

stream = RotatingGaussians()
every_kind = pytest.mark.parametrize("distribution", EVERY_KIND.values(), ids=EVERY_KIND)


def linear_rule(weights, intercepts=0.0):
    return lambda X: np.eye(len(weights))[(X @ weights.T + intercepts).argmax(axis=1)]


def random_rule(distribution, seed):
    rng = np.random.default_rng(seed)
    shape = distribution.n_classes, distribution.n_features
    return rng.normal(size=shape), rng.normal(size=shape[0])


def random_classes(seed, c, d):
    """Classes in general position, and a linear rule that is some way from the best."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(c, d)) * 3 / np.sqrt(d)
    classes = GaussianClasses(means, rng.uniform(0.5, 1.5, (c, d)), rng.dirichlet(np.full(c, 5.0)))
    weights = means + 0.3 * rng.normal(size=(c, d))
    return classes, weights, -(weights**2).sum(axis=1) / 2


def assert_equal_to_monte_carlo(error, distribution, t, probabilities, n=100_000):
    """Within four standard errors of the difference."""
    X, y = rows_at(distribution, t, n, seed=1)
    wrong = 1 - probabilities(X)[np.arange(n), y]
    margin = 4 * np.hypot(wrong.std() / np.sqrt(n), error.standard_error)
    assert error.value == pytest.approx(wrong.mean(), abs=margin)


@every_kind
@pytest.mark.parametrize("t", [1, 2750])
def test_linear_error_equals_monte_carlo(distribution, t):
    weights, intercepts = random_rule(distribution, seed=t)
    error = distribution.linear_error(t, weights, intercepts)
    assert error.standard_error < 3e-4
    assert_equal_to_monte_carlo(error, distribution, t, linear_rule(weights, intercepts))


@pytest.mark.parametrize(("c", "d"), [(3, 1), (10, 2), (6, 5), (10, 20)])
def test_linear_error_of_many_classes_equals_monte_carlo(c, d):
    """Also where there are more comparisons of scores than features, and their covariance is singular."""
    classes, weights, intercepts = random_classes(0, c, d)
    error = classes.linear_error(1, weights, intercepts)
    assert error.standard_error < 3e-4
    assert_equal_to_monte_carlo(error, classes, 1, linear_rule(weights, intercepts))


@pytest.mark.parametrize("t", [1, 20, 55])
def test_two_classes_have_a_closed_form(t):
    weights = np.array([[0.3, -0.2], [0.1, 0.5]])
    normal = weights[1] - weights[0]
    depth = stream.class_means(t) @ normal / (np.linalg.norm(normal) * np.sqrt(2))
    error = stream.linear_error(t, weights)
    assert error.value == pytest.approx((ndtr(depth[0]) + ndtr(-depth[1])) / 2, rel=1e-12)
    assert error.standard_error == 0


def test_a_mixture_errs_as_its_parts_do_on_average():
    weights, intercepts = np.array([[1.0, 0.2], [-0.5, 0.0]]), np.array([0.1, -0.7])
    drift = GradualDrift(at=[100], width=100)
    before, after = (drift.linear_error(t, weights, intercepts).value for t in (100, 200))
    error = drift.linear_error(175, weights, intercepts)
    assert error.value == pytest.approx(0.25 * before + 0.75 * after, rel=1e-12)
    assert error.standard_error == 0


@pytest.mark.parametrize("seed", range(5))
def test_three_classes_err_as_the_bivariate_normal_distribution_says(seed):
    classes, W, b = random_classes(seed, 3, 2)
    expected = 0.0
    for y, (mean, deviations, p) in enumerate(
        zip(classes.means, classes.deviations, classes.probabilities, strict=True)
    ):
        lead = np.delete(W[y] - W, y, axis=0)
        covariance = (lead * np.square(deviations)) @ lead.T
        expected += p * (1 - multivariate_normal.cdf(lead @ mean + b[y] - np.delete(b, y), cov=covariance))
    error = classes.linear_error(1, W, b)
    assert 0 < error.standard_error < 2e-4
    assert error.value == pytest.approx(expected, abs=4 * error.standard_error)


def test_with_one_feature_every_linear_rule_has_a_closed_form():
    """Scores x, 0, 2x - 1 of classes at 0, 1, 2: class 1 wins below 0, class 0 up to 1, class 2 above."""
    classes = GaussianClasses([[0.0], [1.0], [2.0]], probabilities=[0.5, 0.25, 0.25])
    error = classes.linear_error(1, [[1], [0], [2]], [0, 0, -1])
    right = 0.5 * (ndtr(1) - ndtr(0)) + 0.25 * ndtr(-1) + 0.25 * ndtr(1)
    assert error.value == pytest.approx(1 - right, rel=1e-12)
    assert error.standard_error == 0


def test_scores_along_one_direction_have_a_closed_form():
    """The rule of the test above, on the sum of three features, which has three times the variance."""
    classes = GaussianClasses(np.outer([0.0, 1.0, 2.0], np.full(3, 1 / 3)), probabilities=[0.5, 0.25, 0.25])
    error = classes.linear_error(1, np.outer([1, 0, 2], np.ones(3)), [0, 0, -1])
    s = 1 / np.sqrt(3)
    right = 0.5 * (ndtr(s) - ndtr(0)) + 0.25 * ndtr(-s) + 0.25 * ndtr(s)
    assert error.value == pytest.approx(1 - right, rel=1e-12)
    assert error.standard_error == 0


def test_small_errors_keep_their_digits():
    far = GaussianClasses([[0.0, 0.0], [24.0, 0.0]])
    assert far.linear_error(1, [[-1, 0], [1, 0]], [24, 0]).value == pytest.approx(ndtr(-12), rel=1e-9)


@given(arrays(float, (2, 2), elements=moderate))
def test_errors_of_a_rule_and_of_its_opposite_sum_to_one(weights):
    opposite = weights[::-1]
    assert stream.linear_error(3, weights).value + stream.linear_error(3, opposite).value == pytest.approx(1)


@settings(max_examples=25)
@given(seeds, st.integers(2, 6), st.integers(1, 5), st.sampled_from([1e-200, 0.01, 1e200]))
def test_neither_scale_nor_common_terms_of_the_scores_matter(seed, c, d, scale):
    classes, weights, intercepts = random_classes(seed, c, d)
    error = classes.linear_error(1, weights, intercepts).value
    moved = classes.linear_error(1, weights + weights[0], intercepts + 1.5).value
    scaled = classes.linear_error(1, scale * weights, scale * intercepts).value
    assert moved == pytest.approx(error, abs=1e-9)
    assert scaled == pytest.approx(error, abs=1e-9)


def test_between_equal_scores_the_rule_guesses():
    classes = GaussianClasses(np.zeros((4, 3)), probabilities=[0.1, 0.2, 0.3, 0.4])
    assert classes.linear_error(1, np.zeros((4, 3))).value == pytest.approx(0.75)
    assert classes.linear_error(1, np.zeros((4, 3)), [0, 1, 1, 0]).value == pytest.approx(1 - (0.2 + 0.3) / 2)
    assert classes.linear_error(1, np.zeros((4, 3)), [0, 0, 2, 1]).value == pytest.approx(0.7)
    half = [[1, 0, 0], [1, 0, 0], [-1, 0, 0], [-1, 0, 0]]  # each pair wins half of the time
    assert classes.linear_error(1, half).value == pytest.approx(0.75)


def test_a_class_that_is_never_predicted_is_always_wrong():
    classes, weights, _ = random_classes(3, 4, 2)
    error = classes.linear_error(1, weights, [0, 0, 0, -1e6]).value
    assert error > classes.label_probabilities(1)[3]
    assert classes.linear_error(1, weights, [0, 0, 0, 1e6]).value == pytest.approx(
        1 - classes.label_probabilities(1)[3]
    )


@every_kind
def test_rule_error_of_a_linear_rule_is_its_linear_error(distribution):
    weights, intercepts = random_rule(distribution, seed=2)
    exact = distribution.linear_error(1200, weights, intercepts)
    error = distribution.rule_error(1200, linear_rule(weights, intercepts), n_points=20_000)
    assert error.standard_error < 0.004
    margin = 4 * np.hypot(error.standard_error, exact.standard_error)
    assert error.value == pytest.approx(exact.value, abs=margin + 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_rule_error_equals_monte_carlo(seed):
    rng = np.random.default_rng(seed)
    rule = Rule(0.3 * rng.normal(size=(2, 2)), float(rng.uniform(-0.5, 0.5)))

    def probabilities(X):
        return rules.probabilities(rule, X)

    error = stream.rule_error(7, probabilities)
    assert error.standard_error < 0.002
    assert_equal_to_monte_carlo(error, stream, 7, probabilities, n=400_000)


@pytest.mark.parametrize("d", [1, 2, 8, 40])
def test_stated_errors_are_those_that_are_made(d):
    """In 100 repetitions their mean square agrees with that of the deviations from the truth, within a third."""
    classes, weights, _ = random_classes(1, 2, d)
    exact = classes.linear_error(1, weights).value
    errors = [classes.rule_error(1, linear_rule(weights), n_points=1024, seed=seed) for seed in range(100)]
    made = np.mean([(error.value - exact) ** 2 for error in errors])
    stated = np.mean([error.standard_error**2 for error in errors])
    assert made == pytest.approx(stated, rel=0.34)


def test_points_that_spread_evenly_err_less_than_independent_ones():
    weights = np.array([[0.3, -0.2], [0.1, 0.5]])
    exact = stream.linear_error(7, weights).value
    error = stream.rule_error(7, linear_rule(weights))
    assert error.standard_error < 0.5 * np.sqrt(exact * (1 - exact) / (2 * 2048))


def test_a_rule_that_knows_nothing_errs_half_of_the_time():
    assert stream.linear_error(3, np.zeros((2, 2))).value == 0.5
    error = stream.rule_error(3, lambda X: np.full((len(X), 2), 0.5))
    assert (error.value, error.standard_error) == (0.5, 0)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: stream.linear_error(1, np.eye(3)), r"weights must be numbers of shape \(2, 2\); got shape \(3, 3\)"),
        (lambda: stream.linear_error(1, np.full((2, 2), np.nan)), "weights must be finite numbers"),
        (
            lambda: stream.linear_error(1, np.eye(2), [1.0]),
            r"intercepts must be numbers of shape \(2\); got shape \(1,\)",
        ),
        (lambda: stream.linear_error([1, 2], np.eye(2)), r"t must be one number; got shape \(2,\)"),
        (lambda: stream.rule_error(1, linear_rule(np.eye(2)), n_points=0), "n_points must be a whole number from 1 up"),
        (lambda: stream.rule_error(1, linear_rule(np.eye(2)), seed=-1), "seed must be a whole number from 0 up"),
    ],
)
def test_parameters_that_cannot_work_are_refused(act, message):
    with pytest.raises(ConfigError, match=message):
        act()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda X: np.ones((len(X), 1)), "column for each of the 2 classes: announce all classes"),
        (lambda X: None, r"shape \(\) for 2048 instances"),
        (lambda X: X, "expected probabilities: pass predict_proba, not scores"),
        (
            lambda X: np.full((len(X), 2), "yes"),
            "returned .'yes' 'yes'. for the first instance; expected probabilities",
        ),
        (lambda X: np.full((len(X), 2), np.nan), "expected probabilities"),
    ],
)
def test_what_is_no_rule_is_refused(rule, message):
    with pytest.raises(DataError, match=message):
        stream.rule_error(1, rule)
