import re
import sys
from pathlib import Path

import pytest

from driftline.cli import main
from helpers.csv_stream import write_rows

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


def test_the_first_command_of_the_readme_works(tmp_path, monkeypatch, capsys):
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    write_rows("my.csv")
    command = re.search(r"^(driftline run .*)$", README.read_text(encoding="utf-8"), re.MULTILINE)[1]
    monkeypatch.setattr(sys, "argv", command.split())
    with pytest.raises(SystemExit) as left:
        main()
    assert not left.value.code
    assert "300 rows of my" in capsys.readouterr().out
    assert (tmp_path / "my.html").stat().st_size > 0


def test_the_two_make_commands_stand_on_the_first_screen_of_the_readme():
    first_screen = README.read_text(encoding="utf-8").splitlines()[:40]
    for target in ("make demo", "make test"):
        assert any(target in line for line in first_screen)


def test_the_pictures_and_pages_of_the_readme_are_there():
    targets = re.findall(r"\]\(([^)#]+)", README.read_text(encoding="utf-8"))
    assert len(targets) > 15
    assert [target for target in targets if "://" not in target and not (README.parent / target).exists()] == []
