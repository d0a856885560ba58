"""Counts of the values of each column in each class, in bins, for each window of a timeline."""

from copy import deepcopy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from driftline.kernels.value_counts import N_EARLY, N_EDGES, count_values, count_waiting_values
from driftline.types import Flags, Labels, Matrix, Vector

MAX_BINS = N_EDGES + 1
"""Bins of a column in a class, while there are few columns and classes."""
MAX_BINS_IN_WINDOW = 2**15
"""Bins of all columns and classes; with more, neighbouring bins are merged in pairs until they are few enough."""
FEW_WINDOWS = 16


class ValueCounts:
    """Counts of values in bins, by window, class and column.

    The bins of a column in a class are chosen from its first 64 values in that class: 16 of them divide these values in
    equal shares, and the others are for values that come to lie elsewhere. There are 64 bins while classes × columns is
    at most 512, and at least 4 with more.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    max_cells : int
        Largest number of classes × columns.

    Attributes
    ----------
    counts : ndarray of shape (n_windows, n_classes, n_columns, n_bins)
        There is room for more windows and classes than there are; their counts are 0.
    lowest, highest : ndarray of shape (n_classes, n_columns, n_bins)
        Smallest and largest value in each bin; infinite if there is none.
    """

    def __init__(self, n_columns: int, max_cells: int) -> None:
        self._max_classes = max(max_cells // max(n_columns, 1), 1)
        self.counts: NDArray[np.uint32] = np.zeros((FEW_WINDOWS, 0, n_columns, MAX_BINS), np.uint32)
        self._edges: Vector = np.zeros((0, n_columns, N_EDGES))
        self.lowest: Vector = np.zeros((0, n_columns, MAX_BINS))
        self.highest: Vector = np.zeros((0, n_columns, MAX_BINS))
        self._n_early: Labels = np.zeros((0, n_columns), np.int64)
        self._early: Vector = np.zeros((0, n_columns, N_EARLY))
        self._early_windows: Labels = np.zeros((0, n_columns, N_EARLY), np.int64)

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
    def _arrays(self) -> tuple[Vector, ...]:
        return (
            self._n_early,
            self._early,
            self._early_windows,
            self._edges,
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
        while self.counts.shape[3] > 4 and wanted * n_columns * self.counts.shape[3] > MAX_BINS_IN_WINDOW:
            self._merge_bins()
        new = ((0, wanted - now), (0, 0))
        self.counts = np.pad(self.counts, ((0, 0), *new, (0, 0)))
        self._edges = np.pad(self._edges, (*new, (0, 0)))
        self.lowest = np.pad(self.lowest, (*new, (0, 0)), constant_values=np.inf)
        self.highest = np.pad(self.highest, (*new, (0, 0)), constant_values=-np.inf)
        self._n_early = np.pad(self._n_early, new)
        self._early = np.pad(self._early, (*new, (0, 0)))
        self._early_windows = np.pad(self._early_windows, (*new, (0, 0)))

    def _merge_bins(self) -> None:
        self.counts = self.counts[..., ::2] + self.counts[..., 1::2]
        self._edges = np.ascontiguousarray(self._edges[..., 1::2])
        self.lowest = np.minimum(self.lowest[..., ::2], self.lowest[..., 1::2])
        self.highest = np.maximum(self.highest[..., ::2], self.highest[..., 1::2])

    def merge_windows(self) -> None:
        """Merge neighbouring windows in pairs."""
        half = len(self.counts) // 2
        merged = self.counts[::2] + self.counts[1::2]
        self.counts[:half], self.counts[half:] = merged, 0
        self._early_windows //= 2

    def completed(self) -> Self:
        """Return counts in which values that are kept until bins are chosen are counted too; self if there are none."""
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
        low_is_binary = np.isin(self.lowest, (0.0, 1.0, np.inf))
        one_value = (self.lowest == self.highest) | np.isinf(self.lowest)
        flags: Flags = (low_is_binary & one_value).all(axis=(0, 2))
        return flags

    def quantiles(self, counts: Vector, c: int, j: int, shares: Vector) -> Vector:
        """Return quantiles of column j in class c, given the counts of some rows, interpolated within bins.

        Parameters
        ----------
        counts : ndarray of shape (n_bins,)
            Numbers of values, not all 0.
        c, j : int
            Positions of the class and the column.
        shares : ndarray of shape (n_quantiles,)
            Shares of the values that are below the quantiles.

        Returns
        -------
        ndarray of shape (n_quantiles,)
            The quantiles, which are exact where all values in a bin are equal.
        """
        ends = np.cumsum(counts)
        wanted = shares * ends[-1]
        bins = np.minimum(np.searchsorted(ends, wanted), len(counts) - 1)
        within = (wanted - (ends - counts)[bins]) / counts[bins]
        low, high = self.lowest[c, j, bins], self.highest[c, j, bins]
        quantiles: Vector = low + within * (high - low)
        return quantiles


def _doubled(n: int) -> int:
    """Return the smallest power of two that is at least n."""
    return 1 << (n - 1).bit_length() if n > 1 else 1
