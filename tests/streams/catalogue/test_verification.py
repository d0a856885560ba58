import dataclasses

import numpy as np
import pytest

from driftline import DataError
from driftline.streams.catalogue import describe, names
from driftline.streams.catalogue.verification import check_dataset_file, content_digest, find_mismatch
from helpers.fake_dataset import X, content, pebbles, y


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["<", ">"])
def test_the_same_arrays_are_recognised_however_they_are_stored(tmp_path, save, order):
    save(tmp_path / "a.npz", X=X.astype(X.dtype.newbyteorder(order)), y=y)
    assert content_digest(tmp_path / "a.npz") == content(X, y)
    check_dataset_file(pebbles(), tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("X", "y"), [(X + 1, y), (X, 1 - y), (X.astype(float), y), (X[:2], y[:2]), (X, y.astype(int)), (X[::-1].copy(), y)]
)
def test_other_arrays_are_refused(tmp_path, X, y):
    np.savez(tmp_path / "pebbles.npz", X=X, y=y)
    with pytest.raises(
        DataError, match=r"pebbles\.npz is not the stream pebbles: expected .* got .*data fetch pebbles"
    ):
        check_dataset_file(pebbles(), tmp_path / "pebbles.npz")


def test_what_is_no_stream_at_all_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", X=3, y=y)
    (tmp_path / "b.npz").write_bytes(b"")
    (tmp_path / "c.npz").mkdir()
    for name in ("a", "b", "c", "d"):
        with pytest.raises(DataError, match=rf"{name}\.npz cannot be read"):
            check_dataset_file(pebbles(), tmp_path / f"{name}.npz")


def test_without_a_digest_rows_columns_and_counts_are_looked_at(tmp_path):
    dataset = dataclasses.replace(pebbles(), content=None, counts=(1, 2))
    np.savez(tmp_path / "a.npz", X=X + 1, y=y)
    assert find_mismatch(dataset, tmp_path / "a.npz") is None
    for name, rows, labels in (("b", X, 1 - y), ("c", X[:, :2].copy(), y), ("d", X, y + 1)):
        np.savez(tmp_path / f"{name}.npz", X=rows, y=labels)
        assert "expected rows, columns and rows of each class" in find_mismatch(dataset, tmp_path / f"{name}.npz")


@pytest.mark.parametrize("name", [name for name in names() if name not in ("creditcard", "flights")])
def test_real_streams_are_recognised_by_file_and_by_content(real_file, name):
    dataset = describe(name)
    path = real_file(dataset.file)
    assert find_mismatch(dataclasses.replace(dataset, content="not looked at"), path) is None
    assert content_digest(path) == dataset.content
