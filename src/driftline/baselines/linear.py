"""Linear functions f_y(x) = w_yᵀz(x) of features z of an instance, one for each class y."""

import numpy as np

from driftline._jit import kernel
from driftline.baselines.supports import best_other_class, predicted_class
from driftline.core.schema import ArraySpec, Schema
from driftline.core.state import ArrayState
from driftline.kernels.vectors import dot
from driftline.types import Labels, Matrix, Vector


@kernel
def score(W: Matrix, F: Matrix, t: int, scores: Vector) -> None:
    """Write w_yᵀz for each class y to `scores`, with z = F_t."""
    for y in range(scores.size):
        scores[y] = dot(W, y, F, t)


@kernel
def predict_features(F: Matrix, W: Matrix) -> Labels:
    """Return the class with the largest score for each row of features."""
    predictions = np.empty(len(F), np.int64)
    scores = np.empty(len(W))
    for t in range(len(F)):
        score(W, F, t, scores)
        predictions[t] = predicted_class(scores)
    return predictions


@kernel
def descend(F: Matrix, labels: Labels, W: Matrix, eta: float) -> Labels:
    """Predict each row of features; if its margin is below 1, take a step η towards its class."""
    predictions = np.empty(len(F), np.int64)
    scores = np.empty(len(W))
    for t in range(len(F)):
        z, y = F[t], labels[t]
        score(W, F, t, scores)
        predictions[t], r = predicted_class(scores), best_other_class(scores, y)
        if r >= 0 and scores[y] - scores[r] < 1.0:
            for j in range(z.size):
                W[y, j] += 0.5 * eta * z[j]
                W[r, j] -= 0.5 * eta * z[j]
    return predictions


class LinearFunctions(ArrayState):
    """A vector of weights for each class.

    Parameters
    ----------
    n_features : int
        Number of features.
    """

    def __init__(self, n_features: int) -> None:
        self._weights = np.zeros((0, n_features))

    def schema(self) -> Schema:
        """Return what the array must be in a file."""
        return {"weights": ArraySpec(self._weights.shape)}

    def add_classes(self, n: int) -> None:
        """Add n classes with weights 0."""
        self._weights = np.pad(self._weights, ((0, n), (0, 0)))
