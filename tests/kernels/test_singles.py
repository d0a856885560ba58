import numpy as np
import pytest
from hypothesis import given

from driftline.kernels.singles import decay, proximal_step, set_widths, update_average
from helpers.strategies import seeds


def singles(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


@given(seeds)
def test_a_proximal_step_minimises_its_objective(seed):
    """½‖x - μ + ηg‖² + ηλᵀ|x|: its slope at x, from either side, points away from x."""
    rng = np.random.default_rng(seed)
    mu, gradient, lam, eta = singles(rng, 2, 3, 4), singles(rng, 3, 4), np.abs(singles(rng, 3, 4)), np.float32(0.7)
    centre, other = mu[1].astype(float) - eta * gradient.astype(float), mu[0].copy()
    proximal_step(mu, 1, gradient, lam, eta)
    x, pull = mu[1].astype(float), eta * lam.astype(float)
    slope = x - centre
    assert np.all(np.abs(slope[x == 0]) <= pull[x == 0] + 1e-5)
    assert np.allclose((slope + pull * np.sign(x))[x != 0], 0, atol=1e-5)
    assert np.array_equal(mu[0], other)


@given(seeds)
def test_widths_are_standard_errors_of_the_weighted_sample(seed):
    rng = np.random.default_rng(seed)
    n, c, d = 30, 3, 4
    rows, labels, weights = rng.normal(size=(n, d)), rng.integers(0, c, n), rng.random(n)
    Phi = (np.arange(c) == labels[:, None])[:, :, None] * rows[:, None, :]
    first, second = (np.tensordot(weights, power, 1).astype(np.float32)[None] for power in (Phi, Phi**2))
    lam = np.empty((c, d), np.float32)
    set_widths(lam, first, second, 0, np.float32(weights.sum()), np.float32(0.09))
    variance = np.average((Phi - np.average(Phi, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    assert np.allclose(lam, 0.3 * np.sqrt(variance), rtol=1e-3, atol=1e-4)


@given(seeds)
def test_an_average_follows_and_tells_its_weighted_size(seed):
    rng = np.random.default_rng(seed)
    average, mu, lam = singles(rng, 2, 3, 4), singles(rng, 2, 3, 4), np.abs(singles(rng, 3, 4))
    expected = 0.75 * average[1].astype(float) + 0.25 * mu[1]
    size = update_average(average, mu, 1, np.float32(0.25), lam, np.empty_like(lam))
    assert np.allclose(average[1], expected, atol=1e-6)
    assert size == pytest.approx(np.sum(lam * np.abs(expected)), rel=1e-5)


def test_what_decays_never_becomes_subnormal():
    stack, average, lam = (np.ones((1, 2, 3), np.float32) for _ in range(3))
    for _ in range(2000):
        decay(stack, 0, np.float32(0.8))
        update_average(average, np.zeros_like(average), 0, np.float32(0.5), lam[0], np.empty_like(lam[0]))
    assert np.all(stack >= np.finfo(np.float32).tiny)
    assert np.all(average == 0)
