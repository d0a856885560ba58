import gzip
import hashlib
import sys

import numpy as np
import pytest

from driftline import AMRC
from driftline.evaluation import evaluate
from driftline.streams import Stream, load
from driftline.streams.catalogue import describe
from driftline.streams.catalogue.bundled import bundled_file
from driftline.streams.catalogue.loading import converted_file


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Neither a folder of data nor a cache, nor what downloads."""
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "missing"))
    monkeypatch.delenv("DRIFTLINE_CACHE", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)


def content(stream):
    blocks = list(stream.blocks())
    return tuple(np.concatenate([getattr(block, name) for block in blocks]) for name in ("rows", "labels", "times"))


def test_the_bundled_file_is_the_one_that_is_described():
    dataset = describe("flights")
    packed = bundled_file(dataset).read_bytes()
    assert len(packed) < 300_000
    assert hashlib.sha256(packed).hexdigest() == dataset.sha256
    assert hashlib.sha256(gzip.decompress(packed)).hexdigest() == dataset.content


@pytest.mark.usefixtures("elsewhere")
def test_flights_load_without_a_download_and_have_the_statistics_that_are_stated():
    dataset, stream = describe("flights"), load("flights", download=False)
    X, y, times = content(stream)
    measured = dataset.measured
    assert isinstance(stream, Stream)
    assert (stream.n_rows, *X.shape, len(stream.classes())) == (len(y), measured.rows, measured.columns, 2)
    assert sorted(dataset.classes) == stream.classes().tolist() == ["late", "on time"]
    assert 100 * np.mean(y == "on time") == pytest.approx(measured.majority, abs=0.005001)
    assert 100 * np.mean(y[1:] != y[:-1]) == pytest.approx(measured.no_change, abs=0.005001)
    assert stream.columns == tuple(column.name for column in dataset.columns)
    assert np.all(np.diff(times) >= 0)
    assert times[0] == np.datetime64("2013-01-01T06:00", "s").astype(int)


def test_the_columns_of_flights_lie_where_their_meaning_says():
    stream = load("flights")
    X, _, times = content(stream)
    at = {name: X[:, j] for j, name in enumerate(stream.columns)}
    assert np.array_equal(at["minutes"], times % 86400 / 60)
    assert np.array_equal(at["weekday"], (times // 86400 + 3) % 7 + 1)
    assert {*at["carrier"]} == {0, 1, 2}
    assert np.array_equal(np.isnan(at["recent_delay"]), at["recent_departures"] == 0)
    assert np.nanmin(at["recent_delay"]) >= -30
    assert np.nanmax(at["recent_delay"]) <= 180
    assert np.isnan(at["pressure"]).mean() == pytest.approx(0.1147, abs=1e-4)
    assert np.isnan(X[:, [stream.columns.index(name) for name in ("temperature", "visibility")]]).mean() < 0.003


def test_carriers_are_spread_out_by_choice():
    stream = load("flights", nominal="onehot")
    assert stream.columns[:4] == ("carrier=AA", "carrier=OO", "carrier=UA", "minutes")
    X, y, times = content(stream)
    codes, labels, same_times = content(load("flights"))
    assert np.array_equal(X[:, :3].argmax(axis=1), codes[:, 0])
    assert np.array_equal(y, labels)
    assert np.array_equal(times, same_times)


@pytest.mark.usefixtures("elsewhere")
def test_fetching_flights_downloads_nothing():
    assert converted_file(describe("flights")).name == "flights.csv.gz"


def test_the_columns_of_flights_say_more_about_the_label_than_its_last_value():
    summary = evaluate(AMRC(features="linear"), load("flights"), limit=3000, progress=False).summary
    assert summary.error < min(summary.majority_error, summary.no_change_error)
