"""Checks that only learning changes a model, and that it changes nothing else."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.base import clone

from driftline.checks.classifier_under_test import (
    Snapshot,
    accepts_new_classes,
    assert_same_predictions,
    fitted_copy,
    learn,
    learn_one_by_one,
    predict_rows,
    unfitted_copy,
)
from driftline.checks.sample_data import overlapping_classes
from driftline.types import LabelArray, Matrix


def check_prediction_changes_nothing(estimator: Any) -> None:
    """Check that predictions, of any rows and at any time, do not change the model."""
    X, y = overlapping_classes(estimator)
    others, _ = overlapping_classes(estimator, n_rows=300, seed=1)
    predicting, only_learning = unfitted_copy(estimator), unfitted_copy(estimator)
    both = zip(*(learn_one_by_one(model, X, y, np.unique(y)) for model in (predicting, only_learning)), strict=True)
    for t, _ in both:
        before = Snapshot(predicting, X)
        for method in ("predict", "predict_proba", "decision_function"):
            if hasattr(predicting, method):
                getattr(predicting, method)(others if t in (1, 13) else others[:t])
        before.assert_unchanged(f"after predicting other rows, {t} rows learned")
    situation = "predicting other rows between learned rows, instead of only learning"
    assert_same_predictions(predict_rows(predicting, X), predict_rows(only_learning, X), situation)


def check_copies_are_independent(estimator: Any) -> None:
    """Check that a copy learns like the model, that neither changes the other, and that a clone is unfitted."""
    X, y = overlapping_classes(estimator)
    for name, copied in _copies().items():
        model = fitted_copy(estimator, X[:20], y[:20])
        before, copy_of = Snapshot(model, X), copied(model)
        assert_same_predictions(predict_rows(copy_of, X), predict_rows(model, X), f"a {name}")
        learn(copy_of, X[20:], y[20:])
        before.assert_unchanged(f"a {name} learned 20 rows")
        learned = Snapshot(copy_of, X)
        learn(model, X[20:], y[20:])
        learned.assert_unchanged(f"the model learned 20 rows after a {name} was made")
        assert_same_predictions(
            predict_rows(model, X), predict_rows(copy_of, X), f"the model and a {name} learned the same rows"
        )
    model = fitted_copy(estimator, X, y)
    before, blank = Snapshot(model, X), clone(model)
    learn(blank, X[:20], y[:20], np.unique(y))
    before.assert_unchanged("a clone learned 20 rows")
    expected = learn(unfitted_copy(estimator), X[:20], y[:20], np.unique(y))
    situation = "a clone of a fitted model, which should be unfitted, learned 20 rows"
    assert_same_predictions(predict_rows(blank, X), predict_rows(expected, X), situation)


def _copies() -> dict[str, Callable[[Any], Any]]:
    return {"deep copy": copy.deepcopy, "pickled copy": lambda model: pickle.loads(pickle.dumps(model))}


def check_input_arrays_are_not_changed(estimator: Any) -> None:
    """Check that the arrays passed in are not changed, and that changing them later does not change the model."""
    X, y = overlapping_classes(estimator)
    given, labels = X.copy(), y.copy()
    model = learn(unfitted_copy(estimator), given, labels, np.unique(y))
    model.predict(given)
    if not (np.array_equal(given, X, equal_nan=True) and np.array_equal(labels, y)):
        raise AssertionError("rows and labels passed in: expected them to stay the same; they were changed")
    given[:], labels[:] = 1.0, y[0]
    expected = predict_rows(fitted_copy(estimator, X, y), X)
    assert_same_predictions(predict_rows(model, X), expected, "rows overwritten by the caller after learning")


def check_saved_models_continue_identically(estimator: Any) -> None:
    """Check that a model that is saved and loaded, after any row, continues exactly like the original."""
    X, y = overlapping_classes(estimator)
    late = int(np.flatnonzero(y == y.max())[0]) + 1  # just after the first row of the last class
    for n_rows in (1, 7, late, 35):
        _check_saved_after(estimator, X, y, n_rows)


def _check_saved_after(estimator: Any, X: Matrix, y: LabelArray, n_rows: int) -> None:
    announced = None if accepts_new_classes(estimator) else np.unique(y)
    model = learn(unfitted_copy(estimator), X[:n_rows], y[:n_rows], announced)
    before = Snapshot(model, X)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        loaded = type(model).load(path)
    before.assert_unchanged(f"saved after {n_rows} rows")
    _assert_same_parameters(model, loaded)
    expected, actual = model.classes_.tolist(), loaded.classes_.tolist()
    if actual != expected:
        raise AssertionError(f"loaded after {n_rows} rows: expected the classes {expected}; got {actual}")
    assert_same_predictions(predict_rows(loaded, X), predict_rows(model, X), f"loaded after {n_rows} rows")
    both = zip(*(learn_one_by_one(each, X[n_rows:], y[n_rows:]) for each in (model, loaded)), strict=True)
    for t, _ in both:
        assert_same_predictions(
            predict_rows(loaded, X), predict_rows(model, X), f"loaded after {n_rows} rows, and {t} rows later"
        )


def _assert_same_parameters(model: Any, loaded: Any) -> None:
    actual = loaded.get_params(deep=False)
    for name, value in model.get_params(deep=False).items():
        # A file may store a list instead of a tuple; values that cannot be compared are compared by their repr.
        if repr(actual[name]) != repr(value) and not np.array_equal(actual[name], value):
            raise AssertionError(f"a loaded model: expected {name}={value!r}; got {actual[name]!r}")
