"""Feature maps ψ(x): the interface, checks of its results, and the built-in maps."""

import math
from typing import Protocol, runtime_checkable

import numpy as np

from driftline.core.schema import ArraySpec, Schema
from driftline.core.state import copy_with
from driftline.errors import ConfigError, DataError
from driftline.kernels.representation import represent, set_fourier_features
from driftline.types import LARGEST_VALUE, Matrix, Singles, State

LARGEST_NORMAL = 40.0
"""No standard normal number that is drawn is so large."""


@runtime_checkable
class FeatureMap(Protocol):
    """Maps instances to feature vectors.

    A map is copied before use, so that one object can configure several models.
    """

    def start(self, n_columns: int) -> None:
        """Prepare for instances with `n_columns` columns."""

    def transform(self, Z: Matrix) -> Matrix:
        """Return ψ for each row of Z, as a C-contiguous float array; changes nothing."""

    def state(self) -> State:
        """Return the arrays that `restore` needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""


def is_feature_map(features: object) -> bool:
    """Return whether `features` is a feature map object, and neither a name nor a class."""
    # The usual values are excluded first because checking a protocol is slow.
    return not isinstance(features, str | type | None) and isinstance(features, FeatureMap)


def count_features(features: FeatureMap, z: Matrix) -> int:
    """Return the number of features of a map, from one prepared row; raise ConfigError if it returns no matrix."""
    psi = features.transform(z)
    if not isinstance(psi, np.ndarray) or psi.ndim != 2 or len(psi) != 1:
        raise ConfigError(f"the feature map must return an array with a row for each instance; got {psi!r}")
    return int(psi.shape[1])


def checked_features(Psi: Matrix, n_rows: int, n_features: int) -> Matrix:
    """Return the output of a feature map; raise DataError for a wrong shape, NaN or values beyond `LARGEST_VALUE`."""
    shape = np.shape(Psi)
    if shape != (n_rows, n_features):
        raise DataError(
            f"the feature map returned an array of shape {shape}; expected {(n_rows, n_features)}, as many features "
            "for each row as for the first row"
        )
    if not np.all(np.abs(Psi) <= LARGEST_VALUE):
        raise DataError(f"the feature map returned a value that is not a number up to {LARGEST_VALUE:g}")
    return Psi


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
        """Prepare for instances with `n_columns` columns."""

    def transform(self, Z: Matrix) -> Matrix:
        """Return ψ for each row of Z."""
        if self._intercept:
            return np.concatenate([np.ones((len(Z), 1)), Z], axis=1)
        return np.ascontiguousarray(Z)

    def state(self) -> State:
        """Return no arrays."""
        return {}

    def schema(self) -> Schema:
        """Return no descriptions: there are no arrays."""
        return {}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""


class FourierMap:
    """ψ(x) = [cos(uᵢᵀx), sin(uᵢᵀx)]ᵢ/√D for D random directions uᵢ = scale · N(0, I).

    The inner products approximate the Gaussian kernel exp(-scale²‖x - x'‖²/2), and ‖ψ(x)‖ = 1. (The paper
    writes uᵢ ~ N(0, γI); its authors' code draws γ·N(0, I), which is what `scale` means here. The paper does not
    divide by √D. One of the authors' two programs does, the other does not.)

    Parameters
    ----------
    n_components : int
        D, the number of directions; ψ has 2D features.
    scale : float
        Standard deviation of the entries of uᵢ.
    seed : int
        Seed of the directions.
    divided : bool, default=True
        Whether features are divided by √D; if not, they are as printed in the paper, and ‖ψ(x)‖ = √D.

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
        """Draw the directions for instances with `n_columns` columns."""
        rng = np.random.default_rng(self._seed)
        self._directions = self._scale * rng.standard_normal((n_columns, self._n_components))

    def transform(self, Z: Matrix) -> Matrix:
        """Return ψ for each row of Z."""
        angles = Z @ self._directions
        psi: Matrix = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        return psi / self._divisor

    def state(self) -> State:
        """Return the directions."""
        return {"directions": self._directions}

    def schema(self) -> Schema:
        """Return what the array must be in a file."""
        largest = LARGEST_NORMAL * self._scale
        return {"directions": ArraySpec(self._directions.shape, low=-largest, high=largest)}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        self._directions = state["directions"].astype(np.float64)


class LinearFourierMap:
    """ψ(x) = [1/2, x/√p, cos(uᵢᵀx)/√D, sin(uᵢᵀx)/√D]ᵢ in single precision, for p columns and D random directions.

    With a scale of 0 there are no directions, and the map is linear. `with_columns` returns a map for more columns.

    Parameters
    ----------
    scale : float
        Directions are scale · N(0, I/(2p)).
    n_components : int
        D, the number of directions.
    seed : list of int
        Seed of the directions.
    """

    def __init__(self, *, scale: float, n_components: int, seed: list[int]) -> None:
        self._scale = scale
        self._n_components = n_components if scale > 0.0 else 0
        self._seed = seed
        self._directions = np.empty((0, 0))
        self._n_first_columns = 0

    def start(self, n_columns: int) -> None:
        """Draw the directions for instances with `n_columns` columns."""
        rng = np.random.default_rng(self._seed)
        normals = rng.standard_normal((self._n_components, n_columns))
        self._directions = self._scale * normals / math.sqrt(2.0 * n_columns)
        self._n_first_columns = n_columns

    @property
    def directions(self) -> Matrix:
        """The random directions, one in each row."""
        return self._directions

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self._directions.shape[1]

    def with_columns(self, n: int) -> "LinearFourierMap":
        """Return the map with n more columns; rows in which these are 0 keep their Fourier features."""
        added_columns = range(self.n_columns, self.n_columns + n)
        rngs = (np.random.default_rng([*self._seed, 2, column]) for column in added_columns)
        normals = np.array([rng.standard_normal(self._n_components) for rng in rngs])
        added = self._scale * normals.T / math.sqrt(2.0 * self._n_first_columns)
        return copy_with(self, _directions=np.concatenate([self._directions, added], axis=1))

    def transform(self, Z: Matrix) -> Singles:
        """Return ψ for each row of Z, computed row by row, so that the grouping of rows does not change the result."""
        return represent(Z, self._directions, self._n_first_columns)

    @property
    def n_linear(self) -> int:
        """Number of features before the Fourier features, from which those follow."""
        return 1 + self.n_columns

    def complete(self, rows: Singles) -> None:
        """Set the Fourier features of rows ψ from their linear features."""
        set_fourier_features(rows, self._directions, self._n_first_columns)

    def state(self) -> State:
        """Return no arrays: the directions follow from the seed and the number of columns."""
        return {}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
