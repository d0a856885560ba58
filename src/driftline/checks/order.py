"""Checks of what a model may depend on: the rows, their order and its seed, and nothing else."""

import pickle
import random
from typing import Any

import numpy as np

from driftline.checks.data import messy
from driftline.checks.subjects import MOMENTS, ask, assert_alike, fresh, learn, learn_one_by_one, takes_any_class


def check_same_rows_give_same_model(estimator: Any) -> None:
    """Check that the same rows in the same order give, with one seed, the same model, whatever others learn."""
    X, y = messy(estimator)
    seed = {"random_state": 7} if "random_state" in estimator.get_params(deep=False) else {}
    alone, one, other = (fresh(estimator).set_params(**seed) for _ in range(3))
    expected = [ask(alone, X) for _ in learn_one_by_one(alone, X, y, np.unique(y))]
    together = zip(*(learn_one_by_one(model, X, y, np.unique(y)) for model in (one, other)), strict=True)
    for (t, _), replies in zip(together, expected, strict=True):
        for model in (one, other):
            assert_alike(ask(model, X), replies, f"another model after the same {t} rows")


def check_grouping_into_batches_changes_nothing(estimator: Any) -> None:
    """Check that rows handed over one at a time or in batches of any size give the same model."""
    X, y = messy(estimator, n_rows=60)
    for classes in (np.unique(y), None) if takes_any_class(estimator) else (np.unique(y),):
        single = fresh(estimator)
        expected = {t: ask(single, X) for t in learn_one_by_one(single, X, y, classes)}
        rng = np.random.default_rng(0)
        for n_cuts in (0, 1, 2, 4, len(MOMENTS)):
            cuts = np.sort(rng.choice(MOMENTS, n_cuts, replace=False))
            model, done = fresh(estimator), 0
            for end in [*cuts.tolist(), len(X)]:
                learn(model, X[done:end], y[done:end], classes)
                situation = f"{end} rows, the last {end - done} in one batch, rather than one at a time"
                assert_alike(ask(model, X), expected[end], situation)
                done = end


def check_global_random_numbers_are_left_alone(estimator: Any) -> None:
    """Check that a model with a seed neither uses nor changes the random numbers that all of a program shares."""
    before = _global_random_state()
    X, y = messy(estimator)
    model = fresh(estimator)
    for _ in learn_one_by_one(model, X[:20], y[:20], np.unique(y)):
        ask(model, X)
    learn(model, X[20:], y[20:], np.unique(y))
    after = _global_random_state()
    for name, state in before.items():
        if after[name] != state:
            raise AssertionError(f"learning and predicting: expected the state of {name} to stay; it changed")


def _global_random_state() -> dict[str, bytes]:
    numpy_state = np.random.get_state()  # noqa: NPY002  # the one that must not be used
    return {"numpy.random": pickle.dumps(numpy_state), "random": pickle.dumps(random.getstate())}
