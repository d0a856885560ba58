"""What an AMRC needs of a feature map."""

from typing import Protocol, runtime_checkable

from driftline.types import Matrix, State


@runtime_checkable
class FeatureMap(Protocol):
    """Represents instances as real vectors.

    A map is copied before use, so that one object can configure several models.
    """

    def start(self, n_columns: int) -> None:
        """Get ready for instances of `n_columns` columns."""

    def transform(self, Z: Matrix) -> Matrix:
        """Return ψ for each row of Z, as a C-contiguous float array; changes nothing."""

    def state(self) -> State:
        """Return the arrays that a continuation needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""


def is_feature_map(features: object) -> bool:
    """Return whether this is a feature map of the user's own, and not a class of them."""
    # A word is none, which a protocol finds out slowly.
    return not isinstance(features, str | type) and isinstance(features, FeatureMap)
