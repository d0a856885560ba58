"""Conversion of features by name to rows of numbers."""

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from driftline.errors import DataError, DataTypeError
from driftline.types import LARGEST_VALUE, Matrix, Vector


class FeatureRows:
    """A converter of features by name to rows of numbers, with one column for each feature.

    Columns are in the order in which the features first occurred; features that first occurred together are sorted by
    name. A feature that is absent from a row is missing (NaN).

    Parameters
    ----------
    names : iterable
        The features. If there are none, a row has one column without a name, for the first feature that occurs.

    Examples
    --------
    >>> rows = FeatureRows(["height", "width"])
    >>> rows.of({"width": 2, "height": True, "colour": 3})
    array([[1., 2.]])
    >>> rows.with_names(["width", "colour"]).of({"colour": 3})
    array([[nan, nan,  3.]])
    """

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self.positions = {name: j for j, name in enumerate(names)}

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return max(len(self.positions), 1)

    def with_names(self, names: Iterable[Hashable]) -> "FeatureRows":
        """Return a converter with additional columns for new features; the same object if there are none."""
        new = [name for name in names if name not in self.positions]
        return FeatureRows([*self.positions, *_in_order(new)]) if new else self

    def of(self, x: Mapping[Hashable, Any]) -> Matrix:
        """Return the row of numbers of a dictionary; features without a column are ignored."""
        values = [x.get(name, math.nan) for name in self.positions]  # x[name] would add a key to a defaultdict
        try:
            row = np.array(values or [math.nan])
        except ValueError:  # lists of different lengths
            row = np.array(None)
        if row.ndim != 1 or row.dtype.kind not in "biuf":
            row = np.array([number(name, value) for name, value in zip(self.positions, values, strict=True)])
        return row.astype(np.float64, copy=False)[None]

    def of_table(self, X: Any) -> Matrix:
        """Return the rows of numbers of a table; columns for unknown features are ignored."""
        rows = np.full((len(X), self.n_columns), math.nan)
        for name in X.columns:
            if name in self.positions:
                rows[:, self.positions[name]] = _numbers(name, X[name])
        return rows

    def check(self, rows: Matrix) -> None:
        """Raise a DataError with the name of the feature if a number is infinite or too large."""
        for row, column in np.argwhere(np.abs(rows) > LARGEST_VALUE):
            raise DataError(
                f"feature {list(self.positions)[column]!r} is {rows[row, column]}; expected finite numbers up to "
                f"{LARGEST_VALUE:g}, or None for a missing value"
            )


def _in_order(names: list[Any]) -> list[Any]:
    """Return names sorted, because the order of a dictionary has no meaning."""
    try:
        return sorted(names)
    except TypeError:  # names of different types
        return sorted(names, key=repr)


def number(name: Hashable, value: Any) -> float:
    """Return a value as a number, NaN for None; raise a DataTypeError if it is not a number."""
    if value is None:
        return math.nan
    if isinstance(value, str | bytes):
        raise DataTypeError(
            f"feature {name!r} is the text {value!r}; expected a number: convert it, or put "
            "river.preprocessing.OneHotEncoder() before AMRC"
        )
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        kind = type(value).__name__
        raise DataTypeError(f"feature {name!r} is {value!r} ({kind}); expected a number: convert it") from error


def _numbers(name: Hashable, column: Any) -> Vector:
    """Return a column of a table as numbers."""
    if column.ndim != 1:
        raise DataError(f"there are several columns named {name!r}; expected one for each feature: rename them")
    if column.dtype.kind in "biuf":
        values: Vector = column.to_numpy(dtype=np.float64, na_value=math.nan)
        return values
    return np.array([number(name, value) for value in column.tolist()])
