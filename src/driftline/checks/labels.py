"""Checks of classes: of any kind, one or many, announced or not."""

from typing import Any

import numpy as np

from driftline.checks.data import gaussians
from driftline.checks.subjects import (
    Snapshot,
    ask,
    assert_alike,
    assert_valid,
    fresh,
    learn,
    learn_one_by_one,
    refusing,
    takes_any_class,
    taught,
)
from driftline.types import Matrix

KINDS: dict[str, Any] = {
    "text": ["ant", "zebra"],
    "text of two lengths": ["a", "a longer label"],
    "text in an array of objects": np.array(["no", "yes"], dtype=object),
    "numbers with a gap": [3, 1_000_003],
    "negative numbers": [-7, -2],
    "truth values": [False, True],
}


def check_labels_may_be_of_any_kind(estimator: Any) -> None:
    """Check that labels may be text, numbers or truth values; predictions are of the same kind, and no others."""
    X, y = gaussians(estimator, 60)
    expected = ask(taught(estimator, X, y), X)
    for kind, values in KINDS.items():
        names = np.asarray(values)
        replies = ask(taught(estimator, X, names[y]), X)
        if replies.labels.dtype.kind not in ("OU" if names.dtype.kind == "O" else names.dtype.kind):
            raise AssertionError(
                f"labels that are {kind}: expected predictions of type {names.dtype}; got {replies.labels.dtype}"
            )
        renamed = type(replies)(names[expected.labels], expected.probabilities)
        assert_alike(replies, renamed, f"labels that are {kind}, rather than 0 and 1")


def check_many_classes_can_be_told_apart(estimator: Any) -> None:
    """Check that twenty classes are no harder than two: all predictions are valid after any number of rows."""
    X, y = gaussians(estimator, 200, n_classes=20)
    model = fresh(estimator)
    for first in range(0, 200, 20):
        learn(model, X[first : first + 20], y[first : first + 20], np.arange(20))
        assert_valid(model, X, np.arange(20), f"{first + 20} rows of twenty classes")


def check_one_class_is_enough(estimator: Any) -> None:
    """Check that all goes on while only one class has come; if there is no other, it is predicted, or refused."""
    X, y = gaussians(estimator, 30)
    y[:] = 1
    model = fresh(estimator)
    for t in learn_one_by_one(model, X, y, np.array([0, 1])):
        assert_valid(model, X, np.array([0, 1]), f"{t} rows of one of two classes")
    for classes in ([1], None) if takes_any_class(estimator) else ([1],):
        single = fresh(estimator)
        try:
            learn(single, X, y, classes)
        except ValueError as error:
            if not takes_any_class(estimator):
                continue
            raise AssertionError(f"rows of a single class: expected it to be learned; got {error}") from error
        assert_valid(single, X, np.array([1]), "rows of a single class")


def check_a_class_that_comes_unannounced_joins(estimator: Any) -> None:
    """Check that a class that nobody announced joins at its first row, and comes to be predicted."""
    X, y = gaussians(estimator, 40)
    new = X.max(axis=0) + 5.0 + np.random.default_rng(0).random((100, 3))
    for announced in ([0, 1], None):
        _join(learn(fresh(estimator), X, y, announced), new, X)
    model = fresh(estimator)
    for t in learn_one_by_one(model, X, y):
        assert_valid(model, X, np.unique(y[:t]), f"{t} rows, no class announced")


def check_a_class_that_comes_unannounced_joins_or_is_refused(estimator: Any) -> None:
    """Check that a class that nobody announced joins at its first row, or is refused and the model stays as it was."""
    X, y = gaussians(estimator, 40)
    model = taught(estimator, X, y)
    new = X.max(axis=0) + 5.0 + np.random.default_rng(0).random((100, 3))
    before = Snapshot(model, X)
    try:
        learn(model, new[:1], np.array([2]))
    except ValueError:
        before.assert_unchanged("a class that nobody announced was refused")
        return
    _join(model, new, X)


def _join(model: Any, new: Matrix, X: Matrix) -> None:
    for rows in (new[:1], new[1:2], new[2:]):
        learn(model, rows, np.full(len(rows), 2))
        classes = model.classes_.tolist()
        if set(classes) != {0, 1, 2}:
            raise AssertionError(f"rows of a new class 2: expected it to join 0 and 1 in classes_; got {classes}")
        assert_valid(model, np.vstack([X, new]), np.arange(3), "rows of a new class 2")
    said = set(model.predict(new).tolist())
    if 2 not in said:
        raise AssertionError(f"{len(new)} rows of nothing but a new class 2: expected it to be predicted; got {said}")


def check_labels_are_one_for_each_row(estimator: Any) -> None:
    """Check that fewer labels than rows are refused, and the model stays as it was."""
    X, y = gaussians(estimator, 40)
    model = taught(estimator, X, y)
    before = Snapshot(model, X)
    with refusing("40 rows with 39 labels"):
        learn(model, X, y[1:])
    before.assert_unchanged("40 rows with 39 labels were refused")
