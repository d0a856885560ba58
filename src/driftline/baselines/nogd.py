"""Nyström online gradient descent."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import Baseline, kernel_scale
from driftline.baselines.linear import descend, predict_features
from driftline.baselines.supports import SupportSet, expand, gaussian_row, rival, winner
from driftline.types import Indices, Labels, Matrix

SMALLEST = 1e-10
"""Eigenvalues of the Gram matrix up to this are noise."""


class NOGD(Baseline):
    """Nyström online gradient descent (Lu, Hoi, Wang, Zhao and Liu, 2016).

    Kernel gradient descent on the hinge loss until there are `budget` supports. From the next instance that would be
    one more, gradient descent on the features that the leading eigenvectors of the supports' Gram matrix give.

    Parameters
    ----------
    budget : int, default=100
        Number of supports.
    rank : float, default=0.2
        Number of eigenvectors, as a share of the budget.
    scale : float or "auto", default="auto"
        Scale of the Gaussian kernel exp(-scale²‖x - x'‖²/2); "auto" is √(2/n_features).
    learning_rate : float, default=0.2
        Step η, shared by a class and its rival. Where publications give it to both, as for more than two classes,
        their η is half of this.
    scaling : {"running", "none"}, default="running"
        Whether columns are standardised as `AMRC` does it (running mean and deviation, cut at 4 of them; columns of
        zeros and ones at half weight), or left as they are.

    Examples
    --------
    >>> from driftline.baselines import NOGD
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((NOGD().prequential(X, y).predictions != y).mean() < 0.25)
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

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "NystromDescent":
        return NystromDescent(n_columns, kernel_scale(parameters, n_columns), parameters)


class NystromDescent(SupportSet):
    """The method: see `NOGD`. Before there is a map from kernel rows to features, that has no rows."""

    _kept = (*SupportSet._kept, "map", "linear")

    def __init__(self, n_columns: int, scale: float, parameters: Mapping[str, Any]) -> None:
        budget = parameters["budget"]
        super().__init__(n_columns, budget, scale)
        self._rank = max(1, round(parameters["rank"] * budget))
        self._learning_rate = parameters["learning_rate"]
        self._map = np.zeros((0, budget))
        self._linear = np.zeros((0, 0))

    def add_class(self) -> None:
        """Make room for one more class, with coefficients 0."""
        super().add_class()
        self._linear = np.pad(self._linear, ((0, 1), (0, 0)))

    def predict(self, Z: Matrix) -> Labels:
        """Return the position of a class for each row."""
        if len(self._map) == 0:
            return super().predict(Z)
        return predict_features(self._represent(Z), self._linear)

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        predictions = np.empty(len(Z), np.int64)
        n = 0
        if len(self._map) == 0:
            parts = self._supports, self._weights, self._count
            n = collect(Z, labels, *parts, self._scale, self._learning_rate, predictions)
            if n == len(Z):
                return predictions
            self._change_over()
            descend(self._represent(Z[n : n + 1]), labels[n : n + 1], self._linear, self._learning_rate)
            n += 1
        predictions[n:] = descend(self._represent(Z[n:]), labels[n:], self._linear, self._learning_rate)
        return predictions

    def _represent(self, Z: Matrix) -> Matrix:
        return nystrom_features(Z, self._supports, self._map, self._scale)

    def _change_over(self) -> None:
        r"""Map kernel rows by M = E^(-1/2) Vᵀ, of the leading eigenvectors, and weights to aVE^(1/2)."""
        values, vectors = np.linalg.eigh(gram(self._supports, self._scale))
        leading = np.arange(len(values))[-self._rank :]
        leading = leading[values[leading] > SMALLEST]
        roots = np.sqrt(values[leading])
        self._map = np.ascontiguousarray((vectors[:, leading] / roots).T)
        self._linear = np.ascontiguousarray(self._weights @ (vectors[:, leading] * roots))


@kernel
def collect(
    Z: Matrix,
    labels: Labels,
    supports: Matrix,
    weights: Matrix,
    count: Indices,
    scale: float,
    eta: float,
    predictions: Labels,
) -> int:
    """Predict each row; where its margin is below 1 make it a support.

    Return how many rows were learned: all, or those before the first for which there is no room.
    """
    row, scores = np.empty(len(supports)), np.empty(len(weights))
    for t in range(len(Z)):
        size, y = count[0], labels[t]
        gaussian_row(Z[t], supports, size, scale, row)
        expand(row, size, weights, scores)
        predictions[t], r = winner(scores), rival(scores, y)
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
    """Return the kernel of all pairs of supports."""
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
        expand(row, len(supports), M, F[t])
    return F
