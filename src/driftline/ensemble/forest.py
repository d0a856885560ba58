"""The forests of a tree space: their store of raw rows, their trees, and the features they give."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from driftline.core.schema import MOST_COUNTED, ArraySpec, Schema, nested_schema, whole_numbers
from driftline.core.state import copy_with, state_of
from driftline.ensemble.plan import ForestPlan
from driftline.errors import CheckpointError
from driftline.kernels.forest import MAX_TREE_VALUE, RECENT_ROWS, ForestStore, forest_features
from driftline.kernels.trees import LEAF, GrowthWorkspace, Trees, new_trees
from driftline.types import Matrix, Singles, State

MIN_ROWS, MAX_VALUES = 500, 1_000_000
"""A forest stores no more than this number of values, but so many rows if its plan allows it."""
MAX_LEAF_COUNTS = 65_536
"""Largest number of counts of classes in the leaves of a tree."""
LARGEST_CREDIT = 1e12
"""No credit for comparisons, or debt, is as large."""


def n_stored_rows(plan: ForestPlan, n_columns: int) -> int:
    """Return the number of rows that a forest stores."""
    return min(plan.max_rows, max(MAX_VALUES // n_columns, MIN_ROWS))


def max_leaves(plan: ForestPlan, n_classes: int) -> int:
    """Return the largest number of leaves of a tree: fewer for many classes, so that memory is limited.

    It changes at few numbers of classes only, because the trees are dropped when it changes.
    """
    leaves = plan.max_leaves
    while leaves > 2 and leaves * n_classes > MAX_LEAF_COUNTS:
        leaves //= 4
    return leaves


def n_bytes_of_forest(plan: ForestPlan, n_columns: int, n_classes: int) -> int:
    """Return how much memory the rows and the trees of a forest take."""
    per_tree = max_leaves(plan, n_classes) * (24 + 4 * n_classes)
    return n_stored_rows(plan, n_columns) * (16 + 4 * n_columns) + (plan.n_recent_trees + plan.n_long_trees) * per_tree


class Forest:
    """Two forests that learn every row: one of the last rows, and one of all rows since its memory was cut.

    Their features of a row, before its label is learned, are 1/2 and, for each class, its share in the leaves of the
    row in both forests, minus 1/c.

    Parameters
    ----------
    plan : ForestPlan
        Their plan.
    n_columns : int
        Number of columns.
    seed : list of int
        Seed of the random splits.
    """

    def __init__(self, plan: ForestPlan, n_columns: int, seed: list[int]) -> None:
        self._plan = plan
        n = n_stored_rows(plan, n_columns)
        self._origin = np.full(n_columns, np.nan)
        self._store = ForestStore(
            rows=np.zeros((n, n_columns), np.float32),
            labels=np.zeros(n, np.int64),
            n_seen=np.zeros(1, np.int64),
            random_state=np.random.default_rng([*seed, 3]).integers(1, 2**63, 1, dtype=np.uint64),
            n_since_cut=np.zeros(1, np.int64),
            recent_lead=np.zeros(1),
            n_cuts=np.zeros(1, np.int64),
        )
        self._recent, self._long = _new_forests(plan, 0)
        self._workspace = _new_workspace(plan, self._store, 0)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return 1 + 2 * self.n_classes

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self._recent.counts.shape[2])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self._origin.size

    @property
    def n_cuts(self) -> int:
        """How often the memory of the long forest was cut."""
        return int(self._store.n_cuts[0])

    def snapshot(self) -> "Forest":
        """Return a copy for features, which learning does not change; it cannot learn."""
        return copy_with(self, _origin=self._origin.copy(), _recent=self._recent.copy(), _long=self._long.copy())

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays, which may be replaced by others with the same values."""
        return self._origin, *self._store, *self._recent, *self._long, *self._workspace

    @arrays.setter
    def arrays(self, arrays: Sequence[Any]) -> None:
        unread = iter(arrays)
        self._origin = next(unread)
        self._store = ForestStore(*islice(unread, len(self._store)))
        self._recent, self._long = (Trees(*islice(unread, len(Trees._fields))) for _ in range(2))
        self._workspace = GrowthWorkspace(*unread)

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions; trees that take too much memory with them are dropped."""
        c = self.n_classes + n
        recent, long = _new_forests(self._plan, c)
        if long.counts.shape[1] == self._long.counts.shape[1]:
            recent, long = (_with_classes(trees, n) for trees in (self._recent, self._long))
        self._recent, self._long = recent, long
        self._workspace = _new_workspace(self._plan, self._store, c)

    def add_columns(self, n: int) -> None:
        """Add n columns, whose values are missing in the rows so far."""
        grown = (0, n)
        self._origin = np.pad(self._origin, grown, constant_values=np.nan)
        size = n_stored_rows(self._plan, self.n_columns)
        rows = np.pad(self._store.rows, ((0, 0), grown))
        rows[: int(self._store.n_seen[0]), -n:] = np.nan
        self._store = _with_size(self._store._replace(rows=rows), size)
        self._workspace = _new_workspace(self._plan, self._store, self.n_classes)

    def features(self, X: Matrix) -> Singles:
        """Return the features of raw rows; changes nothing."""
        Psi = np.empty((len(X), self.n_features), np.float32)
        forest_features(X, self._origin, self._recent, self._long, Psi)
        return Psi

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        recent, long = _without_unused(self._recent), _without_unused(self._long)
        parts: dict[str, NamedTuple] = {"store": self._store, "recent": recent, "long": long}
        arrays = {f"{part}/{name}": array for part, record in parts.items() for name, array in record._asdict().items()}
        return {"origin": self._origin, **arrays}

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        n, p = self._store.rows.shape
        store: Schema = {
            "rows": ArraySpec((n, p), np.float32, -MAX_TREE_VALUE, MAX_TREE_VALUE, allows_nan=True),
            "labels": whole_numbers((n,), max(self.n_classes - 1, 0)),
            "n_seen": whole_numbers((1,)),
            "random_state": ArraySpec((1,), np.uint64, 1, 2**64 - 1),
            "n_since_cut": whole_numbers((1,)),
            "recent_lead": ArraySpec((1,), low=0.0, high=MOST_COUNTED),
            "n_cuts": whole_numbers((1,)),
        }
        forests = {"recent": _tree_schema(self._recent, p), "long": _tree_schema(self._long, p)}
        origin = ArraySpec((p,), low=-MAX_TREE_VALUE, high=MAX_TREE_VALUE, allows_nan=True)
        return {"origin": origin, **nested_schema({"store": store, **forests})}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""

        def part(name: str) -> dict[str, Any]:
            return {key: np.array(array) for key, array in state_of(name, state).items()}

        self._origin = state["origin"].astype(np.float64)
        self._store = ForestStore(**part("store"))
        self._recent, self._long = Trees(**part("recent")), Trees(**part("long"))
        for trees in (self._recent, self._long):
            _check_links(trees)
        self._workspace = _new_workspace(self._plan, self._store, self.n_classes)


def no_forest() -> tuple[Any, ...]:
    """Return the arrays of a forest where there is none: each is empty."""
    forest = Forest(ForestPlan(), 1, [0])
    return tuple(np.zeros((0,) * array.ndim, array.dtype) for array in forest.arrays)


def _new_forests(plan: ForestPlan, c: int) -> tuple[Trees, Trees]:
    """Return two forests without trees, for c classes."""
    long = max_leaves(plan, c)
    recent = min(long, RECENT_ROWS)
    sizes = (plan.n_recent_trees, recent), (plan.n_long_trees, long)
    recent_trees, long_trees = (new_trees(n_trees, 2 * leaves - 1, leaves, c) for n_trees, leaves in sizes)
    return recent_trees, long_trees


def _with_classes(trees: Trees, n: int) -> Trees:
    """Return the trees with n more classes, of which they have seen no row."""
    return trees._replace(counts=np.pad(trees.counts, ((0, 0), (0, 0), (0, n))))


def _without_unused(trees: Trees) -> Trees:
    """Return the trees with zeros in memory that they do not use, which may have values of larger trees before them."""
    is_node = np.arange(trees.column.shape[1]) < trees.n_nodes[:, None]
    is_leaf = np.arange(trees.counts.shape[1]) < trees.n_leaves[:, None]
    zero = np.float32(0.0)
    return trees._replace(
        column=np.where(is_node, trees.column, np.int32(0)),
        threshold=np.where(is_node, trees.threshold, zero),
        child=np.where(is_node, trees.child, np.int32(0)),
        counts=np.where(is_leaf[:, :, None], trees.counts, zero),
    )


def _with_size(store: ForestStore, n: int) -> ForestStore:
    """Return the store with room for n rows: the last ones, in the same order."""
    if n == len(store.labels):
        return store
    n_kept = min(int(store.n_seen[0]), n, len(store.labels))
    seen = int(store.n_seen[0]) - n_kept + np.arange(n_kept)
    rows, labels = np.zeros((n, store.rows.shape[1]), np.float32), np.zeros(n, np.int64)
    rows[seen % n], labels[seen % n] = store.rows[seen % len(store.labels)], store.labels[seen % len(store.labels)]
    return store._replace(rows=rows, labels=labels)


def _new_workspace(plan: ForestPlan, store: ForestStore, c: int) -> GrowthWorkspace:
    n, p = store.rows.shape
    return GrowthWorkspace(
        rows=np.zeros(n, np.int64),
        bounds=np.zeros((2, 2 * max_leaves(plan, c) - 1), np.int64),
        columns=np.arange(p),
        totals=np.zeros(c),
        first=np.zeros(c),
    )


def _tree_schema(trees: Trees, n_columns: int) -> Schema:
    """Return what each array of trees must be in a file."""
    t, k = trees.column.shape
    n_leaves, c = trees.counts.shape[1:]
    return {
        "column": ArraySpec((t, k), np.int32, LEAF, n_columns - 1),
        "threshold": ArraySpec((t, k), np.float32, -MAX_TREE_VALUE, np.inf),
        "child": ArraySpec((t, k), np.int32, 0, k - 1),
        "counts": ArraySpec((t, n_leaves, c), np.float32, 0.0, MOST_COUNTED),
        "n_nodes": whole_numbers((t,), k),
        "n_leaves": whole_numbers((t,), n_leaves),
        "n_grown": whole_numbers((1,)),
        "credit": ArraySpec((1,), low=-LARGEST_CREDIT, high=LARGEST_CREDIT),
    }


def _check_links(trees: Trees) -> None:
    """Raise CheckpointError if a node has a child before it or beyond the tree, or is a leaf without counts."""
    nodes = np.arange(trees.column.shape[1])
    exists = nodes < trees.n_nodes[:, None]
    is_leaf = trees.column == LEAF
    has_children = (trees.child > nodes) & (trees.child + 1 < trees.n_nodes[:, None])
    has_counts = trees.child < trees.n_leaves[:, None]
    n_used = min(int(trees.n_grown[0]), len(trees.n_nodes))
    if not np.all(np.where(is_leaf, has_counts, has_children)[exists]) or not np.all(trees.n_nodes[:n_used]):
        raise CheckpointError("its array 'child' links nodes of a tree in a way that `save` never wrote")
