import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from driftline import ConfigError
from driftline.cli.app import app
from driftline.cli.paper import _split_columns
from driftline.errors import MissingExtraError
from driftline.experiments import experiment_names, make_table, read_spec


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """What is written without being told where goes into the current folder."""
    monkeypatch.chdir(tmp_path)


def run(*arguments):
    return CliRunner(env={"COLUMNS": "100"}).invoke(app, ["paper", *arguments])


def test_experiments_are_listed_with_what_they_take():
    output = run("list").output
    assert all(name in output for name in experiment_names())
    assert "takes" in output


def test_a_figure_is_drawn_and_says_what_it_shows(tmp_path):
    result = run("figure1")
    assert result.exit_code == 0
    assert "✓ From t₁ to t₂" in result.output
    written = {path.name for path in (tmp_path / "paper").iterdir()}
    assert written == {f"figure1.{suffix}" for suffix in ("svg", "png", "csv", "md", "html")}


def test_all_experiments_come_together_on_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr("driftline.cli.paper.experiment_names", lambda: ("figure1", "table2"))
    assert run("all", "--out", "there").exit_code == 0
    html, page = ((tmp_path / "there" / f"index.{suffix}").read_text(encoding="utf-8") for suffix in ("html", "md"))
    assert html.count("<section") == 2
    assert "![Figure 1: one class moves, the other does not](figure1.svg)" in page
    assert "## Table 2" in page


def test_a_figure_that_cannot_be_drawn_is_not_begun(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("driftline.cli.paper.make_figure", None)
    result = run("figure3")
    assert isinstance(result.exception, MissingExtraError)
    assert "driftline[plot]" in str(result.exception)


def test_options_reach_the_executor_and_the_names_of_files(tmp_path, monkeypatch):
    seen = []

    def make(experiment, level, executor):
        seen.append((level, executor))
        return make_table(read_spec("table2"), level, executor)

    monkeypatch.setattr("driftline.cli.paper.make_table", make)
    run("table4", "--quick", "--jobs", "3", "--backend", "threading", "--no-resume", "--store", "kept")
    run("table4", "--full", "--no-run")
    run("table4", "--rerun-stale")
    run("table4")
    assert [(level, e.jobs, e.backend, e.resume, e.run, e.rerun_stale) for level, e in seen] == [
        ("quick", 3, "threading", False, True, False),
        ("full", -1, "loky", True, False, False),
        ("usual", -1, "loky", True, True, True),
        ("usual", -1, "loky", True, True, False),
    ]
    assert seen[0][1].store.folder == tmp_path / "kept"
    assert {path.stem for path in (tmp_path / "paper").iterdir()} == {"table4-quick", "table4-full", "table4"}


def test_a_quick_page_shows_the_quick_figures(tmp_path, monkeypatch):
    monkeypatch.setattr("driftline.cli.paper.experiment_names", lambda: ("figure1",))
    run("all", "--quick")
    page = (tmp_path / "paper" / "index-quick.md").read_text(encoding="utf-8")
    assert "(figure1-quick.svg)" in page
    assert "`driftline paper all --quick`" in page
    assert (tmp_path / "paper" / "figure1-quick.svg").exists()


def test_an_experiment_without_any_result_fails():
    assert run("table4", "--no-run", "--store", "nowhere").exit_code == 1


@pytest.mark.parametrize("option", ["--out", "--store"])
def test_a_path_that_is_not_a_folder_is_refused_before_anything_is_run(tmp_path, monkeypatch, option):
    (tmp_path / "file").touch()
    monkeypatch.setattr("driftline.cli.paper.make_table", None)
    for path in ("file", "file/below"):
        result = run("table4", option, path)
        assert isinstance(result.exception, ConfigError)
        assert f"{option} must be a folder" in str(result.exception)


@pytest.mark.parametrize(("backend", "package"), [("dask", "distributed"), ("ray", "ray")])
def test_a_cluster_needs_its_package(monkeypatch, backend, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setenv("DRIFTLINE_DATA", "nowhere")
    result = run("figure3", "--quick", "--backend", backend)
    assert isinstance(result.exception, MissingExtraError)
    assert f"pip install {package}" in str(result.exception)


def test_nothing_is_written_where_nothing_was_made(tmp_path):
    run("table1", "--jobs", "0")
    assert not list(tmp_path.iterdir())


def test_the_table_of_streams_needs_no_data_and_is_written_four_ways(tmp_path):
    result = run("table2", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "18,159 (18,159)" in result.output
    assert {path.name for path in tmp_path.iterdir()} == {f"table2.{suffix}" for suffix in ("csv", "md", "tex", "html")}
    assert "| weather | 18,159 (18,159) | 8 (8) | 2 (2) |" in (tmp_path / "table2.md").read_text(encoding="utf-8")


@given(st.lists(st.integers(3, 30), min_size=2, max_size=15), st.integers(20, 120))
def test_a_table_is_shown_in_parts_that_fit_and_hold_every_column(widths, width):
    parts = _split_columns(widths, width)
    assert [place for part in parts for place in part[1:]] == list(range(1, len(widths)))
    for part in parts:
        assert part[0] == 0
        assert sum(widths[place] for place in part) <= width or len(part) == 2
    for part, following in pairwise(parts):  # none could have held more
        assert sum(widths[place] for place in [*part, following[1]]) > width


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tabel1"], "did you mean table1"),
        (["table1", "--quick", "--full"], "--quick and --full exclude each other"),
        (["table1", "--no-run", "--no-resume"], "--no-resume ignores them; choose one"),
        (["table1", "--no-run", "--rerun-stale"], "--rerun-stale repeats those with stale results; choose one"),
        (["table1", "--jobs", "0"], "jobs must be a whole number"),
        (["table1", "--backend", "nope"], "there is no backend 'nope'"),
    ],
)
def test_invalid_options_are_refused(arguments, message):
    result = run(*arguments)
    assert isinstance(result.exception, ConfigError)
    assert message in str(result.exception)
