"""What the learner of the paper needs of its tracker and its solver."""

from typing import Protocol

from driftline.types import Solution, State, Status, UncertaintySet, Vector

ROUNDING = 1e-9
"""How far rounding may carry a risk out of [0, 1 - 1/c] before it is flagged."""


class Solver(Protocol):
    """Minimises ``1 - τᵀμ + λᵀ|μ| + φ(μ)`` over μ, with φ taken over instances it has been shown.

    Showing an instance and solving are apart, because an instance is known before its label.
    """

    def add_class(self) -> None:
        """Make room for one more class, at the end."""

    def observe(self, psi: Vector) -> None:
        """Take in an instance, labelled or not."""

    def solve(self, uncertainty: UncertaintySet) -> Solution:
        """Return the rule for an uncertainty set, starting from the rule before."""

    def reset(self) -> None:
        """Forget the rule before."""

    def state(self) -> State:
        """Return the arrays that a continuation needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""


def status_of(risk: float, n_classes: int) -> Status:
    """Judge a risk by the range [0, 1 - 1/c] that every minimax risk lies in.

    Examples
    --------
    >>> status_of(0.3, 2).value, status_of(-0.1, 2).value, status_of(0.6, 2).value
    ('ok', 'empty', 'loose')
    """
    if not risk >= -ROUNDING:  # also where it is no number
        return Status.EMPTY
    if risk > 1 - 1 / n_classes + ROUNDING:
        return Status.LOOSE
    return Status.OK


class Tracker(Protocol):
    """Follows the expectations of the features of each class."""

    def add_class(self) -> None:
        """Make room for one more class, at the end."""

    def update(self, psi: Vector, label: int, elapsed: float) -> UncertaintySet:
        """Take in one labelled instance, `elapsed` after the one before, and forecast the next step."""

    def state(self) -> State:
        """Return the arrays that a continuation needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
