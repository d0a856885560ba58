"""Two forests over one store of raw rows, and their class probabilities as features of a row.

The recent forest is grown from the last `RECENT_ROWS` rows, the long one from all rows since its memory was cut, as far
as they are stored. Trees are grown one at a time, as often as the credit for comparisons allows, and replace the
oldest; leaves count every row that comes after. The features of a row are computed before its label is known to any
tree, so that a member that learns from them sees how the forests predict new rows, and not the rows they were grown
from.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftline._jit import inner_kernel, kernel, pasted_kernel
from driftline.kernels.packing import matrix_at, vector_at
from driftline.kernels.representation import CONSTANT_FEATURE, MAX_MAGNITUDE
from driftline.kernels.trees import GrowthWorkspace, Trees, grow_tree, leaf_of
from driftline.types import Indices, Labels, Matrix, Singles, Vector

RECENT_ROWS = 200
"""Rows that the recent forest is grown from."""
MIN_ROWS = 10
"""The first trees are grown when there are so many rows."""
PRIOR_ROWS = 0.5
"""Rows of all classes in equal shares that are added to each leaf, so that small ones say less."""
CUT_LEAD_MISTAKES = 10.0
"""The memory of the long forest is cut if the recent one has made so many expected mistakes fewer."""
RECENT_CREDIT, LONG_CREDIT = 3000.0, 10_000.0
"""Comparisons for each label that the forests may spend on growing trees."""
MAX_TREE_VALUE = 1e30
"""Values that trees see are limited to this magnitude, which is finite in single precision."""
MAX_SAVED_LABELS = 16.0
"""Credit of at most so many labels is saved up while trees are cheap, so that a change does not cost more later on."""


class ForestStore(NamedTuple):
    """The last n rows, from which trees are grown, and the state of the generator of random splits."""

    rows: Singles
    """(n, p): a ring buffer of raw values; NaN if missing."""
    labels: Labels
    """(n,)."""
    n_seen: Indices
    """(1,): number of rows so far."""
    random_state: NDArray[np.uint64]
    """(1,): state of the generator."""
    n_since_cut: Indices
    """(1,): rows in the memory of the long forest, not limited by what is stored."""
    recent_lead: Vector
    """(1,): how many expected mistakes fewer the recent forest has made, counted from 0."""
    n_cuts: Indices
    """(1,): how often the memory of the long forest was cut."""

    def copy(self) -> "ForestStore":
        """Return a copy; memory for rows that never came stays untouched."""
        n = min(int(self.n_seen[0]), len(self.rows))
        rows = np.zeros_like(self.rows)
        rows[:n] = self.rows[:n]
        return self._replace(rows=rows, **{name: getattr(self, name).copy() for name in self._fields[1:]})


@pasted_kernel
def forest_store_at(buffer: NDArray[np.uint8], places: Indices, k: int) -> ForestStore:
    """Return the store whose arrays are the ones from number k on in a buffer."""
    return ForestStore(
        rows=matrix_at(buffer, places, k, np.float32),
        labels=vector_at(buffer, places, k + 1, np.int64),
        n_seen=vector_at(buffer, places, k + 2, np.int64),
        random_state=vector_at(buffer, places, k + 3, np.uint64),
        n_since_cut=vector_at(buffer, places, k + 4, np.int64),
        recent_lead=vector_at(buffer, places, k + 5, np.float64),
        n_cuts=vector_at(buffer, places, k + 6, np.int64),
    )


@inner_kernel
def n_tried_columns(n_columns: int) -> int:
    """Return how many columns are tried for each split: all of a few, and the more the more there are."""
    return min(n_columns, max(12, int(2.0 * math.sqrt(n_columns))))


@inner_kernel
def set_origin(X: Matrix, origin: Vector) -> None:
    """Set the origins that are missing to the first value of the column in X, if there is one.

    A column minus its origin loses little precision, however large its values are.
    """
    for t in range(len(X)):
        for j in range(X.shape[1]):
            if np.isnan(origin[j]) and not np.isnan(X[t, j]):
                origin[j] = min(max(X[t, j], -MAX_MAGNITUDE), MAX_MAGNITUDE)


@inner_kernel
def set_values(X: Matrix, origin: Vector, values: Singles) -> None:
    """Set the values to raw rows as the trees see them: minus the origin of each column, in single precision."""
    for t in range(len(X)):
        for j in range(X.shape[1]):
            x = X[t, j] if np.isnan(origin[j]) else X[t, j] - origin[j]
            values[t, j] = x if np.isnan(x) else min(max(x, -MAX_TREE_VALUE), MAX_TREE_VALUE)


@inner_kernel
def set_shares(trees: Trees, values: Singles, row: int, shares: Vector) -> None:
    """Set `shares` to the mean over the trees of the class shares in the leaf of a row; equal shares without trees."""
    c = shares.size
    n_trees = min(trees.n_grown[0], trees.column.shape[0])
    for y in range(c):
        shares[y] = 0.0 if n_trees > 0 else 1.0 / c
    for t in range(n_trees):
        leaf = leaf_of(trees, t, values, row)
        total = PRIOR_ROWS
        for y in range(c):
            total += float(trees.counts[t, leaf, y])
        for y in range(c):
            shares[y] += (float(trees.counts[t, leaf, y]) + PRIOR_ROWS / c) / (total * n_trees)


@inner_kernel
def set_features(recent: Trees, long: Trees, values: Singles, row: int, shares: Matrix, Psi: Singles, t: int) -> None:
    """Set ψ_t = [1/2, r_y - 1/c, l_y - 1/c for each class y] with the shares r and l of the two forests for a row."""
    c = shares.shape[1]
    set_shares(recent, values, row, shares[0])
    set_shares(long, values, row, shares[1])
    Psi[t, 0] = CONSTANT_FEATURE
    for y in range(c):
        Psi[t, 1 + 2 * y] = shares[0, y] - 1.0 / c
        Psi[t, 2 + 2 * y] = shares[1, y] - 1.0 / c


@inner_kernel
def count_row(trees: Trees, values: Singles, row: int, label: int) -> None:
    """Add a row to the counts of its leaf in each tree."""
    for t in range(min(trees.n_grown[0], trees.column.shape[0])):
        trees.counts[t, leaf_of(trees, t, values, row), label] += np.float32(1.0)


@inner_kernel
def copy_trees(source: Trees, target: Trees) -> None:
    """Replace the trees of `target`, which has room for all, by those of `source`."""
    for t in range(source.n_nodes.size):
        for k in range(source.n_nodes[t]):
            target.column[t, k] = source.column[t, k]
            target.threshold[t, k] = source.threshold[t, k]
            target.child[t, k] = source.child[t, k]
        for k in range(source.n_leaves[t]):
            for y in range(source.counts.shape[2]):
                target.counts[t, k, y] = source.counts[t, k, y]
        target.n_nodes[t], target.n_leaves[t] = source.n_nodes[t], source.n_leaves[t]
    target.n_grown[0] = min(source.n_grown[0], source.n_nodes.size)


@inner_kernel
def cut_if_led(store: ForestStore, recent: Trees, long: Trees, shares: Matrix, label: int) -> None:
    """Cut the memory of the long forest, and replace its trees, if the recent forest predicts better for long enough.

    `shares` are those of both forests for the newest row, before it was learned.
    """
    store.n_since_cut[0] += 1
    lead = store.recent_lead[0] + shares[0, label] - shares[1, label]
    store.recent_lead[0] = max(lead, 0.0)
    if lead > CUT_LEAD_MISTAKES and store.n_since_cut[0] > RECENT_ROWS:
        store.n_since_cut[0] = RECENT_ROWS
        store.recent_lead[0] = 0.0
        store.n_cuts[0] += 1
        copy_trees(recent, long)


@inner_kernel
def grow_if_due(
    store: ForestStore, trees: Trees, n_rows: int, credit: float, n_tried: int, work: GrowthWorkspace
) -> None:
    """Grow the next tree from the last `n_rows` rows, if the credit for comparisons is above 0."""
    trees.credit[0] = min(trees.credit[0] + credit, MAX_SAVED_LABELS * credit)
    if n_rows < MIN_ROWS or trees.credit[0] <= 0.0:
        return
    n = store.labels.size
    for i in range(n_rows):
        work.rows[i] = (store.n_seen[0] - 1 - i) % n
    t = trees.n_grown[0] % trees.column.shape[0]
    trees.credit[0] -= grow_tree(store.rows, store.labels, n_rows, n_tried, trees, t, work, store.random_state)
    trees.n_grown[0] += 1


@kernel
def forest_features(X: Matrix, origin: Vector, recent: Trees, long: Trees, Psi: Singles) -> None:
    """Set ψ of raw rows, of two forests."""
    values, shares = np.empty(X.shape, np.float32), np.empty((2, recent.counts.shape[2]))
    set_values(X, origin, values)
    for t in range(len(values)):
        set_features(recent, long, values, t, shares, Psi, t)


@inner_kernel
def forest_features_then_learn(
    values: Singles,
    labels: Labels,
    store: ForestStore,
    recent: Trees,
    long: Trees,
    n_tried: int,
    pace: float,
    work: GrowthWorkspace,
    Psi: Singles,
    shares: Matrix,
) -> None:
    """Set ψ of each row, of two forests, and let them learn the row after that.

    `n_tried` is the number of random splits that are compared at each node; `pace` multiplies the credit for growing.
    """
    n = store.labels.size
    for t in range(len(values)):
        set_features(recent, long, values, t, shares, Psi, t)
        count_row(recent, values, t, labels[t])
        count_row(long, values, t, labels[t])
        i = store.n_seen[0] % n
        for j in range(values.shape[1]):
            store.rows[i, j] = values[t, j]
        store.labels[i] = labels[t]
        store.n_seen[0] += 1
        cut_if_led(store, recent, long, shares, labels[t])
        n_recent = min(store.n_seen[0], RECENT_ROWS)
        grow_if_due(store, recent, n_recent, pace * RECENT_CREDIT, n_tried, work)
        grow_if_due(store, long, min(store.n_since_cut[0], n), pace * LONG_CREDIT, n_tried, work)
