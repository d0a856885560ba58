import dataclasses
import gzip
import zipfile

import numpy as np
import pytest

from driftline import DataError
from driftline.streams.catalogue import describe, names
from driftline.streams.catalogue.conversion import convert
from driftline.streams.catalogue.verification import find_mismatch
from helpers.fake_dataset import CSV, X, made_up, pebbles, write_originals, y

CONVERTED = [name for name in names() if describe(name).format != "bundled"]
WHOLE = [name for name in CONVERTED if describe(name).rows <= 60_000]
LARGE = sorted(set(CONVERTED) - set(WHOLE) - {"creditcard"})


def assert_same(converted, arrays):
    for one, other in zip(converted, arrays, strict=True):
        assert one.dtype == other.dtype
        assert one.flags.c_contiguous
        assert np.array_equal(one, other)


@pytest.mark.parametrize("name", [name for name in CONVERTED if name != "smartgrid"])
def test_originals_give_the_rows_that_they_were_written_from(tmp_path, name):
    dataset = describe(name)
    arrays = made_up(dataset, 50)
    if name == "email":
        arrays[0][:, 0] = 1  # no message without a word
    assert_same(convert(dataset, write_originals(dataset, *arrays, tmp_path)), arrays)


def test_smartgrid_is_made_with_the_consumers_in_all_orders(tmp_path):
    dataset = describe("smartgrid")
    base, labels = made_up(dataset, 7)
    column = {c.name: base[:, j] for j, c in enumerate(dataset.columns)}
    blocks = []
    for order in ("123", "312", "231", "132", "321", "213"):
        kept = [f"{kind}{i}" for kind in ("tau", "p", "g") for i in (1, *(int(consumer) + 1 for consumer in order))]
        blocks.append(np.column_stack([column[name] for name in (*kept, "stab")]))
    arrays = np.concatenate(blocks), np.tile(labels, 6)
    assert_same(convert(dataset, write_originals(dataset, *arrays, tmp_path)), arrays)


@pytest.mark.parametrize("name", WHOLE)
def test_originals_of_real_streams_give_the_converted_file(tmp_path, real_arrays, name):
    dataset = describe(name)
    arrays = real_arrays(name)
    if name == "email":  # where the two rows without a word are does not matter
        assert arrays[0].any(axis=1).all()
    converted = convert(dataset, write_originals(dataset, *arrays, tmp_path))
    assert_same(converted, arrays)
    np.savez(tmp_path / "again.npz", X=converted[0], y=converted[1])
    assert find_mismatch(dataset, tmp_path / "again.npz") is None


@pytest.mark.parametrize("name", LARGE)
def test_the_beginnings_of_large_originals_give_those_of_the_converted_file(tmp_path, real_arrays, name):
    X, y = real_arrays(name)
    arrays = X[:5000], y[:5000]
    assert_same(convert(describe(name), write_originals(describe(name), *arrays, tmp_path)), arrays)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_large_originals_give_the_converted_file(tmp_path, real_arrays, name):
    arrays = real_arrays(name)
    assert_same(convert(describe(name), write_originals(describe(name), *arrays, tmp_path)), arrays)


def test_double_precision_is_kept_where_single_would_lose_something(tmp_path):
    (tmp_path / "pebbles.csv").write_bytes(CSV.replace(b"0.25", b"0.1"))
    converted, _ = convert(pebbles(), [tmp_path / "pebbles.csv"])
    assert converted.dtype == np.float64
    assert converted[1, 0] == 0.1


def test_blank_lines_hold_no_row(tmp_path):
    (tmp_path / "pebbles.csv").write_bytes(CSV.replace(b"\n0.25", b"\n\n0.25") + b"\n\n")
    assert_same(convert(pebbles(), [tmp_path / "pebbles.csv"]), (X, y))


def test_packed_files_are_read_like_plain_ones(tmp_path):
    (tmp_path / "a.csv").write_bytes(CSV)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(CSV))
    with zipfile.ZipFile(tmp_path / "a.csv.zip", "w") as archive:
        archive.writestr("a.csv", CSV)
        archive.writestr("__MACOSX/._a.csv", b"what a Mac adds")
    for path in tmp_path.iterdir():
        assert_same(convert(pebbles(), [path]), (X, y))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "expected the columns weight, colour, leak and a label; got "),
        (b"a,b,c,d\n1,2,3,4\n", "got a, b, c, d"),
        (CSV.replace(b",red", b""), "line 2: expected 3 numbers and a label; got 3 values"),
        (CSV.replace(b"red", b"pink"), "line 2: could not convert string to float: 'pink'"),
        (CSV.replace(b"small", b"tiny"), "the labels small, large; got .* including large, tiny"),
        (CSV.replace(b"red", b"\xff\xfe"), "codec can't decode"),
        (CSV.replace(b"red", b'"' + 200_000 * b"r"), "field larger"),
        (gzip.compress(CSV, mtime=0)[:-12], "end-of-stream"),
        (b"PK\x03\x04 and no more", "not a zip file"),
    ],
)
def test_what_is_no_original_is_refused_by_name(tmp_path, text, words):
    (tmp_path / "pebbles.csv").write_bytes(text)
    with pytest.raises(DataError, match=rf"pebbles\.csv.*{words}.*again"):
        convert(pebbles(), [tmp_path / "pebbles.csv"])


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        (("1 2\n3 4\n", "1\n2\n1\n"), r"got rows of shape \(2, 2\) and 3 labels"),
        (("1 2 3\n4 5 6\n7 8 9\n", "1\n2\n3\n"), r"got rows of shape \(3, 3\) .* including 1.0, 2.0, 3.0"),
        (("1 2 3\n4 5\n", "1\n2\n"), "number of columns changed"),
        (("1 2 three\n", "1\n"), "could not convert"),
        (("", "1\n"), "first line is empty"),
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path, tables, words):
    paths = [tmp_path / "rows.dat", tmp_path / "labels.dat"]
    for path, text in zip(paths, tables, strict=True):
        path.write_text(text)
    with pytest.raises(DataError, match=words):
        convert(dataclasses.replace(pebbles(), format="table", labels=("1", "2")), paths)


def test_archives_of_several_files_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("one.csv", CSV)
        archive.writestr("other.csv", CSV)
    with pytest.raises(DataError, match=r"a\.zip cannot be converted: expected one file .* one\.csv, other\.csv"):
        convert(pebbles(), [tmp_path / "a.zip"])


def test_arff_of_another_width_is_refused(tmp_path):
    (tmp_path / "a.arff").write_text("@relation a\n@attribute b numeric\n@attribute c {0,1}\n@data\n1,0\n")
    with pytest.raises(DataError, match="expected 3 attributes and a label; got 2"):
        convert(dataclasses.replace(pebbles(), format="arff"), [tmp_path / "a.arff"])
