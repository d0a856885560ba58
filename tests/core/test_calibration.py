"""The calibrated bounds, on sequences of expected mistakes whose mean is known."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.core.calibration import CalibratedBound
from driftline.kernels import calibration as constants
from helpers.strategies import seeds

T = 3000
TIMES = np.arange(T)
SHAPES = {
    "constant": np.full(T, 0.2),
    "small": np.full(T, 0.01),
    "swinging": 0.2 + 0.1 * np.sin(TIMES / 5.0),
    "falling": 0.05 + 0.4 * np.exp(-TIMES / 50.0),
    "rising": 0.1 + 0.2 * TIMES / T,
}


def losses_of(truth, seed, shape=4.0):
    rng = np.random.default_rng(seed)
    return rng.beta(shape * truth, shape * (1.0 - truth))


def twin(losses, coverage, top):
    """The same bounds in plain Python."""
    z = max(NormalDist().inv_cdf(coverage), math.log(1 / (1 - coverage)) - 1)
    mean = recent = top
    covariance, variance, last, stretch, rate_stretch, sums = 0.0, top**2, 0.0, 0.0, 0.0, np.zeros(3)
    bounds, rates = [], []
    for n, loss in enumerate(losses):
        gain, slowest = max(0.02, 2 / (n + 2)), max(0.002, 3 / (n + 3))
        hidden = max(min(0.025, 1.5 * mean), 0.001)
        strays = math.sqrt(2 * max(covariance, 0) + 0.5 * gain * variance + hidden**2)
        bounds.append(min(max(recent, mean + z * math.exp(stretch) * strays), top) if n else top)
        error = math.sqrt(0.5 * gain * variance + 1e-6)
        rates.append(min(mean + math.exp(rate_stretch) * error, top) if n else top)
        deviation = loss - mean
        mean += gain * deviation
        recent += max(0.05, 2 / (n + 2)) * (loss - recent)
        covariance += slowest * (deviation * last - covariance)
        variance += slowest * (deviation**2 - variance)
        last = deviation
        sums += (loss, bounds[-1], rates[-1])
        if (n + 1) % 100 == 0:
            limits = [math.log(1 / (k * 0.001)) + 0.25 for k in (z, 1)]
            stretch = min(max(stretch + 0.25 * (float(sums[0] > sums[1]) - 1 + coverage), 0), limits[0])
            rate_stretch = min(max(rate_stretch + 0.25 * (float(sums[0] > sums[2]) - 1 + coverage), 0), limits[1])
            sums[:] = 0
    return np.array(bounds), np.array(rates)


@pytest.mark.parametrize("coverage", [0.8, 0.95])
@pytest.mark.parametrize("name", SHAPES)
def test_bounds_equal_their_formulas(name, coverage):
    losses = losses_of(SHAPES[name], seed=1)
    ours, theirs = CalibratedBound(coverage).update(losses, 3), twin(losses, coverage, 2 / 3)
    assert np.allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("name", SHAPES)
def test_the_bound_holds_at_nearly_all_steps_where_the_error_is_known(name):
    covered = []
    for seed in range(10):
        bounds, _ = CalibratedBound(0.95).update(losses_of(SHAPES[name], seed), 2)
        covered.append(np.mean(bounds[200:] >= SHAPES[name][200:]))
    assert np.mean(covered) >= 0.95


@pytest.mark.parametrize("name", SHAPES)
def test_the_rate_bound_holds_on_average_and_is_close(name):
    for seed in range(5):
        losses = losses_of(SHAPES[name], seed)
        _, rates = CalibratedBound(0.95).update(losses, 2)
        assert 0.0 < rates.mean() - losses.mean() < 0.05


def test_a_higher_coverage_gives_a_higher_bound():
    losses = losses_of(SHAPES["swinging"], seed=0)
    low, high = (CalibratedBound(coverage).update(losses, 2)[0] for coverage in (0.8, 0.99))
    assert low.mean() < high.mean()


@settings(max_examples=20)
@given(seeds, st.integers(1, 12), st.sampled_from([2, 5]))
def test_of_windows_better_than_guessing_few_have_more_mistakes_than_bounds(seed, period, c):
    """Whoever makes the losses, and knows the bounds: here they strike in every so-manieth window."""
    certificate, top, n_windows = CalibratedBound(0.95), 1 - 1 / c, 300
    rng = np.random.default_rng(seed)
    failed = np.zeros(2)
    for window in range(n_windows):
        strikes = window % period == 0
        losses = np.full(100, top if strikes else 0.02 * rng.random())
        bounds, rates = certificate.update(losses, c)
        if losses.mean() <= top:
            failed += (losses.sum() > bounds.sum() + 1e-9, losses.sum() > rates.sum() + 1e-9)
    z = math.log(20) - 1
    widest = np.log(1 / (np.array([z, 1]) * constants.MIN_DEVIATION)) / constants.STRETCH_STEP + 1
    assert np.all(failed <= 0.05 * n_windows + widest + 1)


@given(seeds, st.integers(1, 6))
def test_bounds_lie_between_0_and_guessing_and_grouping_does_not_matter(seed, c):
    rng = np.random.default_rng(seed)
    losses = rng.random(250) ** rng.integers(1, 9)
    whole, parts = CalibratedBound(0.9), CalibratedBound(0.9)
    together = whole.update(losses, c)
    first, second = parts.update(losses[:99], c), parts.update(losses[99:], c)
    assert np.array_equal(together, np.concatenate([first, second], axis=1))
    assert np.all((np.array(together) >= 0) & (np.array(together) <= 1 - 1 / c))
    assert whole.bound(c) == parts.bound(c)
    restored = CalibratedBound(0.9)
    restored.restore(whole.state())
    assert np.array_equal(restored.update(losses, c), whole.update(losses, c))
