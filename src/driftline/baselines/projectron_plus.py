"""The Projectron++: a Projectron that also learns from small margins."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import kernel_scale
from driftline.baselines.projectron import Projectron
from driftline.baselines.span import SpanningSet, learn_mistake, move_margin, project
from driftline.baselines.supports import best_other_class, class_scores, gaussian_row, predicted_class
from driftline.types import Indices, Labels, Matrix


class ProjectronPlusPlus(Projectron):
    """The Projectron++ (Orabona, Keshet and Caputo, 2008).

    It learns from mistakes like the `Projectron`. It also learns from correct predictions with a margin below 1: it
    takes a step along the projection of the instance on the supports, if the gain is larger than the possible loss due
    to the distance from the supports.

    Parameters
    ----------
    budget, tolerance, scale, scaling
        The same as for `Projectron`. Without a tolerance, the possible loss is computed from the budget.

    Examples
    --------
    >>> from driftline.baselines import ProjectronPlusPlus
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((ProjectronPlusPlus().prequential(X, y).predictions != y).mean() < 0.25)
    True
    """

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "ProjectronPlusPlusMethod":
        scale = kernel_scale(parameters, n_columns)
        return ProjectronPlusPlusMethod(n_columns, parameters["budget"], scale, parameters["tolerance"])


class ProjectronPlusPlusMethod(SpanningSet):
    """The method of `ProjectronPlusPlus` on prepared rows and class positions."""

    def __init__(self, n_columns: int, budget: int, scale: float, tolerance: float | None) -> None:
        super().__init__(n_columns, budget, scale, tolerance)
        self._tolerance = math.nan if tolerance is None else tolerance

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        parts = self._supports, self._weights, self._count, self._inverse
        return advance(Z, labels, *parts, self._scale, self._min_squared_distance, self._tolerance)


@kernel
def margin_step(loss: float, projected: float, distance: float, tolerance: float, budget: int) -> float:
    r"""Return the step τ along the projection of an instance with loss l = 1 - margin in (0, 1); 0 for no step.

    With P² the squared length of the projection and D the distance from the span, τ = min(1, l/P², 2(l - D/η)/P²) if
    l ≥ D/η. In the form with a budget B, τ = min(1, l/P²) if τ(2l - τP² - 2UD) ≥ 0 with U = √((B+1)/log(B+1))/4.
    """
    if projected <= 0.0:
        return 0.0
    step = min(1.0, loss / projected)
    if np.isnan(tolerance):
        U = 0.25 * math.sqrt((budget + 1) / math.log(budget + 1))
        return step if 2.0 * loss - step * projected - 2.0 * U * distance >= 0.0 else 0.0
    return max(min(step, 2.0 * (loss - distance / tolerance) / projected), 0.0)


@kernel
def advance(
    Z: Matrix,
    labels: Labels,
    supports: Matrix,
    weights: Matrix,
    count: Indices,
    inverse: Matrix,
    scale: float,
    min_squared_distance: float,
    tolerance: float,
) -> Labels:
    """Predict each row, and learn from mistakes and small margins."""
    predictions = np.empty(len(Z), np.int64)
    row, coefficients = np.empty(len(supports)), np.empty(len(supports))
    scores = np.empty(len(weights))
    for t in range(len(Z)):
        size, y = count[0], labels[t]
        gaussian_row(Z[t], supports, size, scale, row)
        class_scores(row, size, weights, scores)
        predictions[t], r = predicted_class(scores), best_other_class(scores, y)
        if predictions[t] != y:
            learn_mistake(Z[t], y, r, row, supports, weights, count, inverse, min_squared_distance, coefficients)
        elif r >= 0 and 0.0 < scores[y] - scores[r] < 1.0:
            square = project(inverse, row, size, coefficients)
            loss = 1.0 - (scores[y] - scores[r])
            step = margin_step(loss, 1.0 - square, math.sqrt(square), tolerance, len(supports))
            move_margin(weights, y, r, step, coefficients, size)
    return predictions
