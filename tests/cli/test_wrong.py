"""Mistakes of users: one or two helpful lines on the standard error, an exit code, and never a traceback."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

LABEL = ("--label", "class")
FAST = (*LABEL, "--model", "dwm")


def _binary(folder):
    (folder / "noise.csv").write_bytes(bytes(range(256)) * 8)


def _one_value(folder):
    (folder / "one.csv").write_text("x,class\n" + "".join(f"{t},yes\n" for t in range(40)))


def _one_row(folder):
    (folder / "single.csv").write_text("x,class\n1,yes\n")


def _numbers_as_labels(folder):
    (folder / "price.csv").write_text("x,price\n" + "".join(f"{t},{t / 3}\n" for t in range(400)))


def _empty(folder):
    (folder / "empty.csv").write_text("")


def _header_only(folder):
    (folder / "header.csv").write_text("x,class\n")


def _ragged(folder):
    (folder / "ragged.csv").write_text("x,class\n1,a\n2,b,c\n")


def _infinite(folder):
    (folder / "infinite.csv").write_text("x,class\n" + "1,a\n2,b\n" * 20 + "inf,a\n")


def _backwards(folder):
    (folder / "back.csv").write_text("t,x,class\n1,1,a\n2,2,b\n0,3,a\n3,1,b\n")


def _cut_gzip(folder):
    (folder / "cut.csv.gz").write_bytes(gzip.compress(b"x,class\n" + b"1,a\n2,b\n" * 9000)[:60])


def _zip(folder):
    (folder / "book.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))


def _bad_json(folder):
    (folder / "bad.jsonl").write_text('{"x": 1, "class": "a"}\n{"x": 2,\n')


def _not_parquet(folder):
    (folder / "not.parquet").write_text("x,class\n1,a\n")


def _not_a_model(folder):
    (folder / "not.driftline").write_text("no model")


def _foreign_arrays(folder):
    np.savez(folder / "foreign.npz", X=np.zeros((3, 2)), y=np.zeros(3))


def _other_columns(folder):
    (folder / "other.csv").write_text("a,b\n1,2\n")


def _bytes_that_are_no_text(folder):
    (folder / "latin.csv").write_bytes("x,class\n1,caf\xe9\n2,b\n".encode("latin-1"))


def _comma_numbers(folder):
    (folder / "comma.csv").write_text("x;class\n" + "".join(f"{t},5;{'ab'[t % 2]}\n" for t in range(50)))


def _missing_label(folder):
    (folder / "gap.csv").write_text("x,class\n1,a\n2,\n3,b\n")


WRONG = {
    # a command that is none
    "an unknown command": (None, ("rnu", "my.csv"), 2, "Did you mean 'run'"),
    "an unknown option": (None, ("run", "my.csv", "--lable", "class"), 2, "--label"),
    "no source": (None, ("run",), 2, "SOURCE"),
    "too many arguments": (None, ("run", "my.csv", "your.csv", *LABEL), 2, "your.csv"),
    "an option without a value": (None, ("run", "my.csv", "--label"), 2, "--label"),
    "a word where a number belongs": (None, ("run", "my.csv", *LABEL, "--limit", "many"), 2, "--limit"),
    "a limit of nothing": (None, ("run", "my.csv", *LABEL, "--limit", "0"), 2, "--limit"),
    "a negative delay": (None, ("run", "my.csv", *LABEL, "--delay", "-1"), 2, "--delay"),
    "a word that is no choice": (None, ("run", "my.csv", *LABEL, "--on-bad-row", "stpo"), 2, "stop"),
    # sources
    "a missing file": (None, ("run", "nothing.csv", *LABEL), 2, "there is no file nothing.csv"),
    "a mistyped file": (None, ("run", "my.cvs", *LABEL), 2, "did you mean my.csv?"),
    "a mistyped stream": (None, ("run", "wether"), 2, "did you mean weather?"),
    "a stream with a label": (None, ("run", "weather", *LABEL), 2, "leave out --label"),
    "a folder": (None, ("run", "data", *LABEL), 1, "is a folder"),
    "a path through a file": (None, ("run", "my.csv/x.csv", *LABEL), 2, "there is no file"),
    "an empty name": (None, ("run", "", *LABEL), 2, "there is no file"),
    # labels
    "no label": (None, ("run", "my.csv"), 2, "set --label"),
    "an unknown label": (None, ("run", "my.csv", "--label", "clas"), 1, "did you mean 'class'?"),
    "a position beyond the columns": (None, ("run", "my.csv", "--label", "9"), 1, "there are 5 columns"),
    "a label with one value": (_one_value, ("run", "one.csv", *LABEL), 1, "always 'yes' (40 rows)"),
    "a file of one row": (_one_row, ("run", "single.csv", *LABEL), 1, "always 'yes' (1 row)"),
    "numbers as labels": (_numbers_as_labels, ("run", "price.csv", "--label", "price"), 1, "400 different values"),
    "a label that is missing": (_missing_label, ("run", "gap.csv", *FAST), 1, "line 3"),
    # columns
    "an unknown time": (None, ("run", "my.csv", *LABEL, "--time", "wen"), 1, "did you mean 'when'?"),
    "words as times": (None, ("run", "my.csv", *LABEL, "--time", "colour"), 1, "expected numbers, or dates"),
    "times that run backwards": (_backwards, ("run", "back.csv", *FAST, "--time", "t"), 1, "sort the file by time"),
    "an unknown column to ignore": (None, ("run", "my.csv", *LABEL, "--ignore", "z"), 1, "the columns are"),
    "a column with two roles": (None, ("run", "my.csv", *LABEL, "--ignore", "class"), 2, "name it in one"),
    "nothing to learn from": (_header_only, ("run", "header.csv", *LABEL, "--ignore", "x"), 1, "no column is left"),
    # content
    "an empty file": (_empty, ("run", "empty.csv", *LABEL), 1, "is empty"),
    "a header without rows": (_header_only, ("run", "header.csv", *LABEL), 1, "has no rows"),
    "a row too long": (_ragged, ("run", "ragged.csv", *LABEL), 1, "line 3: expected 2 cells"),
    "an infinite number": (_infinite, ("run", "infinite.csv", *FAST), 1, "line 42"),
    "noise": (_binary, ("run", "noise.csv", *LABEL), 1, "noise.csv"),
    "a gzip file cut short": (_cut_gzip, ("run", "cut.csv.gz", *FAST), 1, "cut.csv.gz"),
    "a workbook": (_zip, ("run", "book.xlsx", *LABEL), 1, "export it as CSV"),
    "a line that is no JSON": (_bad_json, ("run", "bad.jsonl", *FAST), 1, "line 2"),
    "a file that is no Parquet": (_not_parquet, ("run", "not.parquet", *LABEL), 1, "not.parquet"),
    "another encoding": (_bytes_that_are_no_text, ("run", "latin.csv", *FAST), 1, "latin.csv"),
    "an unknown encoding": (None, ("run", "my.csv", *FAST, "--encoding", "utf-9"), 2, "utf-9"),
    "decimal commas": (_comma_numbers, ("run", "comma.csv", *FAST), 1, "write decimals with a point"),
    "a long delimiter": (None, ("run", "my.csv", *FAST, "--delimiter", "::"), 2, "one character"),
    # models
    "an unknown model": (None, ("run", "my.csv", *LABEL, "--model", "river-arff"), 2, "did you mean river-arf"),
    "an unknown parameter": (None, ("run", "my.csv", *FAST, "--set", "gamma=1"), 2, "has no parameter gamma"),
    "a parameter without a value": (None, ("run", "my.csv", *FAST, "--set", "beta"), 2, "NAME=VALUE"),
    "a parameter that cannot be": (None, ("run", "my.csv", *FAST, "--set", "beta=7"), 2, "beta"),
    "a parameter of another kind": (None, ("run", "my.csv", *LABEL, "--set", "order=one"), 2, "order"),
    "a model that cannot be saved": (
        None, ("run", "my.csv", *LABEL, "--model", "sklearn-nb", "--save", "m.driftline"), 2, "omit --save",
    ),
    "a model of River that cannot be saved": (
        None, ("run", "my.csv", *LABEL, "--model", "river-hat", "--save", "m.driftline"), 2, "omit --save",
    ),
    "an unknown model to compare": (
        None, ("compare", "my.csv", *LABEL, "--models", "amrc,dmw"), 2, "did you mean dwm",
    ),
    # outputs
    "a report into a missing folder": (None, ("run", "my.csv", *FAST, "--report", "no/r.html"), 2, "does not exist"),
    "a report that is a folder": (None, ("run", "my.csv", *FAST, "--report", "data"), 2, "is a folder"),
    "a model into a missing folder": (None, ("run", "my.csv", *FAST, "--save", "no/m"), 2, "does not exist"),
    "JSON into a file as a folder": (None, ("run", "my.csv", *FAST, "--json", "my.csv/x"), 2, "does not exist"),
    "JSON over what is read": (None, ("run", "my.csv", *FAST, "--json", "my.csv"), 2, "which is an input"),
    "a model over what is read": (None, ("run", "my.csv", *FAST, "--save", "./my.csv"), 2, "which is an input"),
    "two outputs in one file": (None, ("run", "my.csv", *FAST, "--save", "o", "--json", "o"), 2, "would overwrite"),
    "two outputs in one stream": (None, ("run", "my.csv", *FAST, "--report", "-", "--json", "-"), 2, "would overwrite"),
    "a report over what is compared": (
        None, ("compare", "my.csv", *LABEL, "--models", "dwm,rbp", "--report", "my.csv"), 2, "which is an input",
    ),
    "a model on the standard output": (None, ("run", "my.csv", *FAST, "--save", "-"), 2, "--save needs a file"),
    "labels later than the file": (
        None, ("run", "my.csv", *LABEL, "--delay", "900", "--save", "m", "--quiet"), 1, "no label arrived before",
    ),
    # saved models
    "predictions over what is read": (
        None, ("predict", "my.driftline", "new.csv", "--out", "new.csv"), 2, "which is an input",
    ),
    "drift over its model": (None, ("explain", "my.driftline", "--json", "my.driftline"), 2, "which is an input"),
    "a missing model": (None, ("predict", "no.driftline", "new.csv"), 2, "no.driftline"),
    "a model that is none": (_not_a_model, ("predict", "not.driftline", "new.csv"), 1, "is not a saved model"),
    "arrays that are no model": (_foreign_arrays, ("explain", "foreign.npz"), 1, "is not a saved model"),
    "no rows to predict": (None, ("predict", "my.driftline"), 2, "FILE"),
    "missing rows to predict": (None, ("predict", "my.driftline", "no.csv"), 2, "no.csv"),
    "rows of other columns": (_other_columns, ("predict", "my.driftline", "other.csv"), 1, "lacks"),
    "predictions of no format": (None, ("predict", "my.driftline", "new.csv", "--out", "p.xls"), 2, ".parquet"),
    "no lines to explain": (None, ("explain", "my.driftline", "--top", "0"), 2, "--top"),
    # the others
    "an unknown stream to show": (None, ("data", "info", "pokr"), 2, "did you mean poker?"),
    "an unknown stream to fetch": (None, ("data", "fetch", "wether"), 2, "did you mean weather?"),
    "an unknown classifier": (None, ("models", "arf"), 2, "did you mean"),
    "an unknown experiment": (None, ("paper", "tabel1"), 2, "table1"),
    "two levels": (None, ("paper", "table1", "--quick", "--full"), 2, "exclude each other"),
    "a demonstration too short": (None, ("demo", "--steps", "3"), 2, "--steps"),
}  # fmt: skip


def test_at_least_fifty_mistakes_are_tried():
    assert len(WRONG) >= 50


@pytest.mark.parametrize("what", WRONG)
def test_a_mistake_gives_at_most_two_lines_and_an_exit_code(folder, command, what, request):
    prepare, arguments, code, said = WRONG[what]
    if "my.driftline" in arguments:
        request.getfixturevalue("model")
    if prepare is not None:
        prepare(folder)
    before = sorted(path.name for path in folder.iterdir())
    left = command(*arguments)
    lines = left.err.splitlines()
    assert left.code == code, left.err
    assert 1 <= len(lines) <= 2, left.err
    assert all(line.startswith("driftline: ") for line in lines)
    assert said in left.err
    assert "Traceback" not in left.err + left.out
    assert sorted(path.name for path in folder.iterdir()) == before  # nothing is left behind


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs a device that takes anything")
def test_a_device_takes_more_than_one_output(folder, command):
    assert command("run", "my.csv", *FAST, "--json", "/dev/null", "--save", "/dev/null", "--quiet") == (0, "", "")
    assert not Path("/dev/null").is_file()


def test_results_that_cannot_be_printed_are_still_written(folder, command, monkeypatch):
    def closed(*_):
        raise BrokenPipeError

    monkeypatch.setattr("driftline.cli.run._show", closed)
    assert command("run", "my.csv", *FAST, "--save", "m.driftline", "--json", "m.json").code == 1
    assert (folder / "m.driftline").exists()
    assert (folder / "m.json").exists()


def test_a_terminal_that_lacks_characters_is_not_a_failure(folder):
    (folder / "letters.csv").write_text("größe,class\n" + "".join(f"{t},{'αβ'[t % 2]}\n" for t in range(60)))
    arguments = "d run letters.csv --label class --model dwm"
    code = f"import sys; from driftline.cli import main; sys.argv = {arguments!r}.split(); main()"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    left = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "60 rows of letters" in left.stdout


@pytest.mark.skipif(os.name == "nt", reason="files are given another way there")
@pytest.mark.parametrize(
    "arguments",
    [
        "run my.csv --label class --model dwm --json -",
        pytest.param("predict my.driftline new.csv", marks=pytest.mark.slow),
    ],
)
def test_a_closed_standard_output_is_reported(folder, model, arguments):
    code = f"import sys; from driftline.cli import main; sys.argv = 'd {arguments}'.split(); main()"
    left = subprocess.run(
        f'"{sys.executable}" -c "{code}" >&-', shell=True, stderr=subprocess.PIPE, text=True, check=False
    )
    assert left.returncode == 2
    assert "the standard output is closed" in left.stderr
    assert "Traceback" not in left.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_file_names_that_are_not_text_are_kept_as_escapes(folder, command):
    odd = os.fsdecode(b"odd\xff.csv")
    os.rename("my.csv", odd)
    assert command("run", odd, *FAST, "--json", "figures.json", "--quiet").code == 0
    assert json.loads((folder / "figures.json").read_text())["stream"] == "odd\udcff"


def test_a_report_without_its_library_is_refused_before_the_run(folder, command, monkeypatch):
    monkeypatch.setattr("driftline.cli.run.find_spec", lambda name: None)
    left = command("run", "my.csv", *FAST, "--report", "r.html")
    assert left == (1, "", "driftline: --report needs jinja2; pip install 'driftline[report]'\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("option", ["--json", "--report", "--save"])
def test_a_full_disk_is_reported_and_the_figures_are_still_printed(folder, command, option):
    left = command("run", "my.csv", *FAST, option, "/dev/full")
    assert left.code == 1
    assert left.err == "driftline: /dev/full: cannot be written: No space left on device\n"
    assert "DWM on my" in left.out
    assert not Path("/dev/full").is_file()


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="nothing is forbidden to root")
def test_missing_permissions_are_reported(folder, command):
    (folder / "my.csv").chmod(0)
    left = command("run", "my.csv", *FAST)
    assert left.code == 1
    assert "Permission denied" in left.err
    (folder / "locked").mkdir(mode=0o500)
    left = command("run", "new.csv", *FAST, "--report", "locked/r.html")
    assert left.code == 2
    assert "no permission" in left.err


def test_a_closed_pipe_gives_no_traceback(folder, model):
    code = "import sys; from driftline.cli import main; sys.argv = 'd predict my.driftline big.csv'.split(); main()"
    lines = (folder / "new.csv").read_text().splitlines(keepends=True)
    (folder / "big.csv").write_text(lines[0] + "".join(lines[1:]) * 300)  # more than a pipe holds
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.wait(timeout=120)
    assert b"Traceback" not in err
