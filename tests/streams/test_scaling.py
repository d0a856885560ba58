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


def test_a_column_that_is_missing_throughout_stays_missing():
    stream = RangeScaled(ArrayStream([[np.nan, 1.0], [np.nan, 3.0]], [0, 1]))
    assert next(stream.blocks()).rows[:, 1].tolist() == [0.0, 1.0]
    assert np.isnan(next(stream.blocks()).rows[:, 0]).all()


def test_what_is_no_stream_is_refused():
    with pytest.raises(ConfigError, match="stream must be a Stream"):
        RangeScaled(np.zeros((2, 2)))
