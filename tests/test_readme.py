import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_code_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert "[" in capsys.readouterr().out  # the predictions
    assert (tmp_path / "model.driftline").exists()
