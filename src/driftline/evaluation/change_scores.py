"""The scores whose means are compared in the search for changes, summed by window."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from driftline.evaluation.value_counts import ValueCounts
from driftline.evaluation.window_stats import WindowStats, padded
from driftline.types import Flags, Labels, Matrix, Singles, Vector

MAX_CELLS_AT_ONCE = 128
"""Columns of classes that are scored together, which limits the temporary memory."""


class ShiftKind(StrEnum):
    """What differs before and after a change."""

    LOCATION = "location"
    """The level of a column in a class, by the ranks of its values; given as the median."""
    SPREAD = "spread"
    """The spread of a column in a class, by the distances of the ranks from the middle; given as the interquartile
    range."""
    SHARE = "share"
    """The share of ones of a column of zeros and ones in a class, such as that of a category."""
    MISSING = "missing"
    """The share of rows in which a column is missing."""
    CLASS_SHARE = "class share"
    """The share of a class among all rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of rows by window. A cell is a kind of score of one column in one class; others have -1 for one of these.

    Attributes
    ----------
    kinds, classes, columns
        Of each cell, with positions of the class and the column.
    sums, squares, counts : ndarray of shape (n_windows, n_cells)
        Sum of the scores in a window, of their squares, and number of rows that have a score.
    ranges, largest : ndarray of shape (n_cells,)
        Difference of the largest and the smallest score, and largest distance of a score from the mean.
    """

    kinds: list[ShiftKind]
    classes: Labels
    columns: Labels
    sums: Matrix
    squares: Matrix
    counts: Matrix
    ranges: Vector
    largest: Vector


def scores_of(
    windows: Sequence[WindowStats], values: ValueCounts, n_classes: int, is_binary: Flags
) -> Iterator[Scores]:
    """Yield all scores of some windows, a part of the columns at a time.

    Parameters
    ----------
    windows : sequence of WindowStats
        The windows of a timeline.
    values : ValueCounts
        The values of its columns.
    n_classes : int
        Number of classes.
    is_binary : ndarray of shape (n_columns,)
        Whether a column has only zeros and ones; then its share has a score, and its spread none.

    Yields
    ------
    Scores
        First those of shares of classes and missing values, then those of columns.
    """
    yield _shares(windows, n_classes)
    n_columns = len(is_binary)
    step = max(MAX_CELLS_AT_ONCE // max(n_classes, 1), 1)
    for first in range(0, n_columns, step):
        yield _ranks(values.counts[: len(windows), :n_classes, first : first + step], first, is_binary)


def _shares(windows: Sequence[WindowStats], n_classes: int) -> Scores:
    """Return scores of 1 for rows of a class, and for rows in which a column is missing, and 0 for others."""
    rows = np.array([float(window.n_rows) for window in windows])[:, np.newaxis]
    of_classes = np.array([padded(window.class_counts, n_classes) for window in windows])
    known = np.array([window.column_counts.sum(axis=0) for window in windows])
    missing = rows - known
    c, d = n_classes, missing.shape[1]
    sums = np.concatenate([of_classes, missing], axis=1)
    counts = np.repeat(rows, c + d, axis=1)
    shares = sums.sum(axis=0) / counts.sum(axis=0)
    return Scores(
        [ShiftKind.CLASS_SHARE] * c + [ShiftKind.MISSING] * d,
        np.concatenate([np.arange(c), np.full(d, -1)]),
        np.concatenate([np.full(c, -1), np.arange(d)]),
        sums,
        sums,
        counts,
        np.ones(c + d),
        np.maximum(shares, 1.0 - shares),
    )


def _ranks(counts: Singles, first: int, is_binary: Flags) -> Scores:
    """Return scores of location and of spread from counts of shape (n_windows, n_classes, n_columns, n_nodes)."""
    n_windows, c, d, n_nodes = counts.shape
    classes, columns = np.divmod(np.arange(c * d), max(d, 1))
    has_spread = np.flatnonzero(~is_binary[first + columns])
    both = np.concatenate([np.arange(c * d), has_spread])
    cells = counts.reshape(n_windows, c * d, n_nodes).astype(np.float64)
    totals = cells.sum(axis=0)
    location, spread = rank_scores(totals)
    scores, present = np.concatenate([location, spread[has_spread]]), totals[both] > 0.0
    ranges = np.where(present, scores, -np.inf).max(axis=1) - np.where(present, scores, np.inf).min(axis=1)
    location_kinds = [ShiftKind.SHARE if binary else ShiftKind.LOCATION for binary in is_binary[first + columns]]
    return Scores(
        location_kinds + [ShiftKind.SPREAD] * len(has_spread),
        classes[both],
        first + columns[both],
        sums=np.einsum("wkb,kb->wk", cells[:, both], scores),
        squares=np.einsum("wkb,kb->wk", cells[:, both], scores**2),
        counts=cells.sum(axis=2)[:, both],
        ranges=np.maximum(ranges, 0.0),
        largest=np.abs(np.where(present, scores, 0.0)).max(axis=1, initial=0.0),
    )


def rank_scores(counts: Matrix) -> tuple[Matrix, Matrix]:
    """Return the scores of nodes for location and for spread, each with mean 0.

    The score for location is the mean rank of the values there, between -1/2 and 1/2, as in Wilcoxon's test. The
    score for spread is its absolute value, minus the mean of all, as in the test of Ansari and Bradley.

    Parameters
    ----------
    counts : ndarray of shape (n_cells, n_nodes)
        Number of values at each node, in order.

    Returns
    -------
    location, spread : ndarray of shape (n_cells, n_nodes)
        The scores.

    Examples
    --------
    >>> import numpy as np
    >>> location, spread = rank_scores(np.array([[1.0, 2.0, 1.0]]))
    >>> location.tolist(), spread.tolist()
    ([[-0.375, 0.0, 0.375]], [[0.1875, -0.1875, 0.1875]])
    """
    number = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    location = (np.cumsum(counts, axis=1) - counts / 2.0) / number - 0.5
    folded = np.abs(location)
    return location, folded - (counts * folded).sum(axis=1, keepdims=True) / number
