import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline import ConfigError, DataError
from driftline.streams import ArrayStream, Stream
from driftline.streams.protocol import BLOCK_ROWS


@given(n_rows=st.integers(1, 3 * BLOCK_ROWS), start=st.integers(0, 3 * BLOCK_ROWS))
def test_blocks_are_the_rows_from_the_start_on(n_rows, start):
    X, y = np.arange(2.0 * n_rows).reshape(n_rows, 2), np.arange(n_rows) % 3
    blocks = list(ArrayStream(X, y).blocks(start))
    assert all(0 < len(block.rows) <= BLOCK_ROWS for block in blocks)
    assert np.array_equal(np.concatenate([X[:0], *(block.rows for block in blocks)]), X[start:])
    assert np.array_equal(np.concatenate([y[:0], *(block.labels for block in blocks)]), y[start:])
    assert all(np.isnan(block.times).all() for block in blocks)


def test_single_precision_is_read_in_double():
    stream = ArrayStream(np.ones((3, 2), np.float32), [0, 1, 0], times=[1.0, 2.0, 2.0])
    (block,) = stream.blocks()
    assert block.rows.dtype == np.float64
    assert block.times.tolist() == [1.0, 2.0, 2.0]
    assert isinstance(stream, Stream)


def test_names_come_from_a_table_or_the_caller():
    assert ArrayStream(pd.DataFrame({"a": [1.0], "b": [2.0]}), [0]).columns == ("a", "b")
    assert ArrayStream([[1.0, 2.0]], [0], columns=["c", "d"]).columns == ("c", "d")
    with pytest.raises(ConfigError, match="columns must be 2 names, one for each column; got 1"):
        ArrayStream([[1.0, 2.0]], [0], columns=["c"])


def test_rows_and_labels_must_agree_in_number():
    with pytest.raises(DataError, match="each row needs one label"):
        ArrayStream([[1.0]], [0, 1])


def test_text_in_a_table_is_refused_with_the_way_to_use_it():
    with pytest.raises(DataError, match=r"column 1 \('shop'\) of X is 'a': expected a number \(open_stream takes text"):
        ArrayStream(pd.DataFrame({"amount": [1.0], "shop": ["a"]}), ["fine"])
