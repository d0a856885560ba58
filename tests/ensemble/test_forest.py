"""The forests of a tree space: they learn as a stream goes on, whatever joins it, and are saved."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import AMRC, CheckpointError
from driftline.core import checkpoint
from driftline.ensemble.forest import Forest, max_leaves, n_stored_rows
from driftline.ensemble.plan import ForestPlan
from driftline.kernels.forest import n_tried_columns
from driftline.kernels.trees import LEAF
from helpers.model_files import read_model_file, write_model_file
from helpers.saved_parts import check_saved
from helpers.spaces import learn_in_forest
from helpers.strategies import seeds


def stream(seed=0, n=400, p=3, c=2):
    """Rows whose class follows from the first column alone, some of whose values are missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.digitize(X[:, 0], np.linspace(-1, 1, c + 1)[1:-1])
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, y


def new_forest(p=3, c=2, seed=0):
    forest = Forest(ForestPlan(), p, [seed])
    forest.add_classes(c)
    return forest


def learn(forest, X, y, *, pace=1.0):
    return learn_in_forest(forest, X, y, pace)


def assert_same_state(one, other):
    first, second = one.state(), other.state()
    assert first.keys() == second.keys()
    for name, array in first.items():
        assert np.array_equal(array, second[name], equal_nan=array.dtype.kind == "f"), name


def restored(forest, p, c):
    again = new_forest(p, c, seed=99)
    state = {name: array.copy() for name, array in forest.state().items()}
    check_saved(state, again, checkpoint.VERSION)
    again.restore(state)
    return again


def shares_right(forest, X, y, *, c=2, first=1):
    """Return the fraction of rows whose class has the largest share: in the recent forest, or (2) in the long one."""
    shares = forest.features(X)[:, first : 1 + 2 * c : 2]
    return float(np.mean(np.argmax(shares, axis=1) == y))


@settings(max_examples=10)
@given(seeds, st.lists(st.integers(1, 299), max_size=8), st.integers(1, 4))
def test_rows_learned_one_by_one_and_in_blocks_give_the_same_forest(seed, cuts, c):
    X, y = stream(seed, 300, 3, c)
    X[: seed % 50, 1] = np.nan  # the first value of a column comes late
    whole, in_parts, singly = (new_forest(3, c) for _ in range(3))
    features = learn(whole, X, y)
    for forest, starts in ((in_parts, sorted(set(cuts))), (singly, range(1, 300))):
        parts = np.split(np.arange(300), list(starts))
        assert np.array_equal(features, np.concatenate([learn(forest, X[part], y[part]) for part in parts]))
        assert_same_state(whole, forest)


@pytest.mark.parametrize("n", [1, 9, 10, 11, 130, 390])
def test_a_restored_forest_goes_on_as_if_it_had_never_stopped(n):
    X, y = stream()
    forest = new_forest()
    learn(forest, X[:n], y[:n])
    again = restored(forest, 3, 2)
    assert_same_state(forest, again)
    assert np.array_equal(again.features(X), forest.features(X))
    assert np.array_equal(learn(again, X[n:], y[n:]), learn(forest, X[n:], y[n:]))
    assert_same_state(forest, again)


def test_features_are_those_before_the_row_is_learned_and_asking_changes_nothing():
    X, y = stream()
    forest, asked = new_forest(), new_forest()
    features = learn(forest, X, y)
    for t in range(len(X)):
        assert np.array_equal(asked.features(X[t : t + 1])[0], features[t])
        learn(asked, X[t : t + 1], y[t : t + 1])
    assert_same_state(forest, asked)


def test_both_forests_learn_a_rule_on_one_column():
    X, y = stream(n=700)
    forest = new_forest()
    learn(forest, X[:500], y[:500])
    has_value = ~np.isnan(X[500:, 0])
    for first in (1, 2):
        assert shares_right(forest, X[500:][has_value], y[500:][has_value], first=first) > 0.95


def test_the_memory_of_the_long_forest_is_cut_when_the_rule_changes():
    X, y = stream(n=2000)
    forest = new_forest()
    learn(forest, X[:1000], y[:1000])
    assert forest.n_cuts == 0
    learn(forest, X[1000:], 1 - y[1000:])
    assert forest.n_cuts > 0
    assert shares_right(forest, X[1800:], 1 - y[1800:], first=2) > 0.9


@pytest.mark.parametrize(("c", "n_added", "is_dropped"), [(1, 1, False), (2, 3, False), (16, 1, True), (3, 70, True)])
def test_classes_join_in_mid_stream(c, n_added, is_dropped):
    X, y = stream(c=c)
    forest = new_forest(c=c)
    learn(forest, X[:200], y[:200])
    before, n_grown = forest.features(X[200:]), int(forest._recent.n_grown[0])
    forest.add_classes(n_added)
    total = c + n_added
    after = forest.features(X[200:])
    assert forest.n_features == after.shape[1] == 1 + 2 * total
    assert forest._recent.n_grown[0] == (0 if is_dropped else n_grown)
    assert np.all(after[:, 1:] == 0) == is_dropped
    if not is_dropped:  # of each leaf, less than half a row goes to the new classes
        difference = (after[:, 1 : 1 + 2 * c] + 1 / total) - (before[:, 1:] + 1 / c)
        assert np.all(np.abs(difference) < 0.34)
        assert np.all(after[:, 1 + 2 * c :] + 1 / total < 0.34)
    again = restored(forest, 3, total)
    y = np.where(X[:, 1] > 1.0, total - 1, y)
    assert np.array_equal(learn(forest, X[200:], y[200:]), learn(again, X[200:], y[200:]))
    assert_same_state(forest, again)
    is_new = y[300:] == total - 1
    assert shares_right(forest, X[300:][is_new], y[300:][is_new], c=total) > 0.8


def test_classes_that_join_one_by_one_give_the_arrays_of_classes_that_join_at_once():
    at_once, singly = new_forest(c=70), new_forest(c=0)
    for _ in range(70):
        singly.add_classes(1)
    assert_same_state(at_once, singly)


@pytest.mark.parametrize("c", [0, 1, 16, 17, 64, 65, 300, 5000, 70_000])
def test_memory_for_leaves_is_limited_for_any_number_of_classes(c):
    assert max_leaves(ForestPlan(), c) * c <= max(65_536, c)
    assert 1 <= max_leaves(ForestPlan(), c) <= 4096
    assert max_leaves(ForestPlan(), c) * 4 * (c + 1) > 65_536 or max_leaves(ForestPlan(), c) == 4096 or c > 16_000


def test_columns_join_in_mid_stream():
    X, y = stream(n=900, p=4)
    forest = new_forest(p=3)
    learn(forest, X[:300, :3], y[:300])
    before = forest.features(X[300:, :3])
    forest.add_columns(1)
    assert np.array_equal(forest.features(X[300:]), before)  # no tree knows the new column
    again = restored(forest, 4, 2)
    y = np.where(X[:, 3] > 0, y, 1 - y)  # from now on the class depends on both
    assert np.array_equal(learn(forest, X[300:], y[300:]), learn(again, X[300:], y[300:]))
    assert_same_state(forest, again)
    assert np.isnan(forest._store.rows[:300, 3]).all()
    assert np.isin(forest._recent.column, 3).any()
    assert shares_right(forest, X[600:], y[600:]) > 0.85


def test_a_store_with_more_columns_keeps_the_last_rows_in_order():
    n, p = 43_000, 25
    X, y = stream(n=n, p=p)
    forest = new_forest(p=p)
    learn(forest, X, y, pace=1e-6)
    assert len(forest._store.labels) == n_stored_rows(ForestPlan(), p) == 40_000
    forest.add_columns(8)
    kept = n_stored_rows(ForestPlan(), p + 8)
    assert kept < 40_000
    places = np.arange(n - kept, n) % kept
    assert np.array_equal(forest._store.labels[places], y[n - kept :])
    shifted = X[n - kept :] - forest._origin[:p]
    expected = np.pad(shifted.astype(np.float32), ((0, 0), (0, 8)), constant_values=np.nan)
    assert np.array_equal(forest._store.rows[places], expected, equal_nan=True)


@pytest.mark.parametrize("p", [1, 300])
def test_one_column_and_many_columns(p):
    X, y = stream(n=500, p=p)
    forest = new_forest(p=p)
    learn(forest, X, y, pace=10.0 if p > 1 else 1.0)
    assert n_tried_columns(p) == {1: 1, 300: 34}[p]
    assert shares_right(forest, X[400:], y[400:], first=2) > (0.95 if p == 1 else 0.8)


def test_columns_with_a_huge_offset_are_split():
    X, y = stream(n=600)
    shifted = X + np.array([1e9, -1e12, 1e30])  # single precision has steps of 64 at 1e9
    forest = new_forest()
    learn(forest, shifted[:500], y[:500])
    assert shares_right(forest, shifted[500:], y[500:]) > 0.9


def test_columns_without_values_are_never_split():
    X, y = stream(n=300)
    X[:, 1] = np.nan
    forest = new_forest()
    learn(forest, X, y)
    assert not np.isin(forest._recent.column, 1).any()
    assert np.isnan(forest._origin).tolist() == [False, True, False]
    learn(forest, np.full((20, 3), np.nan), y[:20])
    assert np.isfinite(forest.features(np.full((2, 3), np.nan))).all()
    nothing = new_forest()
    learn(nothing, np.full((50, 3), np.nan), y[:50])
    assert np.all(nothing._recent.column[:, 0] == LEAF)


def test_extreme_values_are_learned_and_saved():
    rng = np.random.default_rng(0)
    X = np.clip(rng.normal(size=(300, 3)) * 10.0 ** rng.integers(-30, 31, (300, 3)), -1e30, 1e30)
    forest = new_forest()
    learn(forest, X, (X[:, 0] > 0).astype(int))
    assert_same_state(forest, restored(forest, 3, 2))
    assert np.isfinite(forest.features(-X)).all()


def test_learning_does_not_change_a_snapshot():
    X, y = stream(n=700)
    forest = new_forest()
    learn(forest, X[:300], y[:300])
    snapshot, before = forest.snapshot(), forest.features(X)
    learn(forest, X[300:], 1 - y[300:])
    forest.add_classes(1)
    assert np.array_equal(snapshot.features(X), before)
    assert not np.array_equal(forest.features(X)[:, :5], before)


# Files that somebody altered ------------------------------------------------------------------------------

FOREST = "space4/forest"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Header and arrays of the file of a model with trees."""
    path = tmp_path_factory.mktemp("models") / "model"
    AMRC(n_components=3).partial_fit(*stream(n=150)).save(path)
    return read_model_file(path)


def set_entries(name, *entries):
    """Return a change that sets entries of an array of the forest, given as pairs of place and value."""

    def change(arrays):
        array = arrays[f"{FOREST}/{name}"] = arrays[f"{FOREST}/{name}"].copy()
        for place, value in entries:
            array[place] = value

    return change


def let_second_child_lie_beyond_the_tree(arrays):
    last = arrays[f"{FOREST}/recent/n_nodes"][0] - 1
    set_entries("recent/child", ((0, 0), last))(arrays)


HOSTILE = {
    "second child beyond the tree": (let_second_child_lie_beyond_the_tree, "'child' links nodes"),
    "child before its node": (set_entries("recent/child", ((0, 0), 0)), "'child' links nodes"),
    "child beyond the tree": (set_entries("recent/child", ((0, 0), 397)), "'child' links nodes"),
    "child beyond the array": (set_entries("long/child", ((3, 0), 8191)), "has 8191 at .3, 0.; expected"),
    "child far away": (set_entries("long/child", ((3, 0), 2**31 - 1)), "expected numbers from 0 to 8190"),
    "negative child": (set_entries("recent/child", ((0, 0), -5)), "has -5 at .0, 0.; expected numbers from 0"),
    "leaf beyond the leaves": (
        lambda arrays: (
            set_entries("recent/column", ((2, 0), LEAF))(arrays),
            set_entries("recent/child", ((2, 0), 199))(arrays),
        ),
        "'child' links nodes",
    ),
    "more leaves than there are": (set_entries("recent/n_leaves", (0, 201)), "expected numbers from 0 to 200"),
    "fewer leaves": (set_entries("recent/n_leaves", (0, 0)), "'child' links nodes"),
    "more nodes than there are": (set_entries("long/n_nodes", (0, 8192)), "expected numbers from 0 to 8191"),
    "more nodes": (set_entries("recent/n_nodes", (0, 399)), "'child' links nodes"),
    "fewer nodes": (set_entries("recent/n_nodes", (0, 1)), "'child' links nodes"),
    "no nodes": (set_entries("recent/n_nodes", (0, 0)), "'child' links nodes"),
    "column out of range": (set_entries("recent/column", ((0, 0), 3)), "expected numbers from -1 to 2"),
    "negative column": (set_entries("recent/column", ((0, 0), -2)), "expected numbers from -1 to 2"),
    "threshold that is no number": (set_entries("recent/threshold", ((0, 0), np.nan)), "'.*threshold' has nan"),
    "negative count": (set_entries("recent/counts", ((0, 0, 0), -1.0)), "'.*counts' has -1"),
    "infinite count": (set_entries("recent/counts", ((0, 0, 0), np.inf)), "'.*counts' has inf"),
    "label of no class": (set_entries("store/labels", (0, 2)), "expected numbers from 0 to 1"),
    "infinite row": (set_entries("store/rows", ((0, 0), np.inf)), "'.*rows' has inf"),
    "infinite origin": (set_entries("origin", (0, np.inf)), "'.*origin' has inf"),
    "random state of zero": (set_entries("store/random_state", (0, 0)), "random_state"),
    "endless credit": (set_entries("recent/credit", (0, np.inf)), "'.*credit' has inf"),
    "a negative number of trees": (set_entries("recent/n_grown", (0, -1)), "'.*n_grown' has -1"),
    "trees that were not grown": (set_entries("recent/n_nodes", (slice(None), 0)), "'child' links nodes"),
}
HARMLESS = {
    "a root that is a leaf": set_entries("recent/column", ((2, 0), LEAF)),
    "more trees grown": set_entries("long/n_grown", (0, 2**40)),
    "more rows in memory than were seen": set_entries("store/n_since_cut", (0, 2**40)),
    "many rows": set_entries("store/n_seen", (0, 2**53)),
    "much credit": set_entries("recent/credit", (0, 1e12)),
    "much debt": set_entries("long/credit", (0, -1e12)),
    "a large lead": set_entries("store/recent_lead", (0, 1e15)),
    "many rows in a leaf": set_entries("recent/counts", (slice(None), 2.0**53)),
}


def altered(saved, path, change):
    header, arrays = saved[0], dict(saved[1])
    change(arrays)
    write_model_file(path, header, arrays)
    return path


@pytest.mark.parametrize("name", HOSTILE)
def test_an_altered_forest_is_refused(saved, tmp_path, name):
    change, message = HOSTILE[name]
    path = altered(saved, tmp_path / "model", change)
    with pytest.raises(CheckpointError, match=message):
        AMRC.load(path)


@pytest.mark.parametrize("name", HARMLESS)
def test_an_altered_forest_that_cannot_be_told_from_a_sound_one_does_no_harm(saved, tmp_path, name):
    X, y = stream(n=400)
    loaded = AMRC.load(altered(saved, tmp_path / "model", HARMLESS[name]))
    loaded.partial_fit(X[150:], y[150:])
    assert np.allclose(loaded.predict_proba(X).sum(axis=1), 1)
