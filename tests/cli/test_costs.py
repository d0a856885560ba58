"""driftline run --costs."""

import json

import numpy as np
import pytest

from driftline import AMRC
from driftline.cli.costs import read_costs
from driftline.errors import DataError
from driftline.evaluation import evaluate
from driftline.streams import open_stream


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.15).astype(int)
    lines = [f"{x:.4f},{label}" for x, label in zip(rng.normal(size=300) + y, y, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["x,class", *lines]))
    return tmp_path / "rows.csv"


@pytest.mark.parametrize(("name", "text"), [("c.json", '{"1": {"0": 9}}'), ("c.toml", "[1]\n0 = 9")])
def test_a_file_of_costs_is_used_and_saved_with_the_model(command, table, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    options = ["--label", "class", "--set", "features=linear", "--costs", tmp_path / name]
    output = command("run", table, *options, "--json", tmp_path / "out.json", "--save", tmp_path / "model").out
    stream = open_stream(table, label="class")
    expected = evaluate(AMRC(features="linear", costs={1: {0: 9}}), stream, progress=False).summary
    written = json.loads((tmp_path / "out.json").read_text())
    assert (written["cost"], written["cost_without"]) == (expected.cost, expected.cost_without)
    assert written["mean_cost"] == expected.cost / 300
    assert "chosen by their costs" in " ".join(output.split())
    assert AMRC.load(tmp_path / "model").costs[1][0] == 9


def test_a_label_that_never_occurs_is_reported(command, table, tmp_path):
    (tmp_path / "c.json").write_text('{"1": {"0": 9, "fnie": 2}}')
    output = command("run", table, "--label", "class", "--model", "majority", "--costs", tmp_path / "c.json").out
    assert "labels that never occurred: 'fnie'" in " ".join(output.split())


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("c.json", "{", "c.json is no JSON file"),
        ("c.toml", "[", "c.toml is no TOML file"),
        ("c.json", '{"a": {"b": -1}}', r"c.json: costs\['a'\]\['b'\] must be"),
        ("c.json", '{"a": 5}', r"c.json: costs\['a'\] must be a mapping"),
        ("c.json", "[1]", "c.json: costs must be a mapping"),
    ],
)
def test_an_error_names_the_file_and_the_labels(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        read_costs(tmp_path / name)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.json cannot be read"):
        read_costs(tmp_path / "none.json")


def test_labels_that_read_as_numbers_stand_for_both(tmp_path):
    (tmp_path / "c.json").write_text('{"1": {"0.5": 9, "nan": 2}}')
    assert read_costs(tmp_path / "c.json") == {
        "1": {"0.5": 9, 0.5: 9, "nan": 2},
        1: {"0.5": 9, 0.5: 9, "nan": 2},
    }
