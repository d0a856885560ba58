"""Predictions of new rows by a saved model."""

import csv
import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from driftline import AMRC, Status
from driftline.registry import create, load_model
from driftline.streams import RotatingGaussians, open_stream


def read(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows
    return rows


def test_new_rows_get_labels_and_how_far_they_can_be_trusted(folder, command, model):
    rows = read(command("predict", model, "new.csv").out)
    loaded = AMRC.load(model)
    shares = [f"p({label})" for label in loaded.classes_]
    assert list(rows[0]) == ["line", "answer", "prediction", *shares, "confidence", "bound", "set"]
    assert [int(row["line"]) for row in rows] == list(range(2, 22))
    same = _new_rows_as_of_one_stream()
    assert [row["prediction"] for row in rows] == loaded.predict(same).tolist()
    shares = np.array([[float(row[f"p({label})"]) for label in loaded.classes_] for row in rows])
    assert np.allclose(shares, loaded.predict_proba(same), atol=1e-6)
    assert np.allclose([float(row["bound"]) for row in rows], loaded.predict_bound(same), rtol=1e-5)
    assert np.allclose([float(row["confidence"]) for row in rows], loaded.predict_confidence(same), rtol=1e-5)
    assert [row["answer"] for row in rows] == [label or "" for label in loaded.decide(same).tolist()]
    sets = ["|".join(loaded.classes_[members]) for members in loaded.predict_set(same)]
    assert [row["set"] for row in rows] == sets


def test_rows_are_handed_over_at_the_level_that_the_run_was_given(folder, command):
    n_answers = {}
    for error in ("0.5", "0.001"):
        run = ("run", "my.csv", "--label", "class", "--model", "amrc-linear", "--error", error)
        assert command(*run, "--save", "level.driftline").code == 0
        rows = read(command("predict", "level.driftline", "new.csv").out)
        assert all(row["answer"] in ("", row["prediction"]) for row in rows)
        n_answers[error] = sum(row["answer"] != "" for row in rows)
    assert n_answers["0.001"] < n_answers["0.5"] == 20


def test_sets_are_safe_in_a_spreadsheet_too(folder, command):
    X, y = RotatingGaussians().sample(60, seed=0)
    create("amrc-linear").partial_fit(X, np.array(["=1+1", "b"])[y]).save("formula.driftline")
    (folder / "rows.csv").write_text("\n".join(f"{a},{b}" for a, b in X[:40]))
    plain = read(command("predict", "formula.driftline", "rows.csv").out)
    safe = read(command("predict", "formula.driftline", "rows.csv", "--safe-cells").out)
    assert any(row["set"].startswith("=") for row in plain)
    for name in ("answer", "prediction", "set"):
        expected = [f"'{row[name]}" if row[name].startswith("=") else row[name] for row in plain]
        assert [row[name] for row in safe] == expected


def _new_rows_as_of_one_stream():
    """Return the new rows as they would be had they come at the end of the file that was learned from."""
    old, new = Path("my.csv").read_text(), Path("new.csv").read_text()
    Path("both.csv").write_text(old + new.partition("\n")[2])
    return np.concatenate([block.rows for block in open_stream("both.csv", "class").blocks(300)])


def test_columns_may_come_in_any_order_without_a_label(folder, command, model):
    whole = read(command("predict", model, "new.csv").out)
    lines = [line.split(",") for line in (folder / "new.csv").read_text().splitlines()]
    (folder / "turned.tsv").write_text("\n".join("\t".join([c[3], c[2], c[1], c[0]]) for c in lines))
    assert read(command("predict", model, "turned.tsv", "--delimiter", "\t").out) == whole
    left = command("predict", model, "turned.tsv")
    assert left.code == 1
    assert "its cells were cut at ',', as in the file that the model learned from; pass --delimiter" in left.err
    assert command("predict", model, "turned.tsv", "--id", "sensor").err == left.err


def test_the_standard_input_and_files_are_written_alike(folder, command, model):
    printed = command("predict", model, "-", stdin=(folder / "new.csv").read_bytes()).out
    assert command("predict", model, "new.csv", "--out", "p.csv") == (0, "written: p.csv\n", "")
    assert (folder / "p.csv").read_text() == printed


def test_parquet_has_the_same_columns(folder, command, model):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert command("predict", model, "new.csv", "--out", "p.parquet").code == 0
    table = parquet.read_table("p.parquet")
    rows = read(command("predict", model, "new.csv").out)
    assert table.column_names == list(rows[0])
    assert table["prediction"].to_pylist() == [row["prediction"] for row in rows]
    assert np.allclose(table["p(still)"].to_numpy(), [float(row["p(still)"]) for row in rows], atol=1e-6)
    assert np.allclose(table["bound"].to_numpy(), [float(row["bound"]) for row in rows], atol=1e-6)
    assert ["|".join(labels) for labels in table["set"].to_pylist()] == [row["set"] for row in rows]
    assert [label or "" for label in table["answer"].to_pylist()] == [row["answer"] for row in rows]


def test_a_classifier_without_bounds_has_no_column_for_them(folder, command):
    assert command("run", "my.csv", "--label", "class", "--model", "dwm", "--save", "dwm.driftline").code == 0
    rows = read(command("predict", "dwm.driftline", "new.csv").out)
    assert "bound" not in rows[0]
    assert len(rows) == 20


@pytest.mark.parametrize("name", ["amrc-linear", "amrc-paper-linear", "dwm", "rbp", "majority"])
def test_models_saved_in_python_are_read_by_the_number_of_their_columns(folder, command, name):
    X, y = RotatingGaussians().sample(60, seed=0)
    own = create(name).partial_fit(X, y)
    own.save("own.driftline")
    assert type(load_model("own.driftline")) is type(own)
    (folder / "rows.csv").write_text("\n".join(f"{a},{b}" for a, b in X[:7]))
    rows = read(command("predict", "own.driftline", "rows.csv").out)
    assert [int(row["prediction"]) for row in rows] == own.predict(X[:7]).tolist()


def test_a_malformed_row_stops_and_leaves_no_file_or_is_skipped(folder, command, model):
    with open("new.csv", "a") as file:
        file.write("many,red,2,3,still\n5,red,6,7,still\n")
    left = command("predict", model, "new.csv", "--out", "p.csv")
    assert left.code == 1
    assert "new.csv, line 22: column 'x': 'many' is not a number" in left.err
    assert not (folder / "p.csv").exists()
    left = command("predict", model, "new.csv", "--on-bad-row", "skip")
    assert [int(row["line"]) for row in read(left.out)] == [*range(2, 22), 23]
    assert left.err == "driftline: 1 malformed row was skipped\n"


def test_a_value_that_is_not_listed_is_a_malformed_row(folder, command):
    rows = [f"{sky},0.{i},{label}" for i in range(1, 30) for sky, label in (("clear", "a"), ("fog", "b"))]
    head = "@relation r\n@attribute sky {clear,fog}\n@attribute x numeric\n@attribute class {a,b}\n@data\n"
    (folder / "listed.arff").write_text(head + "\n".join(rows) + "\n")
    (folder / "rain.csv").write_text("sky,x\nclear,0.5\nrain,0.5\n")
    command("run", "listed.arff", "--label", "class", "--model", "amrc-linear", "--save", "listed.driftline")
    left = command("predict", "listed.driftline", "rain.csv", "--on-bad-row", "skip")
    assert left.code == 0
    assert [row["line"] for row in read(left.out)] == ["2"]
    left = command("predict", "listed.driftline", "rain.csv")
    assert left.code == 1
    assert "'rain' is not in the list of values of 'sky'; correct it (--on-bad-row skip skips such rows)" in left.err


def test_a_file_of_one_column_needs_no_delimiter(folder, command):
    rows = [f"0.{i},{i % 3 % 2}" for i in range(60)]
    (folder / "one.csv").write_text("\n".join(["x,class", *rows, ""]))
    (folder / "x.csv").write_text("x\n0.5\n0.6\n")
    command("run", "one.csv", "--label", "class", "--model", "amrc-linear", "--save", "one.driftline")
    assert len(read(command("predict", "one.driftline", "x.csv").out)) == 2


@pytest.mark.parametrize(
    "arguments", [("predict", "my.driftline", "gone.csv"), ("predict", "gone", "new.csv"), ("explain", "gone")]
)
def test_a_file_that_is_not_there_is_a_wrong_argument(folder, command, model, arguments):
    left = command(*arguments)
    assert left.code == 2
    assert "there is no file gone" in left.err


def test_labels_are_not_lost_in_an_encoding_that_lacks_their_letters(folder, command):
    rows = [f"0.{i},{'日本'[i % 2]}" for i in range(60)]
    (folder / "signs.csv").write_text("\n".join(["x,class", *rows, ""]), encoding="utf-8")
    command("run", "signs.csv", "--label", "class", "--model", "amrc-linear", "--save", "signs.driftline")
    code = "import sys; from driftline.cli import main; sys.argv = ['driftline', 'predict', *sys.argv[1:]]; main()"
    left = subprocess.run(
        [sys.executable, "-c", code, "signs.driftline", "signs.csv"],
        check=True,
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "latin-1"},
    )
    assert {row["prediction"] for row in read(left.stdout.decode())} <= {"日", "本"}


def test_a_bound_that_is_void_is_left_empty(folder, command):
    parquet = pytest.importorskip("pyarrow.parquet")
    model = create("amrc-paper-linear").partial_fit([[1.0, 2.0], [3.0, 4.0]], ["a", "b"])
    model._learner.solution = replace(model._learner.solution, risk=-0.2, status=Status.EMPTY)
    model.save("void.driftline")
    Path("x.csv").write_text("a,b\n1,2\n3,4\n")
    assert [row["bound"] for row in read(command("predict", "void.driftline", "x.csv").out)] == ["", ""]
    assert command("predict", "void.driftline", "x.csv", "--out", "x.parquet").code == 0
    assert parquet.read_table("x.parquet")["bound"].to_pylist() == [None, None]


def test_advice_about_reading_can_be_followed(folder, command, model):
    text = (folder / "new.csv").read_text()
    assert "red" in text
    (folder / "latin.csv").write_bytes(text.replace("red", "r\xe9d").encode("latin-1"))
    left = command("predict", model, "latin.csv")
    assert left.code == 1
    assert "pass --encoding latin-1" in left.err
    assert len(read(command("predict", model, "latin.csv", "--encoding", "latin-1").out)) == 20
    (folder / "semicolons.csv").write_text(text.replace(",", ";"))
    assert len(read(command("predict", model, "semicolons.csv", "--delimiter", ";").out)) == 20
    (folder / "nameless.csv").write_text(text.partition("\n")[2])
    assert len(read(command("predict", model, "nameless.csv", "--no-header").out)) == 20


def test_keys_of_later_lines_are_ignored_like_other_columns(folder, command):
    rows = ['{"x": 0.5, "class": "a"}', '{"x": 1.5, "class": "b"}'] * 30
    (folder / "old.jsonl").write_text("\n".join(rows))
    assert command("run", "old.jsonl", "--label", "class", "--model", "dwm", "--save", "j.driftline").code == 0
    (folder / "new.jsonl").write_text("\n".join(['{"x": 0.5}'] * 1001 + ['{"x": 0.5, "note": 3}']))
    assert len(read(command("predict", "j.driftline", "new.jsonl").out)) == 1002
