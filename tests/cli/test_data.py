import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from driftline.cli import main
from driftline.cli.app import app
from driftline.streams.catalogue import describe, names
from helpers.fake_dataset import CSV, X, pebbles, y


def run(*arguments):
    result = CliRunner().invoke(app, ["data", *arguments], env={"COLUMNS": "80"})
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("DRIFTLINE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def place(folder, name):
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"")


def test_the_list_shows_every_stream_and_where_it_is_within_80_columns(folders):
    place(folders / "data", "weather.npz")
    place(folders / "cache", "elec2_1148.npz")
    place(folders / "data", "chessweka.csv")
    code, output, _ = run("list")
    lines = output.splitlines()
    assert code == 0
    assert max(map(len, lines)) <= 80
    shown = {line.split()[0]: line for line in lines[1:-1]}
    assert tuple(shown) == names()
    assert "18,159 8 2 68.6 31.97 data folder" in " ".join(shown["weather"].split())
    assert shown["elec2"].rstrip().endswith("cache")
    assert shown["chess"].rstrip().endswith("data folder, raw")
    assert shown["poker"].rstrip().endswith("not downloaded")
    assert shown["flights"].rstrip().endswith("package")
    assert {name for name, line in shown.items() if "!" in line} == {name for name in names() if describe(name).caveats}


def test_the_list_is_there_for_programs(folders):
    place(folders / "data", "chessweka.csv")
    listed = json.loads(run("list", "--json", "-")[1])
    assert [entry["name"] for entry in listed] == list(names())
    chess = listed[4]
    assert (chess["rows"], len(chess["columns"]), chess["classes"]) == (503, 8, ["not won", "won"])
    assert (chess["place"], chess["raw"]) == ("data folder", True)
    assert chess["files"] == [str(folders / "data" / "chessweka.csv")]
    assert (listed[0]["place"], listed[0]["raw"], listed[0]["files"]) == (None, False, [])
    assert listed[8]["measured"] is None


@pytest.mark.parametrize("name", names())
def test_all_that_is_known_of_a_stream_is_shown(name):
    dataset = describe(name)
    code, output, _ = run("info", name)
    plain = " ".join(output.split())
    assert code == 0
    texts = [dataset.title, dataset.citation, dataset.licence, dataset.derivation, *dataset.caveats, *dataset.notes]
    texts += [file.address for files in dataset.originals for file in files]
    texts += [
        dataset.sha256 or "sha256 unknown",
        *dataset.home,
        dataset.file,
        dataset.columns[-1].name,
        "where package" if dataset.format == "bundled" else "where not downloaded",
    ]
    for text in texts:
        assert " ".join(text.split()) in plain
    assert all(len(line) <= 80 for line in output.splitlines() if "http" not in line and dataset.file not in line)


def test_columns_are_shown_with_their_kinds():
    output = " ".join(run("info", "airlines")[1].split())
    assert "airport_from: nominal with 293 values, PHX LAX" in output
    assert "s1, s2, s3, s4, s5: nominal with 4 values" in " ".join(run("info", "poker")[1].split())
    assert "word1 … word913: binary" in run("info", "email")[1]


def test_what_is_known_of_a_stream_is_there_for_programs():
    shown = json.loads(run("info", "smartgrid", "--json", "-")[1])
    assert shown["columns"][-1]["name"] == "stab"
    assert shown["columns"][-1]["leaks"] is True
    assert shown["sha256"] == describe("smartgrid").sha256
    assert shown["originals"][0][0]["name"] == "Data_for_UCI_named.csv"
    assert shown["place"] is None
    assert shown in json.loads(run("list", "--json", "-")[1])


def test_fetching_goes_on_after_a_failure_and_names_what_failed(folders, monkeypatch):
    records = {
        "pebbles": pebbles("http://127.0.0.1:9/pebbles.csv"),
        "rocks": pebbles("http://127.0.0.1:9/rocks.csv", name="rocks", file="rocks.npz"),
        "email": describe("email"),
    }
    monkeypatch.setattr("driftline.cli.data.describe", records.__getitem__)
    (folders / "data" / "pebbles.csv").write_bytes(CSV)
    np.savez(folders / "data" / "rocks.npz", X=X, y=y)
    code, output, errors = run("fetch", "email", "pebbles", "rocks")
    assert code == 1
    assert output.splitlines() == [
        f"pebbles: {folders / 'cache' / 'pebbles.npz'}",
        f"rocks: {folders / 'data' / 'rocks.npz'}",
    ]
    assert errors.splitlines()[0].startswith(
        "driftline: the stream email cannot be downloaded automatically; download email_data"
    )
    assert errors.splitlines()[-1] == "driftline: not downloaded: email"
    assert run("fetch", "pebbles", "rocks")[0] == 0


def test_all_streams_can_be_fetched_at_once(monkeypatch):
    fetched = []
    monkeypatch.setattr("driftline.cli.data.converted_file", lambda dataset: fetched.append(dataset.name))
    assert run("fetch", "all")[0] == 0
    assert tuple(fetched) == names()


def test_errors_are_one_line_without_a_traceback(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["driftline", "data", "info", "wether"])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr().err
    assert left.value.code == 2
    assert (
        said
        == "driftline: there is no published stream 'wether' ('driftline data list' lists all); did you mean weather?\n"
    )


def test_wrong_usage_is_told_apart_from_failure():
    assert run("fetch")[0] == 2
    assert run("info")[0] == 2
    assert run("list", "--wrong")[0] == 2


def test_help_teaches_where_streams_are_looked_for():
    output = CliRunner().invoke(app, ["data", "--help"]).output
    assert all(word in output for word in ("DRIFTLINE_DATA", "DRIFTLINE_CACHE", "list", "info", "fetch"))
