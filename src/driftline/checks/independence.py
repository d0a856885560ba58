"""Checks that a model changes when it learns, and at no other time."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.base import clone

from driftline.checks.data import messy
from driftline.checks.subjects import (
    Snapshot,
    ask,
    assert_alike,
    fresh,
    learn,
    learn_one_by_one,
    takes_any_class,
    taught,
)
from driftline.types import LabelArray, Matrix


def check_prediction_changes_nothing(estimator: Any) -> None:
    """Check that predictions, of any rows and at any time, leave the model as it was."""
    X, y = messy(estimator)
    others, _ = messy(estimator, n_rows=300, seed=1)
    asked, silent = fresh(estimator), fresh(estimator)
    both = zip(*(learn_one_by_one(model, X, y, np.unique(y)) for model in (asked, silent)), strict=True)
    for t, _ in both:
        before = Snapshot(asked, X)
        for method in ("predict", "predict_proba", "decision_function"):
            if hasattr(asked, method):
                getattr(asked, method)(others if t in (1, 13) else others[:t])
        before.assert_unchanged(f"asked about other rows after learning {t}")
    assert_alike(ask(asked, X), ask(silent, X), "asked between rows, rather than not asked")


def check_copies_are_independent(estimator: Any) -> None:
    """Check that a copy goes on like the model, neither knows what the other learns, and a clone knows nothing."""
    X, y = messy(estimator)
    for name, copied in _copies().items():
        model = taught(estimator, X[:20], y[:20])
        before, copy_of = Snapshot(model, X), copied(model)
        assert_alike(ask(copy_of, X), ask(model, X), f"a {name}")
        learn(copy_of, X[20:], y[20:])
        before.assert_unchanged(f"a {name} learned 20 rows")
        learned = Snapshot(copy_of, X)
        learn(model, X[20:], y[20:])
        learned.assert_unchanged(f"the model learned 20 rows after a {name} was made")
        assert_alike(ask(model, X), ask(copy_of, X), f"the model and a {name} learned the same rows")
    model = taught(estimator, X, y)
    before, blank = Snapshot(model, X), clone(model)
    learn(blank, X[:20], y[:20], np.unique(y))
    before.assert_unchanged("a clone learned 20 rows")
    expected = learn(fresh(estimator), X[:20], y[:20], np.unique(y))
    assert_alike(ask(blank, X), ask(expected, X), "a clone of a fitted model, which should be unfitted, learned")


def _copies() -> dict[str, Callable[[Any], Any]]:
    return {"deep copy": copy.deepcopy, "pickled copy": lambda model: pickle.loads(pickle.dumps(model))}


def check_rows_stay_the_callers(estimator: Any) -> None:
    """Check that rows and labels handed in are not changed, and what becomes of them later does not matter."""
    X, y = messy(estimator)
    given, labels = X.copy(), y.copy()
    model = learn(fresh(estimator), given, labels, np.unique(y))
    model.predict(given)
    if not (np.array_equal(given, X, equal_nan=True) and np.array_equal(labels, y)):
        raise AssertionError("rows and labels handed in: expected them to stay as they were; they were changed")
    given[:], labels[:] = 1.0, y[0]
    assert_alike(ask(model, X), ask(taught(estimator, X, y), X), "rows overwritten by their owner after learning")


def check_saved_models_go_on_alike(estimator: Any) -> None:
    """Check that a model that was saved and loaded, at any moment, goes on as if it had never stopped."""
    X, y = messy(estimator)
    late = int(np.flatnonzero(y == y.max())[0]) + 1  # just after the last class came
    for n_rows in (1, 7, late, 35):
        _check_saved_after(estimator, X, y, n_rows)


def _check_saved_after(estimator: Any, X: Matrix, y: LabelArray, n_rows: int) -> None:
    announced = None if takes_any_class(estimator) else np.unique(y)
    model = learn(fresh(estimator), X[:n_rows], y[:n_rows], announced)
    before = Snapshot(model, X)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        loaded = type(model).load(path)
    before.assert_unchanged(f"saved after {n_rows} rows")
    _assert_same_parameters(model, loaded)
    classes, kept = model.classes_.tolist(), loaded.classes_.tolist()
    if kept != classes:
        raise AssertionError(f"loaded after {n_rows} rows: expected the classes {classes}; got {kept}")
    assert_alike(ask(loaded, X), ask(model, X), f"loaded after {n_rows} rows")
    both = zip(*(learn_one_by_one(each, X[n_rows:], y[n_rows:]) for each in (model, loaded)), strict=True)
    for t, _ in both:
        assert_alike(ask(loaded, X), ask(model, X), f"loaded after {n_rows} rows, and {t} rows later")


def _assert_same_parameters(model: Any, loaded: Any) -> None:
    ours, theirs = model.get_params(deep=False), loaded.get_params(deep=False)
    for name, value in ours.items():
        # Files may know lists and plain numbers only, and text is enough for what cannot be compared.
        if repr(theirs[name]) != repr(value) and not np.array_equal(theirs[name], value):
            raise AssertionError(f"a loaded model: expected {name}={value!r}; got {theirs[name]!r}")
