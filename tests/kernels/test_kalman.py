import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from driftline.kernels.kalman import adapt_gains, correct, forecast_expectations, propagate, transition
from helpers import reference_kernels
from helpers.matrix_assertions import assert_positive_semi_definite
from helpers.strategies import seeds

orders = st.integers(0, 3)


def random_filters(seed, order, n_filters=3):
    rng = np.random.default_rng(seed)
    n = order + 1
    roots = rng.normal(size=(2, n_filters, n, n))
    Sigma, Q = roots @ roots.swapaxes(-1, -2)
    return rng, rng.normal(size=(n_filters, n)), Sigma, Q


@given(orders, st.floats(0, 5))
def test_transition_is_the_exponential_of_differentiation(order, elapsed):
    assert np.allclose(transition(order, elapsed), expm(elapsed * np.eye(order + 1, k=1)))
    assert np.allclose(transition(order, elapsed), reference_kernels.transition(order, elapsed))


@given(seeds, orders, st.floats(0, 3))
def test_propagation_equals_its_matrix_form(seed, order, elapsed):
    _, eta, Sigma, Q = random_filters(seed, order)
    H = transition(order, elapsed)
    expected_eta, expected_Sigma = eta @ H.T, H @ Sigma @ H.T + Q
    p, v = np.array([0.3]), np.array([0.02])
    tau, lam = forecast_expectations(H, eta[None], Sigma[None], Q[None], p, v)
    propagate(H, eta, Sigma, Q)
    assert np.allclose(eta, expected_eta)
    assert np.allclose(Sigma, expected_Sigma)
    assert np.array_equal(Sigma, Sigma.swapaxes(-1, -2))
    gamma, error = eta[:, 0], Sigma[:, 0, 0]
    assert np.allclose(tau[0], p * gamma)
    assert np.allclose(lam[0] ** 2, (error + gamma**2) * (v + p**2) - gamma**2 * p**2)


@given(seeds, orders)
def test_filtered_covariance_equals_information_form(seed, order):
    rng, eta, Sigma, Q = random_filters(seed, order)
    Sigma += 0.1 * np.eye(order + 1)  # invertible
    R, residual, psi = rng.random(3) + 0.1, rng.normal(size=3), rng.normal(size=3)
    prior_eta, prior_Sigma, prior_Q = eta.copy(), Sigma.copy(), Q.copy()
    expected_R = 0.3 * R + 0.7 * (residual**2 + Sigma[:, 0, 0])
    K = adapt_gains(Sigma, R, residual, 0.3)
    correct(psi, K, eta, Sigma, Q, R, residual, 0.3)
    assert np.allclose(R, expected_R)
    for r in range(3):
        e1 = np.eye(order + 1)[0]
        information = np.linalg.inv(prior_Sigma[r]) + np.outer(e1, e1) / R[r]
        assert np.allclose(Sigma[r], np.linalg.inv(information), rtol=1e-6, atol=1e-9)
        innovation = psi[r] - prior_eta[r, 0]
        assert np.allclose(eta[r], prior_eta[r] + K[r] * innovation)
        assert np.allclose(Q[r], 0.3 * prior_Q[r] + 0.7 * innovation**2 * np.outer(K[r], K[r]))
    assert np.allclose(residual, psi - eta[:, 0])


@given(seeds, orders)
def test_covariance_of_a_gain_that_is_not_optimal_is_that_of_its_error(seed, order):
    rng, eta, Sigma, Q = random_filters(seed, order)
    R, K = rng.random(3), rng.random((3, order + 1))
    A = np.eye(order + 1) - K[:, :, None] * np.eye(order + 1)[0]
    expected = A @ Sigma @ A.swapaxes(-1, -2) + R[:, None, None] * K[:, :, None] * K[:, None, :]
    correct(rng.normal(size=3), K, eta, Sigma, Q, R, np.zeros(3), 0.3)
    assert np.allclose(Sigma, expected)


@given(seeds, orders)
def test_covariance_stays_symmetric_and_positive_semi_definite(seed, order):
    rng, eta, Sigma, Q = random_filters(seed, order)
    R, residual = rng.random(3), np.zeros(3)
    for _ in range(50):
        propagate(transition(order, rng.exponential()), eta, Sigma, Q)
        if rng.random() < 0.5:
            psi = 10.0 ** rng.integers(-6, 7) * rng.normal(size=3)
            correct(psi, adapt_gains(Sigma, R, residual, 0.3), eta, Sigma, Q, R, residual, 0.3)
        assert_positive_semi_definite(Sigma)


def test_order_zero_filter_with_fixed_noise_is_exponential_smoothing():
    q, r = 0.02, 0.5
    steady = (q + np.sqrt(q**2 + 4 * q * r)) / 2  # forecast variance that reproduces itself
    gain = steady / (steady + r)
    eta, Sigma, Q = np.zeros((1, 1)), np.full((1, 1, 1), steady - q), np.full((1, 1, 1), q)
    R, residual = np.array([r]), np.zeros(1)
    observations = np.random.default_rng(0).normal(size=100)
    for psi in observations:
        propagate(transition(0, 1.0), eta, Sigma, Q)
        correct(np.array([psi]), adapt_gains(Sigma, R, residual, 1.0), eta, Sigma, Q, R, residual, 1.0)
    age = np.arange(100)[::-1]
    assert eta[0, 0] == pytest.approx(np.sum(gain * (1 - gain) ** age * observations), abs=1e-12)
