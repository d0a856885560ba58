"""The λ-perceptron, reconstructed from descriptions of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import Baseline
from driftline.baselines.linear import LinearFunctions, predict_features, score
from driftline.baselines.supports import best_other_class, predicted_class
from driftline.core.schema import ArraySpec, Schema
from driftline.kernels.vectors import dot
from driftline.types import Labels, Matrix, Vector

MIN_FORGETTING_FACTOR = 0.9
"""Smallest value of the forgetting factor λ."""


class LambdaPerceptron(Baseline):
    r"""A perceptron that adapts its forgetting factor λ online (after Pavlidis, Tasoulis, Adams and Hand, 2011).

    This is a reconstruction from descriptions in other publications. At each step w ← λw, plus yx on a mistake. Before
    that, a mistake changes λ along the gradient of its margin, λ ← λ + α y ψᵀx, within [0.9, 1], where ψ = ∂w/∂λ is
    updated by ψ ← w + λψ.

    Parameters
    ----------
    learning_rate : float, default=0.001
        Step α of the forgetting factor.
    scaling : {"running", "none"}, default="running"
        Standardise the columns as `AMRC` does (running mean and standard deviation, clipped at 4 deviations; columns of
        zeros and ones at half weight), or use them unchanged. A constant column
        is always added.

    Examples
    --------
    >>> from driftline.baselines import LambdaPerceptron
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((LambdaPerceptron().prequential(X, y).predicted != y).mean() < 0.25)
    True
    """

    def __init__(self, *, learning_rate: float = 0.001, scaling: str = "running") -> None:
        self.learning_rate = learning_rate
        self.scaling = scaling

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "LambdaPerceptronMethod":
        return LambdaPerceptronMethod(n_columns, parameters["learning_rate"])


class LambdaPerceptronMethod(LinearFunctions):
    """The method of `LambdaPerceptron` on prepared rows and class positions."""

    def __init__(self, n_columns: int, learning_rate: float) -> None:
        super().__init__(n_columns + 1)
        self._slopes = np.zeros((0, n_columns + 1))
        self._factor = np.ones(1)
        self._learning_rate = learning_rate

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        factor = ArraySpec((1,), low=MIN_FORGETTING_FACTOR, high=1.0)
        return super().schema() | {"slopes": ArraySpec(self._slopes.shape), "factor": factor}

    def add_classes(self, n: int) -> None:
        """Add n classes with weights 0."""
        super().add_classes(n)
        self._slopes = np.pad(self._slopes, ((0, n), (0, 0)))

    def predict(self, Z: Matrix) -> Labels:
        """Return the predicted class position of each row."""
        return predict_features(with_constant(Z), self._weights)

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        return advance(with_constant(Z), labels, self._weights, self._slopes, self._factor, self._learning_rate)


def with_constant(Z: Matrix) -> Matrix:
    """Return the rows with an additional column of ones."""
    return np.pad(Z, ((0, 0), (0, 1)), constant_values=1.0)


@kernel
def advance(F: Matrix, labels: Labels, W: Matrix, slopes: Matrix, factor: Vector, alpha: float) -> Labels:
    """Predict each row; multiply the weights by λ, and learn from mistakes."""
    predictions = np.empty(len(F), np.int64)
    scores = np.empty(len(W))
    for t in range(len(F)):
        x, y = F[t], labels[t]
        score(W, F, t, scores)
        predictions[t], r = predicted_class(scores), best_other_class(scores, y)
        is_mistake = predictions[t] != y
        if is_mistake:
            gradient = dot(slopes, y, F, t) - dot(slopes, r, F, t)
            factor[0] = min(max(factor[0] + alpha * gradient, MIN_FORGETTING_FACTOR), 1.0)
        for c in range(len(W)):
            for j in range(x.size):
                slopes[c, j] = W[c, j] + factor[0] * slopes[c, j]
                W[c, j] *= factor[0]
        if is_mistake:
            for j in range(x.size):
                W[y, j] += 0.5 * x[j]
                W[r, j] -= 0.5 * x[j]
    return predictions
