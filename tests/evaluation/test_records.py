import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import CheckpointError, DataError, MissingExtraError, Status
from driftline.evaluation import read_records, records
from driftline.evaluation.guarantee_record import StatedRows
from driftline.evaluation.label_baselines import LabelPredictions
from driftline.evaluation.records import METADATA, RecordWriter, list_record_files
from driftline.types import Block
from helpers.predictions import predictions_with_bounds

STATED = ("confidence", "row_bound", "answered", "set_size", "covered")
"""Columns that version 1 did not have."""


def block_of(steps, label_of=lambda step: step % 3):
    n, numbers = len(steps), np.array(steps, dtype=float)
    labels = np.array([label_of(step) for step in steps])
    bounds = np.where(numbers % 2 == 0, np.nan, numbers)
    statuses = np.array([None if step % 2 == 0 else Status.OK for step in steps], dtype=object)
    answers = predictions_with_bounds(labels, numbers / 1e6, bounds, statuses=statuses)
    block = Block(np.zeros((n, 1)), labels, np.full(n, np.nan))
    repeated = LabelPredictions([None] * n, [None] * n, [None] * n)
    return block, answers, np.zeros(n, np.int64), StatedRows.nothing(n), repeated


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
    assert len(list((folder / "records").iterdir())) <= 2 * records.FILES_PER_MERGE + len(lengths) // 200


@settings(max_examples=30)
@given(lengths=st.lists(st.integers(1, 30), min_size=1, max_size=40), data=st.data())
def test_a_writer_that_continues_cuts_what_lies_beyond(tmp_path_factory, lengths, data):
    folder, step = tmp_path_factory.mktemp("run"), 0
    writer = RecordWriter(folder / "records", {}, 0)
    for length in lengths:
        writer.add(*block_of(range(step, step + length)))
        step += length
        writer.flush()
    (folder / "records" / f".{0:012d}-{9:012d}.parquet.0123456789abcdef").write_bytes(b"half a file")
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
    for i in range(records.FILES_PER_MERGE):
        writer.add(*block_of([i]))
        writer.flush()
        saved |= {path: path.read_bytes() for path in (tmp_path / "records").iterdir()}
    for path, content in saved.items():
        path.write_bytes(content)
    assert len(list((tmp_path / "records").iterdir())) == records.FILES_PER_MERGE  # all pieces but the last
    assert len(list_record_files(tmp_path / "records")) == 1
    assert read_records(tmp_path)["step"].to_pylist() == list(range(records.FILES_PER_MERGE))


def test_merging_stops_at_a_size_that_memory_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "MAX_FILE_ROWS", 40)
    writer = RecordWriter(tmp_path / "records", {}, 0)
    for i in range(200):
        writer.add(*block_of([i]))
        writer.flush()
    assert all(part.end - part.first <= 40 for part in list_record_files(tmp_path / "records"))
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
    assert all(table[name].null_count == 4 for name in STATED)
    assert b'"version": 2' in table.schema.metadata[METADATA]


def test_records_of_version_1_are_read(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    writer = RecordWriter(tmp_path / "records", {}, 0)
    writer.add(*block_of(range(4)))
    writer.flush()
    (file,) = list_record_files(tmp_path / "records")
    old = parquet.read_table(file.path).drop_columns([*STATED, "last_label", "majority_label"])
    parquet.write_table(old.replace_schema_metadata({METADATA: b'{"version": 1}'}), file.path)
    assert read_records(tmp_path).equals(old)


def test_what_cannot_be_read_is_said(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="no records of an evaluation"):
        read_records(tmp_path)
    writer = RecordWriter(tmp_path / "records", {}, 0)
    writer.add(*block_of([0]))
    writer.flush()
    monkeypatch.setattr(records, "VERSION", 0)
    with pytest.raises(DataError, match="version 2, and this driftline reads up to 0"):
        read_records(tmp_path)
    (part,) = (tmp_path / "records").iterdir()
    part.write_bytes(part.read_bytes()[:50])
    with pytest.raises(DataError, match="damaged"):
        read_records(tmp_path)


def test_without_pyarrow_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'driftline\[files\]'"):
        RecordWriter(tmp_path / "records", {}, 0)


def test_a_gap_between_parts_is_noticed(tmp_path):
    writer = RecordWriter(tmp_path / "records", {}, 0)
    for step in range(3):
        writer.add(*block_of([step]))
        writer.flush()
    sorted((tmp_path / "records").iterdir())[1].unlink()
    with pytest.raises(CheckpointError, match="up to step 1 and from step 2 on"):
        read_records(tmp_path)


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        (lambda step: step, lambda step: step + 0.5, "cannot be recorded as int64"),
        (lambda step: step, lambda step: "a", "cannot be recorded as int64"),
        (lambda step: 2**63 + step, None, "cannot be recorded as int64"),
        (lambda step: b"a", None, "expected numbers, booleans or text"),
    ],
)
def test_labels_that_cannot_be_recorded_are_refused(tmp_path, first, then, message):
    writer = RecordWriter(tmp_path / "records", {}, 0)
    if then is not None:
        writer.add(*block_of([0], first))
    with pytest.raises(DataError, match=message):
        writer.add(*block_of([1], then or first))


def test_whole_numbers_that_come_as_others_are_recorded_as_the_first(tmp_path):
    for folder, labels in {"floats": float, "objects": lambda step: step}.items():
        writer = RecordWriter(tmp_path / folder / "records", {}, 0)
        writer.add(*block_of([0, 1]))
        block, *others = block_of([2, 3], labels)
        kind = object if folder == "objects" else float
        writer.add(replace(block, labels=block.labels.astype(kind)), *others)
        writer.flush()
        assert read_records(tmp_path / folder)["label"].to_pylist() == [0, 1, 2, 3]


def test_records_are_read_while_the_run_merges_them(tmp_path, monkeypatch):
    writer = RecordWriter(tmp_path / "records", {}, 0)
    for step in range(records.FILES_PER_MERGE - 1):
        writer.add(*block_of([step]))
        writer.flush()
    listed = records.list_record_files

    def list_then_merge(folder):
        parts = listed(folder)
        if len(parts) == records.FILES_PER_MERGE - 1:
            writer.add(*block_of([records.FILES_PER_MERGE - 1]))
            writer.flush()
        return parts

    monkeypatch.setattr(records, "list_record_files", list_then_merge)
    assert read_records(tmp_path).num_rows == records.FILES_PER_MERGE
