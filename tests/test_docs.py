"""Runs what the documentation shows: Python blocks, and lines that call the command line."""

import contextlib
import doctest
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from driftline.streams import RotatingGaussians
from driftline.streams.catalogue import describe

DOCS = Path(__file__).parents[1] / "docs"
GENERATED = DOCS / "reproduction", DOCS / "_build"
PAGES = sorted(page for page in DOCS.rglob("*.md") if not any(folder in page.parents for folder in GENERATED))
BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PENDING_COMMANDS = {"run", "compare", "predict", "explain"}
"""Commands that are documented and not there yet."""
SLOW = {"tutorial"}
"""Pages that take more than ten seconds."""
SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page):
    """Return the blocks of a page: kind, content, line, and what a Python block prints, if that comes right below it."""
    text = page.read_text(encoding="utf-8")
    found = [(match[1], match[2], text[: match.start()].count("\n") + 2, match.span()) for match in BLOCK.finditer(text)]
    following = [*found[1:], ("", "", 0, (len(text), len(text)))]
    return [
        (kind, content, line, after[1] if after[0] == "text" and not text[span[1] : after[3][0]].strip() else None)
        for (kind, content, line, span), after in zip(found, following, strict=True)
    ]


def with_blocks(kind):
    """Return the pages that have a block of a kind, as parameters of a test."""
    pages = [page for page in PAGES if any(block[0] == kind for block in blocks(page))]
    return [
        pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if page.stem in SLOW else []) for page in pages
    ]


def lacking(code):
    """Return what a block needs and is not here, or None."""
    for package in ("river", "capymoa"):
        if package in code and find_spec(package) is None:
            return package
    for name in re.findall(r'load\("(\w+)"\)|driftline run (\w+)', code):
        stream = next(filter(None, name))
        if stream in ("weather",) and not (Path(os.environ.get("DRIFTLINE_DATA", "")) / describe(stream).file).is_file():
            return f"{stream} in the folder that DRIFTLINE_DATA names"
    return None


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Provide the folder in which a page's blocks run, with the file that the pages call my.csv."""
    monkeypatch.chdir(tmp_path)
    X, y = RotatingGaussians(angular_rate=0.01).sample(600, seed=0)
    lines = ["when,x,y,sensor,class"]
    for t, ((a, b), label) in enumerate(zip(X.round(3).tolist(), y.tolist(), strict=True)):
        when = f"2026-03-{1 + t // 24:02d}T{t % 24:02d}:{'05' if t % 7 else '40'}:00"
        lines.append(f"{when},{'' if t % 50 == 20 else a},{b},{'north' if t % 3 else 'south'},{('left', 'right')[label]}")
    Path("my.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("page", with_blocks("python"))
def test_python_on_a_page_runs_and_prints_what_the_page_shows(page, desk):
    names, left_out = {"__name__": "__main__"}, []
    for kind, code, line, shown in blocks(page):
        if kind != "python":
            continue
        if missing := lacking(code):
            left_out.append(f"line {line} needs {missing}")
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
        if shown is not None:
            got = printed.getvalue()
            assert doctest.OutputChecker().check_output(shown, got, SAME), f"{page.name}, line {line}, prints\n{got}"
    if left_out:
        pytest.skip(f"all but: {'; '.join(left_out)}")


@pytest.mark.parametrize("page", with_blocks("console"))
def test_commands_on_a_page_succeed(page, desk):
    left_out = []
    for kind, content, line, _ in blocks(page):
        for command in re.findall(r"^\$ driftline (.*)$", content, re.MULTILINE) if kind == "console" else ():
            words = shlex.split(command)
            if words[0] in PENDING_COMMANDS:
                left_out.append(f"line {line}: {words[0]} is not there yet")
                continue
            done = subprocess.run([sys.executable, "-m", "driftline", *words], capture_output=True, text=True)
            assert done.returncode == 0, f"{page.name}: driftline {command}\n{done.stderr}"
    if left_out:
        pytest.skip(f"all but: {'; '.join(left_out)}")


def documented(page):
    """Return the names that a page of the reference documents, with their modules."""
    module, names = "", set()
    for kind, name in re.findall(r"^\.\. (\w+):: ([\w.]+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
        if kind == "currentmodule":
            module = name
        elif kind == "automodule":
            names |= {f"{name}.{each}" for each in public(import_module(name))} | {name}
        else:
            names.add(name if name.startswith("driftline.") else f"{module}.{name}")
    return names


def public(module):
    """Return what a module defines or says to be public."""
    here = (n for n, value in vars(module).items() if inspect.getmodule(value) is module and not n.startswith("_"))
    return getattr(module, "__all__", None) or [n for n in here if callable(getattr(module, n))]


@pytest.mark.parametrize(
    "module",
    ["", ".adapters", ".baselines", ".bounds", ".evaluation", ".registry", ".streams", ".testing", ".tuning"],
)
def test_the_reference_names_everything_public(module):
    module = import_module(f"driftline{module}")
    names = {name for page in (DOCS / "reference").glob("*.md") for name in documented(page)}
    assert not {f"{module.__name__}.{name}" for name in public(module)} - names
