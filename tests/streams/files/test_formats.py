"""The same table is the same stream, whatever format it is written in."""

import csv
import gzip
import io
import os
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import DataError
from driftline.streams import FileStream, Stream, open_stream
from driftline.streams.protocol import BLOCK_ROWS
from driftline.types import Block
from helpers.random_tables import FORMATS, as_csv, pack, small_tables, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


def whole(stream, start=0):
    """Return all rows of a stream as one block."""
    blocks = list(stream.blocks(start))
    assert all(0 < len(block.rows) <= BLOCK_ROWS for block in blocks)
    return Block(*(np.concatenate([getattr(b, part) for b in blocks]) for part in ("rows", "labels", "times")))


def assert_is_table(stream, table, *, listed=False):
    names, rows = table.expected(listed=listed)
    block = whole(stream)
    assert stream.columns == names
    assert np.array_equal(block.rows, rows, equal_nan=True)
    assert block.labels.tolist() == list(table.labels)
    assert block.times.tolist() == table.times
    assert stream.classes().tolist() == sorted(set(table.labels))
    assert stream.n_rows == len(table.labels)
    assert stream.n_skipped == 0


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=40)
@given(table=small_tables(), packed=st.booleans())
def test_what_is_written_is_read_back(form, table, packed, folder):
    path = folder / f"table.{form}"
    write(table, path, form)
    if packed and form != "parquet":
        pack(path)
    assert_is_table(open_stream(path, "label", time="when"), table, listed="arff" in form)


@settings(max_examples=40)
@given(
    table=small_tables(),
    delimiter=st.sampled_from(",;\t|~:"),
    # The writer quotes only those line breaks that it uses itself.
    lines=st.sampled_from([(csv.QUOTE_MINIMAL, "\r\n"), *((csv.QUOTE_ALL, end) for end in ("\n", "\r\n", "\r"))]),
)
def test_any_delimiter_quotes_and_line_ends_are_read(table, delimiter, lines, folder):
    path = folder / "dialect.csv"
    as_csv(table, path, delimiter=delimiter, quoting=lines[0], lineterminator=lines[1])
    assert_is_table(open_stream(path, "label", time="when", delimiter=delimiter), table)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])
@settings(max_examples=15)
@given(table=small_tables(line_breaks=False))
def test_encodings_are_read_and_those_with_a_byte_order_mark_are_recognised(encoding, table, folder):
    path = folder / "encoded.csv"
    as_csv(table, path, quoting=1)
    text = path.read_text(encoding="utf-8").replace("漢", "ß")
    path.write_text(text, encoding=encoding)
    stream = open_stream(path, "label", time="when", encoding="latin-1" if encoding == "latin-1" else "utf-8")
    names, rows = table.expected(listed=False)
    assert stream.columns == tuple(name.replace("漢", "ß") for name in names)
    assert np.array_equal(whole(stream).rows, rows, equal_nan=True)


@pytest.mark.parametrize("form", ["csv", "jsonl", "arff", "sparse.arff", "parquet"])
@settings(max_examples=15)
@given(table=small_tables())
def test_the_format_is_recognised_by_content_if_the_name_does_not_state_it(form, table, folder):
    path = folder / "table"
    write(table, path, form)
    block = whole(open_stream(path, "label", time="when", delimiter="," if form == "csv" else None))
    assert block.labels.tolist() == list(table.labels)
    assert block.times.tolist() == table.times


def long_csv(path, n_rows):
    x = np.arange(n_rows) / 8
    lines = [f"{a},{'ab'[i % 2]},{i % 3}\n" for i, a in enumerate(x.tolist())]
    path.write_text("x,letter,y\n" + "".join(lines))
    return x


@pytest.mark.parametrize("name", ["long.csv", "long.csv.gz"])
def test_reading_from_a_row_gives_the_rows_from_it_on(tmp_path, name):
    path = tmp_path / name
    x = long_csv(path, 3 * BLOCK_ROWS)
    if name.endswith("gz"):
        pack(path)
    stream = open_stream(path, "y", use="x")
    assert np.array_equal(whole(stream).rows[:, 0], x)
    for start in (1, 1000, BLOCK_ROWS - 1, BLOCK_ROWS, 3 * BLOCK_ROWS - 1):
        left = whole(stream, start)
        assert np.array_equal(left.rows[:, 0], x[start:])
        assert np.array_equal(left.labels, np.arange(len(x))[start:] % 3)
    assert list(stream.blocks(3 * BLOCK_ROWS)) == []
    assert stream.name == "long"
    assert stream.n_rows == len(x)
    assert isinstance(stream, Stream)
    assert isinstance(stream, FileStream)


def test_parquet_is_read_from_any_row_and_knows_its_length(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    x = np.arange(10_000.0)
    pq.write_table(pa.table({"x": x, "y": x.astype(int) % 3}), tmp_path / "long.parquet", row_group_size=1234)
    stream = open_stream(tmp_path / "long.parquet", "y")
    assert stream.n_rows == 10_000
    assert np.array_equal(whole(stream, 5000).rows[:, 0], x[5000:])
    assert whole(stream).labels.dtype == np.int64


def test_parquet_types_are_numbers_text_booleans_and_dates(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table(
        {
            "small": pa.array([1, None], pa.int8()),
            "price": pa.array([1, 2], pa.decimal128(5, 2)),
            "flag": pa.array([True, None]),
            "sky": pa.array(["clear", None]).dictionary_encode(),
            "day": pa.array([86400 * 10**6, None], pa.timestamp("us", tz="Europe/Madrid")),
            "date": pa.array([1, 2], pa.date32()),
            "tags": pa.array([["a"], []]),
            "y": pa.array([2**60 + 1, -1]),
        }
    )
    pq.write_table(table, tmp_path / "types.parquet")
    stream = open_stream(tmp_path / "types.parquet", "y", ignore="tags", time="date")
    block = whole(stream)
    nan = np.nan
    assert stream.columns == ("small", "price", "flag", "sky=clear", *(f"sky=#{j}" for j in range(4)), "day")
    assert np.array_equal(block.rows[0], [1, 1, 1, 1, 0, 0, 0, 0, 86400])
    assert np.array_equal(block.rows[1], [nan, 2, nan, nan, nan, nan, nan, nan, nan], equal_nan=True)
    assert block.labels.tolist() == [2**60 + 1, -1]
    assert block.times.tolist() == [86400.0, 172800.0]
    with pytest.raises(DataError, match=r"types\.parquet, row 1: column 'tags': \['a'\] is neither|not a number"):
        list(open_stream(tmp_path / "types.parquet", "y").blocks())


def test_a_real_stream_written_as_csv_is_read_back(real_stream, tmp_path):
    X, y = real_stream("elec2_full")
    names = [f"x{j}" for j in range(X.shape[1])]
    pd.DataFrame(X, columns=names).assign(label=y).to_csv(tmp_path / "elec2.csv.gz", index=False)
    stream = open_stream(tmp_path / "elec2.csv.gz", "label")
    assert stream.columns == tuple(names)
    assert np.array_equal(whole(stream).rows, X)
    assert np.array_equal(whole(stream).labels, y)


def test_json_objects_may_lack_keys_and_be_followed_by_blank_lines(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "y": true}\n\n{"y": false, "b": 2.5}\n{"a": NaN, "b": null, "y": true, "late": 1}\n')
    stream = open_stream(path, "y", ignore=["late"])
    assert stream.columns == ("a", "b")
    nan = np.nan
    assert np.array_equal(whole(stream).rows, [[1, nan], [nan, 2.5], [nan, nan]], equal_nan=True)
    assert whole(stream).labels.tolist() == [True, False, True]


def test_a_pipe_is_read_once_and_has_no_classes(monkeypatch):
    content = "x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(2 * BLOCK_ROWS))
    for data in (content.encode(), gzip.compress(content.encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        stream = open_stream("-", "y")
        assert stream.name == "stdin"
        with pytest.raises(DataError, match="only once"):
            stream.classes()
        assert np.array_equal(whole(stream).rows[:, 0], np.arange(2.0 * BLOCK_ROWS))
        with pytest.raises(DataError, match="standard input can be read only once"):
            next(stream.blocks())


def test_a_real_pipe_is_read_to_its_end_without_pyarrow():
    code = """
import sys
sys.modules["pyarrow"] = None
from driftline.streams import open_stream
print(sum(block.rows.sum() for block in open_stream("-", "y").blocks()))
"""
    content = "x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(20_000))
    run = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True, text=True, check=True)
    assert float(run.stdout) == sum(range(20_000))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_named_pipe_is_read_once_whatever_its_extension(tmp_path):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("x,y\n1,2\n3,4\n",))
    writer.start()
    stream = open_stream(path, "y")
    writer.join()
    assert whole(stream).rows.tolist() == [[1.0], [3.0]]
    with pytest.raises(DataError, match=r"pipe\.csv can be read only once"):
        next(stream.blocks())


def test_parquet_needs_a_file(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"PAR1" + bytes(100))))
    with pytest.raises(DataError, match="standard input is Parquet, which cannot be read from a pipe"):
        open_stream("-", "y")
