"""Checks of what comes in from outside, done before anything changes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from driftline._labels import LabelArray
from driftline.errors import DataError, DataTypeError
from driftline.types import Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows of a stream, checked; times are NaN where the stream has none."""

    rows: Matrix
    labels: LabelArray
    times: Vector


def read_rows(X: Any) -> Matrix:
    """Return X as a matrix of floats in which NaN is the only value that is not finite."""
    try:
        rows: Matrix = check_array(X, dtype=np.float64, order="C", ensure_all_finite=False, input_name="X")
    except (ValueError, TypeError) as error:
        place = _first_unreadable(X)
        kind = DataTypeError if isinstance(error, TypeError) else DataError
        raise kind(f"{place}{error}") from error
    infinite = np.argwhere(np.isinf(rows))
    if infinite.size:
        row, column = infinite[0]
        raise DataError(
            f"row {row}, column {_column_name(X, column)} of X is {rows[row, column]} (infinite); "
            "expected finite numbers, or NaN where a value is missing"
        )
    return rows


def _column_name(X: Any, column: int) -> str:
    names = getattr(X, "columns", None)
    return str(column) if names is None else f"{column} ({names[column]!r})"


def _first_unreadable(X: Any) -> str:
    """Name the first cell of a table that is not a number, for an error message."""
    cells = np.asarray(X, dtype=object) if hasattr(X, "__array__") or isinstance(X, list | tuple) else None
    if cells is None or cells.ndim != 2:
        return ""
    for (row, column), cell in np.ndenumerate(cells):
        try:
            float(cell)
        except (ValueError, TypeError):
            return f"row {row}, column {_column_name(X, column)} of X is {cell!r}: expected a number; "
    return ""


def check_columns(estimator: BaseEstimator, X: Any) -> None:
    """Refuse a table whose columns are not those that the estimator began with."""
    try:
        validate_data(estimator, X, reset=False, skip_check_array=True)
    except ValueError as error:
        raise DataError(f"{error} Hand in the same columns at every call.") from error


def read_labels(y: Any, n_rows: int) -> LabelArray:
    """Return y as a vector of `n_rows` labels."""
    if y is None:
        raise DataError("AMRC requires y to be passed, but the target y is None")
    try:
        labels: LabelArray = column_or_1d(y, warn=True)
        check_classification_targets(labels)
    except ValueError as error:
        raise DataError(f"y cannot be used as labels: {error}") from error
    if labels.size != n_rows:
        raise DataError(f"X has {n_rows} rows and y {labels.size} labels; each row needs one label")
    return labels


def read_times(timestamps: Any, n_rows: int, last: float | None) -> Vector:
    """Return timestamps as numbers (dates as seconds) that do not run backwards, nor from `last`.

    Without timestamps, NaN for each row.
    """
    if timestamps is None:
        return np.full(n_rows, np.nan)
    times = np.asarray(timestamps)
    if times.dtype.kind == "M":
        times = times.astype("datetime64[ns]").astype(np.int64) / 1e9
    if times.shape != (n_rows,) or times.dtype.kind not in "iuf":
        raise DataError(
            f"timestamps must be {n_rows} numbers or dates, one for each row of X; "
            f"got shape {times.shape} of type {times.dtype}"
        )
    times = times.astype(np.float64)
    unknown = np.flatnonzero(~np.isfinite(times))
    if unknown.size:
        raise DataError(f"timestamp of row {unknown[0]} is {times[unknown[0]]}; expected a finite number")
    before = np.concatenate([[-np.inf if last is None else last], times[:-1]])
    backwards = np.flatnonzero(times < before)
    if backwards.size:
        row = backwards[0]
        raise DataError(
            f"timestamp of row {row} is {times[row]}, before the one it follows ({before[row]}); sort the rows by time"
        )
    return times
