import re

import numpy as np
import pytest

from driftline import ConfigError
from driftline.streams.catalogue import describe, names

PAPER = {  # Table 2 of the paper
    "weather": (18159, 8, 2),
    "elec2": (1148, 4, 2),
    "airlines": (539383, 7, 2),
    "german": (1000, 24, 2),
    "chess": (503, 8, 2),
    "usenet1": (1500, 99, 2),
    "usenet2": (1500, 99, 2),
    "email": (1498, 913, 2),
    "creditcard": (284806, 30, 2),
    "smartgrid": (60000, 13, 2),
    "shuttle": (100001, 9, 4),
    "poker": (829201, 10, 10),
}


def test_the_streams_of_the_paper_come_first_with_its_numbers():
    assert names() == (*PAPER, "elec2_full", "covtype", "flights")
    for name, numbers in PAPER.items():
        published = describe(name).published
        assert (published.rows, published.columns, published.classes) == numbers


@pytest.mark.parametrize("name", names())
def test_every_record_is_complete(name):
    dataset = describe(name)
    for text in (dataset.title, dataset.citation, dataset.licence, dataset.derivation, *dataset.home):
        assert text.strip() == text != ""
    assert len(dataset.labels) == len(set(dataset.labels)) == len(dataset.classes)
    assert len({column.name for column in dataset.columns}) == len(dataset.columns)
    assert {column.kind for column in dataset.columns} <= {"numeric", "binary", "nominal"}
    assert all((column.kind == "nominal") == bool(column.values) for column in dataset.columns)
    assert all(len(set(column.values)) == len(column.values) for column in dataset.columns)
    assert all(re.match("https?://[^ ]+$", file.address) for place in dataset.originals for file in place)
    if dataset.content is None:
        assert len(dataset.counts) == len(dataset.classes)
    else:
        assert re.fullmatch("[0-9a-f]{64}", dataset.sha256)
        assert re.fullmatch("[0-9a-f]{64}", dataset.content)
        measured = dataset.measured
        assert (measured.columns, measured.classes) == (len(dataset.columns), len(dataset.classes))


def test_github_addresses_name_a_commit():
    addresses = [file.address for name in names() for place in describe(name).originals for file in place]
    hosted = [address for address in addresses if "raw.githubusercontent.com" in address]
    assert len(hosted) > 8
    assert all(re.search("githubusercontent.com/[^/]+/[^/]+/[0-9a-f]{40}/", address) for address in hosted)


def test_streams_that_differ_from_the_paper_say_so():
    differing = {name for name in PAPER if describe(name).rows != PAPER[name][0]}
    assert differing == {"creditcard", "shuttle"}
    assert all("the paper" in " ".join(describe(name).notes).lower() for name in differing)


def test_the_nominal_columns_of_airlines_are_known():
    nominal = {column.name: len(column.values) for column in describe("airlines").columns if column.kind == "nominal"}
    assert nominal == {"airline": 18, "airport_from": 293, "airport_to": 293, "day": 7}


def test_the_known_caveats_are_listed():
    assert [c.name for name in names() for c in describe(name).columns if c.leaks] == ["stab"]
    assert "decides the label" in describe("smartgrid").caveats[0]
    assert "nothing to do with time" in describe("german").caveats[0]
    assert "sorting" in describe("poker").caveats[0]


def test_unknown_names_are_answered_with_close_ones():
    with pytest.raises(
        ConfigError, match=r"no published stream 'wether' \('driftline data list' lists all\); did you mean weather\?"
    ):
        describe("wether")
    with pytest.raises(ConfigError, match=r"no published stream 'qqq' \('driftline data list' lists all\)$"):
        describe("qqq")
    with pytest.raises(ConfigError, match="no published stream 3"):
        describe(3)


@pytest.mark.parametrize("name", [name for name in names() if name not in ("creditcard", "flights")])
def test_statistics_of_real_streams_are_those_published(real_arrays, name):
    dataset, (X, y) = describe(name), real_arrays(name)
    majority, no_change = 100 * np.bincount(y).max() / len(y), 100 * np.mean(y[1:] != y[:-1])
    measured, published = dataset.measured, dataset.published
    assert (*X.shape, len(np.unique(y))) == (measured.rows, measured.columns, measured.classes)
    assert majority == pytest.approx(measured.majority, abs=0.005001)
    assert no_change == pytest.approx(measured.no_change, abs=0.005001)
    if published is not None:
        assert majority == pytest.approx(published.majority, abs=0.050001)
        assert no_change == pytest.approx(published.no_change, abs=0.050001)


@pytest.mark.parametrize("name", [name for name in names() if name not in ("creditcard", "flights")])
def test_columns_of_real_streams_are_of_the_kinds_that_are_told(real_arrays, name):
    X, _ = real_arrays(name)
    for j, column in enumerate(describe(name).columns):
        values = np.unique(X[:, j])
        if column.kind == "binary":
            assert set(values) <= {0, 1}
        elif column.kind == "nominal":
            assert np.array_equal(values, column.code + np.arange(len(column.values)))


def test_the_last_column_of_smartgrid_decides_its_label(real_arrays):
    X, y = real_arrays("smartgrid")
    assert np.array_equal(y == 1, X[:, 12] <= 0)
