"""Feature maps ψ(x): what an AMRC needs of one, and those that come with driftline."""

import math
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


class LinearMap:
    """ψ(x) = x, or (1, x) with an intercept.

    Examples
    --------
    >>> import numpy as np
    >>> LinearMap(intercept=True).transform(np.array([[3.0, 4.0]]))
    array([[1., 3., 4.]])
    """

    def __init__(self, *, intercept: bool = False) -> None:
        self._intercept = intercept

    def start(self, n_columns: int) -> None:
        """Get ready for instances of `n_columns` columns."""

    def transform(self, Z: Matrix) -> Matrix:
        """Return ψ for each row of Z."""
        if self._intercept:
            return np.concatenate([np.ones((len(Z), 1)), Z], axis=1)
        return np.ascontiguousarray(Z)

    def state(self) -> State:
        """Return the arrays that a continuation needs: none."""
        return {}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""


class FourierMap:
    """ψ(x) = [cos(uᵢᵀx), sin(uᵢᵀx)]ᵢ/√D for D random directions uᵢ = scale · N(0, I).

    The inner products approximate the Gaussian kernel exp(-scale²‖x - x'‖²/2), and ‖ψ(x)‖ = 1. (The paper
    writes uᵢ ~ N(0, γI); its authors' code draws γ·N(0, I), which is what `scale` means here. The paper does not
    divide by √D, nor does one of its authors' programs: the other does.)

    Parameters
    ----------
    n_components : int
        D, the number of directions; ψ has 2D features.
    scale : float
        Standard deviation of the entries of uᵢ.
    seed : int
        Seed of the directions.
    divided : bool, default=True
        Whether features are divided by √D; without it they are as the paper prints them, and ‖ψ(x)‖ = √D.

    Examples
    --------
    >>> import numpy as np
    >>> psi = FourierMap(n_components=200, scale=1.0, seed=0)
    >>> psi.start(2)
    >>> features = psi.transform(np.array([[0.0, 0.0], [1.0, 0.0]]))
    >>> features.shape, bool(abs(features[0] @ features[1] - np.exp(-0.5)) < 0.1)
    ((2, 400), True)
    """

    def __init__(self, *, n_components: int, scale: float, seed: int, divided: bool = True) -> None:
        self._n_components = n_components
        self._scale = scale
        self._seed = seed
        self._divisor = math.sqrt(n_components) if divided else 1.0
        self._directions = np.empty((0, n_components))

    def start(self, n_columns: int) -> None:
        """Draw the directions for instances of `n_columns` columns."""
        rng = np.random.default_rng(self._seed)
        self._directions = self._scale * rng.standard_normal((n_columns, self._n_components))

    def transform(self, Z: Matrix) -> Matrix:
        """Return ψ for each row of Z."""
        angles = Z @ self._directions
        psi: Matrix = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        return psi / self._divisor

    def state(self) -> State:
        """Return the arrays that a continuation needs: the directions, as drawn."""
        return {"directions": self._directions}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        self._directions = state["directions"].astype(np.float64)
