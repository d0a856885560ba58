"""The Forgetron: a kernel perceptron that shrinks its coefficients before it drops the oldest support."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import Baseline, kernel_scale
from driftline.baselines.supports import SupportSet, best_other_class, class_scores, gaussian_row, predicted_class
from driftline.core.schema import ArraySpec, Schema
from driftline.types import Indices, Labels, Matrix, Vector

MAX_DAMAGE_PER_MISTAKE = 15 / 32
"""Damage allowed for each mistake, from the proof of the publication."""


class Forgetron(Baseline):
    r"""The self-tuned Forgetron (Dekel, Shalev-Shwartz and Singer, 2006).

    Each mistake makes its instance a support. If there are more than `budget` supports, all coefficients are multiplied
    by φ and the oldest support is dropped; φ is the largest number up to 1 for which the total damage Q of all removals
    so far is at most 15/32 of the number of mistakes.

    Parameters
    ----------
    budget : int, default=100
        Largest number of supports.
    scale : float or "auto", default="auto"
        Scale of the Gaussian kernel exp(-scale²‖x - x'‖²/2); "auto" is √(2/n_features).
    scaling : {"running", "none"}, default="running"
        Standardise the columns as `AMRC` does (running mean and standard deviation, clipped at 4 deviations; columns of
        zeros and ones at half weight), or use them unchanged.

    Examples
    --------
    >>> from driftline.baselines import Forgetron
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((Forgetron(budget=20).prequential(X, y).predicted != y).mean() < 0.25)
    True
    """

    def __init__(self, *, budget: int = 100, scale: float | str = "auto", scaling: str = "running") -> None:
        self.budget = budget
        self.scale = scale
        self.scaling = scaling

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "ForgetronMethod":
        return ForgetronMethod(n_columns, parameters["budget"], kernel_scale(parameters, n_columns))


class ForgetronMethod(SupportSet):
    """The method of `Forgetron` on prepared rows and class positions.

    It stores one support more than the budget until the oldest is dropped.
    """

    def __init__(self, n_columns: int, budget: int, scale: float) -> None:
        super().__init__(n_columns, budget + 1, scale)
        self._damage = np.zeros(1)

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        return super().schema() | {"damage": ArraySpec((1,))}

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        return advance(Z, labels, self._supports, self._weights, self._count, self._damage, self._scale)


@kernel
def shrink_factor(s: float, m: float, damage: float, n_mistakes: int) -> float:
    r"""Return the largest φ in (0, 1] with Q + (sφ)² + 2sφ(1 - φm) ≤ 15M/32.

    s is the coefficient of the support to be dropped, and m its margin. The condition is Aφ² + bφ + C ≤ 0, which holds
    for φ = 0.
    """
    A, b, C = s * s - 2.0 * s * m, 2.0 * s, damage - MAX_DAMAGE_PER_MISTAKE * n_mistakes
    if A + b + C <= 0.0:
        return 1.0
    # The smallest positive root, (-b + √(b² - 4AC))/2A, written without cancellation. For A < 0 both roots are
    # positive, and the condition does not hold between them.
    return -2.0 * C / (b + math.sqrt(b * b - 4.0 * A * C))


@kernel
def advance(
    Z: Matrix, labels: Labels, supports: Matrix, weights: Matrix, count: Indices, damage: Vector, scale: float
) -> Labels:
    """Predict each row; if its margin is not positive, make it a support and drop the oldest one beyond the budget."""
    predictions = np.empty(len(Z), np.int64)
    capacity = len(supports)
    row, scores = np.empty(capacity), np.empty(len(weights))
    for t in range(len(Z)):
        size, y = min(count[0], capacity), labels[t]
        gaussian_row(Z[t], supports, size, scale, row)
        class_scores(row, size, weights, scores)
        predictions[t], r = predicted_class(scores), best_other_class(scores, y)
        if r < 0 or scores[y] > scores[r]:
            continue
        place = count[0] % capacity  # free since the last removal
        supports[place] = Z[t]
        weights[y, place], weights[r, place] = 0.5, -0.5
        count[0] += 1
        if count[0] >= capacity:
            drop_oldest(count[0] % capacity, supports, weights, count[0], damage, scale, row, scores)
    return predictions


@kernel
def drop_oldest(
    oldest: int,
    supports: Matrix,
    weights: Matrix,
    n_mistakes: int,
    damage: Vector,
    scale: float,
    row: Vector,
    scores: Vector,
) -> None:
    """Multiply all coefficients by φ, add the damage to the total, and drop the oldest support."""
    gaussian_row(supports[oldest], supports, len(supports), scale, row)
    class_scores(row, len(supports), weights, scores)
    y, r = np.argmax(weights[:, oldest]), np.argmin(weights[:, oldest])
    s, m = weights[y, oldest] - weights[r, oldest], scores[y] - scores[r]
    phi = shrink_factor(s, m, damage[0], n_mistakes)
    weights *= phi
    damage[0] += (s * phi) ** 2 + 2.0 * s * phi * (1.0 - phi * m)
    weights[:, oldest] = 0.0
