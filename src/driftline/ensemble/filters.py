"""Filters that estimate moving class means: building a filter bank, and the filters of the raw columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftline.core.schema import MOST_COUNTED, ArraySpec, Schema
from driftline.kernels.filter_bank import MIN_RATE_TIME, FilterBank
from driftline.kernels.representation import MAX_MAGNITUDE
from driftline.types import State

DISCOUNTS = {0: (0.5, 0.8, 0.95, 0.99), 1: (0.5, 0.8, 0.95)}
"""For filters of each order: factors by which the weight of past rows decreases with every row of a class."""


def with_classes(filters: FilterBank, n: int) -> FilterBank:
    """Return the filters with n more classes."""
    grown = ((0, 0), (0, n), (0, 0))
    return filters._replace(
        **{name: np.pad(getattr(filters, name), grown) for name in ("level", "rate", "log_weight", "weight")},
        variance=np.pad(filters.variance, ((0, n), (0, 0))),
        largest=np.pad(filters.largest, ((0, n), (0, 0))),
        n_rows=np.pad(filters.n_rows, (0, n)),
        age=np.pad(filters.age, (0, n)),
        mean_gap=np.pad(filters.mean_gap, (0, n)),
        mean_inverse_squared_gap=np.pad(filters.mean_inverse_squared_gap, (0, n)),
    )


def with_components(filters: FilterBank, at: int, n: int) -> FilterBank:
    """Return the filters with n more components before position `at`, whose estimates are 0."""
    names = ("level", "rate", "log_weight", "weight", "variance", "largest")
    grown = filters._replace(**{name: with_zeros(getattr(filters, name), at, n) for name in names})
    grown.weight[:1, filters.n_rows > 0.0, at : at + n] = 1.0
    return grown


def with_zeros(array: Any, at: int, n: int) -> Any:
    """Return an array with n zeros before position `at` of its last axis."""
    return np.insert(array, [at] * n, 0.0, axis=-1)


def new_filter_bank(orders: tuple[int, ...], d: int) -> FilterBank:
    """Return filters without classes, with the gains of discounted least squares."""
    gains = [_gains(order, discount) for order in orders for discount in DISCOUNTS[order]]
    grid = np.zeros((len(gains), 0, d))
    return FilterBank(
        gains=np.ascontiguousarray(np.array(gains).T.reshape(2, len(gains))),
        **dict.fromkeys(("level", "rate", "log_weight", "weight"), grid),
        variance=np.zeros((0, d)),
        largest=np.zeros((0, d)),
        n_rows=np.zeros(0),
        age=np.zeros(0),
        mean_gap=np.zeros(0),
        mean_inverse_squared_gap=np.zeros(0),
    )


def filter_schema(filters: FilterBank) -> Schema:
    """Return what each array of a filter bank must be in a file.

    Components are at most 4 `MAX_MAGNITUDE`, and a rate of change is measured over at least `MIN_RATE_TIME`.
    """
    r, c, d = filters.level.shape
    largest = 4.0 * MAX_MAGNITUDE
    return {
        "gains": ArraySpec((2, r), equals=filters.gains),
        "level": ArraySpec((r, c, d), low=-10.0 * largest, high=10.0 * largest),
        "rate": ArraySpec((r, c, d), low=-100.0 * largest / MIN_RATE_TIME, high=100.0 * largest / MIN_RATE_TIME),
        "log_weight": ArraySpec((r, c, d), high=0.0),
        "weight": ArraySpec((r, c, d), low=0.0, high=1.0),
        "variance": ArraySpec((c, d), low=0.0, high=100.0 * largest**2),
        "largest": ArraySpec((c, d), low=0.0, high=largest),
        "n_rows": ArraySpec((c,), low=0.0, high=MOST_COUNTED),
        "age": ArraySpec((c,), low=0.0),
        "mean_gap": ArraySpec((c,), low=0.0),
        "mean_inverse_squared_gap": ArraySpec((c,), low=0.0, high=MIN_RATE_TIME**-2),
    }


def _gains(order: int, discount: float) -> tuple[float, float]:
    return (1.0 - discount, 0.0) if order == 0 else (1.0 - discount**2, (1.0 - discount) ** 2)


class ColumnFilters:
    """Filters that estimate the mean of each raw column in each class, in the units of the column; for `drift()`.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    orders : tuple of int
        Orders of the filters.
    """

    def __init__(self, n_columns: int, orders: tuple[int, ...]) -> None:
        self.filters = new_filter_bank(orders, n_columns)
        self.origin = np.full(n_columns, np.nan)

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""
        self.filters = with_classes(self.filters, n)

    def add_columns(self, n: int) -> None:
        """Add n columns, which have no values yet."""
        self.filters = with_components(self.filters, self.origin.size, n)
        self.origin = np.pad(self.origin, (0, n), constant_values=np.nan)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays, which may be replaced by others with the same values."""
        return self.origin, *self.filters

    @arrays.setter
    def arrays(self, arrays: Sequence[Any]) -> None:
        self.origin, self.filters = arrays[0], FilterBank(*arrays[1:])

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        return {"origin": self.origin, **self.filters._asdict()}

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        origin = ArraySpec(self.origin.shape, low=-MAX_MAGNITUDE, high=MAX_MAGNITUDE, allows_nan=True)
        return {"origin": origin, **filter_schema(self.filters)}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        arrays = {name: array.astype(np.float64) for name, array in state.items()}
        self.origin = arrays.pop("origin")
        self.filters = FilterBank(**arrays)
