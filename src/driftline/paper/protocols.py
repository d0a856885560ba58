"""Interfaces of the parts of the paper's learner: tracker and solver."""

from typing import Protocol

from driftline.core.schema import Schema
from driftline.types import Solution, State, Status, UncertaintySet, Vector

ROUNDING = 1e-9
"""Tolerance for rounding when a risk is compared with the ends of [0, 1 - 1/c]."""


class Solver(Protocol):
    """Minimises ``1 - τᵀμ + λᵀ|μ| + φ(μ)`` over μ, with φ the maximum over the observed instances.

    `observe` and `solve` are separate methods, because an instance is known before its label.
    """

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""

    def observe(self, psi: Vector) -> None:
        """Add an instance, which need not have a label."""

    def solve(self, uncertainty: UncertaintySet) -> Solution:
        """Return the rule for an uncertainty set, starting from the previous rule."""

    def reset(self) -> None:
        """Forget the previous rule: the next `solve` starts from zero weights."""

    def state(self) -> State:
        """Return the arrays that `restore` needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""

    def schema(self) -> Schema:
        """Return what each array must be in a file."""


def status_of(risk: float, n_classes: int) -> Status:
    """Return whether a risk lies in [0, 1 - 1/c], the range of every minimax risk.

    Examples
    --------
    >>> status_of(0.3, 2).value, status_of(-0.1, 2).value, status_of(0.6, 2).value
    ('ok', 'empty', 'loose')
    """
    if not risk >= -ROUNDING:  # also if it is NaN
        return Status.EMPTY
    if risk > 1 - 1 / n_classes + ROUNDING:
        return Status.LOOSE
    return Status.OK


class Tracker(Protocol):
    """Tracks the expectations of the features of each class."""

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""

    def update(self, psi: Vector, label: int, elapsed: float) -> UncertaintySet:
        """Add a labelled instance, `elapsed` after the previous one; return the uncertainty set of the next step."""

    def state(self) -> State:
        """Return the arrays that `restore` needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
