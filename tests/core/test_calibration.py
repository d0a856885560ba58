"""The calibrated bounds, on sequences of expected mistakes whose mean is known."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.core.calibration import CalibratedBound
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


def multiples(coverage):
    """Return how many deviations, or standard errors, the margins of the two bounds are."""
    return np.array([max(NormalDist().inv_cdf(coverage), math.log(1 / (1 - coverage)) - 1, 0.01), 1.0])


def twin(losses, coverage, classes):
    """The same bounds in plain Python; `classes` are the numbers of classes at each step."""
    z, widest = multiples(coverage), np.log(1 / (multiples(coverage) * 0.001))
    top = 1 - 1 / classes
    mean = recent = top[0]
    covariance, variance, last, stretches = 0.0, top[0] ** 2, 0.0, np.zeros((2, 100))
    both = np.zeros((len(losses), 2))
    for n, loss in enumerate(losses):
        gain, slowest = max(0.02, 2 / (n + 2)), max(0.002, 3 / (n + 3))
        hidden = max(min(0.025, 1.5 * mean), 0.001)
        strays = np.sqrt([2 * max(covariance, 0) + 0.5 * gain * variance + hidden**2, 0.5 * gain * variance + 1e-6])
        stretch = stretches.max(axis=1)
        bounds = mean + z * np.exp(stretch) * strays
        bounds[0] = max(bounds[0], recent)
        limits = max(top[n], losses[max(n - 100, 0) : n].sum() / 100) + np.maximum(stretch - widest, 0)
        both[n] = np.minimum(bounds, np.minimum(limits, 1)) if n else top[0]
        deviation = loss - mean
        mean += gain * deviation
        recent += max(0.05, 2 / (n + 2)) * (loss - recent)
        covariance += slowest * (deviation * last - covariance)
        variance += slowest * (deviation**2 - variance)
        last = deviation
        last_steps = slice(max(n - 99, 0), n + 1)
        failed = losses[last_steps].sum() > both[last_steps].sum(axis=0) + max(99 - n, 0)
        stretches[:, n % 100] = np.maximum(stretches[:, n % 100] + 0.25 * (failed - 1 + coverage), 0)
    return both.T


@pytest.mark.parametrize("coverage", [0.8, 0.95])
@pytest.mark.parametrize("name", SHAPES)
def test_bounds_equal_their_formulas(name, coverage):
    losses = losses_of(SHAPES[name], seed=1)
    ours, theirs = CalibratedBound(coverage).update(losses, 3), twin(losses, coverage, np.full(T, 3))
    assert np.allclose(ours, theirs, rtol=1e-9)


def test_bounds_equal_their_formulas_where_the_rule_is_worse_than_guessing_and_classes_join():
    losses = losses_of(np.where(TIMES % 300 < 150, 0.85, 0.1), seed=2)
    classes = 2 + TIMES // 1000
    calibrated = CalibratedBound(0.5)
    parts = [calibrated.update(losses[t : t + 1000], int(classes[t])) for t in (0, 1000, 2000)]
    ours = np.concatenate(parts, axis=1)
    assert np.allclose(ours, twin(losses, 0.5, classes), rtol=1e-9)
    assert ours.max() > 0.75


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


def largest_excess(losses, bounds, coverage):
    """Return by how much failed windows exceed their share, at the worst offset and over the worst span of windows.

    Windows of 100 steps that follow each other are a row; the rows are those of the 100 possible offsets.
    """
    n_windows = len(losses) // 100 - 1
    failed = np.empty((100, n_windows))
    for offset in range(100):
        windows = (
            values[offset : offset + 100 * n_windows].reshape(-1, 100).sum(axis=1) for values in (losses, bounds)
        )
        failed[offset] = np.greater(next(windows), next(windows) + 1e-9)
    walk = np.pad(np.cumsum(failed - (1 - coverage), axis=1), ((0, 0), (1, 0)))
    return np.max(walk - np.minimum.accumulate(walk, axis=1))


def proved(coverage):
    """Return the constants of the proof, for both bounds."""
    return 4 * (np.log(1 / (multiples(coverage) * 0.001)) + 1) + coverage


@pytest.mark.parametrize("height", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("shift", [0, 17, 50])
def test_mistakes_that_are_shifted_against_blocks_of_100_steps_do_not_make_every_other_window_fail(height, shift):
    """As they did when only windows that began at multiples of 100 counted."""
    losses = np.where((np.arange(40_000) + shift) % 200 < 100, height, 0.0)
    both = CalibratedBound(0.95).update(losses, 2)
    for bounds, constant in zip(both, proved(0.95), strict=True):
        assert largest_excess(losses, bounds, 0.95) <= constant


class Bursts:
    """Errs for some time, then not, at any offset."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.period, self.length = rng.integers(100, 800), rng.integers(10, 200)
        self.heights = rng.random(2) ** [0.3, 6]

    def losses(self, t, losses, bounds):
        return np.where((t + np.arange(50)) % self.period < self.length, *self.heights)


class Opportunist:
    """Lets the window that ends with the next steps fail if it can, with no more mistakes than that takes."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.watched, self.n_steps, self.rest = rng.integers(2), rng.integers(5, 60), 0.1 * rng.random()

    def losses(self, t, losses, bounds):
        n_past = 100 - self.n_steps
        past = bounds[self.watched][t - n_past : t].sum() - losses[t - n_past : t].sum() if t >= 100 else 100.0
        needed = past / self.n_steps + bounds[self.watched][t] + 0.02
        return np.full(self.n_steps, needed if needed <= 1 else self.rest)


@settings(max_examples=25)
@given(
    seed=seeds,
    adversary=st.sampled_from([Bursts, Opportunist]),
    coverage=st.sampled_from([0.6, 0.8, 0.95]),
    n_classes=st.sampled_from([2, 7]),
)
def test_at_every_offset_few_windows_of_100_steps_fail_whoever_makes_the_losses(seed, adversary, coverage, n_classes):
    """Also by knowing the bounds, with classes that join, and a model that is saved and loaded."""
    n_steps, calibrated, adversary = 20_000, CalibratedBound(coverage), adversary(seed)
    losses, both, t = np.zeros(n_steps), np.zeros((2, n_steps)), 0
    while t < n_steps:
        c = min(2 + t // 4000, n_classes)
        both[:, t] = calibrated.bound(c), calibrated.rate(c)
        made = adversary.losses(t, losses, both)[: n_steps - t]
        part = slice(t, t + len(made))
        losses[part], both[:, part] = made, calibrated.update(made, c)
        t = part.stop
        if t % 7 == 0:
            saved, calibrated = calibrated.state(), CalibratedBound(coverage)
            calibrated.restore(saved)
    for bounds, constant in zip(both, proved(coverage), strict=True):
        assert largest_excess(losses, bounds, coverage) <= constant


def test_a_state_without_a_window_as_in_old_files_keeps_its_stretches():
    old = np.array([150.0, 0.3, 0.4, 0.01, 0.2, -0.1, 12.0, 20.0, 0.7, 18.0, 1.3])
    calibrated = CalibratedBound(0.95)
    calibrated.restore({"sums": old})
    losses = np.where(np.arange(20_000) % 200 < 100, 1.0, 0.0)
    first, both = calibrated.bound(2), calibrated.update(losses, 2)
    assert first == both[0][0]
    assert both[1][0] == pytest.approx(0.3 + math.exp(1.3) * math.sqrt(0.5 * 0.02 * 0.2 + 1e-6))
    for bounds, constant in zip(both, proved(0.95), strict=True):
        assert largest_excess(losses, bounds, 0.95) <= constant


def test_a_bound_rises_above_guessing_only_if_the_rule_is_worse_than_guessing():
    worse, better = (losses_of(np.full(T, error), seed=0, shape=50.0) for error in (0.7, 0.45))
    bounds, rates = CalibratedBound(0.95).update(worse, 2)
    assert np.all(bounds[200:] > 0.6)
    assert 0.6 < rates[200:].mean() < 0.8
    assert CalibratedBound(0.95).update(better, 2)[0].max() == 0.5


@given(seeds, st.integers(1, 6))
def test_bounds_lie_between_0_and_1_and_grouping_does_not_matter(seed, c):
    rng = np.random.default_rng(seed)
    losses = rng.random(250) ** rng.integers(1, 9)
    whole, parts = CalibratedBound(0.9), CalibratedBound(0.9)
    together = whole.update(losses, c)
    first, second = parts.update(losses[:99], c), parts.update(losses[99:], c)
    assert np.array_equal(together, np.concatenate([first, second], axis=1))
    assert np.all((np.array(together) >= 0) & (np.array(together) <= 1))
    assert whole.bound(c) == parts.bound(c)
    restored = CalibratedBound(0.9)
    restored.restore(whole.state())
    assert np.array_equal(restored.update(losses, c), whole.update(losses, c))
