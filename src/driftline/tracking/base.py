"""What an AMRC needs of a tracker."""

from typing import Protocol

from driftline.types import State, UncertaintySet, Vector


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
