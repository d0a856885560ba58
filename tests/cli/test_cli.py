import builtins
import re
import warnings

import pytest
from typer.testing import CliRunner

import driftline
from driftline.cli import main
from driftline.cli.app import app


def run(*arguments):
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "100"})
    return result.exit_code, result.output


def test_demo_shows_errors_beside_their_bounds():
    code, output = run("demo", "--steps", "120")
    assert code == 0
    for line in (
        "error of the randomised rule",
        "error of the deterministic rule",
        "mean bound on it",
        "mistakes of the randomised rule",
        "bound on them at δ = 0.05",
        "milliseconds per step",
    ):
        assert line in output
    mistakes = [int(n) for n in re.findall(r"\d+", output.split("mistakes of the randomised rule")[1].splitlines()[0])]
    bounds = [int(n) for n in re.findall(r"\d+", output.split("δ = 0.05")[1].splitlines()[0])]
    assert len(mistakes) == len(bounds) == 2
    assert all(made < bound for made, bound in zip(mistakes, bounds, strict=True))


def test_demo_is_reproducible_but_for_its_times():
    def without_times(output):
        return [line for line in output.splitlines() if "milliseconds" not in line]

    assert without_times(run("demo", "--steps", "40")[1]) == without_times(run("demo", "--steps", "40")[1])


def test_version_and_help_are_given():
    assert run("--version") == (0, f"driftline {driftline.__version__}\n")
    assert "demo" in run("--help")[1]


def test_a_stream_too_short_is_refused():
    code, output = run("demo", "--steps", "3")
    assert code == 2
    assert "20" in output


def test_without_the_extra_the_command_says_what_to_install(monkeypatch, capsys):
    real = builtins.__import__

    def missing(name, *rest):
        if name == "driftline.cli.app":
            raise ModuleNotFoundError("No module named 'typer'", name="typer")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 1
    assert capsys.readouterr().err == "driftline: the command line needs typer; pip install 'driftline[cli]'\n"


def test_a_warning_is_one_line(folder, command, monkeypatch):
    def warn(*_):
        warnings.warn("kernels cannot be saved\x1b", stacklevel=1)
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)

    monkeypatch.setattr("driftline.cli.run.check_classes", warn)
    left = command("run", "my.csv", "--label", "class", "--model", "no-change", "--quiet")
    assert left == (0, "", "driftline: warning: kernels cannot be saved\\x1b\n")
