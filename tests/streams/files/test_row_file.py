"""Rows of new files are encoded as those of the file that a model learned from."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline import DataError
from driftline.streams import open_stream
from driftline.streams.files import RowFile, numeric_layout

COLUMNS = {
    "mm": ["0", "2.5", "?", "7", "1", "0"],
    "sky": ["clear", "fog", "rain, heavy", "", "clear", "fog"],
    "day": ["2021-01-01", "2021-01-02", "2021-01-03", "2021-01-04", "2021-01-05", "2021-01-06"],
    "code": ["1", "2", "1", "9", "2", "1"],
    "wet": ["no", "yes", "yes", "no", "no", "yes"],
}


def write(path, names, delimiter=",", header=True):
    columns = [[f'"{cell}"' if "," in cell else cell for cell in COLUMNS[name]] for name in names]
    lines = [delimiter.join(cells) for cells in zip(*columns, strict=True)]
    path.write_text("\n".join([delimiter.join(names), *lines] if header else lines) + "\n")
    return path


def read(path, layout, **options):
    blocks = list(RowFile(path, json.loads(json.dumps(layout)), **options).blocks())
    return [place for places, _ in blocks for place in places], np.concatenate([rows for _, rows in blocks])


@given(names=st.permutations(["mm", "sky", "day", "code", "extra"]), with_label=st.booleans())
def test_rows_are_those_of_the_stream_whatever_the_order_of_columns(tmp_path_factory, names, with_label):
    folder = tmp_path_factory.mktemp("rows")
    COLUMNS["extra"] = list("abcdef")
    stream = open_stream(write(folder / "old.csv", [*COLUMNS]), "wet", categorical="code", ignore="extra")
    new = write(folder / "new.csv", ["wet", *names] if with_label else names)
    places, rows = read(new, stream.layout)
    assert places == [2, 3, 4, 5, 6, 7]
    assert np.array_equal(rows, next(stream.blocks()).rows, equal_nan=True)


@pytest.mark.parametrize("with_label", [True, False])
def test_files_without_names_are_read_by_position(tmp_path, with_label):
    names = ["mm", "wet", "sky", "code"]
    stream = open_stream(write(tmp_path / "old.csv", names, header=False), 1, header=False)
    new = write(tmp_path / "new.csv", names if with_label else ["mm", "sky", "code"], header=False)
    places, rows = read(new, stream.layout)
    assert places == [1, 2, 3, 4, 5, 6]
    assert np.array_equal(rows, next(stream.blocks()).rows, equal_nan=True)


def test_delimiter_and_encoding_of_the_first_file_are_used_for_others(tmp_path):
    text = "naïve!class\n" + "".join(f"{t}!{'ab'[t % 2]}\n" for t in range(20))
    (tmp_path / "old.csv").write_text(text, encoding="latin-1")
    stream = open_stream(tmp_path / "old.csv", "class", delimiter="!", encoding="latin-1")
    assert read(tmp_path / "old.csv", stream.layout)[1].ravel().tolist() == list(range(20))


def test_other_formats_are_read_by_the_same_layout(tmp_path):
    layout = open_stream(write(tmp_path / "old.csv", ["mm", "sky", "wet"]), "wet").layout
    (tmp_path / "new.jsonl").write_text('{"sky": "fog", "mm": 4}\n{"mm": null, "sky": "snow"}\n')
    places, rows = read(tmp_path / "new.jsonl", layout)
    assert places == [1, 2]
    assert rows[0].tolist() == [4, 0, 1, 0, 0, 0, 0, 0]
    assert np.isnan(rows[1, 0])
    assert rows[1, 4:].sum() == 1  # a value that was not known shares a column


def test_parquet_is_counted_by_row(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet  # noqa: PLC0415

    layout = open_stream(write(tmp_path / "old.csv", ["mm", "code", "wet"]), "wet").layout
    parquet.write_table(pa.table({"code": [3, 4], "mm": [0.5, 1.5]}), tmp_path / "new.parquet")
    file = RowFile(tmp_path / "new.parquet", layout)
    assert file.place == "row"
    ((places, rows),) = file.blocks()
    assert (list(places), rows.tolist()) == ([1, 2], [[0.5, 3.0], [1.5, 4.0]])


def test_arrays_are_read_by_position(tmp_path):
    np.savez(tmp_path / "new.npz", X=np.arange(6.0).reshape(3, 2))  # no label is needed
    places, rows = read(tmp_path / "new.npz", numeric_layout(2))
    assert (places, rows.tolist()) == ([1, 2, 3], [[0, 1], [2, 3], [4, 5]])
    with pytest.raises(DataError, match=r"new\.npz has 2 columns; the model expects 3"):
        read(tmp_path / "new.npz", numeric_layout(3))


@pytest.mark.parametrize("header", ["a,b\n", ""])
def test_a_model_without_names_takes_as_many_columns_as_it_knows(tmp_path, header):
    (tmp_path / "new.csv").write_text(f"{header}1,2\n3,4\n")
    assert read(tmp_path / "new.csv", numeric_layout(2))[1].tolist() == [[1, 2], [3, 4]]
    with pytest.raises(DataError, match=r"has 2 columns; the model expects 3, in the order of the file .* from$"):
        read(tmp_path / "new.csv", numeric_layout(3))


def test_missing_columns_are_named(tmp_path):
    layout = open_stream(write(tmp_path / "old.csv", ["mm", "sky", "wet"]), "wet").layout
    (tmp_path / "new.csv").write_text("MM,sky\n1,fog\n")
    with pytest.raises(
        DataError, match=r"lacks the column 'mm' that the model learned from; is 'MM' the column 'mm'\?"
    ):
        read(tmp_path / "new.csv", layout)
    (tmp_path / "new.csv").write_text("skye,m\nfog,1\n")
    with pytest.raises(DataError, match=r"lacks 2 columns 'mm', 'sky' that the model learned from"):
        read(tmp_path / "new.csv", layout)


def test_a_malformed_row_is_an_error_after_the_rows_before_it_or_is_skipped(tmp_path):
    layout = open_stream(write(tmp_path / "old.csv", ["mm", "code", "wet"]), "wet").layout
    (tmp_path / "new.csv").write_text("mm,code\n1,1\n2,two\n3\n4,4\n")
    seen = []
    with pytest.raises(DataError, match=r"new\.csv, line 3: column 'code': 'two' is not a number"):
        seen += (rows.tolist() for _, rows in RowFile(tmp_path / "new.csv", layout).blocks())
    assert seen == [[[1.0, 1.0]]]
    file = RowFile(tmp_path / "new.csv", layout, on_bad_row="skip")
    ((places, rows),) = file.blocks()
    assert (places, rows.tolist(), file.n_skipped) == ([2, 5], [[1, 1], [4, 4]], 2)


def test_a_file_without_rows_is_refused(tmp_path):
    layout = open_stream(write(tmp_path / "old.csv", ["mm", "code", "wet"]), "wet").layout
    (tmp_path / "new.csv").write_text("mm,code\n")
    with pytest.raises(DataError, match="has no usable rows"):
        read(tmp_path / "new.csv", layout)
