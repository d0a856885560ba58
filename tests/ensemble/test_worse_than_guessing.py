"""Streams on which the rule is worse than guessing: what is said of its mistakes stays true."""

import numpy as np
import pytest

from driftline import AMRC, Status

DELAY = 100


@pytest.fixture(scope="module")
def flipped():
    """Return a model whose labels come just when the classes have changed sides, with its losses and rate bounds."""
    rng, n = np.random.default_rng(0), 7000
    X = rng.normal(size=(n, 2))
    y = ((X[:, 0] > 0) ^ (np.arange(n) // DELAY % 2 == 1)).astype(int)
    model = AMRC(features="linear")
    model.partial_fit(X[:DELAY], y[:DELAY], classes=[0, 1])
    losses, rates = [], []
    for start in range(DELAY, n, DELAY):
        part = slice(start, start + DELAY)
        learned = model.observe(X[part]).prequential(X[part], y[part])
        losses.append(1.0 - learned.label_probabilities)
        rates.append(learned.charges)
    return model, np.concatenate(losses), np.concatenate(rates)


def test_with_late_labels_and_recurring_flips_mistakes_are_bounded(flipped):
    model, losses, rates = flipped
    assert losses.mean() > 0.53
    assert losses.sum() < model.mistake_bound(delta=0.05)
    assert model.mistake_rate_bound(delta=0.05) < losses.mean() + 0.06
    # What the bound used to be, even with rates of one half at all steps:
    assert losses.sum() > 0.5 * model.n_steps_ + np.sqrt(2 * model.n_steps_ * np.log(20))
    assert abs(rates.mean() - losses.mean()) < 0.1


def test_bounds_above_guessing_are_marked_as_loose(flipped):
    model = flipped[0]
    assert model.error_bound_ > 0.5
    assert model.bound_status_ is Status.LOOSE
    assessed = model.assess(np.zeros((1, 2)), [0])
    assert assessed.statuses.tolist() == [Status.LOOSE]
    better = AMRC(features="linear").fit([[0.0], [1.0]] * 20, [0, 1] * 20)
    assert better.bound_status_ is Status.OK
