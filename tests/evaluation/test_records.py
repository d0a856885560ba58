import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import DataError, MissingExtraError, Status
from driftline.evaluation import read_records, records
from driftline.evaluation.records import METADATA, RecordWriter, list_parts
from driftline.types import Answers, Block


def block_of(steps, label_of=lambda step: step % 3):
    n, numbers = len(steps), np.array(steps, dtype=float)
    labels = np.array([label_of(step) for step in steps])
    bounds = np.where(numbers % 2 == 0, np.nan, numbers)
    statuses = np.array([None if step % 2 == 0 else Status.OK for step in steps], dtype=object)
    answers = Answers(labels, numbers / 1e6, bounds, statuses, bounds, np.zeros(n), np.zeros(n))
    return Block(np.zeros((n, 1)), labels, np.full(n, np.nan)), answers, np.zeros(n, np.int64)


@settings(max_examples=20)
@given(lengths=st.lists(st.integers(1, 4), min_size=1, max_size=300))
def test_records_come_back_in_order_however_they_were_written(tmp_path_factory, lengths):
    folder, step = tmp_path_factory.mktemp("run"), 0
    writer = RecordWriter(folder / "records", {}, 0)
    for length in lengths:
        writer.add(*block_of(range(step, step + length)))
        step += length
        writer.flush()
    assert read_records(folder)["step"].to_pylist() == list(range(step))
    assert len(list((folder / "records").iterdir())) <= 2 * records.MERGED_AT_ONCE + len(lengths) // 200


@settings(max_examples=30)
@given(lengths=st.lists(st.integers(1, 30), min_size=1, max_size=40), data=st.data())
def test_a_writer_that_continues_cuts_what_lies_beyond(tmp_path_factory, lengths, data):
    folder, step = tmp_path_factory.mktemp("run"), 0
    writer = RecordWriter(folder / "records", {}, 0)
    for length in lengths:
        writer.add(*block_of(range(step, step + length)))
        step += length
        writer.flush()
    (folder / "records" / ".half.parquet.0123").write_bytes(b"half a file")
    cut = data.draw(st.integers(0, step))
    writer = RecordWriter(folder / "records", {}, cut)
    writer.add(*block_of(range(cut, step + 5)))
    writer.flush()
    table = read_records(folder)
    assert table["step"].to_pylist() == list(range(step + 5))
    assert not list((folder / "records").glob(".*"))


def test_pieces_of_a_merged_part_that_were_not_yet_removed_do_not_count(tmp_path):
    writer = RecordWriter(tmp_path / "records", {}, 0)
    saved = {}
    for i in range(records.MERGED_AT_ONCE):
        writer.add(*block_of([i]))
        writer.flush()
        saved |= {path: path.read_bytes() for path in (tmp_path / "records").iterdir()}
    for path, content in saved.items():
        path.write_bytes(content)
    assert len(list((tmp_path / "records").iterdir())) == records.MERGED_AT_ONCE  # all pieces but the last
    assert len(list_parts(tmp_path / "records")) == 1
    assert read_records(tmp_path)["step"].to_pylist() == list(range(records.MERGED_AT_ONCE))


def test_merging_stops_at_a_size_that_memory_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "LARGEST_PART", 40)
    writer = RecordWriter(tmp_path / "records", {}, 0)
    for i in range(200):
        writer.add(*block_of([i]))
        writer.flush()
    assert all(part.end - part.first <= 40 for part in list_parts(tmp_path / "records"))
    assert read_records(tmp_path)["step"].to_pylist() == list(range(200))


@pytest.mark.parametrize(
    ("label_of", "kind"),
    [
        (lambda step: step % 3, "int64"),
        (lambda step: step % 2 == 0, "bool"),
        (lambda step: step / 2, "double"),
        (lambda step: "äb"[step % 2], "string"),
        (np.uint8, "int64"),
    ],
)
def test_labels_keep_their_kind_and_what_there_is_not_is_null(tmp_path, label_of, kind):
    writer = RecordWriter(tmp_path / "records", {"model": "none"}, 0)
    writer.add(*block_of(range(4), label_of))
    writer.flush()
    table = read_records(tmp_path)
    assert str(table.schema.field("label").type) == kind
    assert table["label"].to_pylist() == table["prediction"].to_pylist() == [label_of(step) for step in range(4)]
    assert table["bound"].to_pylist() == [None, 1.0, None, 3.0]
    assert table["status"].to_pylist() == [None, "ok", None, "ok"]
    assert table["time"].null_count == 4
    assert b'"version": 1' in table.schema.metadata[METADATA]


def test_what_cannot_be_read_is_said(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="no records of an evaluation"):
        read_records(tmp_path)
    writer = RecordWriter(tmp_path / "records", {}, 0)
    writer.add(*block_of([0]))
    writer.flush()
    monkeypatch.setattr(records, "VERSION", 0)
    with pytest.raises(DataError, match="version 1, and this driftline reads up to 0"):
        read_records(tmp_path)
    (part,) = (tmp_path / "records").iterdir()
    part.write_bytes(part.read_bytes()[:50])
    with pytest.raises(DataError, match="damaged"):
        read_records(tmp_path)


def test_without_pyarrow_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'driftline\[files\]'"):
        RecordWriter(tmp_path / "records", {}, 0)
