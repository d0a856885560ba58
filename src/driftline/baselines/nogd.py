"""Nyström online gradient descent."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import Baseline, kernel_scale
from driftline.baselines.linear import descend, predict_features
from driftline.baselines.supports import SupportSet, best_other_class, class_scores, gaussian_row, predicted_class
from driftline.core.schema import ArraySpec, Length, Schema, whole_numbers
from driftline.types import Indices, Labels, Matrix

MIN_EIGENVALUE = 1e-10
"""Eigenvalues of the Gram matrix up to this are rounding errors, and are ignored."""


class NOGD(Baseline):
    """Nyström online gradient descent (Lu, Hoi, Wang, Zhao and Liu, 2016).

    Kernel gradient descent on the hinge loss until there are `budget` supports. When the next instance would become a
    support, the method changes to gradient descent on features from the leading eigenvectors of the supports' Gram
    matrix.

    Parameters
    ----------
    budget : int, default=100
        Number of supports.
    rank : float, default=0.2
        Number of eigenvectors, as a fraction of the budget.
    scale : float or "auto", default="auto"
        Scale of the Gaussian kernel exp(-scale²‖x - x'‖²/2); "auto" is √(2/n_features).
    learning_rate : float, default=0.2
        Step η, half of which is added to the true class and half subtracted from the best other class. Publications
        that add and subtract the whole step, as for more than two classes, have half this η.
    scaling : {"running", "none"}, default="running"
        Standardise the columns as `AMRC` does (running mean and standard deviation, clipped at 4 deviations; columns of
        zeros and ones at half weight), or use them unchanged.

    Examples
    --------
    >>> from driftline.baselines import NOGD
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((NOGD().prequential(X, y).predicted != y).mean() < 0.25)
    True
    """

    def __init__(
        self,
        *,
        budget: int = 100,
        rank: float = 0.2,
        scale: float | str = "auto",
        learning_rate: float = 0.2,
        scaling: str = "running",
    ) -> None:
        self.budget = budget
        self.rank = rank
        self.scale = scale
        self.learning_rate = learning_rate
        self.scaling = scaling

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "NOGDMethod":
        return NOGDMethod(n_columns, kernel_scale(parameters, n_columns), parameters)


class NOGDMethod(SupportSet):
    """The method of `NOGD` on prepared rows and class positions. Until the budget is full, `map` has no rows."""

    def __init__(self, n_columns: int, scale: float, parameters: Mapping[str, Any]) -> None:
        budget = parameters["budget"]
        super().__init__(n_columns, budget, scale)
        self._rank = max(1, round(parameters["rank"] * budget))
        self._learning_rate = parameters["learning_rate"]
        self._map = np.zeros((0, budget))
        self._linear = np.zeros((0, 0))

    def schema(self) -> Schema:
        """Return what each array must be in a file; no support is ever replaced, so there are at most `budget`."""
        budget, features = len(self._supports), Length("features", self._rank)
        return super().schema() | {
            "count": whole_numbers((1,), budget),
            "map": ArraySpec((features, budget)),
            "linear": ArraySpec((len(self._weights), features)),
        }

    def add_classes(self, n: int) -> None:
        """Add n classes with coefficients 0."""
        super().add_classes(n)
        self._linear = np.pad(self._linear, ((0, n), (0, 0)))

    def predict(self, Z: Matrix) -> Labels:
        """Return the predicted class position of each row."""
        if len(self._map) == 0:
            return super().predict(Z)
        return predict_features(self._represent(Z), self._linear)

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        predictions = np.empty(len(Z), np.int64)
        n = 0
        if len(self._map) == 0:
            parts = self._supports, self._weights, self._count
            n = descend_with_supports(Z, labels, *parts, self._scale, self._learning_rate, predictions)
            if n == len(Z):
                return predictions
            self._start_nystrom_features()
            descend(self._represent(Z[n : n + 1]), labels[n : n + 1], self._linear, self._learning_rate)
            n += 1
        predictions[n:] = descend(self._represent(Z[n:]), labels[n:], self._linear, self._learning_rate)
        return predictions

    def _represent(self, Z: Matrix) -> Matrix:
        return nystrom_features(Z, self._supports, self._map, self._scale)

    def _start_nystrom_features(self) -> None:
        r"""Set the feature map to M = E^(-1/2) Vᵀ, with the leading eigenvectors V, and the weights to aVE^(1/2)."""
        values, vectors = np.linalg.eigh(gram(self._supports, self._scale))
        leading = np.arange(len(values))[-self._rank :]
        leading = leading[values[leading] > MIN_EIGENVALUE]
        roots = np.sqrt(values[leading])
        self._map = np.ascontiguousarray((vectors[:, leading] / roots).T)
        self._linear = np.ascontiguousarray(self._weights @ (vectors[:, leading] * roots))


@kernel
def descend_with_supports(
    Z: Matrix,
    labels: Labels,
    supports: Matrix,
    weights: Matrix,
    count: Indices,
    scale: float,
    eta: float,
    predictions: Labels,
) -> int:
    """Predict each row; if its margin is below 1, make it a support.

    Return the number of rows learned: all, or those before the first row that exceeds the budget.
    """
    row, scores = np.empty(len(supports)), np.empty(len(weights))
    for t in range(len(Z)):
        size, y = count[0], labels[t]
        gaussian_row(Z[t], supports, size, scale, row)
        class_scores(row, size, weights, scores)
        predictions[t], r = predicted_class(scores), best_other_class(scores, y)
        if r < 0 or scores[y] - scores[r] >= 1.0:
            continue
        if size == len(supports):
            return t
        supports[size] = Z[t]
        weights[y, size], weights[r, size] = 0.5 * eta, -0.5 * eta
        count[0] += 1
    return len(Z)


@kernel
def gram(supports: Matrix, scale: float) -> Matrix:
    """Return the matrix of kernel values of all pairs of supports."""
    n = len(supports)
    K = np.empty((n, n))
    for i in range(n):
        gaussian_row(supports[i], supports, n, scale, K[i])
    return K


@kernel
def nystrom_features(Z: Matrix, supports: Matrix, M: Matrix, scale: float) -> Matrix:
    """Return M k_x for each row x of Z."""
    F = np.empty((len(Z), len(M)))
    row = np.empty(len(supports))
    for t in range(len(Z)):
        gaussian_row(Z[t], supports, len(supports), scale, row)
        class_scores(row, len(supports), M, F[t])
    return F
