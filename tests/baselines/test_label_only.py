import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import ConfigError
from driftline.baselines import Majority, NoChange, WindowedMajority
from helpers.quick_models import assert_same

labels = st.lists(st.integers(0, 3), min_size=1, max_size=40)
FLOORS = [NoChange(), Majority(), WindowedMajority(window=5)]


def most_frequent(known, classes=range(4)):
    return max(classes, key=known.count)  # the first on ties


TWINS = {
    "NoChange": lambda known: known[-1] if known else 0,
    "Majority": most_frequent,
    "WindowedMajority": lambda known: most_frequent(known[-5:]),
}


def rows(y):
    return np.zeros((len(y), 1))


@pytest.fixture(scope="module", params=FLOORS, ids=TWINS)
def floor(request):
    """Return a function that makes a new one of each kind."""
    return lambda: type(request.param)(**request.param.get_params())


@settings(max_examples=30)
@given(labels)
def test_predictions_are_those_of_the_labels_before(floor, y):
    model = floor()
    twin = TWINS[type(model).__name__]
    said = model.prequential(rows(y), y, classes=range(4)).predictions.tolist()
    assert said == [twin(y[:t]) for t in range(len(y))]
    assert model.predict(rows(y)).tolist() == [twin(y)] * len(y)


@settings(max_examples=30)
@given(labels, st.lists(st.integers(1, 39), max_size=4))
def test_grouping_rows_into_blocks_changes_nothing(floor, y, cuts):
    whole, model, y = floor(), floor(), np.array(y)
    predicted = whole.prequential(rows(y), y).predictions.tolist()
    blocks = [part for part in np.split(np.arange(len(y)), np.unique(cuts).astype(int)) if part.size]
    assert [p for part in blocks for p in model.prequential(rows(part), y[part]).predictions.tolist()] == predicted
    assert_same(model, whole)


def test_a_saved_model_continues_identically(floor, tmp_path):
    y = np.random.default_rng(0).integers(0, 3, 60)
    model = floor().partial_fit(rows(y), y)
    model.save(tmp_path / "floor")
    loaded = type(model).load(tmp_path / "floor")
    predictions = model.prequential(rows(y), y[::-1]).predictions.tolist()
    assert loaded.prequential(rows(y), y[::-1]).predictions.tolist() == predictions
    assert_same(loaded, model)


def test_the_first_class_known_is_predicted_before_there_is_a_label(floor):
    answers = floor().assess([[0.0], [1.0]], ["b", "a"], classes=["a", "b"])
    assert answers.predictions.tolist() == ["a", "a"]


def test_a_class_that_joins_can_be_predicted(floor):
    y = ["a", "b"] + ["c"] * 8
    model = floor().partial_fit(rows(y), y)
    assert model.predict([[0.0]])[0] == "c"
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_missing_values_are_counted_and_do_not_matter(floor):
    model = floor().fit([[np.nan], [1.0], [np.nan]], [0, 1, 1])
    assert model.n_missing_ == 2
    assert model.predict([[np.nan]]).tolist() == [1]


def test_a_window_longer_than_the_stream_is_none():
    y = np.random.default_rng(0).integers(0, 3, 150)
    windowed, counted = WindowedMajority().prequential(rows(y), y), Majority().prequential(rows(y), y)
    assert windowed.predictions.tolist() == counted.predictions.tolist()


def test_a_window_without_a_row_is_refused():
    with pytest.raises(ConfigError, match="window must be a whole number from 1 up; got 0"):
        WindowedMajority(window=0).fit([[0.0]], [0])
