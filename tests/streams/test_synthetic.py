import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftline import rules
from driftline.streams import RotatingGaussians
from driftline.types import Rule
from strategies import moderate

stream = RotatingGaussians()


def test_instances_are_those_of_the_formula():
    """The paper's formula, label by label, for the noise-free part."""
    X, y = stream.sample(5000, seed=3)
    t = np.arange(1, 5001)
    angle = np.pi * ((np.cos(0.1 * t) - 3) / 2 + (y + 1))
    noise = X - 4 * np.column_stack([np.cos(angle), np.sin(angle)])
    assert np.abs(noise.mean(axis=0)).max() < 0.1
    assert np.allclose(np.cov(noise.T), 2 * np.eye(2), atol=0.15)
    assert y.mean() == pytest.approx(0.5, abs=0.03)


def test_the_same_seed_gives_the_same_stream():
    one, other, third = stream.sample(50, seed=1), stream.sample(50, seed=1), stream.sample(50, seed=2)
    assert np.array_equal(one[0], other[0])
    assert not np.array_equal(one[0], third[0])


@given(st.floats(0, 1000))
def test_classes_are_opposite_each_other_on_a_circle(t):
    means = stream.class_means(t)
    assert np.allclose(np.linalg.norm(means, axis=1), 4)
    assert np.allclose(means[0], -means[1], atol=1e-9)
    assert np.allclose(stream.expectations(t), means / 2)


def monte_carlo(t, probabilities, n=400_000):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = stream.class_means(t)[y] + np.sqrt(2) * rng.normal(size=(n, 2))
    return np.mean(1 - probabilities(X)[np.arange(n), y])


@pytest.mark.parametrize("t", [1, 20, 55])
def test_closed_form_error_equals_monte_carlo(t):
    weights = np.array([[0.3, -0.2], [0.1, 0.5]])

    def deterministic(X):
        return np.eye(2)[(X @ weights.T).argmax(axis=1)]

    assert stream.linear_error(t, weights) == pytest.approx(monte_carlo(t, deterministic), abs=0.003)


@pytest.mark.parametrize("seed", range(5))
def test_quadrature_error_equals_monte_carlo(seed):
    rng = np.random.default_rng(seed)
    rule = Rule(0.3 * rng.normal(size=(2, 2)), float(rng.uniform(-0.5, 0.5)))

    def probabilities(X):
        return rules.probabilities(rule, X)

    assert stream.rule_error(7, probabilities) == pytest.approx(monte_carlo(7, probabilities), abs=0.004)


@given(arrays(float, (2, 2), elements=moderate))
def test_errors_of_a_rule_and_of_its_opposite_sum_to_one(weights):
    if np.linalg.norm(weights[0] - weights[1]) > 1e-9:
        assert stream.linear_error(3, weights) + stream.linear_error(3, weights[::-1]) == pytest.approx(1)


def test_a_rule_that_knows_nothing_errs_half_of_the_time():
    assert stream.linear_error(3, np.zeros((2, 2))) == 0.5
    assert stream.rule_error(3, lambda X: np.full((len(X), 2), 0.5)) == pytest.approx(0.5)
