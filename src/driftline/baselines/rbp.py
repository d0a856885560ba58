"""The randomised budget perceptron."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import Baseline, kernel_scale
from driftline.baselines.supports import SupportSet, expand, gaussian_row, rival, winner
from driftline.types import Indices, Labels, Matrix, Vector


class RBP(Baseline):
    """The randomised budget perceptron (Cavallanti, Cesa-Bianchi and Gentile, 2007).

    A kernel perceptron: each mistake makes its instance a support. Once there are `budget` of them, a support drawn at
    random makes room.

    Parameters
    ----------
    budget : int, default=100
        Largest number of supports.
    scale : float or "auto", default="auto"
        Scale of the Gaussian kernel exp(-scale²‖x - x'‖²/2); "auto" is √(2/n_features).
    scaling : {"running", "none"}, default="running"
        Whether columns are standardised as `AMRC` does it (running mean and deviation, cut at 4 of them; columns of
        zeros and ones at half weight), or left as they are.
    random_state : int, RandomState or None, default=0
        Seed of the draws.

    Examples
    --------
    >>> from driftline.baselines import RBP
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((RBP().prequential(X, y).predictions != y).mean() < 0.25)
    True
    """

    def __init__(
        self,
        *,
        budget: int = 100,
        scale: float | str = "auto",
        scaling: str = "running",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.budget = budget
        self.scale = scale
        self.scaling = scaling
        self.random_state = random_state

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "RandomBudget":
        return RandomBudget(n_columns, parameters["budget"], kernel_scale(parameters, n_columns), seed)


class RandomBudget(SupportSet):
    """The method: see `RBP`."""

    _kept = (*SupportSet._kept, "n_rows")

    def __init__(self, n_columns: int, budget: int, scale: float, seed: int) -> None:
        super().__init__(n_columns, budget, scale)
        self._seed = seed
        self._n_rows = np.zeros(1, np.int64)

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        draws = uniforms(self._seed, int(self._n_rows[0]), len(Z))
        self._n_rows += len(Z)
        return advance(Z, labels, draws, self._supports, self._weights, self._count, self._scale)


def uniforms(seed: int, first: int, n: int) -> Vector:
    """Return numbers `first` to `first + n` of the sequence of uniform numbers of a seed, however it is cut."""
    bits = np.random.Philox(key=seed)
    bits.advance(first // 4)  # each count of the generator makes four numbers
    numbers: Vector = np.random.Generator(bits).random(first % 4 + n)[first % 4 :]
    return numbers


@kernel
def advance(
    Z: Matrix, labels: Labels, draws: Vector, supports: Matrix, weights: Matrix, count: Indices, scale: float
) -> Labels:
    """Predict each row; on a mistake make it a support, in the place of one drawn where there is no other."""
    predictions = np.empty(len(Z), np.int64)
    budget = len(supports)
    row, scores = np.empty(budget), np.empty(len(weights))
    for t in range(len(Z)):
        size, y = min(count[0], budget), labels[t]
        gaussian_row(Z[t], supports, size, scale, row)
        expand(row, size, weights, scores)
        predictions[t] = winner(scores)
        if predictions[t] == y:
            continue
        place = size if size < budget else int(draws[t] * budget)
        supports[place] = Z[t]
        weights[:, place] = 0.0
        weights[y, place], weights[rival(scores, y), place] = 0.5, -0.5
        count[0] += 1
    return predictions
