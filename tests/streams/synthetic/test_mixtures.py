"""What holds for every synthetic distribution and its streams."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import ConfigError
from driftline.streams import DriftingGaussians, GaussianComponents, RotatingGaussians, Stream
from driftline.streams.protocol import BLOCK_ROWS
from helpers.synthetic_distributions import EVERY_KIND, rows_at

every_kind = pytest.mark.parametrize("distribution", EVERY_KIND.values(), ids=EVERY_KIND)


def joint_features(X, y, n_classes):
    """1{y = j} and 1{y = j} x, a row for each class j, at each row of X."""
    indicators = np.eye(n_classes)[y]
    return indicators, indicators[:, :, None] * X[:, None, :]


def assert_mean_zero(deviations):
    """Column by column, within 4.5 standard errors: the seeds are fixed, and a few hundred columns are looked at."""
    flat = deviations.reshape(len(deviations), -1)
    scale = np.maximum(np.sqrt((flat**2).sum(axis=0)), 1e-9)
    assert np.abs(flat.sum(axis=0) / scale).max() < 4.5


@every_kind
def test_samples_agree_with_label_probabilities_and_expectations_all_along(distribution):
    X, y = distribution.sample(8000, seed=5)
    t = np.arange(1, 8001)
    frequencies, features = joint_features(X, y, distribution.n_classes)
    for part in np.split(np.arange(8000), 4):
        assert_mean_zero(frequencies[part] - distribution.label_probabilities(t[part]))
        assert_mean_zero(features[part] - distribution.expectations(t[part]))


@every_kind
@pytest.mark.parametrize("t", [1, 1500, 2750])
def test_rows_of_one_time_agree_with_the_truth_of_that_time(distribution, t):
    X, y = rows_at(distribution, t, 20_000)
    frequencies, features = joint_features(X, y, distribution.n_classes)
    assert_mean_zero(frequencies - distribution.label_probabilities(t))
    assert_mean_zero(features - distribution.expectations(t))
    for label in np.unique(y):
        mine = X[y == label]
        error = 4.5 * mine.std(axis=0) / np.sqrt(len(mine))
        assert np.all(np.abs(mine.mean(axis=0) - distribution.class_means(t)[label]) < error)


@every_kind
def test_truth_at_many_times_is_that_at_each(distribution):
    t = np.array([[1, 450, 451], [999, 1000.5, 4000]])
    for truth in (distribution.label_probabilities, distribution.expectations, distribution.class_means):
        together = truth(t)
        assert together.shape[:2] == t.shape
        assert np.array_equal(together[1, 0], truth(999), equal_nan=True)
        assert np.array_equal(together[0, 2], truth(451), equal_nan=True)
    assert distribution.label_probabilities(t).sum(axis=-1) == pytest.approx(np.ones((2, 3)))


@every_kind
def test_a_longer_stream_begins_with_the_shorter_one(distribution):
    short, long = distribution.sample(1000, seed=9), distribution.sample(BLOCK_ROWS + 1000, seed=9)
    assert np.array_equal(short[0], long[0][:1000])
    assert np.array_equal(short[1], long[1][:1000])


def test_the_same_seed_gives_the_same_stream():
    stream = RotatingGaussians()
    one, other, third = stream.sample(50, seed=1), stream.sample(50, seed=1), stream.sample(50, seed=2)
    assert np.array_equal(one[0], other[0])
    assert not np.array_equal(one[0], third[0])


def test_blocks_are_not_repeated():
    X, _ = RotatingGaussians(angular_rate=0.0).sample(3 * BLOCK_ROWS, seed=0)
    assert len(np.unique(X[:, 0])) == len(X)


@settings(max_examples=25)
@given(n_rows=st.integers(1, 3 * BLOCK_ROWS), start=st.integers(0, 3 * BLOCK_ROWS))
def test_blocks_are_the_rows_from_the_start_on(n_rows, start):
    distribution = EVERY_KIND["reoccurring, drifting"]
    X, y = distribution.sample(n_rows, seed=4)
    blocks = list(distribution.stream(n_rows, seed=4).blocks(start))
    assert all(0 < len(block.rows) <= BLOCK_ROWS for block in blocks)
    assert np.array_equal(np.concatenate([X[:0], *(block.rows for block in blocks)]), X[start:])
    assert np.array_equal(np.concatenate([y[:0], *(block.labels for block in blocks)]), y[start:])
    times = np.arange(1.0, n_rows + 1)
    assert np.array_equal(np.concatenate([times[:0], *(block.times for block in blocks)]), times[start:])


@every_kind
def test_streams_are_streams(distribution):
    stream = distribution.stream(4000, seed=0)
    assert isinstance(stream, Stream)
    assert stream.n_rows == 4000
    assert len(stream.columns) == distribution.n_features == next(stream.blocks()).rows.shape[1]
    assert stream.name == type(distribution).__name__
    assert stream.classes().tolist() == list(range(distribution.n_classes))
    assert stream.distribution is distribution


def test_classes_are_those_that_occur():
    assert EVERY_KIND["reoccurring, drifting"].stream(333, seed=0).classes().tolist() == [0, 1]


def test_a_component_of_weight_zero_is_never_chosen_whatever_the_rounding():
    class Extreme:
        def __init__(self, uniform):
            self.uniform = uniform

        def random(self, shape):
            return np.full(shape, self.uniform)

        def standard_normal(self, shape):
            return np.zeros(shape)

    weights = np.array([[0.0, *[0.1] * 10, 0.0]])  # of which the sum, rounded, is below 1
    components = GaussianComponents(np.arange(12), weights, np.zeros((1, 12, 1)), np.ones((1, 1, 1)))
    assert components.draw(1, Extreme(0.0))[1].tolist() == [1]
    assert components.draw(1, Extreme(1 - 2**-53))[1].tolist() == [10]


def test_a_distribution_is_made_by_its_components_alone():
    class Walking(DriftingGaussians):
        def components(self, times):
            means = np.stack([times, -times], axis=1)[:, :, None]
            return GaussianComponents(np.array([0, 1]), np.array([[0.25, 0.75]]), means, np.ones((1, 1, 1)))

    assert Walking().expectations(8).tolist() == [[2], [-6]]
    assert (Walking().n_classes, Walking().n_features) == (2, 1)
    X, y = Walking().sample(200, seed=0)
    assert np.array_equal(X[100:, 0] > 0, y[100:] == 0)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda d: d.sample(0, seed=0), "number of rows must be a whole number from 1 up; got 0"),
        (lambda d: d.stream(10.5, seed=0), "number of rows must be a whole number from 1 up; got 10.5"),
        (lambda d: d.sample(10, seed=-1), "seed must be a whole number from 0 up; got -1"),
        (lambda d: d.sample(10, seed=None), "seed must be a whole number from 0 up; got None"),
        (lambda d: list(d.stream(10, seed=0).blocks(-1)), "start must be a whole number from 0 up; got -1"),
        (lambda d: d.expectations("now"), "t must be finite numbers; got 'now'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(act, message):
    with pytest.raises(ConfigError, match=message):
        act(RotatingGaussians())
