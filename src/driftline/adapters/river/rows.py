"""Features by name as rows of numbers."""

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from driftline.errors import DataError, DataTypeError
from driftline.types import LARGEST, Matrix, Vector


class FeatureRows:
    """Rows whose columns are features in the order in which they first came, by name if together.

    What a row lacks is missing.

    Parameters
    ----------
    names : iterable
        The features. If there are none, there is one column without a name, for the first that comes.

    Examples
    --------
    >>> rows = FeatureRows(["height", "width"])
    >>> rows.of({"width": 2, "height": True, "colour": 3})
    array([[1., 2.]])
    >>> rows.with_names(["width", "colour"]).of({"colour": 3})
    array([[nan, nan,  3.]])
    """

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self.places = {name: j for j, name in enumerate(names)}

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return max(len(self.places), 1)

    def with_names(self, names: Iterable[Hashable]) -> "FeatureRows":
        """Return rows with a column for each of these features too: these rows, if they have them all."""
        new = [name for name in names if name not in self.places]
        return FeatureRows([*self.places, *_in_order(new)]) if new else self

    def of(self, x: Mapping[Hashable, Any]) -> Matrix:
        """Return a row of the features that have a column."""
        values = [x.get(name, math.nan) for name in self.places]  # some dictionaries would grow if asked otherwise
        try:
            row = np.array(values or [math.nan])
        except ValueError:  # lists of different lengths
            row = np.array(None)
        if row.ndim != 1 or row.dtype.kind not in "biuf":
            row = np.array([number(name, value) for name, value in zip(self.places, values, strict=True)])
        return row.astype(np.float64, copy=False)[None]

    def of_table(self, X: Any) -> Matrix:
        """Return the rows of a table."""
        rows = np.full((len(X), self.n_columns), math.nan)
        for name in X.columns:
            if name in self.places:
                rows[:, self.places[name]] = _numbers(name, X[name])
        return rows

    def check(self, rows: Matrix) -> None:
        """Refuse numbers that are infinite or too large, by the names of their features."""
        for row, column in np.argwhere(np.abs(rows) > LARGEST):
            raise DataError(
                f"feature {list(self.places)[column]!r} is {rows[row, column]}; expected numbers up to {LARGEST:g}, "
                "not infinite, or None where a value is missing"
            )


def _in_order(names: list[Any]) -> list[Any]:
    """Return names sorted: the order of a dictionary means nothing."""
    try:
        return sorted(names)
    except TypeError:  # of several kinds
        return sorted(names, key=repr)


def number(name: Hashable, value: Any) -> float:
    """Return a value as a number, NaN for None; refuse what is none."""
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
        raise DataError(f"there are several columns {name!r}; expected one for each feature: rename them")
    if column.dtype.kind in "biuf":
        values: Vector = column.to_numpy(dtype=np.float64, na_value=math.nan)
        return values
    return np.array([number(name, value) for value in column.tolist()])
