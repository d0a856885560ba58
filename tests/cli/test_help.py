"""Help that teaches: every command's has an example, and every example works."""

import shlex
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from driftline.cli.app import app
from driftline.streams.catalogue import describe


def commands(group=None, path=()):
    group = group or typer.main.get_command(app)
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


COMMANDS = dict(commands())


def examples(path):
    for line in (COMMANDS[path].help or "").splitlines():
        if line.strip().startswith(("driftline ", "cat ")):
            yield line.strip()


def test_all_commands_are_there():
    top = {path[0] for path in COMMANDS if path}
    names = "run compare predict explain demo data models paper serve keys warm-up"
    assert top == set(names.split())


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(path):
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "80", "TERM": "dumb"})
    assert shown.exit_code == 0
    given = list(examples(path))
    assert given
    words = " ".join(shown.output.split())
    assert all(" ".join(example.split()) in words for example in given)


ALL = [
    pytest.param(path, example, id=example, marks=[pytest.mark.slow] if example == "driftline demo" else [])
    for path in COMMANDS
    for example in examples(path)  # that of `demo` with fewer steps is quick
]


@pytest.mark.parametrize(("path", "example"), ALL)
def test_every_example_works(folder, command, request, monkeypatch, path, example):
    if "my.driftline" in example and path != ("run",):
        request.getfixturevalue("model")
    if path == ("data", "fetch"):  # without a network, as if the streams were there
        monkeypatch.setattr("driftline.cli.data.converted_file", lambda dataset: describe(dataset.name).file)
    if path == ("warm-up",):  # all classifiers take some seconds
        monkeypatch.setattr("driftline.cli.warm_up.names", lambda: ("dwm",))
    if path == ("serve",):  # it would not end
        monkeypatch.setattr("driftline.cli.serve.serve", lambda *_: typer.echo("served"))
    if path in (("keys", "create"), ("keys", "revoke")):
        command("keys", "create", "root")
        monkeypatch.setattr("driftline.serve.keys.KeyRing.revoke", lambda *_: None)
    first, _, second = example.partition(" | ")
    words = shlex.split(second or first)
    stdin = (folder / shlex.split(first)[1]).read_bytes() if second else None
    left = command(*words[1:], stdin=stdin)
    assert left.code == 0, left.err
    assert left.out
    for option in ("--report", "--save", "--out"):
        if option in words:
            assert (folder / words[words.index(option) + 1]).stat().st_size > 0


def test_help_is_quick_because_nothing_heavy_is_imported():
    code = """
import sys
from driftline.cli.app import app
from typer.testing import CliRunner
assert CliRunner().invoke(app, ["run", "--help"]).exit_code == 0
print(*sys.modules)
"""
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"sklearn", "scipy", "numba", "pandas", "pyarrow", "jinja2"} & set(loaded)


@pytest.mark.parametrize(
    ("words", "expected"),
    [("driftline run --model amrc-li", "amrc-linear"), ("driftline compare --models dwm,river-s", "dwm,river-srp")],
)
def test_names_of_classifiers_are_completed(words, expected):
    variables = {"_DRIFTLINE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    shown = CliRunner().invoke(app, [], env=variables, prog_name="driftline")
    assert expected in shown.output.split()
