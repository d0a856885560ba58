import re
import sys
from pathlib import Path

import pytest

from driftline.cli import main
from driftline.registry import names
from helpers.csv_stream import write_rows

README = Path(__file__).parents[1] / "README.md"


def test_the_code_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_rows("my.csv")
    first, second = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(first, "README.md", "exec"), {})
    assert "[" in capsys.readouterr().out  # the predictions
    assert (tmp_path / "model.driftline").exists()
    defined = {}
    exec(compile(second, "README.md", "exec"), defined)
    assert "AMRC on my" in capsys.readouterr().out
    assert defined["records"].num_rows == 300


def test_the_first_command_of_the_readme_works(tmp_path, monkeypatch, capsys):
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    write_rows("my.csv")
    command = re.search(r"^\.venv/bin/(driftline run .*)$", README.read_text(encoding="utf-8"), re.MULTILINE)[1]
    monkeypatch.setattr(sys, "argv", command.split())
    with pytest.raises(SystemExit) as left:
        main()
    assert not left.value.code
    assert "300 rows of my" in capsys.readouterr().out
    assert (tmp_path / "my.html").stat().st_size > 0


def test_the_pictures_and_pages_of_the_readme_are_there():
    targets = re.findall(r"\]\(([^)#]+)", README.read_text(encoding="utf-8"))
    assert len(targets) > 15
    assert [target for target in targets if "://" not in target and not (README.parent / target).exists()] == []


def test_the_readme_says_how_many_classifiers_there_are():
    assert f"`driftline models` lists {len(names())} " in README.read_text(encoding="utf-8")
