"""The tables and figures of the paper: specifications, runs, kept results, and how they are shown."""

from driftline.experiments.experiment_spec import ExperimentSpec, experiment_names, read_spec
from driftline.experiments.figure_drawing import ResultFigure
from driftline.experiments.figure_results import make_figure
from driftline.experiments.result_store import ResultStore
from driftline.experiments.result_table import ResultTable, TableCell, make_table
from driftline.experiments.run_executor import RunExecutor

__all__ = [
    "ExperimentSpec",
    "ResultFigure",
    "ResultStore",
    "ResultTable",
    "RunExecutor",
    "TableCell",
    "experiment_names",
    "make_figure",
    "make_table",
    "read_spec",
]
