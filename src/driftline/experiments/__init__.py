"""The paper's experiments as data: a spec each, a plan of independent runs, a store of what they gave."""

from driftline.experiments.spec import Experiment, names, read_spec
from driftline.experiments.store import Store
from driftline.experiments.table import Cell, Table, make_table

__all__ = ["Cell", "Experiment", "Store", "Table", "make_table", "names", "read_spec"]
