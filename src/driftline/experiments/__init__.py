"""The paper's experiments as data: a spec each, a plan of independent runs, a store of what they gave."""

from driftline.experiments.figure import Figure
from driftline.experiments.figures import make_figure
from driftline.experiments.spec import Experiment, names, read_spec
from driftline.experiments.store import Store
from driftline.experiments.table import Cell, Table, make_table
from driftline.experiments.work import Workers

__all__ = [
    "Cell",
    "Experiment",
    "Figure",
    "Store",
    "Table",
    "Workers",
    "make_figure",
    "make_table",
    "names",
    "read_spec",
]
