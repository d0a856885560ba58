"""Two forests that learn row by row: they equal their twins, and their features come before the label."""

from typing import NamedTuple

import numpy as np
import pytest

from driftline.kernels import forest as kernels
from driftline.kernels.trees import Trees, new_trees
from helpers.reference_trees import ReferenceForests, assert_same_tree, new_growth_workspace, new_store

N_STORED, N_TREES, N_LEAVES = 300, (4, 5), (200, 250)
RANDOM_STATE = 88172645463325252


class Forests(NamedTuple):
    store: kernels.ForestStore
    recent: Trees
    long: Trees


def new_forests(p, c):
    recent, long = (new_trees(t, 2 * n - 1, n, c) for t, n in zip(N_TREES, N_LEAVES, strict=True))
    return Forests(new_store(N_STORED, p, RANDOM_STATE), recent, long)


def learn(forests, values, labels, *, n_tried=3, pace=0.3):
    p, c = values.shape[1], forests.recent.counts.shape[2]
    Psi = np.full((len(values), 1 + 2 * c), np.nan, np.float32)
    work = new_growth_workspace(N_STORED, p, c, 2 * max(N_LEAVES) - 1)
    kernels.forest_features_then_learn(values, labels, *forests, n_tried, pace, work, Psi, np.empty((2, c)))
    return Psi


def changing_rows(seed, n, p, c, *, missing=0.05):
    """Rows whose labels follow a rule on the first column, which is turned round in the middle."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, p)).astype(np.float32)
    labels = np.digitize(values[:, 0], np.linspace(-1, 1, c + 1)[1:-1])
    labels = np.where(np.arange(n) < n // 2, labels, c - 1 - labels)
    noisy = rng.random(n) < 0.05
    labels[noisy] = rng.integers(0, c, noisy.sum())
    values[rng.random(values.shape) < missing] = np.nan
    return values, labels


@pytest.mark.parametrize(("c", "p"), [(2, 3), (4, 2), (1, 2)])
def test_two_forests_equal_their_twins(c, p):
    values, labels = changing_rows(0, 800, p, c)
    forests = new_forests(p, c)
    max_nodes = tuple(2 * n - 1 for n in N_LEAVES)
    twin = ReferenceForests(N_STORED, c, 3, N_TREES, max_nodes, RANDOM_STATE)
    for t in range(len(values)):
        expected = twin.features(values[t])
        assert np.allclose(learn(forests, values[t : t + 1], labels[t : t + 1])[0], expected, rtol=0, atol=1e-6), t
        twin.learn(values[t], labels[t], 0.3)
        store = forests.store
        assert (store.n_since_cut[0], store.n_cuts[0]) == (twin.n_since_cut, twin.n_cuts), t
        assert store.recent_lead[0] == pytest.approx(twin.lead, abs=1e-9)
        for k, trees in enumerate((forests.recent, forests.long)):
            assert (trees.n_grown[0], trees.credit[0]) == (twin.n_grown[k], twin.credit[k]), t
        if t % 50 == 49 or t == len(values) - 1:
            for k, trees in enumerate((forests.recent, forests.long)):
                for place, tree in enumerate(twin.trees[k]):
                    assert_same_tree(tree, trees, place)
    assert int(forests.store.random_state[0]) == twin.random.state
    assert (twin.n_cuts > 0) == (c > 1)
    assert min(twin.n_grown) > max(N_TREES)


def test_features_are_those_of_a_row_that_is_asked_about():
    values, labels = changing_rows(1, 300, 3, 3)
    forests = new_forests(3, 3)
    learn(forests, values[:250], labels[:250])
    asked = np.empty((50, 7), np.float32)
    kernels.forest_features(values[250:].astype(float), np.zeros(3), forests.recent, forests.long, asked)
    assert np.array_equal(learn(forests, values[250:251], labels[250:251]), asked[:1])
    assert np.all(asked[:, 0] == 0.5)
    for first in (1, 2):  # the shares of each forest sum to 1
        assert np.allclose(asked[:, first::2].sum(axis=1), 0, atol=1e-6)
    assert np.all(asked[:, 1:] >= -1 / 3)
    assert np.abs(asked[:, 1:]).max() > 0.2


def test_without_trees_all_classes_have_equal_shares():
    forests = new_forests(2, 4)
    values, labels = changing_rows(2, 10, 2, 4)
    Psi = learn(forests, values, labels)
    assert np.all(Psi[:, 1:] == 0)
    assert forests.recent.n_grown[0] == forests.long.n_grown[0] == 1  # from the tenth row on


@pytest.mark.parametrize("t", [5, 10, 60, 333, 499])
def test_features_depend_neither_on_the_own_label_nor_on_later_rows(t):
    values, labels = changing_rows(3, 500, 3, 3)
    features = learn(new_forests(3, 3), values, labels)
    other_values, other_labels = values.copy(), labels.copy()
    other_labels[t:] = (labels[t:] + 1) % 3
    other_values[t + 1 :] = -3 * other_values[t + 1 :]
    others = learn(new_forests(3, 3), other_values, other_labels)
    assert np.array_equal(features[: t + 1], others[: t + 1])
    assert t == 499 or not np.array_equal(features[t + 1 :], others[t + 1 :])


def test_rows_learned_one_by_one_and_in_blocks_give_the_same_forests():
    values, labels = changing_rows(4, 600, 3, 2)
    one, other = new_forests(3, 2), new_forests(3, 2)
    features = learn(one, values, labels)
    parts = np.split(np.arange(600), [1, 2, 9, 10, 11, 200, 201, 480])
    again = np.concatenate([learn(other, values[part], labels[part]) for part in parts])
    assert np.array_equal(features, again)
    for record, twin in zip(one, other, strict=True):
        for name, array in record._asdict().items():
            assert np.array_equal(array, getattr(twin, name), equal_nan=array.dtype.kind == "f"), name


def test_the_memory_is_not_cut_while_it_is_as_short_as_the_recent_one():
    forests = new_forests(1, 2)
    shares, n_recent = np.array([[1.0, 0.0], [0.0, 1.0]]), kernels.RECENT_ROWS
    for t in range(1, n_recent + 1):
        kernels.cut_if_led(forests.store, forests.recent, forests.long, shares, 0)
        assert (forests.store.n_since_cut[0], forests.store.n_cuts[0]) == (t, 0)
    assert forests.store.recent_lead[0] == n_recent
    kernels.cut_if_led(forests.store, forests.recent, forests.long, shares, 0)
    assert (forests.store.n_since_cut[0], forests.store.n_cuts[0]) == (n_recent, 1)
    assert forests.store.recent_lead[0] == 0


def test_the_long_forest_is_cut_at_a_lead_of_more_than_ten_mistakes():
    forests = new_forests(1, 2)
    forests.store.n_since_cut[0] = 250
    behind, ahead = np.array([[0.25, 0.75], [0.75, 0.25]]), np.array([[0.75, 0.25], [0.25, 0.75]])
    for shares, expected in [(ahead, 0.5), (behind, 0.0), (behind, 0.0), *((ahead, k / 2) for k in range(1, 21))]:
        kernels.cut_if_led(forests.store, forests.recent, forests.long, shares, 0)
        assert forests.store.recent_lead[0] == expected
    assert forests.store.n_cuts[0] == 0
    kernels.cut_if_led(forests.store, forests.recent, forests.long, ahead, 0)
    assert forests.store.n_cuts[0] == 1


def test_a_smaller_pace_grows_fewer_trees():
    values, labels = (each[:400] for each in changing_rows(5, 800, 3, 2))
    n_grown = []
    for pace in (0.05, 0.2, 0.8):
        forests = new_forests(3, 2)
        learn(forests, values, labels, pace=pace)
        n_grown.append((forests.recent.n_grown[0], forests.long.n_grown[0]))
    assert n_grown == sorted(n_grown)
    assert n_grown[0][0] * 4 < n_grown[2][0]
    assert n_grown[0][1] * 4 < n_grown[2][1]


def test_copies_are_equal_and_independent():
    values, labels = changing_rows(6, 400, 3, 2)
    forests = new_forests(3, 2)
    learn(forests, values[:300], labels[:300])
    copied = Forests(*(record.copy() for record in forests))
    assert np.array_equal(learn(forests, values[300:], labels[300:]), learn(copied, values[300:], labels[300:]))
    assert forests.recent.n_grown[0] == copied.recent.n_grown[0]
