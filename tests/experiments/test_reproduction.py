"""The results that the repository keeps, and the page made of them."""

from pathlib import Path

import pytest

from driftline.cli.paper import INTRODUCTION, TITLE
from driftline.experiments import ResultStore, RunExecutor, experiment_names, make_figure, make_table, read_spec
from driftline.experiments.experiment_runs import run_key
from driftline.experiments.reproduction_page import to_markdown_page
from driftline.experiments.result_table import FAR_POINTS

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "experiments" / "results"
PAGE = ROOT / "docs" / "reproduction"


class RecordingExecutor(RunExecutor):
    """Uses only kept results, and records the keys of the runs that experiments ask for."""

    asked: set[str]

    def outcomes(self, experiment, runs, bar):
        runs = list(runs)
        self.asked.update(run.key for run in runs)
        return super().outcomes(experiment, runs, bar)


def everything(level="usual"):
    executor = RecordingExecutor(ResultStore(RESULTS), run=False, progress=False)
    object.__setattr__(executor, "asked", set())
    made = {}
    for name in experiment_names():
        experiment = read_spec(name)
        make = make_figure if experiment.is_figure else make_table
        made[name] = make(experiment, level, executor)
    return made, executor.asked


@pytest.fixture(scope="module")
def sections():
    return everything()[0]


def test_every_result_is_of_a_run_that_an_experiment_asks_for_and_is_there_once(kept):
    asked = everything()[1] | everything("full")[1]
    keys = [run_key(content["run"]) for content in kept(ResultStore(RESULTS))]
    assert set(keys) <= asked
    assert len(keys) == len(set(keys)) >= 784


def test_the_page_is_what_the_results_give(sections):
    introduction = INTRODUCTION.format(page="index.html", command="driftline paper all")
    assert (PAGE / "index.md").read_text(encoding="utf-8") == to_markdown_page(TITLE, introduction, sections)


def test_every_figure_is_drawn(sections):
    for name in experiment_names():
        if name.startswith("figure"):
            assert sections[name].panels
            assert (PAGE / f"{name}.svg").exists()
            assert (PAGE / f"{name}.png").exists()


@pytest.mark.parametrize("name", ["table1", "table4"])
def test_cells_of_amrc_that_are_far_from_the_published_ones_have_a_remark(sections, name):
    methods = {method.row: method for method in read_spec(name).methods}
    for row in sections[name].rows:
        if methods[row.name].model.startswith("amrc-paper"):
            cells = zip(row.cells, sections[name].columns, strict=True)
            far = {column for cell, column in cells if abs(cell.difference or 0.0) > FAR_POINTS and not cell.is_summary}
            assert far == set(methods[row.name].remarks)


def test_missing_runs_are_named_and_not_run(tmp_path):
    workers = RunExecutor(ResultStore(tmp_path), run=False, progress=False)
    table = make_table(read_spec("table4"), "quick", workers)
    assert {cell.note for row in table.rows for cell in row.cells} == {"not run yet"}
    table = make_table(read_spec("table4"), "usual", workers)
    column = table.columns.index("creditcard")
    assert table.rows[0].cells[column].note == "the file was not available"
    assert not list(tmp_path.iterdir())
