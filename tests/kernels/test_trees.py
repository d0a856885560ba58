"""Growing one tree: it equals its twin in plain Python, and has the properties that its users rely on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.kernels.trees import LEAF, MAX_COMPARED_ROWS, grow_tree, leaf_of, new_trees
from helpers.reference_trees import ReferenceRandom, ReferenceTree, assert_same_tree, new_growth_workspace
from helpers.strategies import seeds

RANDOM_STATE = 88172645463325252


def grown(values, labels, c, *, n_tried=4, max_leaves=None, random_state=RANDOM_STATE):
    """Grow the second of three trees from all rows; return the trees, the cost and the state of the generator."""
    n, p = values.shape
    max_leaves = n if max_leaves is None else max_leaves
    trees = new_trees(3, 2 * max_leaves - 1, max_leaves, c)
    trees.counts[:] = 7.0  # of an older tree
    work, random = new_growth_workspace(n, p, c, 2 * max_leaves - 1), np.array([random_state], np.uint64)
    cost = grow_tree(values, labels, n, n_tried, trees, 1, work, random)
    return trees, cost, int(random[0])


def assert_equals_twin(values, labels, c, *, n_tried=4, max_leaves=None, random_state=RANDOM_STATE):
    trees, cost, state = grown(values, labels, c, n_tried=n_tried, max_leaves=max_leaves, random_state=random_state)
    random, max_nodes = ReferenceRandom(random_state), trees.column.shape[1]
    tree = ReferenceTree(values, labels, range(len(values)), c, n_tried, max_nodes, random)
    assert_same_tree(tree, trees, 1)
    assert cost == tree.cost
    assert state == random.state
    return tree


def random_rows(seed, n, p, c, kind="plain"):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, p)).astype(np.float32)
    noisy = values[:, -1] + 0.5 * rng.normal(size=n)
    if kind == "ties":
        values = np.round(values)
    elif kind == "constant":
        values[:, ::2] = 3.0
    elif kind == "missing":
        values[rng.random(values.shape) < 0.3] = np.nan
    elif kind == "adjacent":  # no number lies between two of them
        values = 1 + np.clip(np.round(values), -2, 2) * np.finfo(np.float32).eps
    elif kind == "extreme":
        values *= np.float32(10.0) ** rng.integers(-30, 30, (n, p)).astype(np.float32)
    return values, np.digitize(noisy, np.linspace(-1, 1, c + 1)[1:-1]).astype(np.int64)


KINDS = ["plain", "ties", "constant", "missing", "extreme", "adjacent"]


@pytest.mark.parametrize("c", [2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_equals_its_twin(kind, c):
    for seed, (n, p, n_tried) in enumerate([(60, 4, 4), (60, 4, 1), (150, 7, 3), (40, 1, 1)]):
        values, labels = random_rows(seed, n, p, c, kind)
        tree = assert_equals_twin(values, labels, c, n_tried=n_tried, random_state=RANDOM_STATE + seed)
        assert len(tree.nodes) > 1 or (kind == "constant" and p == 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_of_more_rows_than_are_compared_equals_its_twin(kind):
    values, labels = random_rows(1, 2 * MAX_COMPARED_ROWS + 77, 5, 3, kind)
    assert len(assert_equals_twin(values, labels, 3).nodes) > 50


@pytest.mark.parametrize("max_leaves", [1, 2, 3, 11])
def test_a_tree_without_room_for_more_nodes_equals_its_twin(max_leaves):
    values, labels = random_rows(2, 120, 4, 3)
    tree = assert_equals_twin(values, labels, 3, max_leaves=max_leaves)
    assert len(tree.nodes) == 2 * max_leaves - 1


@settings(max_examples=60)
@given(seeds, st.integers(1, 50), st.integers(1, 5), st.integers(1, 4), st.sampled_from(KINDS), st.integers(1, 6))
def test_random_trees_equal_their_twins(seed, n, p, c, kind, n_tried):
    values, labels = random_rows(seed, n, p, c, kind)
    assert_equals_twin(values, labels, c, n_tried=n_tried, random_state=seed + 1)


def test_other_trees_stay_as_they_are():
    values, labels = random_rows(3, 50, 3, 2)
    trees, *_ = grown(values, labels, 2)
    blank = new_trees(3, *trees.column.shape[1:], *trees.counts.shape[1:])
    for name in ("column", "threshold", "child", "n_nodes", "n_leaves"):
        assert np.array_equal(getattr(trees, name)[[0, 2]], getattr(blank, name)[[0, 2]]), name
    assert np.all(trees.counts[[0, 2]] == 7.0)


def leaves_of(trees, values):
    return np.array([leaf_of(trees, 1, values, row) for row in range(len(values))])


@settings(max_examples=60)
@given(seeds, st.integers(1, 400), st.integers(1, 4), st.integers(1, 4), st.sampled_from(KINDS), st.integers(1, 60))
def test_every_leaf_counts_the_labels_of_the_rows_that_reach_it(seed, n, p, c, kind, max_leaves):
    values, labels = random_rows(seed, n, p, c, kind)
    trees, *_ = grown(values, labels, c, max_leaves=max_leaves, random_state=seed + 1)
    leaves, n_leaves = leaves_of(trees, values), trees.n_leaves[1]
    assert 1 <= n_leaves <= max_leaves
    counts = np.zeros((n_leaves, c))
    np.add.at(counts, (leaves, labels), 1.0)
    assert np.array_equal(trees.counts[1, :n_leaves], counts)
    assert counts.sum() == n
    assert np.all(counts.sum(axis=1) > 0)


@settings(max_examples=60)
@given(seeds, st.integers(1, 120), st.integers(1, 4), st.integers(1, 4), st.sampled_from(KINDS))
def test_nodes_form_a_tree_whose_children_come_later(seed, n, p, c, kind):
    trees, *_ = grown(*random_rows(seed, n, p, c, kind), c, random_state=seed + 1)
    k = trees.n_nodes[1]
    column, child = trees.column[1, :k], trees.child[1, :k]
    inner, is_leaf = np.flatnonzero(column != LEAF), column == LEAF
    assert np.all(child[inner] > inner)
    assert sorted([0, *child[inner], *(child[inner] + 1)]) == list(range(k))
    assert np.array_equal(child[is_leaf], np.arange(trees.n_leaves[1]))
    assert k == 2 * trees.n_leaves[1] - 1


@settings(max_examples=60)
@given(seeds, st.integers(1, 300), st.integers(1, 4), st.integers(2, 4))
def test_leaves_of_more_than_a_few_rows_are_pure_if_there_is_room_and_no_two_values_are_equal(seed, n, p, c):
    """Every node of two rows or more could be divided; of a few rows, all draws may be of the same one."""
    rng = np.random.default_rng(seed)
    values = np.array([rng.permutation(n) for _ in range(p)], np.float32).T.copy()
    trees, *_ = grown(values, rng.integers(0, c, n), c, n_tried=p, random_state=seed + 1)
    counts = trees.counts[1, : trees.n_leaves[1]]
    mixed = counts[(counts > 0).sum(axis=1) > 1]
    assert np.count_nonzero(mixed.sum(axis=1) >= 6) <= 1


@settings(max_examples=40)
@given(seeds, st.integers(2, 40), st.integers(1, 3))
def test_rows_with_equal_values_stay_together(seed, n, p):
    values = np.round(random_rows(seed, n, p, 2, "ties")[0])
    labels = np.random.default_rng(seed).integers(0, 2, n)
    trees, *_ = grown(values, labels, 2, random_state=seed + 1)
    leaves = leaves_of(trees, values)
    for i in range(n):
        assert np.all(leaves[np.all(values == values[i], axis=1)] == leaves[i])


@settings(max_examples=60)
@given(seeds, st.integers(2, 80), st.integers(1, 4), st.lists(st.integers(-20, 20), min_size=4, max_size=4))
def test_columns_in_other_units_give_the_same_tree(seed, n, p, powers):
    values, labels = random_rows(seed, n, p, 3, "missing")
    factors = np.float32(2.0) ** np.array(powers[:p], np.float32)
    (one, *_), (other, *_) = (grown(each, labels, 3, random_state=seed + 1) for each in (values, values * factors))
    for name in ("column", "child", "counts", "n_nodes", "n_leaves"):
        assert np.array_equal(getattr(one, name)[1], getattr(other, name)[1]), name
    inner = np.flatnonzero(one.column[1, : one.n_nodes[1]] != LEAF)
    scaled = one.threshold[1, inner] * factors[one.column[1, inner]]
    assert np.array_equal(other.threshold[1, inner], scaled)


@settings(max_examples=60)
@given(seeds, st.integers(2, 80), st.integers(1, 4), st.lists(st.integers(0, 6), min_size=4, max_size=4))
def test_columns_shifted_by_whole_numbers_give_the_same_tree(seed, n, p, powers):
    values, labels = random_rows(seed, n, p, 3, "ties")
    shifted = values + np.float32(2.0) ** np.array(powers[:p], np.float32)
    (one, *_), (other, *_) = (grown(each, labels, 3, random_state=seed + 1) for each in (values, shifted))
    for name in ("column", "child", "counts", "n_nodes", "n_leaves"):
        assert np.array_equal(getattr(one, name)[1], getattr(other, name)[1]), name


def test_missing_values_are_divided_from_the_others():
    values = np.where(np.arange(40) % 3 == 0, np.nan, 5.0).astype(np.float32)[:, None]
    labels = np.isnan(values[:, 0]).astype(np.int64)
    trees, *_ = grown(values, labels, 2)
    assert trees.threshold[1, 0] == np.inf
    assert np.array_equal(trees.counts[1, :2], [[np.sum(labels == 0), 0], [0, np.sum(labels)]])
    unseen = np.array([[-1e30], [1e30], [np.nan]], np.float32)
    assert leaves_of(trees, unseen).tolist() == [0, 0, 1]
