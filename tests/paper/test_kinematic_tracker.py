import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.paper.kinematic_tracker import KinematicTracker
from driftline.paper.label_window import LabelWindow
from helpers.matrix_assertions import assert_positive_semi_definite
from helpers.strategies import seeds
from transcription import NumpyTracker


def tracker(n_features, n_classes, *, order=1, window=200, variance="binomial", **options):
    made = KinematicTracker(n_features, order=order, window=LabelWindow(window, variance), **options)
    for _ in range(n_classes):
        made.add_classes(1)
    return made


def random_stream(seed, n_steps, n_features, n_classes):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_steps, n_features)), rng.integers(0, n_classes, n_steps)


@settings(max_examples=20)
@given(seeds, st.integers(0, 2), st.integers(5, 50))
def test_uncertainty_sets_are_those_of_the_algorithm_as_printed(seed, order, window):
    X, y = random_stream(seed, 40, 2, 3)
    made, twin = tracker(2, 3, order=order, window=window), NumpyTracker(3, 2, order=order, window=window)
    for psi, label in zip(X, y.tolist(), strict=True):
        uncertainty = made.update(psi, label, 1.0)
        tau, lam = twin.update(psi, label)
        assert np.allclose(uncertainty.mean.ravel(), tau, rtol=1e-7, atol=1e-9)
        assert np.allclose(uncertainty.width.ravel(), lam, rtol=1e-6, atol=1e-7)


@given(seeds)
def test_width_as_printed_is_degenerate_for_classes_that_are_not_the_majority(seed):
    X, y = random_stream(seed, 30, 2, 2)
    made = tracker(2, 2, variance="printed")
    for t, (psi, label) in enumerate(zip(X, y, strict=True), start=1):
        uncertainty = made.update(psi, int(label), 1.0)
        minority = np.bincount(y[:t], minlength=2) / t <= 0.5
        assert np.all(uncertainty.width[minority] >= np.abs(uncertainty.mean[minority]) - 1e-12)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_order_k_follows_a_polynomial_of_degree_k_without_lag(order):
    made = tracker(1, 1, order=order)
    polynomial = np.polynomial.Polynomial([0.3, -0.2, 0.05, 0.004][: order + 1])
    for t in range(300):
        uncertainty = made.update(np.array([polynomial(t / 10)]), 0, 0.1)
    assert uncertainty.mean[0, 0] == pytest.approx(polynomial(300 / 10), rel=1e-3)


def test_real_time_increments_are_used():
    made = tracker(1, 1)
    rng = np.random.default_rng(0)
    time = 0.0
    for _ in range(500):
        elapsed = rng.exponential()
        time += elapsed
        uncertainty = made.update(np.array([2.0 * time]), 0, elapsed)
    assert uncertainty.mean[0, 0] == pytest.approx(2.0 * (time + elapsed), rel=1e-3)


def after_silence(unobserved, n_silent):
    made = tracker(1, 2, unobserved=unobserved)
    for t in range(50):
        for label in (0, 1):
            made.update(np.array([0.1 * t]), label, 1.0)
    for _ in range(n_silent):
        uncertainty = made.update(np.array([0.0]), 0, 1.0)
    p = 50 / (100 + n_silent)
    return uncertainty.mean[1, 0] / p, uncertainty.width[1, 0] / p


def test_an_unobserved_class_is_extrapolated_or_held():
    (early, early_width), (late, late_width) = after_silence("propagate", 2), after_silence("propagate", 12)
    assert late - early == pytest.approx(10 * 0.05, rel=0.05)  # the class gains 0.1 at every second step
    assert late_width > early_width
    (early, _), (late, _) = after_silence("hold", 2), after_silence("hold", 12)
    assert late == pytest.approx(early)


def test_unidimensional_gain_is_the_average_of_the_gains():
    made = tracker(3, 1, order=0, gain="unidimensional")
    twin_eta, twin_P, twin_Q = np.zeros(3), np.ones(3), np.full(3, 1e-3)
    R, residual = np.full(3, 1e-3), np.zeros(3)
    for psi in np.random.default_rng(1).normal(size=(20, 3)) * [1, 10, 100]:
        uncertainty = made.update(psi, 0, 1.0)
        P = twin_P + twin_Q
        R = 0.3 * R + 0.7 * (residual**2 + P)
        K = np.mean(P / (P + R))
        innovation = psi - twin_eta
        twin_eta = twin_eta + K * innovation
        twin_P = (1 - K) ** 2 * P + K**2 * R
        twin_Q = 0.3 * twin_Q + 0.7 * innovation**2 * K**2
        residual = psi - twin_eta
        assert np.allclose(uncertainty.mean[0], twin_eta)
        assert np.allclose(uncertainty.width[0], np.sqrt(twin_P + twin_Q))


@given(seeds, st.permutations(range(3)), st.permutations(range(2)))
def test_permuting_classes_and_columns_permutes_the_uncertainty_set(seed, classes, columns):
    X, y = random_stream(seed, 20, 2, 3)
    classes, columns = list(classes), list(columns)
    made, permuted = tracker(2, 3), tracker(2, 3)
    for psi, label in zip(X, y, strict=True):
        uncertainty = made.update(psi, int(label), 1.0)
        moved = permuted.update(psi[columns].copy(), classes[label], 1.0)
    assert np.allclose(moved.mean[classes], uncertainty.mean[:, columns])
    assert np.allclose(moved.width[classes], uncertainty.width[:, columns])


def test_a_class_that_joins_late_disturbs_no_other():
    X, y = random_stream(3, 60, 2, 2)
    alone, joined = tracker(2, 2), tracker(2, 2)
    for t, (psi, label) in enumerate(zip(X, y, strict=True)):
        if t == 30:
            joined.add_classes(1)
        one, other = alone.update(psi, int(label), 1.0), joined.update(psi, int(label), 1.0)
        assert np.array_equal(one.mean, other.mean[:2])
        assert np.array_equal(one.width, other.width[:2])
    assert np.all(other.mean[2:] == 0)


@pytest.mark.slow
def test_a_million_steps_with_jumps_in_scale_stay_finite_and_positive_semi_definite():
    made = tracker(2, 2, order=2)
    rng = np.random.default_rng(0)
    for t in range(1_000_000):
        scale = 1e6 if (t // 1000) % 2 else 1.0
        label = int(rng.random() < (0.5 if (t // 5000) % 2 else 0.001))
        uncertainty = made.update(scale * rng.standard_normal(2), label, 1.0)
        if t % 1000 == 0:
            assert_positive_semi_definite(made.state()["Sigma"])
            assert np.all(np.isfinite(uncertainty.mean))
            assert np.all(np.isfinite(uncertainty.width))
