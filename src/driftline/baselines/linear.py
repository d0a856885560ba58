"""Linear functions f_y(x) = w_yᵀz(x) of features z of an instance, one for each class y."""

from typing import ClassVar

import numpy as np

from driftline._jit import kernel, summing_kernel
from driftline.baselines.base import Keeping
from driftline.baselines.supports import best_other_class, predicted_class
from driftline.types import Labels, Matrix, Vector


@summing_kernel
def dot(W: Matrix, y: int, z: Vector) -> float:
    """Return w_yᵀz."""
    total = 0.0
    for j in range(z.size):
        total += W[y, j] * z[j]
    return total


@kernel
def score(W: Matrix, z: Vector, scores: Vector) -> None:
    """Write w_yᵀz for each class y to `scores`."""
    for y in range(scores.size):
        scores[y] = dot(W, y, z)


@kernel
def predict_features(F: Matrix, W: Matrix) -> Labels:
    """Return the class with the largest score for each row of features."""
    predictions = np.empty(len(F), np.int64)
    scores = np.empty(len(W))
    for t in range(len(F)):
        score(W, F[t], scores)
        predictions[t] = predicted_class(scores)
    return predictions


@kernel
def descend(F: Matrix, labels: Labels, W: Matrix, eta: float) -> Labels:
    """Predict each row of features; if its margin is below 1, take a step η towards its class."""
    predictions = np.empty(len(F), np.int64)
    scores = np.empty(len(W))
    for t in range(len(F)):
        z, y = F[t], labels[t]
        score(W, z, scores)
        predictions[t], r = predicted_class(scores), best_other_class(scores, y)
        if r >= 0 and scores[y] - scores[r] < 1.0:
            for j in range(z.size):
                W[y, j] += 0.5 * eta * z[j]
                W[r, j] -= 0.5 * eta * z[j]
    return predictions


class LinearFunctions(Keeping):
    """A vector of weights for each class.

    Parameters
    ----------
    n_features : int
        Number of features.
    """

    _kept: ClassVar[tuple[str, ...]] = ("weights",)

    def __init__(self, n_features: int) -> None:
        self._weights = np.zeros((0, n_features))

    def add_class(self) -> None:
        """Add a class with weights 0."""
        self._weights = np.pad(self._weights, ((0, 1), (0, 0)))
