"""The Projectron++."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import kernel_scale
from driftline.baselines.projectron import Projectron
from driftline.baselines.span import SpanningSet, absorb, lean, project
from driftline.baselines.supports import expand, gaussian_row, rival, winner
from driftline.types import Indices, Labels, Matrix


class ProjectronPlusPlus(Projectron):
    """The Projectron++ (Orabona, Keshet and Caputo, 2008).

    It learns from mistakes as the `Projectron` does, and also from instances that are right by a margin below 1: from
    their projection on the supports, where that gains more than the distance from them may cost.

    Parameters
    ----------
    budget, tolerance, scale, scaling
        As of `Projectron`. Without a tolerance, what the distance may cost goes by the budget.

    Examples
    --------
    >>> from driftline.baselines import ProjectronPlusPlus
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((ProjectronPlusPlus().prequential(X, y).predictions != y).mean() < 0.25)
    True
    """

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "ProjectingMargins":
        scale = kernel_scale(parameters, n_columns)
        return ProjectingMargins(n_columns, parameters["budget"], scale, parameters["tolerance"])


class ProjectingMargins(SpanningSet):
    """The method: see `ProjectronPlusPlus`."""

    def __init__(self, n_columns: int, budget: int, scale: float, tolerance: float | None) -> None:
        super().__init__(n_columns, budget, scale, tolerance)
        self._tolerance = math.nan if tolerance is None else tolerance

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        parts = self._supports, self._weights, self._count, self._inverse
        return advance(Z, labels, *parts, self._scale, self._near, self._tolerance)


@kernel
def margin_step(loss: float, projected: float, distance: float, tolerance: float, budget: int) -> float:
    r"""Return the step τ along the projection of an instance whose loss l = 1 - margin lies in (0, 1); 0 if none pays.

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
    near: float,
    tolerance: float,
) -> Labels:
    """Predict each row; learn from mistakes, and from small margins."""
    predictions = np.empty(len(Z), np.int64)
    row, coefficients = np.empty(len(supports)), np.empty(len(supports))
    scores = np.empty(len(weights))
    for t in range(len(Z)):
        size, y = count[0], labels[t]
        gaussian_row(Z[t], supports, size, scale, row)
        expand(row, size, weights, scores)
        predictions[t], r = winner(scores), rival(scores, y)
        if predictions[t] != y:
            absorb(Z[t], y, r, row, supports, weights, count, inverse, near, coefficients)
        elif r >= 0 and 0.0 < scores[y] - scores[r] < 1.0:
            square = project(inverse, row, size, coefficients)
            loss = 1.0 - (scores[y] - scores[r])
            step = margin_step(loss, 1.0 - square, math.sqrt(square), tolerance, len(supports))
            lean(weights, y, r, step, coefficients, size)
    return predictions
