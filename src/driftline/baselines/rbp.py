"""The randomised budget perceptron."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import Baseline, kernel_scale
from driftline.baselines.supports import SupportSet, best_other_class, class_scores, gaussian_row, predicted_class
from driftline.core.schema import Schema, whole_numbers
from driftline.types import Indices, Labels, Matrix, Vector


class RBP(Baseline):
    """The randomised budget perceptron (Cavallanti, Cesa-Bianchi and Gentile, 2007).

    A kernel perceptron: each mistake makes its instance a support. If there are already `budget` supports, it replaces
    one that is chosen at random.

    Parameters
    ----------
    budget : int, default=100
        Largest number of supports.
    scale : float or "auto", default="auto"
        Scale of the Gaussian kernel exp(-scale²‖x - x'‖²/2); "auto" is √(2/n_features).
    scaling : {"running", "none"}, default="running"
        Standardise the columns as `AMRC` does (running mean and standard deviation, clipped at 4 deviations; columns of
        zeros and ones at half weight), or use them unchanged.
    random_state : int, RandomState or None, default=0
        Seed of the random choices.

    Examples
    --------
    >>> from driftline.baselines import RBP
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((RBP().prequential(X, y).predicted != y).mean() < 0.25)
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

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "RBPMethod":
        return RBPMethod(n_columns, parameters["budget"], kernel_scale(parameters, n_columns), seed)


class RBPMethod(SupportSet):
    """The method of `RBP` on prepared rows and class positions."""

    def __init__(self, n_columns: int, budget: int, scale: float, seed: int) -> None:
        super().__init__(n_columns, budget, scale)
        self._seed = seed
        self._n_rows = np.zeros(1, np.int64)

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        return super().schema() | {"n_rows": whole_numbers((1,))}

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        draws = uniforms(self._seed, int(self._n_rows[0]), len(Z))
        self._n_rows += len(Z)
        return advance(Z, labels, draws, self._supports, self._weights, self._count, self._scale)


def uniforms(seed: int, first: int, n: int) -> Vector:
    """Return n numbers, from position `first`, of the sequence of uniform random numbers that belongs to a seed."""
    bits = np.random.Philox(key=seed)
    bits.advance(first // 4)  # the generator makes four numbers at a time
    numbers: Vector = np.random.Generator(bits).random(first % 4 + n)[first % 4 :]
    return numbers


@kernel
def advance(
    Z: Matrix, labels: Labels, draws: Vector, supports: Matrix, weights: Matrix, count: Indices, scale: float
) -> Labels:
    """Predict each row; on a mistake make it a support, which replaces a random one if the budget is full."""
    predictions = np.empty(len(Z), np.int64)
    budget = len(supports)
    row, scores = np.empty(budget), np.empty(len(weights))
    for t in range(len(Z)):
        size, y = min(count[0], budget), labels[t]
        gaussian_row(Z[t], supports, size, scale, row)
        class_scores(row, size, weights, scores)
        predictions[t] = predicted_class(scores)
        if predictions[t] == y:
            continue
        place = size if size < budget else int(draws[t] * budget)
        supports[place] = Z[t]
        weights[:, place] = 0.0
        weights[y, place], weights[best_other_class(scores, y), place] = 0.5, -0.5
        count[0] += 1
    return predictions
