"""Fourier online gradient descent."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline.baselines.base import Baseline, kernel_scale
from driftline.baselines.linear import LinearFunctions, descend, predict_features
from driftline.core.features import FourierMap
from driftline.types import Labels, Matrix, State


class FOGD(Baseline):
    """Fourier online gradient descent (Lu, Hoi, Wang, Zhao and Liu, 2016).

    Gradient descent on the hinge loss over random Fourier features, whose products approximate a Gaussian kernel.

    Parameters
    ----------
    n_components : int, default=200
        D, the number of random directions; there are 2D features.
    scale : float or "auto", default="auto"
        Scale of the Gaussian kernel exp(-scale²‖x - x'‖²/2); "auto" is √(2/n_features).
    learning_rate : float, default=0.4
        Step η on features of length 1. The publication has features of length √D, and so η divided by D: 0.002. A step
        is shared by a class and its rival; where publications give it to both, as for more than two classes, their η
        is half of this.
    scaling : {"running", "none"}, default="running"
        Whether columns are standardised as `AMRC` does it (running mean and deviation, cut at 4 of them; columns of
        zeros and ones at half weight), or left as they are.
    random_state : int, RandomState or None, default=0
        Seed of the directions.

    Examples
    --------
    >>> from driftline.baselines import FOGD
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((FOGD().prequential(X, y).predictions != y).mean() < 0.25)
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

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "FourierDescent":
        scale = kernel_scale(parameters, n_columns)
        features = FourierMap(n_components=parameters["n_components"], scale=scale, seed=seed)
        features.start(n_columns)
        return FourierDescent(features, 2 * parameters["n_components"], parameters["learning_rate"])


class FourierDescent(LinearFunctions):
    """The method: see `FOGD`."""

    def __init__(self, features: FourierMap, n_features: int, learning_rate: float) -> None:
        super().__init__(n_features)
        self._features = features
        self._learning_rate = learning_rate

    def predict(self, Z: Matrix) -> Labels:
        """Return the position of a class for each row."""
        return predict_features(self._represent(Z), self._weights)

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        return descend(self._represent(Z), labels, self._weights, self._learning_rate)

    def _represent(self, Z: Matrix) -> Matrix:
        # One by one: a product of matrices rounds a row in a way that depends on how many there are.
        return np.concatenate([self._features.transform(z[None]) for z in Z])

    def state(self) -> State:
        """Return the arrays that a continuation needs."""
        return super().state() | self._features.state()

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        super().restore(state)
        self._features.restore(state)
