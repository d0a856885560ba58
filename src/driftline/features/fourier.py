"""Random Fourier features."""

import math

import numpy as np

from driftline.types import Matrix, State


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
