"""Runs the notebooks in examples, and compares what they print and show with the outputs that are stored in them."""

from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from helpers.printed_text import prints

EXAMPLES = Path(__file__).parents[1] / "examples"
QUICK = ("from_river",)
NOTEBOOKS = [
    pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow)
    for path in sorted(EXAMPLES.glob("*.ipynb"))
]
SECONDS_PER_CELL = 600
"""The first call in a new environment compiles the kernels."""


def printed(cell):
    """Return what a cell wrote to the standard output."""
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


def shown(cell):
    """Return the kinds of content that a cell showed."""
    return [sorted(output.data) for output in cell.outputs if "data" in output]


def test_the_notebooks_are_there_and_one_runs_every_time():
    names = {path.stem for path in EXAMPLES.glob("*.ipynb")}
    assert names == {"flights", "fraud", "from_river", "sensors"}
    assert names & set(QUICK)


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_a_notebook_runs_and_prints_what_is_stored(path, tmp_path):
    stored = nbformat.read(path, as_version=4)
    if find_spec("river") is None and any("river" in cell.source for cell in stored.cells):
        pytest.skip("needs river")
    run = nbformat.from_dict(stored)
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(run, timeout=SECONDS_PER_CELL, kernel_name="python3", resources=where).execute()
    for before, after in zip(stored.cells, run.cells, strict=True):
        if before.cell_type == "code":
            assert prints(printed(before), printed(after)), f"{after.source}\nprints\n{printed(after)}"
            assert shown(before) == shown(after), after.source
            assert not [output for output in after.outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_stored_outputs_are_complete_and_of_one_run(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]


def test_a_progress_bar_is_one_element_that_keeps_its_text():
    cell = nbformat.v4.new_code_cell(
        "from driftline.utils.progress import ProgressBar\n"
        "with ProgressBar('reading', 10, unit='rows', shown=True) as bar:\n"
        "    bar.advance(10, 'error 25.0%')\n"
        "print('done')"
    )
    NotebookClient(nbformat.v4.new_notebook(cells=[cell]), timeout=60, kernel_name="python3").execute()
    shown, said = cell.outputs
    assert shown.data["text/html"] == "<div>reading: 10 of 10 rows, error 25.0%</div>"
    assert said.text == "done\n"
