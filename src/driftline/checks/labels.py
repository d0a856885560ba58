"""Checks of labels and classes: of any type, one or many, announced or not."""

from typing import Any

import numpy as np

from driftline.checks.classifier_under_test import (
    Snapshot,
    accepts_new_classes,
    assert_same_predictions,
    assert_valid_predictions,
    expect_value_error,
    fitted_copy,
    learn,
    learn_one_by_one,
    predict_rows,
    unfitted_copy,
)
from driftline.checks.sample_data import separated_classes
from driftline.types import Matrix

LABEL_TYPES: dict[str, Any] = {
    "text": ["ant", "zebra"],
    "text of two lengths": ["a", "a longer label"],
    "text in an array of objects": np.array(["no", "yes"], dtype=object),
    "numbers with a gap": [3, 1_000_003],
    "negative numbers": [-7, -2],
    "truth values": [False, True],
}


def check_labels_may_have_any_type(estimator: Any) -> None:
    """Check that labels may be text, numbers or truth values, and that predictions have the same type."""
    X, y = separated_classes(estimator, 60)
    expected = predict_rows(fitted_copy(estimator, X, y), X)
    for kind, values in LABEL_TYPES.items():
        names = np.asarray(values)
        predictions = predict_rows(fitted_copy(estimator, X, names[y]), X)
        if predictions.labels.dtype.kind not in ("OU" if names.dtype.kind == "O" else names.dtype.kind):
            raise AssertionError(
                f"labels that are {kind}: expected predictions of type {names.dtype}; got {predictions.labels.dtype}"
            )
        renamed = expected._replace(labels=names[expected.labels])
        assert_same_predictions(predictions, renamed, f"labels that are {kind} instead of 0 and 1")


def check_many_classes_are_supported(estimator: Any) -> None:
    """Check that predictions with twenty classes are valid after any number of rows."""
    X, y = separated_classes(estimator, 200, n_classes=20)
    model = unfitted_copy(estimator)
    for first in range(0, 200, 20):
        learn(model, X[first : first + 20], y[first : first + 20], np.arange(20))
        assert_valid_predictions(model, X, np.arange(20), f"{first + 20} rows of twenty classes")


def check_one_class_is_enough(estimator: Any) -> None:
    """Check that a single class gives valid predictions, or is refused if classes must be announced."""
    X, y = separated_classes(estimator, 30)
    y[:] = 1
    model = unfitted_copy(estimator)
    for t in learn_one_by_one(model, X, y, np.array([0, 1])):
        assert_valid_predictions(model, X, np.array([0, 1]), f"{t} rows of one of two classes")
    for classes in ([1], None) if accepts_new_classes(estimator) else ([1],):
        single = unfitted_copy(estimator)
        try:
            learn(single, X, y, classes)
        except ValueError as error:
            if not accepts_new_classes(estimator):
                continue
            raise AssertionError(f"rows of a single class: expected it to be learned; got {error}") from error
        assert_valid_predictions(single, X, np.array([1]), "rows of a single class")


def check_unannounced_class_is_added(estimator: Any) -> None:
    """Check that a class that was not announced is added at its first row, and is predicted after some rows."""
    X, y = separated_classes(estimator, 40)
    new = X.max(axis=0) + 5.0 + np.random.default_rng(0).random((100, 3))
    for announced in ([0, 1], None):
        _assert_class_is_added(learn(unfitted_copy(estimator), X, y, announced), new, X)
    model = unfitted_copy(estimator)
    for t in learn_one_by_one(model, X, y):
        assert_valid_predictions(model, X, np.unique(y[:t]), f"{t} rows, no class announced")


def check_unannounced_class_is_added_or_refused(estimator: Any) -> None:
    """Check that a class that was not announced is added at its first row, or refused without changing the model."""
    X, y = separated_classes(estimator, 40)
    model = fitted_copy(estimator, X, y)
    new = X.max(axis=0) + 5.0 + np.random.default_rng(0).random((100, 3))
    before = Snapshot(model, X)
    try:
        learn(model, new[:1], np.array([2]))
    except ValueError:
        before.assert_unchanged("a class that was not announced was refused")
        return
    _assert_class_is_added(model, new, X)


def _assert_class_is_added(model: Any, new: Matrix, X: Matrix) -> None:
    for rows in (new[:1], new[1:2], new[2:]):
        learn(model, rows, np.full(len(rows), 2))
        classes = model.classes_.tolist()
        if set(classes) != {0, 1, 2}:
            raise AssertionError(f"rows of a new class 2: expected the classes_ 0, 1 and 2; got {classes}")
        assert_valid_predictions(model, np.vstack([X, new]), np.arange(3), "rows of a new class 2")
    predicted = set(model.predict(new).tolist())
    if 2 not in predicted:
        raise AssertionError(f"{len(new)} rows of a new class 2 only: expected it to be predicted; got {predicted}")


def check_wrong_number_of_labels_is_refused(estimator: Any) -> None:
    """Check that fewer labels than rows are refused without changing the model."""
    X, y = separated_classes(estimator, 40)
    model = fitted_copy(estimator, X, y)
    before = Snapshot(model, X)
    with expect_value_error("40 rows with 39 labels"):
        learn(model, X, y[1:])
    before.assert_unchanged("40 rows with 39 labels were refused")
