"""What a run says, writes and leaves behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import driftline
from driftline import AMRC
from driftline.cli import run as run_module
from driftline.evaluation import Summary, evaluate, timeline
from driftline.guarantees import Guarantees
from driftline.registry import create
from driftline.streams import load, open_stream

LINEAR = ("--label", "class", "--model", "amrc-linear")


def test_a_run_says_in_sentences_and_figures_what_happened(folder, command):
    left = command("run", "my.csv", *LINEAR)
    assert left.code == 0
    assert left.err == ""
    assert left.out.startswith("The columns of my, by its first rows:")
    summary = evaluate(create("amrc-linear"), open_stream("my.csv", "class"), progress=False).summary
    shown = " ".join(left.out.split())
    low, high = summary.error_interval
    assert (
        f"error {summary.error:.1%}, between {low:.1%} and {high:.1%} (majority {summary.majority_error:.1%}" in shown
    )
    assert f"answers {summary.answered:.1%} of the rows" in shown
    assert f"contain the true one in {summary.set_coverage:.1%} of rows (90% asked for)" in shown
    assert f"{summary.error:.1%}" in shown.split("AMRC on my")[0]  # in the sentences too
    assert max(map(len, left.out.splitlines())) <= 100


def test_quiet_is_quiet(folder, command):
    assert command("run", "my.csv", *LINEAR, "--quiet", "--json", "my.json") == (0, "", "")
    assert json.loads((folder / "my.json").read_text())["n_rows"] == 300


def test_figures_for_programs_are_those_of_an_evaluation(folder, command):
    left = command("run", "my.csv", *LINEAR, "--json", "-", "--seed", "3", "--set", "order=0", "--limit", "200")
    record = json.loads(left.out)
    assert (left.code, left.err) == (0, "")
    model = create("amrc-linear", random_state=3, order=0)
    expected = evaluate(model, open_stream("my.csv", "class"), limit=200, progress=False).summary.to_dict()
    timed = ("seconds", "predict_seconds", "learn_seconds", "rows_per_second")
    for name in Summary.__slots__:
        if name not in (*timed, "model"):
            assert record[name] == expected[name], name
    assert (record["schema"], record["model"], record["estimator"]) == (2, "amrc-linear", "AMRC")
    assert record["parameters"] == json.loads(json.dumps(model.get_params()))
    assert record["seconds_per_step"] == pytest.approx(record["seconds"] / 200)
    assert record["finished"] is True
    assert record["versions"]["driftline"] == driftline.__version__
    assert record["command"].startswith("driftline run my.csv --label class")


def test_the_figures_of_each_class_are_shown_and_one_can_be_chosen(folder, command, monkeypatch):
    left = command("run", "my.csv", *LINEAR, "--positive", "moving", "--json", "my.json")
    record = json.loads((folder / "my.json").read_text())
    shown = " ".join(left.out.split())
    assert record["positive"] == "moving"
    assert {each["label"] for each in record["per_class"]} == {"moving", "still"} == set(record["confusion"]["labels"])
    for each in record["per_class"]:
        assert f"{each['label']}: recall {each['recall']:.1%}, precision {each['precision']:.1%}" in shown
    assert f"average precision {record['average_precision']:.3f}" in shown
    assert "(of moving)" in shown
    message = "the positive class 'up' never occurs; choose a label that does: "
    piped = command("run", "-", *LINEAR, "--positive", "up", "--quiet", stdin=(folder / "my.csv").read_bytes())
    assert (piped.code, message in piped.err) == (2, True)  # at the end, because a pipe is read once
    monkeypatch.setattr(run_module, "evaluate", None)  # so that a run would fail
    wrong = command("run", "my.csv", *LINEAR, "--positive", "up", "--quiet")
    assert (wrong.code, message in wrong.err) == (2, True)


def test_levels_are_followed_shown_and_kept_in_the_saved_model(folder, command):
    levels = ("--error", "0.2", "--coverage", "0.8", "--tolerated", "0.02")
    left = command("run", "my.csv", *LINEAR, *levels, "--json", "my.json", "--save", "my.driftline")
    assert left.code == 0
    assert "(20% allowed)" in " ".join(left.out.split())
    record = json.loads((folder / "my.json").read_text())
    assert (record["error_level"], record["coverage_level"]) == (0.2, 0.8)
    assert record["alarms"][0]["kind"] == "tolerated"
    kept = AMRC.load("my.driftline").guarantees
    assert kept == Guarantees(errors=(0.2, 0.05, 0.01, 0.02, 0.1), coverages=(0.8, 0.9, 0.95, 0.99), tolerated=0.02)
    assert record["parameters"]["guarantees"]["tolerated"] == 0.02
    assert command("run", "my.csv", "--label", "class", "--model", "dwm", *levels).code == 0


@pytest.mark.parametrize("subcommand", ["run", "compare"])
@pytest.mark.parametrize("option", ["--error", "--coverage", "--tolerated"])
@pytest.mark.parametrize("value", ["0", "1", "5", "-0.1", "nan"])
def test_a_level_that_is_no_share_is_a_wrong_argument(folder, command, subcommand, option, value):
    left = command(subcommand, "my.csv", "--label", "class", option, value)
    assert left.code == 2
    example = "0.9 for 90 %" if option == "--coverage" else "0.05 for 5 %"
    assert f"{option} must be a share between 0 and 1, such as {example}; got {value}" in left.err


def test_levels_cannot_be_set_as_a_parameter(folder, command):
    left = command("run", "my.csv", "--label", "class", "--set", "guarantees=3")
    assert left.code == 2
    assert "--set cannot set guarantees; use --error, --coverage and --tolerated" in left.err


def test_changes_are_told_with_the_columns_behind_them(folder, command):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    x = np.stack([rng.normal(size=1000) + y, rng.normal(size=1000) + 3.0 * (np.arange(1000) >= 600) * y])
    lines = [f"{a:.3f},{b:.3f},{label}" for a, b, label in zip(*x, y, strict=True)]
    (folder / "jump.csv").write_text("\n".join(["steady,jumping,y", *lines]))
    left = command("run", "jump.csv", "--label", "y", "--model", "dwm", "--json", "-")
    (change,) = json.loads(left.out)["changes"]
    assert abs(change["row"] - 600) <= 32
    assert change["time"] is None
    assert (change["shifts"][0]["feature"], change["shifts"][0]["label"]) == ("jumping", 1)
    said = " ".join(command("run", "jump.csv", "--label", "y", "--model", "dwm").out.split())
    assert "jumping" in said


def test_changes_are_searched_for_once_in_a_run(folder, command, monkeypatch):
    pytest.importorskip("jinja2")
    searches = []
    search = timeline.search_changes

    def counted(*arguments):
        searches.append(arguments)
        return search(*arguments)

    monkeypatch.setattr(timeline, "search_changes", counted)
    left = command("run", "my.csv", *LINEAR, "--json", "my.json", "--report", "my.html")
    assert left.code == 0
    assert "change" in left.out
    assert len(searches) == 1


@pytest.mark.parametrize("options", [(), ("--time", "when", "--ignore", "colour", "--delay", "5")])
def test_the_standard_input_is_read_like_a_file(folder, command, options):
    content = (folder / "my.csv").read_bytes()
    piped = json.loads(command("run", "-", *LINEAR, *options, "--json", "-", stdin=content).out)
    direct = json.loads(command("run", "my.csv", *LINEAR, *options, "--json", "-").out)
    assert piped["stream"] == "stdin"
    for name in ("error", "expected_error", "mean_bound", "n_unlearned", "mistakes"):
        assert piped[name] == direct[name]


def test_columns_may_be_counted(folder, command):
    by_name = json.loads(command("run", "my.csv", *LINEAR, "--json", "-").out)
    by_place = json.loads(command("run", "my.csv", "--label", "-1", *LINEAR[2:], "--json", "-").out)
    assert by_place["mistakes"] == by_name["mistakes"]
    (folder / "bare.csv").write_text("\n".join((folder / "my.csv").read_text().splitlines()[1:]))
    bare = json.loads(command("run", "bare.csv", "--label", "4", *LINEAR[2:], "--no-header", "--json", "-").out)
    assert bare["mistakes"] == by_name["mistakes"]


def test_a_column_called_by_a_number_goes_before_a_position(folder, command):
    (folder / "odd.csv").write_text("a,0\n" + "\n".join(f"{t % 7},{t % 2}" for t in range(60)))
    assert json.loads(command("run", "odd.csv", "--label", "0", "--model", "dwm", "--json", "-").out)["n_classes"] == 2


def test_malformed_rows_stop_or_are_counted(folder, command):
    with open("my.csv", "a") as file:
        file.write("1,2\n")
    left = command("run", "my.csv", *LINEAR)
    assert left.code == 1
    assert "my.csv, line 302: expected 5 cells" in left.err
    record = json.loads(command("run", "my.csv", *LINEAR, "--on-bad-row", "skip", "--json", "-").out)
    assert (record["n_rows"], record["n_skipped"]) == (300, 1)


def test_a_saved_model_is_that_of_the_last_row_and_knows_its_columns(folder, command, model):
    loaded = AMRC.load(model)
    stream = open_stream("my.csv", "class")
    own = create("amrc-linear")
    evaluate(own, stream, progress=False)
    rows = next(stream.blocks()).rows
    assert np.array_equal(loaded.predict_proba(rows), own.predict_proba(rows))
    assert loaded.notes_["columns"] == list(stream.columns)
    assert loaded.notes_["layout"] == stream.layout
    assert (loaded.notes_["label"], loaded.notes_["n_rows"], loaded.notes_["stream"]) == ("class", 300, "my")


def test_a_report_is_one_file_that_names_its_command(folder, command):
    left = command("run", "my.csv", *LINEAR, "--report", "my.html")
    assert left.code == 0
    assert "written: my.html" in left.out
    page = (folder / "my.html").read_text(encoding="utf-8")
    assert "driftline run my.csv --label class --model amrc-linear --report my.html" in page
    assert page.lower().startswith("<!doctype html>")


def test_published_streams_are_run_by_their_names(command, real_file):
    real_file("german.npz")
    record = json.loads(command("run", "german", "--model", "amrc-linear", "--limit", "200", "--json", "-").out)
    assert record["stream"] == "german"
    expected = evaluate(create("amrc-linear"), load("german"), limit=200, progress=False).summary
    assert record["mistakes"] == expected.mistakes


def test_what_is_written_through_a_link_leaves_the_link(folder, command):
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "real.json").write_text("{}")
    (folder / "link.json").symlink_to(folder / "elsewhere" / "real.json")
    assert command("run", "my.csv", *LINEAR, "--quiet", "--json", "link.json").code == 0
    assert (folder / "link.json").is_symlink()
    assert json.loads((folder / "elsewhere" / "real.json").read_text())["n_rows"] == 300


def begun_process(arguments, *, after, **pipes):
    """Start a run in a process of its own, which touches the file `begun` after rows, and then does something more."""
    code = f"""
import pathlib, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run in the background it is ignored
from driftline.evaluation.evaluation_run import EvaluationRun
evaluate_rows = EvaluationRun._evaluate_rows
def marked(self, rows, source):
    evaluate_rows(self, rows, source)
    pathlib.Path("begun").touch()
    {after}
EvaluationRun._evaluate_rows = marked
from driftline.cli import main
sys.argv = ["driftline", "run", *{arguments!r}]
main()
"""
    return subprocess.Popen([sys.executable, "-c", code], **pipes)


def wait_for(path):
    deadline = time.monotonic() + 120
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing on Windows")
def test_an_interrupted_run_leaves_what_there_is(folder):
    outputs = ["--report", "r.html", "--json", "r.json", "--save", "r.driftline"]
    process = begun_process(
        ["my.csv", "--label", "class", "--model", "dwm", *outputs],
        after="while not pathlib.Path('sent').exists(): time.sleep(0.01)",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(folder / "begun")
    process.send_signal(signal.SIGINT)
    (folder / "sent").touch()
    out, err = process.communicate(timeout=120)
    record = json.loads((folder / "r.json").read_text())
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert record["finished"] is False
    assert 0 < record["n_rows"] < 300
    assert f"{record['n_rows']:,}" in out
    assert (folder / "r.html").stat().st_size > 0
    assert (folder / "r.driftline").stat().st_size > 0


def counted(command, *arguments, **options):
    left = command("run", *arguments, "--model", "majority", "--json", "-", **options)
    assert left.code == 0, left.err
    record = json.loads(left.out)
    return record["n_rows"], record["n_classes"]


NUMBERED = {
    "no header": ("7,2,0", "{0},{1},{2}", "2", (201, 2)),
    "a header that names every column": ("a,b,c", "{0},{1},{2}", "2", (200, 2)),
    "a column of that name": ("2,x,z", "{2},{1},{0}", "2", (200, 2)),
    "numbers as pandas has them": ("0,1,2", "{0},{1},{2}", "2", (200, 2)),
    "beside an index": (",0,1,2,3", "{3},{0},{1},{1},{2}", "3", (200, 2)),
    "a name that is a year": ("x,z,2021", "{0},{1},{2}", "2021", (200, 2)),
}


@pytest.mark.parametrize("case", NUMBERED)
def test_a_number_is_a_name_or_else_a_position_from_a_file_and_from_a_pipe_alike(folder, command, case):
    first, form, label, expected = NUMBERED[case]
    rows = [form.format(i % 10, 1 + i % 4, i % 3 % 2, i) for i in range(200)]
    content = "\n".join([first, *rows, ""])
    (folder / "numbered.csv").write_text(content)
    assert counted(command, "numbered.csv", "--label", label) == expected
    assert counted(command, "-", "--label", label, stdin=content.encode()) == expected


def test_a_name_that_is_a_number_tells_the_delimiter(folder, command):
    rows = [f"{'ab'[i % 2]},{i % 7} {i % 3 % 2}" for i in range(100)]  # two cells at commas, and at spaces
    (folder / "spaced.csv").write_text("\n".join(["letter,digit 2021", *rows, ""]))
    left = command("run", "spaced.csv", "--label", "2021", "--model", "majority", "--json", "-")
    assert (left.code, json.loads(left.out)["n_classes"]) == (0, 2)


def test_each_column_is_named_or_counted_for_itself(folder, command):
    rows = [f"0.{i % 7},0.{i % 5},{i % 4},{i % 3 % 2}" for i in range(100)]
    (folder / "mixed.csv").write_text("\n".join(["1,2,0,class", *rows, ""]))
    for label in ("3", "class"):
        command(
            "run", "mixed.csv", "--label", label, "--ignore", "0", "--model", "amrc-linear", "--save", "m.driftline"
        )
        table = json.loads(command("explain", "m.driftline", "--json", "-").out)["drift"]
        assert {row["feature"] for row in table} == {"1", "2"}


def test_what_is_wrong_with_a_file_is_said_even_if_its_label_is_a_number(folder, command):
    (folder / "ragged.csv").write_text("x,2021\n1,a\n2,b,c\n3,a\n")
    assert "line 3: expected 2 cells" in command("run", "ragged.csv", "--label", "2021", "--model", "majority").err


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing on Windows")
def test_ctrl_c_ends_a_run_that_waits_for_more_rows(folder):
    arguments = ["-", "--label", "class", "--model", "majority", "--json", "waited.json"]
    process = begun_process(arguments, after="", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    process.stdin.write(b"x,class\n" + b"".join(b"0.%d,%d\n" % (i % 97, i % 3 % 2) for i in range(9000)))
    process.stdin.flush()
    wait_for(folder / "begun")
    time.sleep(1.0)  # by now it has done all whole blocks, and waits
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130  # while the pipe is open
    process.stdin.close()
    record = json.loads((folder / "waited.json").read_text())
    assert record["finished"] is False
    assert record["n_rows"] >= 4096


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_named_pipe_is_compared_like_a_file(folder, command):
    os.mkfifo("pipe")
    with subprocess.Popen(["sh", "-c", "cat my.csv > pipe"]):
        piped = command("compare", "pipe", "--label", "class", "--models", "majority,no-change", "--json", "-")
    plain = command("compare", "my.csv", "--label", "class", "--models", "majority,no-change", "--json", "-")
    one, other = ([entry["mistakes"] for entry in json.loads(left.out)["models"]] for left in (piped, plain))
    assert one == other


def test_names_are_shown_as_they_are(folder, command):
    rows = [f"0.{i},{i % 3 % 2}" for i in range(60)]
    (folder / "names.csv").write_text("\n".join(["gyro:x:mean,class", *rows, ""]))
    command("run", "names.csv", "--label", "class", "--model", "amrc-linear", "--save", "names.driftline")
    assert "gyro:x:mean" in command("explain", "names.driftline").out


@pytest.mark.skipif(os.name == "nt", reason="links are another thing on Windows")
def test_a_loop_of_links_is_replaced_by_what_is_written(folder, command):
    os.symlink("loop", "loop")
    assert command("run", "my.csv", *LINEAR, "--json", "loop").code == 0
    assert json.loads((folder / "loop").read_text())["n_rows"] == 300


def write_runs():
    """Write a stream whose label comes in runs of six, and whose column says nothing."""
    values = np.random.default_rng(0).normal(size=300)
    rows = [f"{value:.3f},{'ab'[t // 6 % 2]}" for t, value in enumerate(values)]
    with open("runs.csv", "w") as file:
        file.write("\n".join(["heat,class", *rows]))


def test_a_run_says_if_repeating_the_last_label_is_better_and_how_to_use_it(folder, command):
    write_runs()
    left = command("run", "runs.csv", *LINEAR)
    summary = evaluate(create("amrc-linear"), open_stream("runs.csv", "class"), progress=False).summary
    hint = (
        f"Repeating the last known label would have been wrong in {summary.last_label_error:.2%} of the rows, less "
        f"often than amrc-linear ({summary.error:.2%}); AMRC(label_memory=True), or --label-memory on the command line"
    )
    assert " ".join(left.out.split()).count(hint) == 1
    assert max(map(len, left.out.splitlines())) <= 100
    compared = command("compare", "runs.csv", "--label", "class", "--models", "amrc-linear,majority")
    assert "Repeating the last known label" in compared.out
    compared = command("compare", "runs.csv", "--label", "class", "--models", "amrc-linear,no-change")
    assert "Repeating the last known label" not in compared.out


def test_the_last_labels_are_used_if_asked_for(folder, command):
    write_runs()
    for options in (["--label-memory"], ["--set", "label_memory=true"]):
        record = json.loads(command("run", "runs.csv", *LINEAR, *options, "--json", "-").out)
        assert record["parameters"]["label_memory"] is record["label_memory"] is True
        assert record["error"] < 0.25
    record = json.loads(command("run", "runs.csv", *LINEAR, "--json", "-").out)
    assert record["label_memory"] is False
    assert record["error"] > 0.25
    assert record["last_label_error"] == 50 / 300


def test_label_memory_needs_a_classifier_that_has_it(folder, command):
    left = command("run", "my.csv", "--label", "class", "--model", "majority", "--label-memory")
    assert left.code == 2
    assert "--label-memory needs a classifier that has this parameter, such as amrc; got majority" in left.err


def test_changes_of_a_rare_class_a_sensor_and_a_spread_are_told(tmp_path, monkeypatch, command):
    rng = np.random.default_rng(0)
    before = np.arange(8_000) < 5_000
    labels = np.where(rng.random(8_000) < 0.03, "fraud", "fine")
    amount = np.where(labels == "fraud", np.where(before, 247.0, 8.0), 20.0) * rng.lognormal(0.0, 1.3, 8_000)
    sensor = np.where(before | (rng.random(8_000) < 0.1), rng.normal(size=8_000).round(3).astype(str), "")
    load = rng.normal(size=8_000) * np.where(before, 1.0, 3.0)
    columns = zip(amount.round(3), sensor, load.round(4), labels, strict=True)
    lines = [",".join(map(str, row)) for row in columns]
    (tmp_path / "plant.csv").write_text("\n".join(["amount,sensor,load,kind", *lines]))
    monkeypatch.chdir(tmp_path)
    left = command("run", "plant.csv", "--label", "kind", "--model", "majority", "--json", "left.json")
    record = json.loads((tmp_path / "left.json").read_text())
    shifts = [shift for change in record["changes"] for shift in change["shifts"]]
    told = {(shift["feature"], shift["kind"]) for shift in shifts}
    assert told == {("amount", "location"), ("sensor", "missing"), ("load", "spread")}
    assert {shift["label"] for shift in shifts if shift["feature"] == "amount"} == {"fraud"}
    assert "change to a new level near row 5,0" in left.err


def test_a_change_is_reported_when_it_is_found(tmp_path, monkeypatch, command):
    rng = np.random.default_rng(0)
    amounts = np.where(np.arange(6_000) < 3_500, 247.0, 8.0) * rng.lognormal(0.0, 0.5, 6_000)
    lines = [
        f"{amount:.3f},{label}" for amount, label in zip(amounts, rng.choice(["fraud", "fine"], 6_000), strict=True)
    ]
    (tmp_path / "sales.csv").write_text("\n".join(["amount,kind", *lines]))
    monkeypatch.chdir(tmp_path)
    loud = command("run", "sales.csv", "--label", "kind", "--model", "majority")
    assert re.search(
        r"change to a new level near row 3,\d+ \(found at row 4,\d00\): "
        r"median of amount in class (fraud|fine) 2\d\d → \d",
        loud.err,
    )
    quiet = command("run", "sales.csv", "--label", "kind", "--model", "majority", "--quiet")
    assert "new level" not in quiet.err
