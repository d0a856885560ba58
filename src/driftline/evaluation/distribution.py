"""The distribution of the values of a column among some rows, from counts of its values."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Self

import numpy as np

from driftline.types import Vector


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """The distribution of some values. It is exact if there are few different ones, and else interpolated.

    Attributes
    ----------
    values : ndarray of shape (n_points,)
        Values in ascending order.
    numbers : ndarray of shape (n_points,)
        If ``is_discrete``, how often each of them occurs. Otherwise how many values lie below each of them; between
        them this number is interpolated.
    total : float
        Number of all values.
    is_discrete : bool
        Whether only ``values`` occur.

    Examples
    --------
    >>> import numpy as np
    >>> spread = Distribution(np.array([0.0, 2.0]), np.array([0.0, 10.0]), 10.0, is_discrete=False)
    >>> spread.quantiles(np.array([0.25, 0.5])), spread.shares(np.array([0.0, 1.0, 2.0]))
    (array([0.5, 1. ]), array([0.5, 0.5]))
    """

    values: Vector
    numbers: Vector
    total: float
    is_discrete: bool

    @classmethod
    def of_counts(cls, nodes: Vector, counts: Vector, *, is_discrete: bool) -> Self:
        """Return the distribution of values that were counted at nodes, some of which must have counts."""
        present = counts > 0.0
        numbers = counts if is_discrete else np.cumsum(counts) - counts / 2.0
        return cls(nodes[present], numbers[present], float(counts.sum()), is_discrete)

    def __add__(self, other: Self) -> Self:
        """Return the distribution of the values of both."""
        values: Vector = np.union1d(self.values, other.values)
        if self.is_discrete and other.is_discrete:
            numbers = np.zeros(len(values))
            for each in (self, other):
                numbers[np.searchsorted(values, each.values)] += each.numbers
        else:
            numbers = self._numbers_below(values) + other._numbers_below(values)
        is_discrete = self.is_discrete and other.is_discrete
        return type(self)(values, numbers, self.total + other.total, is_discrete)

    def _numbers_below(self, edges: Vector) -> Vector:
        """Return how many values lie below each edge."""
        if self.is_discrete:
            ends = np.concatenate([[0.0], np.cumsum(self.numbers)])
            return np.asarray(ends[np.searchsorted(self.values, edges, side="left")])
        return np.asarray(np.interp(edges, self.values, self.numbers, left=0.0, right=self.total))

    @property
    def mean(self) -> float:
        """The mean of the values of a discrete distribution."""
        return float(self.values @ self.numbers / self.total)

    def quantiles(self, shares: Vector) -> Vector:
        """Return the values below which there are some shares of all values."""
        wanted = shares * self.total
        if self.is_discrete:
            places = np.searchsorted(np.cumsum(self.numbers), wanted)
            return np.asarray(self.values[np.minimum(places, len(self.values) - 1)])
        return np.asarray(np.interp(wanted, self.numbers, self.values))

    def shares(self, edges: Vector) -> Vector:
        """Return the share of all values that lies between each edge and the next; a value at an edge lies above it."""
        return np.diff(self._numbers_below(edges)) / self.total


def pooled(distributions: Sequence[Distribution]) -> Distribution | None:
    """Return the distribution of the values of all; None if there are none."""
    return reduce(Distribution.__add__, distributions) if distributions else None
