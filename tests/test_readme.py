import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftline.cli.app import app
from helpers.printed_text import prints

README = Path(__file__).parents[1] / "README.md"


def test_the_code_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    for code, said in zip(code_blocks(), ("on flights", "\nNone\n"), strict=True):
        exec(compile(code, "README.md", "exec"), {})
        assert said in capsys.readouterr().out
    assert (tmp_path / "flights.html").stat().st_size > 0
    assert (tmp_path / "model.driftline").exists()


def code_blocks():
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_command_of_the_readme_prints_what_is_shown(tmp_path, monkeypatch):
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    command, shown = re.search(r"```console\n\$ driftline (.*?)\n```\n\n```text\n(.*?)```", text, re.DOTALL).groups()
    done = CliRunner().invoke(app, shlex.split(command), env={"COLUMNS": "100"})
    assert done.exit_code == 0
    assert prints(shown, done.stdout), done.stdout
    assert (tmp_path / "flights.html").stat().st_size > 0


def test_the_two_make_commands_stand_on_the_first_screen_of_the_readme():
    first_screen = README.read_text(encoding="utf-8").splitlines()[:45]
    for target in ("make demo", "make test"):
        assert any(target in line for line in first_screen)


def test_the_pictures_and_pages_of_the_readme_are_there():
    targets = re.findall(r"\]\(([^)#]+)", README.read_text(encoding="utf-8"))
    assert len(targets) > 15
    assert [target for target in targets if "://" not in target and not (README.parent / target).exists()] == []
