"""Solvers: from an uncertainty set to the rule that minimises the worst-case error over it."""

from driftline.solvers.base import Solver, status_of
from driftline.solvers.exact import ExactSolver
from driftline.solvers.feasible import LabelledWindow
from driftline.solvers.subgradient import SubgradientSolver

__all__ = ["ExactSolver", "LabelledWindow", "Solver", "SubgradientSolver", "status_of"]
