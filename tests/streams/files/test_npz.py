import contextlib
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftline import DataError
from driftline.streams.files.npz import NpzStream
from driftline.streams.protocol import BLOCK_ROWS, Stream


def gathered(stream, start=0):
    blocks = list(stream.blocks(start))
    assert all(0 < len(block.rows) <= BLOCK_ROWS for block in blocks)
    return [np.concatenate([getattr(block, part) for block in blocks]) for part in ("rows", "labels", "times")]


@given(
    n_rows=st.integers(1, 2 * BLOCK_ROWS + 5),
    share=st.floats(0, 0.999),
    kind=st.sampled_from(["<f4", "<f8", ">f8", "<i2", "|u1", "|b1"]),
    save=st.sampled_from([np.savez, np.savez_compressed]),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_blocks_are_the_rows_from_the_start_on(tmp_path, n_rows, share, kind, save):
    X = (np.arange(3.0 * n_rows).reshape(n_rows, 3) % 101).astype(kind)
    y, times, start = np.arange(n_rows) % 4, np.arange(n_rows) / 2, int(share * n_rows)
    save(tmp_path / "stream.npz", X=X, y=y.astype(np.int8), times=times)
    stream = NpzStream(tmp_path / "stream.npz", columns=["a", "b", "c"])
    rows, labels, moments = gathered(stream, start)
    assert rows.dtype == np.float64
    assert np.array_equal(rows, X[start:])
    assert np.array_equal(labels, y[start:])
    assert np.array_equal(moments, times[start:])
    assert np.array_equal(stream.classes(), np.unique(y))
    assert isinstance(stream, Stream)


def test_a_start_at_or_after_the_end_gives_no_rows(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((3, 1)), y=[0, 1, 0])
    assert list(NpzStream(tmp_path / "a.npz").blocks(3)) == []
    assert list(NpzStream(tmp_path / "a.npz").blocks(10**9)) == []


def test_labels_may_be_text_and_times_dates(tmp_path):
    times = np.array(["2024-01-01", "2024-01-02"], "datetime64[D]")
    np.savez(tmp_path / "a.npz", X=np.ones((2, 1)), y=np.array(["dry", "rain"]), times=times)
    _, labels, moments = gathered(NpzStream(tmp_path / "a.npz"))
    assert labels.tolist() == ["dry", "rain"]
    assert moments[1] - moments[0] == 86400
    np.savez(tmp_path / "b.npz", X=np.ones((2, 1)), y=[0, 1])
    assert np.isnan(gathered(NpzStream(tmp_path / "b.npz"))[2]).all()


def test_memory_does_not_grow_with_the_file(tmp_path):
    def peak(n_rows):
        np.savez_compressed(tmp_path / "a.npz", X=np.ones((n_rows, 50), np.float32), y=np.zeros(n_rows, np.int8))
        stream = NpzStream(tmp_path / "a.npz")
        tracemalloc.start()
        count = sum(len(block.rows) for block in stream.blocks())
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == n_rows
        return size

    assert peak(20 * BLOCK_ROWS) < 1.2 * peak(2 * BLOCK_ROWS)


def test_there_must_be_a_name_for_each_column(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((2, 2)), y=[0, 1])
    assert NpzStream(tmp_path / "a.npz", name="b", columns=["c", "d"]).columns == ("c", "d")
    with pytest.raises(DataError, match=r"a\.npz has 2 columns, but 1 names"):
        NpzStream(tmp_path / "a.npz", columns=["c"])


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"y": [0, 1]}, "has no X, only y.npy"),
        ({"X": np.ones((2, 2))}, "has no y"),
        ({"X": np.ones(2), "y": [0, 1]}, r"X has the shape \(2,\)"),
        ({"X": np.ones((2, 0)), "y": [0, 1]}, r"X has the shape \(2, 0\)"),
        ({"X": np.ones((2, 2), complex), "y": [0, 1]}, "complex128"),
        ({"X": np.array([["a"], ["b"]]), "y": [0, 1]}, "<U1"),
        ({"X": np.asfortranarray(np.ones((2, 2))), "y": [0, 1]}, r"save np\.ascontiguousarray\(X\)"),
        ({"X": np.ones((2, 2)), "y": [0, 1, 0]}, r"y the shape \(3,\)"),
        ({"X": np.ones((2, 2)), "y": np.array(["a", 1], object)}, "object"),
        ({"X": np.ones((2, 2)), "y": [0, 1], "times": [1.0]}, r"times the shape \(1,\)"),
    ],
)
def test_arrays_that_do_not_form_a_stream_are_refused(tmp_path, arrays, words):
    np.savez(tmp_path / "foreign.npz", **arrays)
    with pytest.raises(DataError, match=rf"foreign\.npz cannot be read: .*{words}.*expected an \.npz"):
        NpzStream(tmp_path / "foreign.npz")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"y": [0.0, 0.5, 1.0]}, r"label of row 1 is 0\.5"),
        ({"y": [0.0, np.nan, 1.0]}, "label of row 1 is nan"),
        ({"y": [0, 0, 1], "times": [1.0, 3.0, 2.0]}, "timestamp of row 2"),
    ],
)
def test_invalid_labels_and_times_are_refused(tmp_path, arrays, words):
    np.savez(tmp_path / "odd.npz", X=np.ones((3, 2)), **arrays)
    with pytest.raises(DataError, match=rf"odd\.npz cannot be read: .*{words}"):
        list(NpzStream(tmp_path / "odd.npz").blocks())


@pytest.mark.parametrize("content", [b"", b"not a zip archive", b"PK\x03\x04 cut"])
def test_files_of_another_kind_are_refused(tmp_path, content):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.npz cannot be read"):
        NpzStream(tmp_path / "a.npz")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*a\.npz"):
        NpzStream(tmp_path / "a.npz")


def test_members_that_are_not_arrays_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", b"1, 2, 3")
        archive.writestr("y.npy", b"")
    with pytest.raises(DataError, match=r"a\.npz cannot be read"):
        NpzStream(tmp_path / "a.npz")


@given(position=st.floats(0, 1), damage=st.sampled_from(["cut", "flip"]), save=st.sampled_from(["plain", "packed"]))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damage_anywhere_is_a_data_error_or_harmless(tmp_path, position, damage, save):
    """Flipped bits in names, dates and such of the archive change nothing; everything else must be noticed."""
    X, y = np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) % 2
    path = tmp_path / "a.npz"
    (np.savez if save == "plain" else np.savez_compressed)(path, X=X, y=y)
    data = bytearray(path.read_bytes())
    at = min(int(position * len(data)), len(data) - 1)
    if damage == "cut":
        data = data[:at]
    else:
        data[at] ^= 0xFF
    path.write_bytes(data)
    with contextlib.suppress(DataError):
        rows, labels, _ = gathered(NpzStream(path))
        assert damage == "flip"
        assert np.array_equal(rows, X)
        assert np.array_equal(labels, y)


def test_a_file_replaced_under_an_open_stream_is_noticed(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=np.ones((3, 2)), y=[0, 1, 0])
    stream = NpzStream(path)
    np.savez(path, X=np.ones((2, 2)), y=[0, 1])
    with pytest.raises(DataError, match="has changed since the stream was opened"):
        list(stream.blocks())


def test_an_array_with_data_after_its_last_row_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=np.ones((3, 2)), y=[0, 1, 0])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content + 8 * b"\0" if name == "X.npy" else content)
    with pytest.raises(DataError, match="X has data after its last row"):
        list(NpzStream(path).blocks())
