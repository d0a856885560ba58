"""Predictions of rows that come through a pipe, and their labels, which come later."""

import csv
import io
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from driftline import AMRC
from driftline.registry import load_model
from driftline.streams.files import RowFile

START = [sys.executable, "-c", "from driftline.cli import main; main()", "predict"]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(params=["amrc-linear", "dwm"])
def trained(request, folder, command):
    """A model of a stream with a column of ids, and its new rows with ids."""
    lines = (folder / "my.csv").read_text().splitlines()
    keyed = [f"key,{lines[0]}", *(f"k{t},{line}" for t, line in enumerate(lines[1:]))]
    (folder / "keyed.csv").write_text("\n".join(keyed) + "\n")
    new = (folder / "new.csv").read_text().splitlines()
    (folder / "new.csv").write_text("\n".join([f"key,{new[0]}", *(f"n{t},{r}" for t, r in enumerate(new[1:]))]) + "\n")
    run = ("run", "keyed.csv", "--label", "class", "--model", request.param, "--ignore", "when")
    assert command(*run, "--save", "m.driftline", "--quiet").code == 0
    return folder


def unlabelled(folder):
    """Return the new rows with empty labels, and their labels."""
    lines = (folder / "new.csv").read_text().splitlines()
    rows = [line.rpartition(",") for line in lines[1:]]
    return lines[0], [f"{cells}," for cells, _, _ in rows], [label for _, _, label in rows]


def probabilities(model, folder):
    """Return the probabilities that a model gives for the rows that it was trained with, or its labels."""
    X = np.column_stack([np.linspace(-2, 2, 9), np.ones(9), *np.zeros((model.n_features_in_ - 2, 9))])
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@pytest.mark.parametrize("trained", ["dwm"], indirect=True)  # the loop is that of all models
def test_each_line_is_answered_before_the_next_one_is_sent(trained):
    header, rows, _ = unlabelled(trained)
    words = [*START, "m.driftline", "-", "--id", "key"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        process.stdin.write(f"{header}\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith("key,line,")
        for t, row in enumerate(rows[:4]):
            process.stdin.write(f"{row}\n")
            process.stdin.flush()
            assert process.stdout.readline().startswith(f"n{t},{t + 2},")
        process.stdin.close()
        assert process.stdout.read() == ""
    assert process.returncode == 0


def test_the_answers_are_those_of_the_file_with_the_id_first(trained, command):
    plain = rows_of(command("predict", "m.driftline", "new.csv").out)
    keyed = rows_of(command("predict", "m.driftline", "new.csv", "--id", "key").out)
    by_position = rows_of(command("predict", "m.driftline", "new.csv", "--id", "0").out)
    piped = rows_of(command("predict", "m.driftline", "-", "--id", "key", stdin=(trained / "new.csv").read_bytes()).out)
    assert next(iter(keyed[0])) == "key"
    assert [row.pop("key") for row in keyed] == [f"n{t}" for t in range(20)]
    assert keyed == plain
    assert [row.pop("key") for row in piped] == [row.pop("0") for row in by_position]
    assert piped == by_position == plain


def test_labels_of_a_second_file_are_learned_as_by_observe_and_partial_fit(trained, command):
    _, _, labels = unlabelled(trained)
    order = np.random.default_rng(0).permutation(20).tolist()
    lines = ["class,key", *(f"{labels[t]},n{t}" for t in order)]
    (trained / "labels.csv").write_text("\n".join(lines) + "\n")
    predict = (
        "predict",
        "m.driftline",
        "new.csv",
        "--id",
        "key",
        "--learn",
        "labels.csv",
        "--save",
        "learned.driftline",
    )
    left = command(*predict)
    assert (left.code, left.err) == (0, "driftline: 20 labels were learned\n")
    learned, expected = load_model("learned.driftline"), load_model("m.driftline")
    X = _encoded(expected, trained)
    if isinstance(expected, AMRC):
        expected.observe(X, ids=[f"n{t}" for t in range(20)])
        expected.partial_fit(X[order], [labels[t] for t in order], ids=[f"n{t}" for t in order])
        assert learned.n_missing_ == expected.n_missing_
    else:
        expected.partial_fit(X[order], [labels[t] for t in order])
    assert np.array_equal(probabilities(learned, trained), probabilities(expected, trained))
    assert learned.notes_ == expected.notes_


def _encoded(model, folder):
    return np.concatenate([rows for _, rows in RowFile(folder / "new.csv", model.notes_["layout"]).blocks()])


def test_lines_of_the_same_pipe_that_have_a_label_teach_it(trained, command):
    header, rows, labels = unlabelled(trained)
    n_cells = header.count(",")
    taught = [f"n{t}{',' * n_cells}{labels[t]}" for t in range(20)]
    stdin = "\n".join([header, *rows[:10], *taught[:5], *rows[10:], *taught[5:], ""]).encode()
    left = command("predict", "m.driftline", "-", "--id", "key", "--learn", "-", "--save", "p.driftline", stdin=stdin)
    assert (left.code, left.err) == (0, "driftline: 20 labels were learned\n")
    answers = rows_of(left.out)
    assert [row["key"] for row in answers] == [f"n{t}" for t in range(20)]
    before = rows_of(command("predict", "m.driftline", "new.csv", "--id", "key").out)
    assert [row["prediction"] for row in answers[:10]] == [row["prediction"] for row in before[:10]]
    learned, expected = load_model("p.driftline"), load_model("m.driftline")
    X, ids = _encoded(expected, trained), [f"n{t}" for t in range(20)]
    for observed, taught in ((slice(10), slice(5)), (slice(10, 20), slice(5, 20))):
        if isinstance(expected, AMRC):
            expected.observe(X[observed], ids=ids[observed])
            expected.partial_fit(X[taught], labels[taught], ids=ids[taught])
        else:
            expected.partial_fit(X[taught], labels[taught])
    assert np.array_equal(probabilities(learned, trained), probabilities(expected, trained))


def test_labels_of_unknown_ids_are_named_counted_and_not_learned(trained, command):
    (trained / "labels.csv").write_text("id,label\nn3,moving\nx1,still\nn3,moving\nn4,\n,still\n")
    left = command("predict", "m.driftline", "new.csv", "--id", "key", "--learn", "labels.csv")
    assert left.code == 0
    assert left.err.splitlines() == [
        "driftline: labels.csv, line 3: no row with the id 'x1' waits for a label",
        "driftline: labels.csv, line 4: no row with the id 'n3' waits for a label",
        "driftline: labels.csv, line 6: the id is missing",
        "driftline: 1 label was learned",
        "driftline: 3 labels were of unknown ids and not learned",
    ]


def test_a_row_whose_id_waits_already_is_answered_but_not_remembered_twice(trained, command):
    header, rows, _ = unlabelled(trained)
    stdin = "\n".join([header, rows[0], rows[0], ""]).encode()
    left = command("predict", "m.driftline", "-", "--id", "key", "--learn", "-", stdin=stdin)
    assert len(rows_of(left.out)) == 2
    assert (
        left.err.splitlines()[-1] == "driftline: 1 row had the id of a row that waits already, and cannot get a label"
    )


def test_rows_wait_for_their_labels_in_the_saved_model(folder, command):
    lines = (folder / "new.csv").read_text().splitlines()
    run = ("run", "my.csv", "--label", "class", "--model", "amrc-linear", "--time", "when")
    assert command(*run, "--save", "a.driftline", "--quiet").code == 0
    (folder / "day1.csv").write_text("\n".join(["key," + lines[0], *(f"a{t},{r}" for t, r in enumerate(lines[1:9]))]))
    (folder / "day2.csv").write_text("\n".join(["key," + lines[0], *(f"b{t},{r}" for t, r in enumerate(lines[9:]))]))
    (folder / "labels.csv").write_text("key,label\na0,moving\na1,still\nb0,still\n")
    assert command("predict", "a.driftline", "day1.csv", "--id", "key", "--save", "b.driftline").code == 0
    assert AMRC.load("b.driftline").n_waiting_ == 8
    day2 = ("predict", "b.driftline", "day2.csv", "--id", "key", "--learn", "labels.csv", "--save", "c.driftline")
    left = command(*day2)
    assert left.err == "driftline: 3 labels were learned\n"
    assert AMRC.load("c.driftline").n_waiting_ == 8 + 12 - 3
    assert AMRC.load("c.driftline").is_waiting(["a0", "a2", "b0", "b1"]).tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--learn", "labels.csv"), "--learn and --save need --id"),
        (("--save", "x.driftline"), "--learn and --save need --id"),
        (("--id", "key", "--save", "-"), "--save needs a file"),
        (("--id", "key", "--learn", "gone.csv"), "there is no file gone.csv"),
        (("--id", "order"), "--id order is not the name of a column"),
        (("--id", "key", "--learn", "labels.csv"), "labels.csv needs a column 'class' or 'label'; it has 'key', 'y'"),
    ],
)
def test_what_is_missing_is_said(folder, command, model, options, message):
    lines = (folder / "new.csv").read_text().splitlines()
    (folder / "keyed.csv").write_text("\n".join(["key," + lines[0], *(f"n{t},{r}" for t, r in enumerate(lines[1:]))]))
    (folder / "labels.csv").write_text("key,y\nn0,still\n")
    left = command("predict", model, "keyed.csv", *options)
    assert left.code in (1, 2)
    assert message in left.err


@pytest.mark.parametrize("text", ["many", "1_000", "1e300", str(2**63), "٣", "+1"])
def test_a_label_of_another_type_is_an_error_with_its_line(folder, command, text):
    (folder / "n.csv").write_text("x,y\n" + "".join(f"{t % 7},{t % 3}\n" for t in range(60)))
    assert command("run", "n.csv", "--label", "y", "--model", "dwm", "--save", "n.driftline", "--quiet").code == 0
    (folder / "new.csv").write_text("key,x\na,3\n")
    (folder / "labels.csv").write_text(f"key,y\na,{text}\n", encoding="utf-8")
    left = command("predict", "n.driftline", "new.csv", "--id", "key", "--learn", "labels.csv")
    assert left.code == 1
    assert left.err.startswith(
        "driftline: labels.csv, line 2: expected a whole number as label, like the classes of the model; got "
    )


@pytest.mark.skipif(os.name == "nt", reason="needs the signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("trained", ["dwm"], indirect=True)  # the loop is that of all models
def test_a_signal_leaves_no_files_and_the_answers_so_far(trained, number, code):
    header, rows, _ = unlabelled(trained)
    before = {path.name for path in trained.iterdir()}
    reset = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    words = [sys.executable, "-c", reset + START[2], "predict", "m.driftline", "-", "--out", "p.csv"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdin.write(f"{header}\n{rows[0]}\n")
        process.stdin.flush()
        while not any(path.read_bytes().count(b"\n") == 2 for path in trained.glob(".p.csv.*")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        _, said = process.communicate()
    assert process.returncode == code
    assert said == f"driftline: {'terminated' if code == 143 else 'interrupted'}\n"
    assert {path.name for path in trained.iterdir()} == before


def test_a_label_that_the_model_had_not_seen_is_learned_and_named(trained, command):
    header, rows, _ = unlabelled(trained)
    (trained / "new.csv").write_text("\n".join([header, *rows[:2]]) + "\n")
    (trained / "labels.csv").write_text("key,class\nn0,moving\nn1,movign\n")
    left = command("predict", "m.driftline", "new.csv", "--id", "key", "--learn", "labels.csv")
    assert left.code == 0
    assert "labels that the model had not seen before were learned: 'movign'; check their spelling" in left.err
    assert "2 labels were learned" in left.err
