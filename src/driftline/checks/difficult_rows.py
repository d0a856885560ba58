"""Checks with rows that are difficult to learn from, and with rows that must be refused."""

from typing import Any

import numpy as np

from driftline.checks.classifier_under_test import (
    Snapshot,
    assert_same_predictions,
    assert_valid_predictions,
    expect_value_error,
    fitted_copy,
    learn,
    learn_one_by_one,
    predict_rows,
    unfitted_copy,
)
from driftline.checks.sample_data import separated_classes, to_accepted_range
from driftline.types import Matrix

N_ROWS = 24
"""Number of rows in most checks, which learn them one at a time and again in batches."""
LARGE_SCALE, SMALL_SCALE = 1e6, 1e-12
"""Factors of columns with very large and very small numbers."""


def check_constant_columns_do_no_harm(estimator: Any) -> None:
    """Check that predictions are valid with constant columns, beside others or alone."""
    X, _ = separated_classes(estimator, N_ROWS)
    beside = np.column_stack([X, np.full(N_ROWS, 7.0), np.zeros(N_ROWS)])
    _assert_usable(estimator, beside, "two constant columns beside others")
    _assert_usable(estimator, np.full((N_ROWS, 3), 7.0), "only constant columns")


def check_rows_of_zeros_do_no_harm(estimator: Any) -> None:
    """Check that predictions are valid with rows of zeros, among others or alone."""
    X, _ = separated_classes(estimator, N_ROWS)
    X[::3] = 0.0
    _assert_usable(estimator, X, "every third row zero")
    _assert_usable(estimator, np.zeros((N_ROWS, 3)), "all rows zero")


def check_repeated_rows_do_no_harm(estimator: Any) -> None:
    """Check that predictions are valid with repeated rows, with the same or another label."""
    X, _ = separated_classes(estimator, N_ROWS)
    _assert_usable(estimator, np.repeat(X[::4], 4, axis=0), "every row four times")
    _assert_usable(estimator, np.repeat(X[:1], N_ROWS, axis=0), "one row throughout")


def check_one_column_is_enough(estimator: Any) -> None:
    """Check that predictions are valid with a single column."""
    X, _ = separated_classes(estimator, N_ROWS)
    _assert_usable(estimator, X[:, :1], "a single column")


def check_scales_do_no_harm(estimator: Any) -> None:
    """Check that predictions are valid if one or all columns have very large or very small numbers."""
    X, _ = separated_classes(estimator, N_ROWS)
    for scale in (LARGE_SCALE, SMALL_SCALE):
        _assert_usable(estimator, scale * X, f"all columns times {scale:g}")
        _assert_usable(estimator, X * np.array([1.0, scale, 1.0]), f"one column times {scale:g}")
    jump = X * np.where(np.arange(N_ROWS) < 12, 1.0, LARGE_SCALE)[:, None]
    _assert_usable(estimator, jump, f"all columns times {LARGE_SCALE:g} from row 12 on")


def _assert_usable(estimator: Any, X: Matrix, situation: str) -> None:
    y = np.arange(len(X)) * 7 % 5 % 2
    classes = np.array([0, 1])
    single, model = unfitted_copy(estimator), unfitted_copy(estimator)
    for t in learn_one_by_one(single, X, y, classes):
        assert_valid_predictions(single, X, classes, f"{situation}, after {t} rows one at a time")
    for first in range(0, len(X), 8):
        learn(model, X[first : first + 8], y[first : first + 8], classes)
        assert_valid_predictions(model, X, classes, f"{situation}, after {first + 8} rows, eight at a time")


def check_missing_values_are_learned_and_predicted(estimator: Any) -> None:
    """Check that predictions are valid with NaN anywhere, as the tag `allow_nan` promises."""
    clean, _ = separated_classes(estimator, N_ROWS)
    spread, first, column, row = (clean.copy() for _ in range(4))
    spread[np.random.default_rng(0).random(spread.shape) < 0.3] = np.nan
    first[0] = np.nan
    column[:, 1] = np.nan
    row[-1] = np.nan
    _assert_usable(estimator, spread, "30 % of the values missing")
    _assert_usable(estimator, first, "the first row missing")
    _assert_usable(estimator, column, "a whole column missing")
    _assert_usable(estimator, row, "the last row missing")
    _assert_usable(estimator, np.full((N_ROWS, 3), np.nan), "all values missing")


def check_missing_values_are_refused(estimator: Any) -> None:
    """Check that NaN is refused without changing the model, unless the tag `allow_nan` is set."""
    _assert_refused_anywhere(estimator, np.nan)


def check_infinities_are_refused(estimator: Any) -> None:
    """Check that infinite numbers are refused without changing the model."""
    _assert_refused_anywhere(estimator, np.inf)
    if to_accepted_range(estimator, np.array([[-1.0], [1.0]]))[0, 0] < 0:
        _assert_refused_anywhere(estimator, -np.inf)


def _assert_refused_anywhere(estimator: Any, value: float) -> None:
    X, y = separated_classes(estimator, 40)
    expected = predict_rows(fitted_copy(estimator, X, y), X)
    for place in (0, len(X) - 1):
        situation = f"{value} in row {place} of {len(X)}"
        unusable = X.copy()
        unusable[place, 1] = value
        _assert_refused(estimator, unusable, situation)
        model = unfitted_copy(estimator)
        with expect_value_error(f"{situation}, in the first batch"):
            learn(model, unusable, y, np.unique(y))
        learn(model, X, y, np.unique(y))
        assert_same_predictions(predict_rows(model, X), expected, f"{situation}, in a first batch that was refused")


def check_wrong_number_of_columns_is_refused(estimator: Any) -> None:
    """Check that rows with more or fewer columns than the first are refused without changing the model."""
    X, _ = separated_classes(estimator, 40)
    _assert_refused(estimator, X[:, :2], "two columns after three")
    _assert_refused(estimator, np.column_stack([X, X[:, 0]]), "four columns after three")


def _assert_refused(estimator: Any, unusable: Matrix, situation: str) -> None:
    X, y = separated_classes(estimator, 40)
    model = fitted_copy(estimator, X, y)
    before = Snapshot(model, X)
    with expect_value_error(f"{situation}, passed to partial_fit"):
        learn(model, unusable, y)
    before.assert_unchanged(f"{situation}, refused by partial_fit")
    with expect_value_error(f"{situation}, passed to predict"):
        model.predict(unusable)
    before.assert_unchanged(f"{situation}, refused by predict")


def check_empty_batches_are_refused(estimator: Any) -> None:
    """Check that a batch without rows is refused without changing the model."""
    X, y = separated_classes(estimator, 40)
    model = fitted_copy(estimator, X, y)
    before = Snapshot(model, X)
    with expect_value_error("no rows, passed to partial_fit"):
        learn(model, X[:0], y[:0])
    before.assert_unchanged("no rows, refused by partial_fit")
