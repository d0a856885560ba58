"""Labels, columns and file names that contain commands for terminals, markup or formulas."""

import csv
import io
import json
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline.baselines import NoChange
from driftline.utils.progress import ProgressBar
from driftline.utils.terminal import visible

COMMANDS = "\x1b]0;title\x07", "\x1b[2J", "\x9b31m", "\u202e", "[red]", "[link=http://x.y]z[/link]", ":smile:"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
NAME = f"my{COMMANDS[0]}{COMMANDS[2]}.csv"
LABELS = f"a{COMMANDS[1]}[red]", f"b{COMMANDS[3]}:smile:"
COLUMN = f"x{COMMANDS[0]}[link=http://x.y]"
RUN = ("run", NAME, "--label", "class", "--model", "amrc-linear")


@pytest.fixture
def hostile(folder):
    """A file whose name, columns and labels contain commands."""
    lines = [f"{COLUMN},class", *(f"{t % 7},{LABELS[t % 7 > 3]}" for t in range(120))]
    (folder / NAME).write_text("\n".join(lines))
    return folder


@given(st.text())
def test_a_visible_text_has_no_control_characters(text):
    shown = visible(text)
    assert not UNSAFE.search(shown)
    assert "\n" not in shown
    assert shown == text or len(shown) > len(text)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((*RUN, "--save", "m.driftline"), 0),
        (("compare", NAME, "--label", "class", "--models", "majority,no-change"), 0),
        (("run", NAME, "--label", COLUMN + "\n"), 1),
        (("run", NAME), 2),
        (("run", NAME + "\n"), 2),
        (("run", NAME, "--label", "class", COMMANDS[1]), 2),
        ((COMMANDS[0],), 2),
        (("explain", NAME), 1),
        (("models", COMMANDS[0]), 2),
        (("data", "info", COMMANDS[0]), 2),
        ((*RUN, "--set", f"{COMMANDS[1]}=1"), 2),
        ((*RUN, "--report", f"{COMMANDS[1]}/r.html"), 2),
    ],
)
def test_no_command_reaches_the_terminal(hostile, command, arguments, code):
    left = command(*arguments)
    assert left.code == code, left.err
    assert left.out + left.err
    assert not UNSAFE.search(left.out + left.err)


def test_a_report_has_no_control_characters(hostile, command):
    assert command(*RUN, "--report", "page.html").code == 0
    page = (hostile / "page.html").read_text(encoding="utf-8")
    assert "\x1b" not in page
    assert "\x07" not in page


def test_labels_and_columns_are_shown_as_they_are(hostile, command):
    assert command(*RUN, "--save", "m.driftline").code == 0
    shown = "".join(command("explain", "m.driftline").out.split())
    assert r"a\x1b[2J[red]" in shown
    assert r"b\u202e:smile:" in shown
    assert r"x\x1b]0;title\x07[link=" in shown


def test_programs_get_labels_unchanged(hostile, command):
    assert command(*RUN, "--save", "m.driftline").code == 0
    left = command("predict", "m.driftline", NAME)
    assert {row["prediction"] for row in csv.DictReader(io.StringIO(left.out))} == set(LABELS)
    left = command(*RUN, "--json", "-")
    assert json.loads(left.out)["stream"] == NAME.removesuffix(".csv")
    assert not UNSAFE.search(left.out.replace("\u202e", ""))


def test_predictions_on_a_terminal_have_no_commands(hostile, command, monkeypatch):
    assert command(*RUN, "--save", "m.driftline").code == 0
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    left = command("predict", "m.driftline", NAME)
    assert not UNSAFE.search(left.out)
    assert r"a\x1b[2J[red]" in left.out


def test_progress_bars_show_names_without_commands(capsys, monkeypatch):
    monkeypatch.setattr("driftline.utils.progress.LINE_INTERVAL_SECONDS", 0.0)
    with ProgressBar(f"AMRC on {NAME}", 10, unit="rows", shown=True) as bar:
        bar.advance(5)
    shown = capsys.readouterr().err
    assert r"my\x1b]0;title\x07\x9b31m.csv" in shown
    assert not UNSAFE.search(shown)


CELLS = {
    "=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
    "@SUM(A1)": "'@SUM(A1)",
    "-x": "'-x",
    "\t=1": "'\t=1",
    "-1": "-1",
    "+1.5e3": "+1.5e3",
    "plain": "plain",
}


@pytest.mark.parametrize("label", CELLS)
def test_safe_cells_have_an_apostrophe_before_formulas(folder, command, label):
    NoChange().partial_fit([[1.0, 0.0], [2.0, 1.0]], ["other", label]).save("f.driftline")
    (folder / "f.csv").write_text("3,5\n4,6\n")
    usual, safe = (
        next(csv.DictReader(io.StringIO(command("predict", "f.driftline", "f.csv", *option).out)))["prediction"]
        for option in ((), ("--safe-cells",))
    )
    assert (usual, safe) == (label, CELLS[label])


def test_safe_cells_are_for_csv(folder, command, model):
    left = command("predict", model, "new.csv", "--out", "p.parquet", "--safe-cells")
    assert left == (2, "", "driftline: --safe-cells is for CSV, and p.parquet is Parquet; omit it\n")
