"""Estimators that learn quickly, and a small stream for them."""

import numpy as np

from driftline import AMRC, PaperAMRC, baselines

LINEAR = {"features": "linear", "intercept": True, "scaling": "running"}
"""Parameters of the paper's method that make it quick, and do not scale columns with future rows."""
QUICK = {"n_iterations": 50, "n_subgradients": 10}
SMALL = {"budget": 20, "n_components": 10, "period": 7, "max_experts": 4, "rank": 0.6}
"""Parameters of the baselines that make them quick."""


def plain(**changes):
    return PaperAMRC(**LINEAR | changes)


def paper(**changes):
    return plain(**QUICK | changes)


def widened(**changes):
    return paper(**{"widened": True, "n_subgradients": 60} | changes)


def linear(**changes):
    return AMRC(**{"features": "linear"} | changes)


def fourier(**changes):
    return AMRC(**{"n_components": 5} | changes)


def remembering(**changes):
    return linear(**{"label_memory": True} | changes)


def weighted(**changes):
    return linear(**{"costs": {}, "class_weight": "balanced"} | changes)


def baseline(name):
    kind = getattr(baselines, name)
    return kind(**{key: value for key, value in SMALL.items() if key in kind().get_params()})


KINDS = {
    "paper": paper,
    "widened": widened,
    "linear": linear,
    "fourier": fourier,
    "remembering": remembering,
    "weighted": weighted,
}
"""Quick estimators, for tests that apply to all of them."""


def small_stream(seed=0, n_steps=60, n_classes=2, n_columns=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_steps)
    centres = rng.normal(size=(n_classes, n_columns))
    return 2 * centres[y] + rng.normal(size=(n_steps, n_columns)), y


def assert_same(one, other):
    """Assert that two models have the same state, bit for bit."""
    first, second = one._learner.state(), other._learner.state()
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name], equal_nan=first[name].dtype.kind == "f") for name in first)
    assert np.array_equal(one.classes_, other.classes_)
