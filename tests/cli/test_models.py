import json

import pytest
from typer.testing import CliRunner

from driftline import ConfigError, registry
from driftline.cli.app import app
from driftline.registry import describe, names


def run(*arguments):
    result = CliRunner().invoke(app, ["models", *arguments], env={"COLUMNS": "80"}, catch_exceptions=False)
    return result.exit_code, result.stdout


@pytest.fixture
def bare(monkeypatch):
    """Neither River nor CapyMOA is installed."""
    monkeypatch.setattr(registry, "find_spec", lambda name: None)


def test_the_list_shows_every_classifier_by_family_within_80_columns(bare):
    code, output = run()
    assert code == 0
    assert max(map(len, output.splitlines())) <= 80
    shown = [line.split()[0] for line in output.splitlines() if line.startswith("  ")]
    assert tuple(shown) == names()
    for name in names():
        assert f"  {name} " in output
        assert describe(name).summary in output
    assert "\nRiver, missing: pip install 'driftline[river]'\n" in output
    assert "\nCapyMOA, missing: pip install 'driftline[capymoa]'\n" in output
    assert "\nscikit-learn\n" in output


def test_the_list_is_there_for_programs(bare):
    code, output = run("--json", "-")
    listed = json.loads(output)
    assert code == 0
    assert [entry["name"] for entry in listed] == list(names())
    assert listed[0] == {"name": "amrc", "family": "AMRC", "summary": describe("amrc").summary, "missing": None}
    assert listed[-1]["missing"] == "pip install 'driftline[capymoa]'"


def test_one_classifier_is_shown_with_its_parameters_and_what_it_is():
    code, output = run("amrc-paper-linear")
    assert code == 0
    assert max(map(len, output.splitlines())) <= 80
    plain = " ".join(output.split())
    assert "The adaptive minimax risk classifier of the paper;" in plain
    assert "features 'linear'" in plain
    assert "scaling 'running'" in plain
    assert "random_state 0" in plain


def test_one_classifier_is_there_for_programs():
    record = json.loads(run("rbp", "--json", "-")[1])
    assert record["parameters"] == {"budget": 100, "scale": "auto", "scaling": "running", "random_state": 0}
    assert record["description"].startswith("The randomised budget perceptron")


def test_one_that_is_missing_is_shown_with_what_to_install(bare):
    code, output = run("river-arf")
    assert code == 0
    assert "River, missing: pip install 'driftline[river]'" in output
    record = json.loads(run("river-arf", "--json", "-")[1])
    assert record["missing"] == "pip install 'driftline[river]'"
    assert record["parameters"] is None


def test_a_mistyped_name_is_refused():
    with pytest.raises(ConfigError, match="did you mean river-arf"):
        run("river-arff")
