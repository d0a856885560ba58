"""Checks of rows that are hard to learn from, and of those that cannot be used."""

from typing import Any

import numpy as np

from driftline.checks.data import gaussians, suited
from driftline.checks.subjects import (
    Snapshot,
    ask,
    assert_alike,
    assert_valid,
    fresh,
    learn,
    learn_one_by_one,
    refusing,
    taught,
)
from driftline.types import Matrix

N_ROWS = 24
"""How many rows are learned one at a time, and again in batches; some dozen times in all."""
HUGE, TINY = 1e6, 1e-12


def check_constant_columns_do_no_harm(estimator: Any) -> None:
    """Check that columns that never change, beside others or alone, leave predictions valid."""
    X, _ = gaussians(estimator, N_ROWS)
    beside = np.column_stack([X, np.full(N_ROWS, 7.0), np.zeros(N_ROWS)])
    _assert_usable(estimator, beside, "two constant columns beside others")
    _assert_usable(estimator, np.full((N_ROWS, 3), 7.0), "nothing but constant columns")


def check_rows_of_zeros_do_no_harm(estimator: Any) -> None:
    """Check that rows of zeros, among others or alone, leave predictions valid."""
    X, _ = gaussians(estimator, N_ROWS)
    X[::3] = 0.0
    _assert_usable(estimator, X, "every third row zero")
    _assert_usable(estimator, np.zeros((N_ROWS, 3)), "all rows zero")


def check_rows_that_repeat_do_no_harm(estimator: Any) -> None:
    """Check that rows that come again, with the same label or another, leave predictions valid."""
    X, _ = gaussians(estimator, N_ROWS)
    _assert_usable(estimator, np.repeat(X[::4], 4, axis=0), "every row four times")
    _assert_usable(estimator, np.repeat(X[:1], N_ROWS, axis=0), "one row throughout")


def check_one_column_is_enough(estimator: Any) -> None:
    """Check that instances of a single column leave predictions valid."""
    X, _ = gaussians(estimator, N_ROWS)
    _assert_usable(estimator, X[:, :1], "a single column")


def check_scales_do_no_harm(estimator: Any) -> None:
    """Check that columns of very large and very small numbers, one of them or all, leave predictions valid."""
    X, _ = gaussians(estimator, N_ROWS)
    for scale in (HUGE, TINY):
        _assert_usable(estimator, scale * X, f"all columns times {scale:g}")
        _assert_usable(estimator, X * np.array([1.0, scale, 1.0]), f"one column times {scale:g}")
    jump = X * np.where(np.arange(N_ROWS) < 12, 1.0, HUGE)[:, None]
    _assert_usable(estimator, jump, f"all columns times {HUGE:g} from row 12 on")


def _assert_usable(estimator: Any, X: Matrix, situation: str) -> None:
    y = np.arange(len(X)) * 7 % 5 % 2
    classes = np.array([0, 1])
    single, model = fresh(estimator), fresh(estimator)
    for t in learn_one_by_one(single, X, y, classes):
        assert_valid(single, X, classes, f"{situation}, after {t} rows one at a time")
    for first in range(0, len(X), 8):
        learn(model, X[first : first + 8], y[first : first + 8], classes)
        assert_valid(model, X, classes, f"{situation}, after {first + 8} rows, eight at a time")


def check_missing_values_are_learned_and_predicted(estimator: Any) -> None:
    """Check that NaN may stand anywhere, in the first row and all over a column too: the tag `allow_nan` says so."""
    clean, _ = gaussians(estimator, N_ROWS)
    spread, first, column, row = (clean.copy() for _ in range(4))
    spread[np.random.default_rng(0).random(spread.shape) < 0.3] = np.nan
    first[0] = np.nan
    column[:, 1] = np.nan
    row[-1] = np.nan
    _assert_usable(estimator, spread, "three of ten values missing")
    _assert_usable(estimator, first, "the first row missing")
    _assert_usable(estimator, column, "a column missing throughout")
    _assert_usable(estimator, row, "the last row missing")
    _assert_usable(estimator, np.full((N_ROWS, 3), np.nan), "all values missing")


def check_missing_values_are_refused(estimator: Any) -> None:
    """Check that NaN is refused, unless the tag `allow_nan` says otherwise, and the model stays as it was."""
    _assert_refused_anywhere(estimator, np.nan)


def check_infinities_are_refused(estimator: Any) -> None:
    """Check that infinite numbers are refused, and the model stays as it was."""
    _assert_refused_anywhere(estimator, np.inf)
    if suited(estimator, np.array([[-1.0], [1.0]]))[0, 0] < 0:
        _assert_refused_anywhere(estimator, -np.inf)


def _assert_refused_anywhere(estimator: Any, value: float) -> None:
    X, y = gaussians(estimator, 40)
    expected = ask(taught(estimator, X, y), X)
    for place in (0, len(X) - 1):
        situation = f"{value} in row {place} of {len(X)}"
        spoiled = X.copy()
        spoiled[place, 1] = value
        _assert_refused(estimator, spoiled, situation)
        untaught = fresh(estimator)
        with refusing(f"{situation}, in the first batch"):
            learn(untaught, spoiled, y, np.unique(y))
        learn(untaught, X, y, np.unique(y))
        assert_alike(ask(untaught, X), expected, f"{situation}, in a first batch that was refused")


def check_other_columns_are_refused(estimator: Any) -> None:
    """Check that rows with more or fewer columns than the first are refused, and the model stays as it was."""
    X, _ = gaussians(estimator, 40)
    _assert_refused(estimator, X[:, :2], "two columns after three")
    _assert_refused(estimator, np.column_stack([X, X[:, 0]]), "four columns after three")


def _assert_refused(estimator: Any, spoiled: Matrix, situation: str) -> None:
    X, y = gaussians(estimator, 40)
    model = taught(estimator, X, y)
    before = Snapshot(model, X)
    with refusing(f"{situation}, to learn from"):
        learn(model, spoiled, y)
    before.assert_unchanged(f"{situation}, refused by partial_fit")
    with refusing(f"{situation}, to predict"):
        model.predict(spoiled)
    before.assert_unchanged(f"{situation}, refused by predict")


def check_empty_batches_are_refused(estimator: Any) -> None:
    """Check that a batch without rows is refused, and the model stays as it was."""
    X, y = gaussians(estimator, 40)
    model = taught(estimator, X, y)
    before = Snapshot(model, X)
    with refusing("no rows, to learn from"):
        learn(model, X[:0], y[:0])
    before.assert_unchanged("no rows, refused by partial_fit")
