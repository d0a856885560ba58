"""Counts of the values of each column in each class, for each window of a timeline."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from driftline.evaluation.distribution import Distribution, pooled
from driftline.kernels.value_counts import N_EARLY, N_NODES, count_values, count_waiting_values
from driftline.types import Flags, Labels, Matrix, Singles, Vector

MAX_COUNTS = 2**15
"""Counts in a window; if all columns and classes need more, every other node is left out until there are few enough."""
MIN_NODES = 3
FEW_WINDOWS = 16


class ValueCounts:
    """Counts of values at nodes, by window, class and column.

    A value between two nodes counts at both, with weights that add up to 1 and whose mean node is the value. Any
    piecewise linear function of the values can therefore be summed. The nodes of a column in a class are chosen from
    its first 512 values in that class: 15 are among these values, and 24 on each side are for values that come to lie
    elsewhere. There are fewer if classes × columns is more than 512, but at least 3.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    max_cells : int
        Largest number of classes × columns.

    Attributes
    ----------
    counts : ndarray of shape (n_windows, n_classes, n_columns, n_nodes)
        There is room for more windows and classes than there are; their counts are 0.
    nodes : ndarray of shape (n_classes, n_columns, n_nodes)
        The nodes, in order.
    lowest, highest : ndarray of shape (n_classes, n_columns, n_nodes + 1)
        Smallest and largest value in each bin between nodes; infinite if there is none.
    """

    def __init__(self, n_columns: int, max_cells: int) -> None:
        self._max_classes = max(max_cells // max(n_columns, 1), 1)
        self.counts: Singles = np.zeros((FEW_WINDOWS, 0, n_columns, N_NODES), np.float32)
        self.nodes: Vector = np.zeros((0, n_columns, N_NODES))
        self.lowest: Vector = np.zeros((0, n_columns, N_NODES + 1))
        self.highest: Vector = np.zeros((0, n_columns, N_NODES + 1))
        self._n_early: Labels = np.zeros((0, n_columns), np.int64)
        self._early: Vector = np.zeros((0, n_columns, N_EARLY))
        self._early_windows: NDArray[np.int16] = np.zeros((0, n_columns, N_EARLY), np.int16)

    def add(self, rows: Matrix, places: Labels, first_window: int, n_windows: int) -> None:
        """Add rows that make up some windows of equal length.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_columns)
            The values; NaN if missing.
        places : ndarray of shape (n_rows,)
            Positions of the classes of the rows.
        first_window, n_windows : int
            Position of the first of these windows, and their number.
        """
        self._make_room(first_window + n_windows, int(places.max()) + 1)
        windows = first_window + np.arange(len(places)) // (len(places) // n_windows)
        count_values(np.ascontiguousarray(rows), places, windows, *self._arrays)

    @property
    def _arrays(self) -> tuple[Any, ...]:
        return (
            self._n_early,
            self._early,
            self._early_windows,
            self.nodes,
            self.counts,
            self.lowest,
            self.highest,
        )

    def _make_room(self, n_windows: int, n_classes: int) -> None:
        """Make room for windows and classes, whose numbers are doubled, so that this is rare."""
        more = max(_doubled(n_windows) - len(self.counts), 0)
        if more:
            self.counts = np.pad(self.counts, ((0, more), (0, 0), (0, 0), (0, 0)))
        now, n_columns = self._n_early.shape
        wanted = min(_doubled(n_classes), max(self._max_classes, n_classes))
        if wanted <= now:
            return
        while self.nodes.shape[2] > MIN_NODES and wanted * n_columns * (self.nodes.shape[2] + 1) > MAX_COUNTS:
            self._thin_out()
        new = ((0, wanted - now), (0, 0))
        self.counts = np.pad(self.counts, ((0, 0), *new, (0, 0)))
        self.nodes = np.pad(self.nodes, (*new, (0, 0)))
        self.lowest = np.pad(self.lowest, (*new, (0, 0)), constant_values=np.inf)
        self.highest = np.pad(self.highest, (*new, (0, 0)), constant_values=-np.inf)
        self._n_early = np.pad(self._n_early, new)
        self._early = np.pad(self._early, (*new, (0, 0)))
        self._early_windows = np.pad(self._early_windows, (*new, (0, 0)))

    def _thin_out(self) -> None:
        """Leave out every other node; its counts go to the two beside it, as if it had never been there."""
        left, middle, right = self.nodes[..., 1:-2:2], self.nodes[..., 2:-1:2], self.nodes[..., 3::2]
        with np.errstate(invalid="ignore"):
            weights = np.where(right > left, (middle - left) / (right - left), 0.0).astype(np.float32)
        counts = self.counts[..., 1::2].copy()
        counts[..., 0] += self.counts[..., 0]
        counts[..., -1] += self.counts[..., -1]
        counts[..., :-1] += (1.0 - weights) * self.counts[..., 2:-1:2]
        counts[..., 1:] += weights * self.counts[..., 2:-1:2]
        self.counts, self.nodes = counts, np.ascontiguousarray(self.nodes[..., 1::2])
        self.lowest = np.minimum(self.lowest[..., ::2], self.lowest[..., 1::2])
        self.highest = np.maximum(self.highest[..., ::2], self.highest[..., 1::2])

    def merge_windows(self) -> None:
        """Merge neighbouring windows in pairs."""
        half = len(self.counts) // 2
        merged = self.counts[::2] + self.counts[1::2]
        self.counts[:half], self.counts[half:] = merged, 0
        self._early_windows //= 2

    def completed(self) -> Self:
        """Return counts that include the values that are kept until nodes are chosen; self if there are none."""
        if not ((self._n_early > 0) & (self._n_early < N_EARLY)).any():
            return self
        copy = deepcopy(self)
        count_waiting_values(*copy._arrays)
        return copy

    def is_binary(self) -> Flags:
        """Return whether all values of a column are 0 or 1.

        Returns
        -------
        ndarray of shape (n_columns,)
            True for such columns; also for columns without any value.
        """
        flags: Flags = np.isin(self.lowest, (0.0, 1.0, np.inf)) & self._have_one_value()
        return np.asarray(flags.all(axis=(0, 2)))

    def _have_one_value(self) -> Flags:
        """Return of which bins all values are equal."""
        flags: Flags = (self.lowest == self.highest) | np.isinf(self.lowest)
        return flags

    def mean(self, counts: Vector, c: int, j: int) -> float:
        """Return the mean of column j in class c, given the counts of some rows."""
        return float(counts @ self.nodes[c, j] / counts.sum())

    def quantiles(self, counts: Vector, c: int, j: int, shares: Vector) -> Vector:
        """Return quantiles of column j in class c, given the counts of some rows.

        Parameters
        ----------
        counts : ndarray of shape (n_nodes,)
            Counts at the nodes, not all 0.
        c, j : int
            Positions of the class and the column.
        shares : ndarray of shape (n_quantiles,)
            Shares of the values that are below the quantiles.

        Returns
        -------
        ndarray of shape (n_quantiles,)
            Interpolated between nodes, unless all values are at nodes, as those of a column with few values are.
        """
        return self._distribution(counts, c, j).quantiles(shares)

    def distribution(self, windows: slice, classes: Sequence[int], j: int) -> Distribution | None:
        """Return the distribution of column j.

        Parameters
        ----------
        windows : slice
            The windows whose values count.
        classes : sequence of int
            Positions of the classes whose values count.
        j : int
            Position of the column.

        Returns
        -------
        Distribution or None
            None if there are no values.
        """
        counts = {c: self.counts[windows, c, j].sum(axis=0, dtype=np.float64) for c in classes}
        return pooled([self._distribution(each, c, j) for c, each in counts.items() if each.any()])

    def _distribution(self, counts: Vector, c: int, j: int) -> Distribution:
        """Return the distribution with some counts, which is discrete if all values are at nodes."""
        used = self.lowest[c, j][~np.isinf(self.lowest[c, j])]
        is_discrete = bool(self._have_one_value()[c, j].all() and np.isin(used, self.nodes[c, j]).all())
        return Distribution.of_counts(self.nodes[c, j], counts, is_discrete=is_discrete)


def _doubled(n: int) -> int:
    """Return the smallest power of two that is at least n."""
    return 1 << (n - 1).bit_length() if n > 1 else 1
