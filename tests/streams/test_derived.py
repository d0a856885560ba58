import numpy as np
import pytest

from driftline import ConfigError
from driftline.streams import ArrayStream, RangeScaled, Stream


def test_columns_are_mapped_from_their_range_to_the_unit_interval():
    X = np.random.default_rng(0).normal(size=(9000, 4)) * [1.0, 1e-3, 1e6, 0.0]
    X[5, 1] = np.nan
    stream = RangeScaled(ArrayStream(X, np.arange(9000) % 2, columns=list("abcd"), name="made up"))
    rows = np.concatenate([block.rows for block in stream.blocks()])
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    assert np.array_equal(rows[:, :3], (X[:, :3] - low[:3]) / (high - low)[:3], equal_nan=True)
    assert not rows[:, 3].any()
    assert np.isnan(rows).sum() == 1
    assert np.array_equal(np.concatenate([block.rows for block in stream.blocks(8000)]), rows[8000:], equal_nan=True)
    assert isinstance(stream, Stream)
    assert (stream.name, stream.columns, stream.n_rows) == ("made up, scaled by range", ("a", "b", "c", "d"), 9000)
    assert stream.classes().tolist() == [0, 1]


def test_one_range_for_all_columns_keeps_their_proportions():
    X = np.random.default_rng(1).normal(size=(9000, 3)) * [1.0, 0.0, 100.0]
    X[5, 0] = np.nan
    stream = RangeScaled(ArrayStream(X, np.arange(9000) % 2, name="made up"), by="array")
    rows = np.concatenate([block.rows for block in stream.blocks()])
    assert np.array_equal(rows, (X - np.nanmin(X)) / (np.nanmax(X) - np.nanmin(X)), equal_nan=True)
    assert (np.nanmin(rows), np.nanmax(rows)) == (0.0, 1.0)
    assert stream.name == "made up, scaled by one range"


def test_one_range_of_a_stream_that_never_changes_leaves_it_alone():
    stream = RangeScaled(ArrayStream([[2.0, 2.0], [2.0, np.nan]], [0, 1]), by="array")
    assert np.array_equal(next(stream.blocks()).rows, [[2.0, 2.0], [2.0, np.nan]], equal_nan=True)


def test_a_column_that_is_missing_throughout_stays_missing():
    stream = RangeScaled(ArrayStream([[np.nan, 1.0], [np.nan, 3.0]], [0, 1]))
    assert next(stream.blocks()).rows[:, 1].tolist() == [0.0, 1.0]
    assert np.isnan(next(stream.blocks()).rows[:, 0]).all()


def test_what_is_no_stream_is_refused():
    with pytest.raises(ConfigError, match="stream must be a Stream"):
        RangeScaled(np.zeros((2, 2)))


def test_a_range_of_something_else_is_refused():
    with pytest.raises(ConfigError, match="by must be one of 'column', 'array'; got 'row'"):
        RangeScaled(ArrayStream([[1.0], [2.0]], [0, 1]), by="row")
