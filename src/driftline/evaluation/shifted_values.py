"""The values before and after a change, in units that can be read."""

from collections.abc import Sequence

import numpy as np

from driftline.evaluation.change_scores import ShiftKind, rank_scores
from driftline.evaluation.value_counts import ValueCounts
from driftline.evaluation.window_stats import WindowStats
from driftline.types import Matrix

QUARTILES = np.array([0.25, 0.5, 0.75])


class ShiftedValues:
    """The rows before and after a change.

    Parameters
    ----------
    windows : sequence of WindowStats
        The windows of a timeline.
    values : ValueCounts
        The values of its columns.
    t, length : int
        Number of windows before the change, and number of windows on each side.
    """

    def __init__(self, windows: Sequence[WindowStats], values: ValueCounts, t: int, length: int) -> None:
        self._values = values
        self._sides = [slice(t - length, t), slice(t, t + length)]
        self._windows = [windows[side] for side in self._sides]

    def kind(self, c: int, j: int) -> ShiftKind:
        """Return whether the values of column j in class c differ more in location or in spread.

        Both sides get the same weight, so that a shift of location alone makes no difference in the scores for spread.
        """
        counts = self._counts(c, j)
        weights = counts / counts.sum(axis=1, keepdims=True)
        sizes = []
        for scores in rank_scores(weights.sum(axis=0)[np.newaxis]):
            before, after = weights @ scores[0]
            variance = weights.sum(axis=0) @ scores[0] ** 2 / 2.0
            sizes.append(abs(after - before) / np.sqrt(variance) if variance > 0.0 else 0.0)
        return ShiftKind.SPREAD if sizes[1] > sizes[0] else ShiftKind.LOCATION

    def values(self, kind: ShiftKind, c: int, j: int) -> tuple[float, float]:
        """Return the value before and the value after the change: a median, an interquartile range or a share."""
        if kind in (ShiftKind.LOCATION, ShiftKind.SPREAD):
            first, second = (self._values.quantiles(counts, c, j, QUARTILES) for counts in self._counts(c, j))
            if kind is ShiftKind.LOCATION:
                return float(first[1]), float(second[1])
            return float(first[2] - first[0]), float(second[2] - second[0])
        if kind is ShiftKind.SHARE:
            counts = self._counts(c, j)
            return self._values.mean(counts[0], c, j), self._values.mean(counts[1], c, j)
        before, after = (self._share(side, kind, c, j) for side in self._windows)
        return before, after

    def _counts(self, c: int, j: int) -> Matrix:
        """Return the counts of values before and after the change."""
        return np.array([self._values.counts[side, c, j].sum(axis=0, dtype=np.float64) for side in self._sides])

    @staticmethod
    def _share(windows: Sequence[WindowStats], kind: ShiftKind, c: int, j: int) -> float:
        """Return the share of a class, or of rows in which a column is missing."""
        n_rows = sum(window.n_rows for window in windows)
        if kind is ShiftKind.CLASS_SHARE:
            return float(sum(window.class_counts[c] for window in windows if c < len(window.class_counts)) / n_rows)
        return float(1.0 - sum(window.column_counts[:, j].sum() for window in windows) / n_rows)
