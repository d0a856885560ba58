import sys

import numpy as np
import pytest

from driftline import ConfigError, DataError
from driftline.errors import DownloadError, MissingExtraError
from driftline.streams import Stream, catalogue, load
from driftline.streams.catalogue.loading import converted_file
from driftline.streams.catalogue.locations import find_dataset, search_folders
from helpers.fake_dataset import CSV, X, pebbles, y


@pytest.fixture
def data(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("DRIFTLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        "driftline.streams.catalogue.loading.describe", lambda name: pebbles("http://localhost:9/pebbles.csv")
    )
    return tmp_path / "data"


def save(folder, X=X):
    folder.mkdir(exist_ok=True)
    np.savez_compressed(folder / "pebbles.npz", X=X, y=y)


def rows(stream):
    return np.concatenate([block.rows for block in stream.blocks()])


def test_leaks_are_left_out_unless_wanted(data):
    save(data)
    assert load("pebbles").columns == ("weight", "colour")
    assert np.array_equal(rows(load("pebbles")), X[:, :2])
    assert load("pebbles", with_leaks=True).columns == ("weight", "colour", "leak")
    assert np.array_equal(rows(load("pebbles", with_leaks=True)), X)
    assert isinstance(load("pebbles"), Stream)
    assert load("pebbles").classes().tolist() == [0, 1]


def test_nominal_columns_are_spread_out_by_choice(data):
    save(data)
    stream = load("pebbles", nominal="onehot")
    assert stream.columns == ("weight", "colour=red", "colour=green", "colour=blue")
    assert np.array_equal(rows(stream), np.column_stack([X[:, 0], np.eye(3)]))
    (block,) = stream.blocks(start=2)
    assert block.rows.tolist() == [[0.5, 0, 0, 1]]
    assert (stream.name, stream.n_rows, block.labels.tolist()) == ("pebbles", 3, [1])
    with pytest.raises(ConfigError, match="nominal must be 'codes' or 'onehot'; got 'dummies'"):
        load("pebbles", nominal="dummies")


def test_the_data_folder_comes_before_the_cache(data, tmp_path):
    assert find_dataset(pebbles()) is None
    save(tmp_path / "cache")
    assert find_dataset(pebbles()).place == "cache"
    save(data)
    assert find_dataset(pebbles()).place == "data folder"


def test_originals_put_there_by_hand_are_converted_into_the_cache(data, tmp_path):
    (data / "pebbles.csv").write_bytes(CSV)
    assert converted_file(pebbles("http://localhost:9/")) == tmp_path / "cache" / "pebbles.npz"
    assert np.array_equal(rows(load("pebbles", with_leaks=True)), X)
    assert (data / "pebbles.csv").read_bytes() == CSV
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["pebbles.npz"]
    assert find_dataset(pebbles("http://localhost:9/")).place == "cache"  # rather than the original in the data folder


def test_an_original_that_was_unpacked_is_found(data):
    (data / "poker-lsn.arff").write_text("")
    assert find_dataset(catalogue.describe("poker")).paths == (data / "poker-lsn.arff",)


def test_an_original_that_gives_another_stream_leaves_nothing(data, tmp_path):
    (data / "pebbles.csv").write_bytes(CSV.replace(b"0.25", b"0.75"))
    with pytest.raises(
        DataError, match=r"pebbles\.csv, converted, is not the stream pebbles: expected arrays with the digest"
    ):
        load("pebbles")
    assert list((tmp_path / "cache").iterdir()) == []


def test_another_file_under_that_name_is_refused_and_stays(data):
    save(data, X + 1)
    before = (data / "pebbles.npz").read_bytes()
    with pytest.raises(DataError, match="is not the stream pebbles"):
        load("pebbles")
    assert (data / "pebbles.npz").read_bytes() == before


def test_without_downloading_the_error_says_what_to_put_where(data):
    with pytest.raises(
        DownloadError, match=rf"not on this computer; download pebbles\.csv from http://localhost:9/.* into {data}"
    ):
        load("pebbles", download=False)


def test_a_data_folder_that_does_not_exist_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match=r"DRIFTLINE_DATA is .*nowhere', which is not a folder"):
        load("weather")


def test_a_cache_that_cannot_be_written_is_named(data, monkeypatch, tmp_path):
    (data / "pebbles.csv").write_bytes(CSV)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DRIFTLINE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ConfigError, match=r"file/cache cannot be written to .* DRIFTLINE_CACHE"):
        load("pebbles")


def test_without_pooch_the_data_folder_still_works(data, monkeypatch):
    monkeypatch.delenv("DRIFTLINE_CACHE")
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert list(search_folders()) == ["data folder"]
    with pytest.raises(MissingExtraError, match=r"needs pooch; pip install 'driftline\[data\]'"):
        load("pebbles")
    save(data)
    assert load("pebbles").n_rows == 3


def test_the_cache_is_that_of_the_system(monkeypatch, tmp_path):
    monkeypatch.delenv("DRIFTLINE_DATA", raising=False)
    monkeypatch.delenv("DRIFTLINE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (place,) = search_folders().items()
    assert place[0] == "cache"
    assert place[1].name == "driftline"


def test_real_streams_load_by_name(real_file):
    for name in ("weather", "elec2", "smartgrid"):
        real_file(catalogue.describe(name).file)
    assert load("weather").columns[:2] == ("temperature", "dew_point")
    assert load("elec2").n_rows == 1148
    assert "stab" not in load("smartgrid").columns
    assert len(load("smartgrid").columns) == 12


def test_real_airlines_are_spread_out_without_loss(real_file, real_arrays):
    real_file("airlines.npz")
    stream, codes = load("airlines", nominal="onehot"), real_arrays("airlines")[0]
    assert len(stream.columns) == 3 + 18 + 293 + 293 + 7
    block = next(stream.blocks(start=500_000))
    at = 0
    for j, column in enumerate(catalogue.describe("airlines").columns):
        width = len(column.values) or 1
        part, at = block.rows[:, at : at + width], at + width
        expected = codes[500_000 : 500_000 + len(part), j]
        assert np.array_equal(part.argmax(axis=1) if column.values else part[:, 0], expected)
        assert not column.values or np.all(part.sum(axis=1) == 1)
