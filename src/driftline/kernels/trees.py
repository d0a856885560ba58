"""Extremely randomised trees, grown from stored rows: each split is the best of a few random ones.

The cost of growing is counted in comparisons of a value with a threshold, so that it can be limited without a clock.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftline._jit import inlined_kernel, inner_kernel, pasted_kernel
from driftline.kernels.descent import next_uniform
from driftline.kernels.packing import matrix_at, stack_at, vector_at
from driftline.types import Indices, Labels, Singles, Vector

Integers = NDArray[np.int32]
LEAF = -1
"""Column of a node that is a leaf."""
MAX_COMPARED_ROWS = 256
"""Splits of a larger node are compared on so many of its rows, drawn at random."""
DRAWS_PER_COLUMN = 4
"""Draws of a second value of a column that differs from the first; if there is none, the column is passed over."""


class Trees(NamedTuple):
    """Trees that were grown from different rows: t trees, k nodes and l leaves at most, c classes."""

    column: Integers
    """(t, k): column that a node compares; -1 for a leaf."""
    threshold: Singles
    """(t, k): rows with at most this value go to the first child; others, and missing values, to the second."""
    child: Integers
    """(t, k): position of the first child, which the second one follows; of a leaf, its position among the leaves."""
    counts: Singles
    """(t, l, c): number of rows of each class in each leaf."""
    n_nodes: Indices
    """(t,): number of nodes of each tree."""
    n_leaves: Indices
    """(t,): number of leaves of each tree."""
    n_grown: Indices
    """(1,): number of trees grown so far; each new one replaces the oldest."""
    credit: Vector
    """(1,): comparisons that may be made; the next tree is grown as soon as it is above 0."""

    def copy(self) -> "Trees":
        """Return a copy; memory for nodes that no tree has stays untouched."""
        k, n_leaves = int(self.n_nodes.max()), int(self.n_leaves.max())
        copied = new_trees(*self.column.shape, *self.counts.shape[1:])
        copied.column[:, :k], copied.child[:, :k] = self.column[:, :k], self.child[:, :k]
        copied.threshold[:, :k] = self.threshold[:, :k]
        copied.counts[:, :n_leaves] = self.counts[:, :n_leaves]
        names = ("n_nodes", "n_leaves", "n_grown", "credit")
        return copied._replace(**{name: getattr(self, name).copy() for name in names})


def new_trees(n_trees: int, n_nodes: int, n_leaves: int, c: int) -> Trees:
    """Return trees without nodes, none of which was grown."""
    return Trees(
        column=np.zeros((n_trees, n_nodes), np.int32),
        threshold=np.zeros((n_trees, n_nodes), np.float32),
        child=np.zeros((n_trees, n_nodes), np.int32),
        counts=np.zeros((n_trees, n_leaves, c), np.float32),
        n_nodes=np.zeros(n_trees, np.int64),
        n_leaves=np.zeros(n_trees, np.int64),
        n_grown=np.zeros(1, np.int64),
        credit=np.zeros(1),
    )


class GrowthWorkspace(NamedTuple):
    """Memory for intermediate results of growing a tree from n rows with p columns."""

    rows: Indices
    """(n,): positions of the rows, grouped by node."""
    bounds: Indices
    """(2, k): where the rows of each node begin and end."""
    columns: Indices
    """(p,): the columns, in an order that changes at random from node to node of a tree."""
    totals: Vector
    """(c,): number of compared rows of each class."""
    first: Vector
    """(c,): those of them that go to the first child."""


@pasted_kernel
def trees_at(buffer: NDArray[np.uint8], places: Indices, k: int) -> Trees:
    """Return the trees whose arrays are the ones from number k on in a buffer."""
    return Trees(
        column=matrix_at(buffer, places, k, np.int32),
        threshold=matrix_at(buffer, places, k + 1, np.float32),
        child=matrix_at(buffer, places, k + 2, np.int32),
        counts=stack_at(buffer, places, k + 3, np.float32),
        n_nodes=vector_at(buffer, places, k + 4, np.int64),
        n_leaves=vector_at(buffer, places, k + 5, np.int64),
        n_grown=vector_at(buffer, places, k + 6, np.int64),
        credit=vector_at(buffer, places, k + 7, np.float64),
    )


@pasted_kernel
def growth_workspace_at(buffer: NDArray[np.uint8], places: Indices, k: int) -> GrowthWorkspace:
    """Return the workspace whose arrays are the ones from number k on in a buffer."""
    return GrowthWorkspace(
        rows=vector_at(buffer, places, k, np.int64),
        bounds=matrix_at(buffer, places, k + 1, np.int64),
        columns=vector_at(buffer, places, k + 2, np.int64),
        totals=vector_at(buffer, places, k + 3, np.float64),
        first=vector_at(buffer, places, k + 4, np.float64),
    )


@inlined_kernel
def draw_below(n: int, random_state: NDArray[np.uint64]) -> int:
    """Return a random whole number from 0 to n - 1."""
    return min(int(next_uniform(random_state) * n), n - 1)


@inner_kernel
def draw_threshold(
    values: Singles, column: int, rows: Indices, start: int, n: int, random_state: NDArray[np.uint64]
) -> np.float32:
    """Return a threshold that divides n rows, between two of their values; NaN if two different ones were not found.

    Of a value and a missing value it is infinity, which divides the missing values from the others.
    """
    low = values[rows[start + draw_below(n, random_state)], column]
    for _ in range(DRAWS_PER_COLUMN):
        high = values[rows[start + draw_below(n, random_state)], column]
        if np.isnan(low) != np.isnan(high):
            return np.float32(np.inf)
        if low != high and not np.isnan(low):
            if low > high:
                low, high = high, low
            threshold = low + np.float32(next_uniform(random_state)) * (high - low)
            return np.float32(low if threshold >= high else threshold)
    return np.float32(np.nan)


@inner_kernel
def purity(
    values: Singles, labels: Labels, column: int, threshold: np.float32, start: int, n: int, work: GrowthWorkspace
) -> float:
    """Return Σ n_cy²/n_c over both children c and all classes y, for n rows: larger is better; -1 if a child is empty.

    (It is n times 1 minus the Gini impurity of the children.)
    """
    work.first[:] = 0.0
    for i in range(start, start + n):
        row = work.rows[i]
        work.first[labels[row]] += values[row, column] <= threshold
    n_first, first, second = 0.0, 0.0, 0.0
    for y in range(work.first.size):
        other = work.totals[y] - work.first[y]
        n_first += work.first[y]
        first += work.first[y] * work.first[y]
        second += other * other
    if not 0.0 < n_first < n:
        return -1.0
    return first / n_first + second / (n - n_first)


@inner_kernel
def sample_rows(rows: Indices, start: int, n: int, n_sampled: int, random_state: NDArray[np.uint64]) -> None:
    """Move `n_sampled` rows, drawn at random from n, to the front."""
    for i in range(n_sampled):
        k = start + i + draw_below(n - i, random_state)
        rows[start + i], rows[k] = rows[k], rows[start + i]


@inner_kernel
def choose_split(
    values: Singles,
    labels: Labels,
    start: int,
    n: int,
    n_tried: int,
    work: GrowthWorkspace,
    random_state: NDArray[np.uint64],
) -> tuple[int, np.float32, int]:
    """Return the column and the threshold of the best of `n_tried` random splits of n rows, and the comparisons made.

    The column is -1 if no column was found with two different values.
    """
    best, best_column, best_threshold = -1.0, LEAF, np.float32(0.0)
    work.totals[:] = 0.0
    for i in range(start, start + n):
        work.totals[labels[work.rows[i]]] += 1.0
    cost, n_found, n_left = n, 0, work.columns.size
    while n_left > 0 and n_found < n_tried:
        k = draw_below(n_left, random_state)
        column = work.columns[k]
        n_left -= 1
        work.columns[k], work.columns[n_left] = work.columns[n_left], column
        threshold = draw_threshold(values, column, work.rows, start, n, random_state)
        cost += DRAWS_PER_COLUMN
        if np.isnan(threshold):
            continue
        n_found += 1
        cost += n + work.totals.size
        gain = purity(values, labels, column, threshold, start, n, work)
        if gain > best:
            best, best_column, best_threshold = gain, column, threshold
    return best_column, best_threshold, cost


@inner_kernel
def divide_rows(values: Singles, column: int, threshold: np.float32, rows: Indices, start: int, stop: int) -> int:
    """Move the rows that go to the first child before the others; return where the others begin."""
    i, j = start, stop - 1
    while i <= j:
        if values[rows[i], column] <= threshold:
            i += 1
        else:
            rows[i], rows[j] = rows[j], rows[i]
            j -= 1
    return i


@inner_kernel
def count_labels(labels: Labels, rows: Indices, start: int, stop: int, trees: Trees, t: int, leaf: int) -> None:
    """Set the counts of a leaf of tree t to the labels of its rows."""
    for y in range(trees.counts.shape[2]):
        trees.counts[t, leaf, y] = np.float32(0.0)
    for i in range(start, stop):
        trees.counts[t, leaf, labels[rows[i]]] += np.float32(1.0)


@inner_kernel
def is_pure(labels: Labels, rows: Indices, start: int, stop: int) -> bool:
    """Return whether all rows have the same label."""
    for i in range(start + 1, stop):
        if labels[rows[i]] != labels[rows[start]]:
            return False
    return True


@inner_kernel
def grow_tree(
    values: Singles,
    labels: Labels,
    n: int,
    n_tried: int,
    trees: Trees,
    t: int,
    work: GrowthWorkspace,
    random_state: NDArray[np.uint64],
) -> int:
    """Grow tree t anew from the first n rows of the workspace; return the comparisons made.

    Nodes are divided in the order in which they arose, until all leaves are pure or there is no room for more.
    """
    n_nodes, n_leaves, cost = 1, 0, 0
    for j in range(work.columns.size):
        work.columns[j] = j
    work.bounds[0, 0], work.bounds[1, 0] = 0, n
    node = 0
    while node < n_nodes:
        start, stop = work.bounds[0, node], work.bounds[1, node]
        size = stop - start
        cost += 2 * size
        column, middle = LEAF, start
        has_room = n_nodes + 2 <= trees.column.shape[1]
        if has_room and not is_pure(labels, work.rows, start, stop):
            n_compared = min(size, MAX_COMPARED_ROWS)
            if n_compared < size:
                sample_rows(work.rows, start, size, n_compared, random_state)
            column, threshold, n_comparisons = choose_split(
                values, labels, start, n_compared, n_tried, work, random_state
            )
            cost += n_comparisons
        trees.column[t, node] = column
        if column == LEAF:
            trees.threshold[t, node] = np.float32(0.0)
            trees.child[t, node] = n_leaves
            count_labels(labels, work.rows, start, stop, trees, t, n_leaves)
            n_leaves += 1
        else:
            middle = divide_rows(values, column, threshold, work.rows, start, stop)
            trees.threshold[t, node] = threshold
            trees.child[t, node] = n_nodes
            work.bounds[0, n_nodes], work.bounds[1, n_nodes] = start, middle
            work.bounds[0, n_nodes + 1], work.bounds[1, n_nodes + 1] = middle, stop
            n_nodes += 2
        node += 1
    trees.n_nodes[t], trees.n_leaves[t] = n_nodes, n_leaves
    return cost


@inner_kernel
def leaf_of(trees: Trees, t: int, values: Singles, row: int) -> int:
    """Return the leaf of tree t to which a row belongs."""
    node = 0
    while trees.column[t, node] != LEAF:
        goes_first = values[row, trees.column[t, node]] <= trees.threshold[t, node]
        node = trees.child[t, node] + (0 if goes_first else 1)
    return int(trees.child[t, node])
