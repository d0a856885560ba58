"""What an AMRC needs of a feature map."""

from typing import Protocol, runtime_checkable

import numpy as np

from driftline.errors import CheckpointError, DataError
from driftline.types import LARGEST, Matrix, State


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


def checked_features(Psi: Matrix, n_rows: int, n_features: int) -> Matrix:
    """Return what a map made of some rows, or refuse what kernels cannot read: another shape, or no numbers."""
    shape = np.shape(Psi)
    if shape != (n_rows, n_features):
        raise DataError(
            f"the feature map returned an array of shape {shape}; expected {(n_rows, n_features)}, as many features "
            "for each row as for the first"
        )
    if not np.all(np.abs(Psi) <= LARGEST):
        raise DataError(f"the feature map returned a value that is not a number up to {LARGEST:g}")
    return Psi


def check_same_width(n_features: int, n_saved: int) -> None:
    """Refuse to continue a saved model with another feature map."""
    if n_features != n_saved:
        raise CheckpointError(
            f"the feature map returns {n_features} features, and the one that the model was saved with {n_saved}; "
            "load it with that one"
        )
