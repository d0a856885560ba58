"""The identity map, with an optional intercept."""

import numpy as np

from driftline.types import Matrix, State


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
