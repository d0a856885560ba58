"""Runs what the documentation shows: Python blocks, and lines that call the command line."""

import contextlib
import inspect
import io
import os
import re
import shlex
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftline.cli.app import app
from driftline.streams import RotatingGaussians
from driftline.streams.catalogue import describe
from helpers.printed_text import prints

DOCS = Path(__file__).parents[1] / "docs"
GENERATED = DOCS / "reproduction", DOCS / "_build"
OTHERS = (
    *(DOCS / "how-to" / f"{name}.md" for name in ("serve", "serve-tutorial", "kafka")),  # tests/serve run them
    DOCS / "how-to" / "spark.md",  # tests/adapters/test_spark.py runs it
)
PAGES = sorted(set(DOCS.rglob("*.md")) - set(OTHERS))
PAGES = [page for page in PAGES if not any(folder in page.parents for folder in GENERATED)]
SLOW = {("tutorial", "python"), ("tutorial", "console"), ("rare-classes", "console")}
"""Pages whose blocks of a kind take long: on a year of flights, once with late labels, and twelve runs to compare."""
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
"""A block, and what it prints, if that is shown right below it."""
WRITES_A_FILE = re.compile(r'open\("[^"]+", "w"')


def blocks(page, wanted):
    """Return the blocks of a page of one kind: line, content, and what is printed, or None."""
    text = page.read_text(encoding="utf-8")
    found = ((text.count("\n", 0, match.start()) + 2, *match.groups()) for match in BLOCK.finditer(text))
    return [(line, content, shown) for line, kind, content, shown in found if kind == wanted]


def with_blocks(kind):
    """Return the pages that have a block of a kind, as parameters of a test."""
    return [
        pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if (page.stem, kind) in SLOW else [])
        for page in PAGES
        if blocks(page, kind)
    ]


def lacking(code):
    """Return what a block or a command needs and is not here, or None."""
    for package in ("river", "capymoa", "mlflow", "skops"):
        if re.search(rf"\b{package}\b", code) and find_spec(package) is None:
            return package
    for stream in re.findall(r'load\("(\w+)"\)|^(?:run|compare) (\w+) ', code):
        name = "".join(stream)
        dataset = describe(name)
        if dataset.format != "bundled" and not (Path(os.environ.get("DRIFTLINE_DATA", "")) / dataset.file).is_file():
            return f"{name} in the folder that DRIFTLINE_DATA names"
    return None


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Provide the folder in which a page's blocks run, with the files that the pages call my.csv and new.csv."""
    monkeypatch.chdir(tmp_path)
    X, y = RotatingGaussians(angular_rate=0.01).sample(600, seed=0)
    lines = ["when,x,y,sensor,class"]
    for t, ((a, b), label) in enumerate(zip(X.round(3).tolist(), y.tolist(), strict=True)):
        when = f"2026-03-{1 + t // 24:02d}T{t % 24:02d}:{'05' if t % 7 else '40'}:00"
        lines.append(
            f"{when},{'' if t % 50 == 20 else a},{b},{'north' if t % 3 else 'south'},{('left', 'right')[label]}"
        )
    Path("my.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    unlabelled = [line.rpartition(",")[0] for line in lines[:21]]
    Path("new.csv").write_text("\n".join(unlabelled) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("printed", "is_same"),
    [
        ("error 18.5% of 3,979 rows in 2.4 s", True),
        ("error 18.7% of 3,981\n   rows in 9 s", True),
        ("error 18.9% of 3,981 rows in 9 s", False),
        ("error 18.5% of 4,081 rows in 9 s", False),
        ("errors 18.5% of 3,981 rows in 9 s", False),
        ("error 18.5% of 3,981 rows in 9 s.", False),
    ],
)
def test_numbers_that_are_printed_may_differ_a_little(printed, is_same):
    assert prints("error 18.5% of 3,981 rows in ... s", printed) == is_same


@pytest.mark.parametrize("page", with_blocks("python"))
def test_python_on_a_page_runs_and_prints_what_the_page_shows(page, desk):
    names = {"__name__": "__main__"}
    for line, code, shown in blocks(page, "python"):
        if missing := lacking(code):
            pytest.skip(f"from line {line} on, it needs {missing}")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
        if shown is not None:
            got = printed.getvalue()
            assert prints(shown, got), f"{page.name}, line {line}, prints\n{got}"


@pytest.mark.parametrize("page", with_blocks("console"))
def test_commands_on_a_page_succeed_and_print_what_the_page_shows(page, desk):
    left_out = []
    for line, code, _ in blocks(page, "python"):
        if WRITES_A_FILE.search(code):  # which the commands read
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), {"__name__": "__main__"})
    for line, content, shown in blocks(page, "console"):
        for command in re.findall(r"^\$ driftline (.*)$", content, re.MULTILINE):
            words = shlex.split(command)
            if missing := lacking(command):
                left_out.append(f"line {line}: {words[0]} needs {missing}")
                continue
            done = CliRunner().invoke(app, words, env={"COLUMNS": "100"})
            assert done.exit_code == 0, f"{page.name}: driftline {command}\n{done.output}{done.exception or ''}"
            if shown is not None and command == content.splitlines()[-1].removeprefix("$ driftline "):
                assert prints(shown, done.output), (
                    f"{page.name}, line {line}, driftline {command} prints\n{done.output}"
                )
    if left_out:
        pytest.skip(f"all but: {'; '.join(left_out)}")


def documented(page):
    """Return the names that a page of the reference documents, with their modules."""
    module, names = "", set()
    directives = re.compile(r"^\.\. (\w+):: ([\w.]+)$(\n   :no-members:$)?", re.MULTILINE)
    for kind, name, without in directives.findall(page.read_text(encoding="utf-8")):
        if kind == "currentmodule":
            module = name
        elif kind == "automodule":
            names |= {name} | (set() if without else {f"{name}.{each}" for each in public(import_module(name))})
        else:
            names.add(name if name.startswith("driftline.") else f"{module}.{name}")
    return names


def public(module):
    """Return what a module defines or says to be public."""
    here = (n for n, value in vars(module).items() if inspect.getmodule(value) is module and not n.startswith("_"))
    return getattr(module, "__all__", None) or [n for n in here if callable(getattr(module, n))]


@pytest.mark.parametrize(
    "module",
    [
        "",
        ".adapters",
        ".baselines",
        ".checks",
        ".evaluation",
        ".registry",
        ".report",
        ".streams",
    ],
)
def test_the_reference_names_everything_public(module):
    module = import_module(f"driftline{module}")
    names = {name for page in (DOCS / "reference").glob("*.md") for name in documented(page)}
    assert not {f"{module.__name__}.{name}" for name in public(module)} - names
