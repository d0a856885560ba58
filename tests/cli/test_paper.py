import pytest
from typer.testing import CliRunner

from driftline import ConfigError
from driftline.cli.app import app
from driftline.experiments import names


def run(*arguments):
    return CliRunner(env={"COLUMNS": "100"}).invoke(app, ["paper", *arguments])


def test_experiments_are_listed_with_what_they_take():
    output = run("list").output
    assert all(name in output for name in names())
    assert "--full takes" in output


def test_the_table_of_streams_needs_no_data_and_is_written_three_ways(tmp_path):
    result = run("table2", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "18,159 (18,159)" in result.output
    assert {path.name for path in tmp_path.iterdir()} == {"table2.csv", "table2.md", "table2.tex"}
    assert "| weather | 18,159 (18,159) | 8 (8) | 2 (2) |" in (tmp_path / "table2.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["tabel1"], "did you mean table1"), (["table1", "--quick", "--full"], "--quick and --full exclude each other")],
)
def test_what_cannot_be_is_refused(arguments, message):
    result = run(*arguments)
    assert isinstance(result.exception, ConfigError)
    assert message in str(result.exception)
