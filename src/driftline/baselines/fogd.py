"""Fourier online gradient descent."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline.baselines.base import Baseline, kernel_scale
from driftline.baselines.linear import LinearFunctions, descend, predict_features
from driftline.core.features import FourierMap
from driftline.core.schema import Schema
from driftline.types import Labels, Matrix, State


class FOGD(Baseline):
    """Fourier online gradient descent (Lu, Hoi, Wang, Zhao and Liu, 2016).

    Gradient descent on the hinge loss with random Fourier features, whose inner products approximate a Gaussian kernel.

    Parameters
    ----------
    n_components : int, default=200
        Number D of random directions; there are 2D features.
    scale : float or "auto", default="auto"
        Scale of the Gaussian kernel exp(-scale²‖x - x'‖²/2); "auto" is √(2/n_features).
    learning_rate : float, default=0.4
        Step η for features of length 1. The publication has features of length √D, so its η is this divided by D:
        0.002. Half of the step is added to the true class and half subtracted from the best other class; publications
        that add and subtract the whole step, as for more than two classes, have half this η.
    scaling : {"running", "none"}, default="running"
        Standardise the columns as `AMRC` does (running mean and standard deviation, clipped at 4 deviations; columns of
        zeros and ones at half weight), or use them unchanged.
    random_state : int, RandomState or None, default=0
        Seed of the directions.

    Examples
    --------
    >>> from driftline.baselines import FOGD
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((FOGD().prequential(X, y).predicted != y).mean() < 0.25)
    True
    """

    def __init__(
        self,
        *,
        n_components: int = 200,
        scale: float | str = "auto",
        learning_rate: float = 0.4,
        scaling: str = "running",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.learning_rate = learning_rate
        self.scaling = scaling
        self.random_state = random_state

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "FOGDMethod":
        scale = kernel_scale(parameters, n_columns)
        features = FourierMap(n_components=parameters["n_components"], scale=scale, seed=seed)
        features.start(n_columns)
        return FOGDMethod(features, 2 * parameters["n_components"], parameters["learning_rate"])


class FOGDMethod(LinearFunctions):
    """The method of `FOGD` on prepared rows and class positions."""

    def __init__(self, features: FourierMap, n_features: int, learning_rate: float) -> None:
        super().__init__(n_features)
        self._features = features
        self._learning_rate = learning_rate

    def predict(self, Z: Matrix) -> Labels:
        """Return the predicted class position of each row."""
        return predict_features(self._represent(Z), self._weights)

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        return descend(self._represent(Z), labels, self._weights, self._learning_rate)

    def _represent(self, Z: Matrix) -> Matrix:
        # Row by row: in a product of matrices, the rounding of a row depends on the number of rows.
        return np.concatenate([self._features.transform(z[None]) for z in Z])

    def state(self) -> State:
        """Return the arrays that determine future predictions."""
        return {"weights": self._weights.copy()} | self._features.state()

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        return super().schema() | self._features.schema()

    def restore(self, state: State) -> None:
        """Restore the arrays that `state` returned."""
        self._weights = state["weights"].astype(np.float64)
        self._features.restore(state)
