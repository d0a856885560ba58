"""Checks of arguments and data, made before a model changes; they raise ConfigError or DataError."""

import json
import math
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from driftline.errors import ConfigError, DataError, DataTypeError
from driftline.types import LARGEST_COUNT, LARGEST_VALUE, LabelArray, Matrix, Vector

MAX_TIME_GAP = 1e15
"""Longest allowed time between two instances: its powers in the filters are still finite."""

MAX_ID_LENGTH = 256
"""Largest number of characters of an id, as JSON."""


LARGEST_WEIGHT = 1e12
"""Largest weight of a row."""
TEXT_HINT = " (open_stream takes text and dates, from a file: write the table to a CSV or Parquet file for it)"
"""What to do with a table that has text in it."""


def whole_number(name: str, value: Any, *, at_least: int) -> int:
    """Return a whole number as an int; raise ConfigError if it is not one, or is too small or too large."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise ConfigError(f"{name} must be a whole number from {at_least} up; got {value!r}")
    if value > LARGEST_COUNT:
        raise ConfigError(f"{name} must be a whole number up to {LARGEST_COUNT}; got {value!r}")
    return int(value)


def one_of(name: str, value: Any, words: tuple[str, ...]) -> str:
    """Return the value if it is one of the words; raise ConfigError if not."""
    if not isinstance(value, str) or value not in words:
        raise ConfigError(f"{name} must be one of {', '.join(map(repr, words))}; got {value!r}")
    return value


def flag(name: str, value: Any) -> bool:
    """Return the value as a bool; raise ConfigError if it is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ConfigError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def real_number(name: str, value: Any, *, above: float, below: float, or_lowest: bool = False) -> float:
    """Return a number as a float; raise ConfigError unless above < value < below, or value == above if `or_lowest`."""
    numeric = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not numeric or not (above < value or (or_lowest and value == above)) or not value < below:
        wanted = "a positive number" if (above, below) == (0.0, np.inf) else f"a number between {above} and {below}"
        raise ConfigError(f"{name} must be {wanted}{f', or {above}' if or_lowest else ''}; got {value!r}")
    return float(value)


def column_names(name: str, value: Any, n_columns: int) -> list[str]:
    """Return names of columns as text; raise ConfigError if there is not one name for each column."""
    is_sequence = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    try:
        names = list(map(str, value)) if is_sequence else None
    except TypeError:  # an array without dimensions
        names = None
    if names is None or len(names) != n_columns:
        got = repr(value) if names is None else len(names)
        raise ConfigError(f"{name} must be {n_columns} names, one for each column; got {got}")
    return names


def checked_notes(notes: Any) -> dict[str, Any]:
    """Return notes for a model file as a dict; raise ConfigError if they are not JSON values by name."""
    try:
        if not isinstance(notes, Mapping):
            raise TypeError(f"got {type(notes).__name__}")
        json.dumps(dict(notes), sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"notes must be a mapping from names to JSON values; {error}") from error
    return dict(notes)


def positions(name: str, value: Any) -> list[int]:
    """Return a sequence of whole numbers from 0 up as a sorted list without repetitions; an empty list for None."""
    try:
        given = np.asarray(() if value is None else value)
    except ValueError:  # lists of different lengths
        given = np.array(None)
    if given.ndim != 1 or (given.size and (given.dtype.kind not in "iu" or given.min() < 0)):
        raise ConfigError(f"{name} must be a sequence of positions, whole numbers from 0 up; got {value!r}")
    unique: list[int] = np.unique(given).tolist()
    return unique


def checked_random_state(value: Any) -> Any:
    """Return a `random_state`; raise ConfigError if scikit-learn does not accept it."""
    try:
        check_random_state(value)
    except ValueError as error:
        raise ConfigError(f"random_state: {error}") from error
    return value


CHECK_ARRAY_OPTIONS: dict[str, Any] = {"dtype": np.float64, "order": "C", "ensure_all_finite": False, "input_name": "X"}


def is_matrix(X: Any) -> bool:
    """Return whether scikit-learn's `check_array` would return X unchanged; this check is faster for a single row."""
    return type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size > 0 and X.flags.c_contiguous


def are_small(rows: Matrix) -> bool:
    """Return whether no value can be beyond `LARGEST_VALUE`, which is true of most rows, and quick to find out."""
    return bool(np.vdot(rows, rows) <= LARGEST_VALUE**2)


def read_rows(X: Any) -> Matrix:
    """Return X as a matrix of floats up to `LARGEST_VALUE`; raise DataError if that is not possible.

    Missing values are NaN: values that are masked, None, or missing in a table of pandas. A matrix that cannot be
    written to is copied, because kernels would be compiled again for it.
    """
    rows = cast(Matrix, X) if is_matrix(X) else _as_matrix(X)
    rows = rows if rows.flags.writeable else rows.copy()
    if are_small(rows):
        return rows
    is_beyond = np.abs(rows) > LARGEST_VALUE
    if is_beyond.any():
        row, column = np.argwhere(is_beyond)[0]
        raise DataError(
            f"row {row}, column {_column_name(X, column)} of X is {rows[row, column]}; "
            f"expected numbers up to {LARGEST_VALUE:g}, not infinite, or NaN where a value is missing"
        )
    return rows


def _as_matrix(X: Any) -> Matrix:
    _check_no_dates(X)
    try:
        return _converted(X)
    except (ValueError, TypeError, OverflowError) as error:
        place = _first_unreadable(X)
        kind = DataTypeError if isinstance(error, TypeError) else DataError
        raise kind(f"{place}{error}") from error


def _converted(X: Any) -> Matrix:
    if isinstance(X, list | tuple):
        X = [_filled(row) if isinstance(row, np.ma.MaskedArray) else row for row in X]
    try:
        rows = check_array(_filled(X) if isinstance(X, np.ma.MaskedArray) else X, **CHECK_ARRAY_OPTIONS)
    except TypeError:
        cells = np.asarray(X, dtype=object)
        is_missing = np.array(list(map(_is_missing, cells.flat)), dtype=bool).reshape(cells.shape)
        if not is_missing.any():
            raise
        rows = check_array(np.where(is_missing, np.nan, cells), **CHECK_ARRAY_OPTIONS)
    return cast(Matrix, rows)


def _filled(values: "np.ma.MaskedArray[Any, Any]") -> LabelArray:
    """Return a masked array as an array with NaN where it is masked."""
    filled: LabelArray = np.ma.filled(values.astype(np.float64 if values.dtype.kind in "biuf" else object), np.nan)
    return filled


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, masked, or the missing value of pandas."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return is_nan or value is None or value is np.ma.masked or type(value).__name__ == "NAType"


def _first_missing(values: Any) -> int | None:
    """Return the position of the first missing value of a list, an array of objects, a masked array or a column."""
    flags: Iterable[bool] = ()
    if isinstance(values, np.ma.MaskedArray):
        flags = np.ma.getmaskarray(values).ravel().tolist()
    elif isinstance(values, list | tuple):
        flags = map(_is_missing, values)
    elif hasattr(values, "isna"):  # of pandas
        flags = np.ravel(values.isna()).tolist()
    elif getattr(values, "dtype", None) == np.dtype(object):
        flags = map(_is_missing, np.asarray(values).flat)
    return next((row for row, is_missing in enumerate(flags) if is_missing), None)


def _check_no_dates(X: Any) -> None:
    """Raise DataTypeError for dates and durations, which NumPy would convert to numbers of some unit."""
    kinds = list(X.dtypes) if isinstance(getattr(X, "dtypes", None), Iterable) else [getattr(X, "dtype", None)]
    if isinstance(X, list | tuple) and X and isinstance(X[0], list | tuple | np.ndarray):
        kinds = [getattr(cell, "dtype", None) for cell in X[0]]
    for column, kind in enumerate(kinds):
        is_temporal = getattr(kind, "is_temporal", bool)  # of polars
        if getattr(kind, "kind", None) in ("m", "M") or is_temporal():
            where = f"column {_column_name(X, column)} of X" if len(kinds) > 1 or hasattr(X, "dtypes") else "X"
            raise DataTypeError(f"{where} holds {kind}; expected numbers: convert dates to numbers first")


def _column_name(X: Any, column: int) -> str:
    names = getattr(X, "columns", None)
    return str(column) if names is None else f"{column} ({names[column]!r})"


def _first_unreadable(X: Any) -> str:
    """Return the start of an error message, with the first cell of a table that is not a number; empty if unknown."""
    try:
        cells = np.asarray(X, dtype=object) if hasattr(X, "__array__") or isinstance(X, list | tuple) else None
    except ValueError:  # parts of different shapes
        cells = None
    if cells is None or cells.ndim != 2:
        return ""
    for (row, column), cell in np.ndenumerate(cells):
        try:
            float(cell)
        except (ValueError, TypeError, OverflowError):
            place = f"row {row}, column {_column_name(X, column)} of X is {cell!r}: expected a number"
            return f"{place}{TEXT_HINT if isinstance(cell, str) else ''}; "
    return ""


def check_columns(estimator: BaseEstimator, X: Any, *, reset: bool = False) -> None:
    """Raise DataError if the columns are not those of the first call; with `reset`, store them instead."""
    has_names = reset or hasattr(estimator, "feature_names_in_")
    if not has_names and is_matrix(X) and X.shape[1] == estimator.n_features_in_:
        return
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    except TypeError as error:
        raise DataTypeError(str(error)) from error
    except ValueError as error:
        raise DataError(f"{error} Pass the same columns at every call.") from error


def read_labels(y: Any, n_rows: int | None = None, name: str = "y") -> LabelArray:
    """Return y as a vector of labels; raise DataError if it cannot be, or if their number is not `n_rows`."""
    if y is None:
        raise DataError("a classifier requires y to be passed, but the target y is None")
    # Vectors of whole numbers or text are always valid; scikit-learn's checks are slow for a single label.
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuU" and y.size == n_rows:
        return y
    kind = getattr(y, "dtype", None)
    if not isinstance(kind, np.dtype) and getattr(kind, "kind", "") in ("b", "i", "u"):
        y = np.asarray(y, dtype=object)  # nullable integers and booleans of pandas, which would be converted to floats
    missing = _first_missing(y)
    if missing is not None:
        raise DataError(f"row {missing} of {name} has no label; omit rows without a label")
    try:
        labels: LabelArray = column_or_1d(y, warn=True)
        if labels.dtype == object:
            plain = np.array(labels.tolist())
            labels = plain if plain.ndim == 1 and plain.dtype.kind in "biuf" else labels
        if labels.dtype.kind not in "biuU":  # these are always valid
            check_classification_targets(labels)
    except (ValueError, TypeError) as error:
        raise DataError(f"{name} cannot be used as labels: {error}") from error
    if labels.dtype.kind not in "biufUO":
        raise DataError(f"{name} holds {labels.dtype}; expected numbers or text: convert the labels first")
    if n_rows is not None and labels.size != n_rows:
        raise DataError(f"X has {n_rows} rows and y {labels.size} labels; each row needs one label")
    return labels


def read_weights(sample_weight: Any, n_rows: int) -> Vector | None:
    """Return weights of rows, None if all are learned alike; raise DataError if there is not one from 0 up for each."""
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight must be numbers; {error}") from error
    if weights.shape not in ((), (n_rows,)):
        raise DataError(
            f"sample_weight has the shape {weights.shape}, and X has {n_rows} rows; each row needs one weight"
        )
    weights = np.broadcast_to(weights, n_rows).copy()
    usable = np.isfinite(weights) & (weights >= 0.0) & (weights <= LARGEST_WEIGHT)
    if not usable.all():
        row = int(np.argmin(usable))
        raise DataError(
            f"sample_weight of row {row} is {weights[row]}; expected a number from 0 to {LARGEST_WEIGHT:.0e}"
        )
    return weights


def read_ids(ids: Any, n_rows: int | None, name: str = "id") -> LabelArray:
    """Return ids of rows as a vector of Python numbers and texts; raise DataError if they are not such.

    With `n_rows`, there must be so many. `name` is what an id is called in the message of the error.
    """
    as_lists = (getattr(ids, method, None) for method in ("tolist", "to_list", "to_pylist"))
    as_list = next((method for method in as_lists if method is not None), None)
    listed = ids if as_list is None else as_list()
    if not isinstance(listed, list | tuple | range) or len(listed) != (len(listed) if n_rows is None else n_rows):
        count = f"{len(listed)} {name}s" if isinstance(listed, list | tuple | range) else repr(ids)
        expected = "numbers or texts" if n_rows is None else f"{n_rows} numbers or texts, one for each row"
        raise DataError(f"{name}s must be a sequence of {expected}; got {count}")
    plain = [each.item() if isinstance(each, np.generic) else each for each in listed]
    for row, each in enumerate(plain):
        if isinstance(each, bool) or not isinstance(each, int | float | str) or each != each:  # noqa: PLR0124  # NaN
            raise DataError(f"{name} of row {row} is {each!r}; expected a number or text; convert other values to text")
        if isinstance(each, float) and not math.isfinite(each):
            raise DataError(f"{name} of row {row} is {each!r}; expected a finite number or text")
        is_huge = isinstance(each, int) and abs(each) >= 10**MAX_ID_LENGTH  # beyond some size it cannot be written
        if is_huge or len(json.dumps(each)) > MAX_ID_LENGTH:
            raise DataError(f"{name} of row {row} takes more than {MAX_ID_LENGTH} characters as JSON; shorten it")
    return np.fromiter(plain, dtype=object, count=len(plain))


def read_times(timestamps: Any, n_rows: int, last: float | None) -> Vector:
    """Return timestamps as numbers (dates as seconds); raise DataError if they decrease, or start before `last`.

    Without timestamps, return NaN for each row.
    """
    if timestamps is None:
        return filled(n_rows, np.nan)
    missing = _first_missing(timestamps)
    if missing is not None:
        raise DataError(f"timestamp of row {missing} is nan or missing; expected a finite number or a date")
    try:
        times = _seconds(np.asarray(timestamps))
    except ValueError:  # lists of different lengths
        times = np.array(None)
    if times.shape != (n_rows,) or times.dtype.kind not in "iuf":
        raise DataError(
            f"timestamps must be {n_rows} numbers or dates without time zone, one for each row of X; "
            f"got shape {times.shape} of type {times.dtype}"
        )
    times = times.astype(np.float64)
    unknown = np.flatnonzero(~np.isfinite(times))
    if unknown.size:
        raise DataError(f"timestamp of row {unknown[0]} is {times[unknown[0]]}; expected a finite number or a date")
    before = np.concatenate([[times[0] if last is None else last], times[:-1]])
    wrong = np.flatnonzero((times < before) | (times - before > MAX_TIME_GAP))
    if wrong.size:
        row = wrong[0]
        order = "before" if times[row] < before[row] else f"more than {MAX_TIME_GAP:g} after"
        raise DataError(
            f"timestamp of row {row} is {times[row]}, {order} that of the previous row ({before[row]}); "
            "sort the rows by time, and choose a unit in which typical increments are around one"
        )
    return times


def filled(n: int, value: float) -> Vector:
    """Return n times a value; `np.full` takes several times as long for a single one."""
    values = np.empty(n)
    values.fill(value)
    return values


def _seconds(times: LabelArray) -> LabelArray:
    """Return dates as seconds, with NaN for missing dates; other arrays are returned unchanged."""
    if times.dtype == object and times.size and isinstance(times.flat[0], date):
        try:
            times = times.astype("datetime64[us]")
        except (ValueError, TypeError):
            return times
    if times.dtype.kind != "M":
        return times
    return np.where(np.isnat(times), np.nan, times.astype("datetime64[us]").astype(np.float64) / 1e6)
