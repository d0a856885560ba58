"""Growing trees, and two forests that learn row by row, in plain Python with the same random numbers as the kernels."""

import copy
from collections import deque

import numpy as np

from driftline.kernels import forest as forest_kernels
from driftline.kernels import trees as tree_kernels
from helpers.reference_kernels import xorshift


class ReferenceRandom:
    """The generator of random numbers, with Python's integers."""

    def __init__(self, state):
        self.state = int(state)

    def uniform(self):
        u, self.state = xorshift(self.state)
        return u

    def below(self, n):
        return min(int(self.uniform() * n), n - 1)


class ReferenceTree:
    """One tree, grown from rows in a given order; `nodes` are [column, threshold, child], a leaf [-1, None, number]."""

    def __init__(self, values, labels, rows, c, n_tried, max_nodes, random):
        self.values, self.labels, self.c, self.random = values, labels, c, random
        self.n_tried, self.columns = n_tried, list(range(values.shape[1]))
        self.nodes, self.counts, self.cost = [], [], 0
        waiting = deque([list(rows)])
        while waiting:
            rows = waiting.popleft()
            self.cost += 2 * len(rows)
            n_nodes = len(self.nodes) + 1 + len(waiting)  # those before, this one, and those that are still to be split
            split = None
            if n_nodes + 2 <= max_nodes and len(set(labels[rows].tolist())) > 1:
                split = self.best_split(rows)
            if split is None:
                self.nodes.append([-1, None, len(self.counts)])
                self.counts.append(np.bincount(labels[rows], minlength=c).astype(float))
            else:
                self.nodes.append([*split, n_nodes])
                waiting.extend(self.divided(rows, *split))
        del self.values, self.labels, self.random

    def best_split(self, rows):
        """Return the column and threshold of the best random split; None if there is none. Samples rows in place."""
        n = min(len(rows), 256)
        for i in range(n if n < len(rows) else 0):
            k = i + self.random.below(len(rows) - i)
            rows[i], rows[k] = rows[k], rows[i]
        compared, untried, found = np.array(rows[:n]), len(self.columns), []
        self.cost += n
        while untried and len(found) < self.n_tried:
            k = self.random.below(untried)
            column = self.columns[k]
            untried -= 1
            self.columns[k], self.columns[untried] = self.columns[untried], column
            self.cost += 4
            threshold = self.drawn_threshold(self.values[compared, column])
            if threshold is not None:
                self.cost += n + self.c
                found.append((self.purity(compared, column, threshold), column, threshold))
        best = max(found, key=lambda each: each[0], default=None)  # the first of equal ones
        return best[1:] if best and best[0] >= 0 else None

    def drawn_threshold(self, values):
        one = values[self.random.below(len(values))]
        for _ in range(4):
            other = values[self.random.below(len(values))]
            if np.isnan([one, other]).sum() == 1:
                return np.float32(np.inf)
            if one != other and not np.isnan(one):
                low, high = sorted([one, other])
                threshold = low + np.float32(self.random.uniform()) * (high - low)
                return threshold if threshold < high else low
        return None

    def purity(self, rows, column, threshold):
        goes_first = self.values[rows, column] <= threshold
        if goes_first.all() or not goes_first.any():
            return -1.0
        children = [np.bincount(self.labels[rows[side]], minlength=self.c) for side in (goes_first, ~goes_first)]
        first, second = (float((n**2).sum()) / float(n.sum()) for n in children)
        return first + second

    def divided(self, rows, column, threshold):
        """Return the rows of both children, in the order in which swapping from both ends leaves them."""
        i, j = 0, len(rows) - 1
        while i <= j:
            if self.values[rows[i], column] <= threshold:
                i += 1
            else:
                rows[i], rows[j] = rows[j], rows[i]
                j -= 1
        return rows[:i], rows[i:]

    def leaf(self, row):
        column, threshold, child = self.nodes[0]
        while column >= 0:
            column, threshold, child = self.nodes[child + (not row[column] <= threshold)]
        return child


class ReferenceForests:
    """A recent and a long forest, and the rows that they are grown from."""

    def __init__(self, n_stored, c, n_tried, n_trees, max_nodes, random_state):
        self.n_stored, self.c, self.n_tried = n_stored, c, n_tried
        self.n_trees, self.max_nodes = n_trees, max_nodes
        self.random = ReferenceRandom(random_state)
        self.rows, self.labels = [], []
        self.trees, self.n_grown, self.credit = ([], []), [0, 0], [0.0, 0.0]
        self.n_since_cut, self.lead, self.n_cuts = 0, 0.0, 0

    def shares(self, trees, row):
        """The mean share of each class in the leaf of a row, to which half a row of all classes is added."""
        if not trees:
            return np.full(self.c, 1 / self.c)
        counts = [tree.counts[tree.leaf(row)] + 0.5 / self.c for tree in trees]
        return np.mean([each / each.sum() for each in counts], axis=0)

    def features(self, row):
        both = np.array([self.shares(trees, row) for trees in self.trees])
        return np.concatenate([[0.5], (both - 1 / self.c).T.ravel()])

    def learn(self, row, label, pace):
        recent, long = (self.shares(trees, row)[label] for trees in self.trees)
        for trees in self.trees:
            for tree in trees:
                tree.counts[tree.leaf(row)][label] += 1
        self.rows, self.labels = [*self.rows, row][-self.n_stored :], [*self.labels, label][-self.n_stored :]
        self.n_since_cut += 1
        lead = self.lead + recent - long
        self.lead = max(lead, 0.0)
        if lead > 10 and self.n_since_cut > 200:
            self.n_since_cut, self.lead, self.n_cuts = 200, 0.0, self.n_cuts + 1
            self.trees = self.trees[0], [copy.deepcopy(tree) for tree in self.trees[0]]
            self.n_grown[1] = min(self.n_grown[0], self.n_trees[0])
        self.grow_if_due(0, 200, 3000.0 * pace)
        self.grow_if_due(1, self.n_since_cut, 10_000.0 * pace)

    def grow_if_due(self, k, n, credit):
        self.credit[k] = min(self.credit[k] + credit, 16 * credit)
        n = min(n, len(self.rows))
        if n < 10 or self.credit[k] <= 0:
            return
        newest_first = np.arange(len(self.rows))[::-1][:n]
        values, labels = np.array(self.rows, np.float32), np.array(self.labels)
        tree = ReferenceTree(values, labels, newest_first, self.c, self.n_tried, self.max_nodes[k], self.random)
        place = self.n_grown[k] % self.n_trees[k]
        if place < len(self.trees[k]):
            self.trees[k][place] = tree
        else:
            self.trees[k].append(tree)
        self.credit[k] -= tree.cost
        self.n_grown[k] += 1


def assert_same_tree(tree, trees, t):
    """Assert that tree t of the kernels has the same nodes and counts, bit for bit."""
    assert trees.n_nodes[t] == len(tree.nodes)
    assert trees.n_leaves[t] == len(tree.counts)
    for k, (column, threshold, child) in enumerate(tree.nodes):
        assert (trees.column[t, k], trees.child[t, k]) == (column, child)
        assert threshold is None or trees.threshold[t, k] == threshold
    assert np.array_equal(trees.counts[t, : len(tree.counts)], tree.counts)


def new_growth_workspace(n, p, c, max_nodes):
    """Return the memory that `grow_tree` needs, with the n rows in order."""
    return tree_kernels.GrowthWorkspace(
        rows=np.arange(n),
        bounds=np.zeros((2, max_nodes), np.int64),
        columns=np.zeros(p, np.int64),
        totals=np.zeros(c),
        first=np.zeros(c),
    )


def new_store(n, p, random_state):
    """Return a store without rows."""
    return forest_kernels.ForestStore(
        rows=np.zeros((n, p), np.float32),
        labels=np.zeros(n, np.int64),
        n_seen=np.zeros(1, np.int64),
        random_state=np.array([random_state], np.uint64),
        n_since_cut=np.zeros(1, np.int64),
        recent_lead=np.zeros(1),
        n_cuts=np.zeros(1, np.int64),
    )
