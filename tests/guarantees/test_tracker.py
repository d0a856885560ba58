"""All guarantees together: grouping, saving and copying do not matter, and memory is small."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.core import checkpoint
from driftline.core.state import independent_copy
from driftline.errors import CheckpointError, ConfigError
from driftline.guarantees import Guarantees
from driftline.guarantees.tracker import GuaranteeTracker
from helpers.saved_parts import check_saved
from helpers.strategies import seeds

promises = st.builds(
    Guarantees,
    errors=st.sampled_from([0.1, (0.3, {0: 0.05, 2: 0.2})]),
    coverages=st.sampled_from([0.9, (0.5, 0.99)]),
    tolerated=st.sampled_from([None, 0.2]),
    rise=st.sampled_from([None, 0.05]),
    per_class=st.booleans(),
    allows_empty=st.booleans(),
)


def begun(guarantees, n_classes=3):
    tracker = GuaranteeTracker(guarantees)
    tracker.add_classes(n_classes)
    tracker.name_classes(np.arange(n_classes))
    return tracker


def stream(seed, n, c=3):
    rng = np.random.default_rng(seed)
    h = rng.dirichlet(np.full(c, 0.4), n)
    labels = np.where(
        rng.random(n) < np.where(np.arange(n) < n // 2, 0.1, 0.5), rng.integers(c, size=n), h.argmax(axis=1)
    )
    return h, h.argmax(axis=1), labels


def assert_equal_arrays(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f"), name


def copied(state):
    return {name: array.copy() for name, array in state.items()}


def restored(tracker, n_classes):
    """Return a new tracker that continues from the arrays of another, which a file may have."""
    saved, other = tracker.state(), begun(tracker.guarantees, n_classes)
    check_saved(saved, other, checkpoint.VERSION)
    other.restore(saved)
    return other


@settings(max_examples=15)
@given(seeds, promises, st.lists(st.integers(0, 300), min_size=1, max_size=6))
def test_grouping_saving_and_copying_do_not_matter(seed, guarantees, sizes):
    h, predicted, labels = stream(seed, sum(sizes))
    whole, parts, start = begun(guarantees), begun(guarantees), 0
    said, pieces = whole.state_then_learn(h, predicted, labels), []
    for size in sizes:
        part = slice(start, start + size)
        pieces.append(parts.state_then_learn(h[part], predicted[part], labels[part]))
        start += size
        other = restored(parts, 3)
        parts = independent_copy(other) if size % 2 else other
    for name in said._fields:
        assert np.array_equal(getattr(said, name), np.concatenate([getattr(piece, name) for piece in pieces])), name
    assert_equal_arrays(whole.state(), parts.state())
    assert whole.raised == parts.raised


@settings(max_examples=6)
@given(seeds, promises)
def test_rows_that_are_stated_and_then_learned_are_rows_that_are_learned_at_once(seed, guarantees):
    h, predicted, labels = stream(seed, 400)
    one, other, third = begun(guarantees), begun(guarantees), begun(guarantees)
    one.state_then_learn(h, predicted, labels)
    third.learn_at_once(h, predicted, labels)
    assert_equal_arrays(one.state(), third.state())
    for t in range(400):
        before = copied(other.state())
        said = other.state_rows(h[t : t + 1], predicted[t : t + 1])
        assert_equal_arrays(before, other.state())
        other.learn_rows(said, labels[t : t + 1])
    assert_equal_arrays(one.state(), other.state())


@settings(max_examples=10)
@given(seeds, promises)
def test_a_copy_and_its_original_learn_without_each_other(seed, guarantees):
    h, predicted, labels = stream(seed, 600)
    tracker = begun(guarantees)
    tracker.state_then_learn(h[:300], predicted[:300], labels[:300])
    other, before = independent_copy(tracker), copied(tracker.state())
    other.state_then_learn(h[300:], predicted[300:], labels[300:])
    other.add_classes(1)
    other.name_classes(np.arange(4))
    assert_equal_arrays(before, tracker.state())
    kept = copied(other.state())
    tracker.state_then_learn(h[300:], predicted[300:], labels[300:])
    assert_equal_arrays(kept, other.state())


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("errors", [(0.05, 0.01, 0.02, 0.1), ({0: 0.1}, {1: 0.2}, 0.1, 0.2)])
@pytest.mark.parametrize("n_classes", [2, 10])
def test_the_state_takes_less_than_64_kilobytes(n_classes, errors, per_class):
    guarantees = Guarantees(errors=errors, per_class=per_class, tolerated=0.1)
    tracker = begun(guarantees, n_classes)
    tracker.state_then_learn(*stream(0, 2000, n_classes))
    assert sum(array.nbytes for array in tracker.state().values()) < 64 * 1024


def test_a_long_stream_can_be_saved():
    """Rounding does not take the arrays out of what a file may have, nor do weights that are scaled down."""
    tracker = begun(Guarantees(errors=(0.1, {0: 0.05}), coverages=(0.9, 0.99), per_class=True))
    for seed in range(12):
        tracker.state_then_learn(*stream(seed, 100_000))
    assert tracker.state()["rows/weight"][0] < 1e9
    restored(tracker, 3)


def test_older_files_have_no_guarantees():
    tracker = begun(Guarantees())
    before = copied(tracker.state())
    check_saved({}, tracker, version=2)
    tracker.restore({})
    assert_equal_arrays(before, tracker.state())


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("rows/weight", 0, 0.5),
        ("rows/weight", 0, 1e10),
        ("rows/confidence_weights", 0, 1e4),
        ("rows/confidence_weights", 0, np.nan),
        ("rows/confidence_covariance", (0, 1), 0.7),
        ("rows/confidence_covariance", (0, 0), -0.5),
        ("rows/confidence_recent_errors", 0, 1.5),
        ("rows/confidence_bins", (0, 1), 1.5),
        ("rows/confidence_bins", (0, 2), 700.0),
        ("rows/confidence_bins", (0, 5), -1.0),
        ("rows/answers_levels", (0, 0), 0.9),
        ("rows/answers_levels", (1, 0), 0.9),
        ("rows/answers_levels", (1, 1), 0.9),
        ("rows/answers_by_class", 0, 1),
        ("rows/answers_seen", 0, -1.0),
        ("rows/answers_rows", (0, 0, 0), -1.0),
        ("rows/answers_rows", (0, 0, 0), 1e16),
        ("rows/answers_debts", (0, 0), -21.0),
        ("rows/answers_debts", (0, 0), 1e12),
        ("rows/answers_thresholds", (0, 0), 2000.0),
        ("rows/answers_counts", (0, 0, 1), 1e6),
        ("rows/answers_counts", (0, 0, 0), 0.5),
        ("rows/sets_levels", 0, 0.2),
        ("rows/sets_allows_empty", 0, 1),
        ("rows/sets_class_shares", 0, 0.9),
        ("rows/sets_rows", (0, 0), -1.0),
        ("rows/sets_debts", (0, 0), 1e12),
        ("rows/sets_debts", (0, 0), -1e12),
        ("rows/sets_thresholds", (0, 0), 3.0),
        ("rows/sets_counts", (0, 0, 1), 1e6),
        ("rows/sets_counts", (0, 0, 0), 0.5),
        ("rows/sets_counts", (0, 0, 0), 2.0**53),
        ("rows/answers_counts", (0, 0, 0), 2.0**53),
        ("intervals/totals", 0, 2**53),
        ("intervals/by_prediction", (0, 0), 2**53),
    ],
)
def test_altered_arrays_are_refused(name, place, value):
    tracker = begun(Guarantees(errors=(0.1, {0: 0.1, 1: 0.2}), coverages=(0.9, 0.8), tolerated=0.1))
    tracker.state_then_learn(*stream(0, 500))
    arrays = copied(tracker.state())
    check_saved(arrays, tracker, checkpoint.VERSION)
    arrays[name][place] = value
    with pytest.raises(CheckpointError, match=name):
        check_saved(arrays, begun(tracker.guarantees), checkpoint.VERSION)


# Settings -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"errors": 0}, "errors"),
        ({"errors": 1.0}, "errors"),
        ({"errors": []}, "errors must be 1 to 16 levels"),
        ({"errors": [0.1] * 17}, "errors must be 1 to 16 levels"),
        ({"errors": {}}, "empty mapping"),
        ({"errors": {"a": 2}}, r"errors\['a'\]"),
        ({"errors": "0.1"}, "errors"),
        ({"errors": [[0.1]]}, "errors"),
        ({"errors": np.nan}, "errors"),
        ({"coverages": 90}, "coverages"),
        ({"coverages": {"a": 0.9}}, "coverages"),
        ({"coverages": None}, "coverages"),
        ({"tolerated": 0}, "tolerated"),
        ({"rise": -0.1}, "rise"),
        ({"delta": None}, "delta"),
        ({"per_class": "yes"}, "per_class"),
        ({"allows_empty": 2}, "allows_empty"),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong, match):
    with pytest.raises(ConfigError, match=match):
        Guarantees(**wrong)


labels = st.one_of(st.integers(-(2**53), 2**53), st.text(max_size=5), st.booleans(), st.floats(-1e6, 1e6))
shares = st.floats(0.001, 0.999)
levels = st.one_of(shares, st.dictionaries(labels, shares, min_size=1, max_size=4))


@given(st.lists(levels, min_size=1, max_size=4), st.lists(shares, min_size=1, max_size=4), st.booleans())
def test_settings_are_the_same_after_a_file(errors, coverages, per_class):
    given_ = Guarantees(errors=errors, coverages=coverages, per_class=per_class, tolerated=coverages[0])
    assert Guarantees.from_json(json.loads(json.dumps(given_.to_json()))) == given_


@pytest.mark.parametrize(
    "values",
    [
        *(None, 3, [], {"x": 1}, {"errors": [[1]]}, {"errors": [[[[], 1]]]}, {"errors": ["ab"]}, {"errors": [["ab"]]}),
        *({"errors": None}, {"coverages": [None]}, {"delta": "x"}, {"errors": [[["a", 0.1, 3]]]}),
        {"errors": {"a": "b"}},
    ],
    ids=str,
)
def test_settings_in_a_file_that_cannot_be_are_refused(values):
    with pytest.raises(ConfigError):
        Guarantees.from_json(values)


@pytest.mark.parametrize("level", [0.07, "0.1", {0: 0.1}, np.array([0.1, 0.2]), [0.1], np.nan, b"0.1"], ids=str)
def test_levels_that_are_not_followed_are_refused(level):
    for ask in (Guarantees(errors=0.1).error_position, Guarantees(coverages=0.1).coverage_position):
        with pytest.raises(ConfigError, match=r"must be one of the levels that the model follows, 0\.1"):
            ask(level)


def test_the_first_level_is_the_default():
    guarantees = Guarantees(errors=(0.2, {1: 0.1}, 0.3), coverages=(0.8, 0.7))
    assert [guarantees.error_position(level) for level in (None, 0.3, {1: 0.1}, np.float64(0.2))] == [0, 2, 1, 0]
    assert [guarantees.coverage_position(level) for level in (None, 0.7)] == [0, 1]
