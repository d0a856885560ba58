import re
from pathlib import Path

from driftline.registry import names
from driftline.streams import RotatingGaussians

README = Path(__file__).parents[1] / "README.md"


def test_the_code_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = RotatingGaussians().sample(300, seed=0)
    rows = [f"{a},{b},{'left' if label else 'right'}" for (a, b), label in zip(X, y, strict=True)]
    Path("my.csv").write_text("\n".join(["x,y,class", *rows]))
    first, second, third = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(first, "README.md", "exec"), {})
    assert "[" in capsys.readouterr().out  # the predictions
    assert (tmp_path / "model.driftline").exists()
    defined = {}
    exec(compile(second, "README.md", "exec"), defined)
    assert "AMRC on my" in capsys.readouterr().out
    assert defined["records"].num_rows == 300
    exec(compile(third, "README.md", "exec"), {})
    assert "DWM on my" in capsys.readouterr().out


def test_the_readme_says_how_many_classifiers_there_are():
    assert f"`driftline models` lists {len(names())} " in README.read_text(encoding="utf-8")
