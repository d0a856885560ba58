"""Checks that a model depends on the rows, their order and its seed only."""

import pickle
import random
from typing import Any

import numpy as np

from driftline.checks.classifier_under_test import (
    CHECKED_ROW_COUNTS,
    accepts_new_classes,
    assert_same_predictions,
    learn,
    learn_one_by_one,
    predict_rows,
    unfitted_copy,
)
from driftline.checks.sample_data import overlapping_classes


def check_same_rows_give_same_model(estimator: Any) -> None:
    """Check that the same rows in the same order and the same seed give the same model, whatever other models do."""
    X, y = overlapping_classes(estimator)
    seed = {"random_state": 7} if "random_state" in estimator.get_params(deep=False) else {}
    alone, one, other = (unfitted_copy(estimator).set_params(**seed) for _ in range(3))
    expected = [predict_rows(alone, X) for _ in learn_one_by_one(alone, X, y, np.unique(y))]
    together = zip(*(learn_one_by_one(model, X, y, np.unique(y)) for model in (one, other)), strict=True)
    for (t, _), predictions in zip(together, expected, strict=True):
        for model in (one, other):
            assert_same_predictions(predict_rows(model, X), predictions, f"another model after the same {t} rows")


def check_grouping_into_batches_changes_nothing(estimator: Any) -> None:
    """Check that rows passed one at a time or in batches of any size give the same model."""
    X, y = overlapping_classes(estimator, n_rows=60)
    for classes in (np.unique(y), None) if accepts_new_classes(estimator) else (np.unique(y),):
        single = unfitted_copy(estimator)
        expected = {t: predict_rows(single, X) for t in learn_one_by_one(single, X, y, classes)}
        rng = np.random.default_rng(0)
        for n_cuts in (0, 1, 2, 4, len(CHECKED_ROW_COUNTS)):
            cuts = np.sort(rng.choice(CHECKED_ROW_COUNTS, n_cuts, replace=False))
            model, done = unfitted_copy(estimator), 0
            for end in [*cuts.tolist(), len(X)]:
                learn(model, X[done:end], y[done:end], classes)
                situation = f"{end} rows, the last {end - done} in one batch instead of one at a time"
                assert_same_predictions(predict_rows(model, X), expected[end], situation)
                done = end


def check_global_random_state_is_unchanged(estimator: Any) -> None:
    """Check that a model with a seed neither uses nor changes the global random numbers of Python and NumPy."""
    before = _global_random_state()
    X, y = overlapping_classes(estimator)
    model = unfitted_copy(estimator)
    for _ in learn_one_by_one(model, X[:20], y[:20], np.unique(y)):
        predict_rows(model, X)
    learn(model, X[20:], y[20:], np.unique(y))
    after = _global_random_state()
    for name, state in before.items():
        if after[name] != state:
            raise AssertionError(f"learning and predicting: expected the state of {name} to stay the same; it changed")


def _global_random_state() -> dict[str, bytes]:
    numpy_state = np.random.get_state()  # noqa: NPY002  # the state that models must not use
    return {"numpy.random": pickle.dumps(numpy_state), "random": pickle.dumps(random.getstate())}
