"""The first contact with a file of one's own: times and identifiers among its columns."""

import json
import uuid

import numpy as np
import pytest


@pytest.fixture
def log(folder):
    """A log with a key, a time and a column to learn from."""
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=300)
    times = 1_700_000_000 + np.cumsum(rng.integers(1, 90, 300))
    lines = ["key,ts,x,class"]
    for t, label in enumerate(labels.tolist()):
        lines.append(f"{uuid.UUID(int=int(rng.integers(2**62)))},{times[t]},{rng.normal() + 2 * label:.3f},{label}")
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    return folder / "log.csv"


RUN = ("run", "log.csv", "--label", "class", "--model", "dwm")


def test_a_run_tells_how_columns_were_understood_and_leaves_out_time_and_key(log, command):
    left = command(*RUN, "--save", "log.driftline")
    assert left.code == 0
    lines = left.out.splitlines()
    assert lines[0] == "The columns of log, by its first rows:"
    assert [line.split()[0] for line in lines[2:6]] == ["key", "ts", "x", "class"]
    assert (
        "column 'ts' only rises, so it looks like time and is not used: pass --time ts to use it as the time, or "
        "--use ts to learn from it"
    ) in " ".join(lines)
    assert "looks like an identifier and is not used: pass --use key to learn from it" in " ".join(lines)
    assert command("predict", "log.driftline", "log.csv").code == 0  # the saved layout has the columns that were used


def test_the_flags_that_the_lines_name_work(log, command):
    record = json.loads(command(*RUN, "--time", "ts", "--json", "-").out)
    assert [(column["name"], column["role"]) for column in record["columns"]] == [
        ("key", "not used"), ("ts", "time"), ("x", "feature"), ("class", "label"),
    ]  # fmt: skip
    used = command(*RUN, "--use", "ts", "--use", "key")
    assert used.code == 0
    assert "not used" not in used.out


@pytest.mark.parametrize("options", [("--quiet",), ("--json", "-")])
def test_nothing_is_said_of_columns_where_only_results_are_wanted(log, command, options):
    left = command(*RUN, *options)
    assert left.err == ""
    assert "The columns" not in left.out


def test_compare_says_it_once(log, command):
    left = command("compare", "log.csv", "--label", "class", "--models", "majority,no-change")
    assert left.out.count("The columns of log") == 1


def test_a_layout_is_written_edited_and_used(log, command):
    assert command(*RUN, "--time", "ts", "--write-layout", "log.toml", "--quiet") == (0, "", "")
    layout = log.with_name("log.toml")
    layout.write_text(layout.read_text().replace('ignore = ["key"]', "ignore = []"))
    used = command("run", "log.csv", "--layout", "log.toml", "--model", "dwm", "--json", "-")
    assert {column["name"]: column["role"] for column in json.loads(used.out)["columns"]} == {
        "key": "not used", "ts": "time", "x": "feature", "class": "label",
    }  # fmt: skip
    layout.write_text("version = 1\nlables = 3\n")
    left = command("run", "log.csv", "--layout", "log.toml")
    assert left.code == 2
    assert "log.toml: 'lables' is no key of a layout" in left.err
