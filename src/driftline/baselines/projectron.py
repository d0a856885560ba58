"""The Projectron: a kernel perceptron that projects instances on its supports."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import Baseline, BaselineMethod, kernel_scale
from driftline.baselines.span import SpanningSet, learn_mistake
from driftline.baselines.supports import best_other_class, class_scores, gaussian_row, predicted_class
from driftline.types import Indices, Labels, Matrix


class Projectron(Baseline):
    """The Projectron (Orabona, Keshet and Caputo, 2008).

    A kernel perceptron: a mistake makes its instance a support if it is far enough from the span of the supports.
    Otherwise, and if there are already `budget` supports, the projection of the instance on the supports is learned.

    Parameters
    ----------
    budget : int, default=100
        Largest number of supports.
    tolerance : float or None, default=None
        Distance from the span of the supports up to which an instance is projected on them, η in the publication;
        None makes every instance outside the span a support, until the budget is full.
    scale : float or "auto", default="auto"
        Scale of the Gaussian kernel exp(-scale²‖x - x'‖²/2); "auto" is √(2/n_features).
    scaling : {"running", "none"}, default="running"
        Standardise the columns as `AMRC` does (running mean and standard deviation, clipped at 4 deviations; columns of
        zeros and ones at half weight), or use them unchanged.

    Examples
    --------
    >>> from driftline.baselines import Projectron
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((Projectron().prequential(X, y).predictions != y).mean() < 0.25)
    True
    """

    def __init__(
        self,
        *,
        budget: int = 100,
        tolerance: float | None = None,
        scale: float | str = "auto",
        scaling: str = "running",
    ) -> None:
        self.budget = budget
        self.tolerance = tolerance
        self.scale = scale
        self.scaling = scaling

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> BaselineMethod:
        return ProjectronMethod(
            n_columns, parameters["budget"], kernel_scale(parameters, n_columns), parameters["tolerance"]
        )


class ProjectronMethod(SpanningSet):
    """The method of `Projectron` on prepared rows and class positions."""

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        parts = self._supports, self._weights, self._count, self._inverse
        return advance(Z, labels, *parts, self._scale, self._min_squared_distance)


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
) -> Labels:
    """Predict each row, and learn from mistakes."""
    predictions = np.empty(len(Z), np.int64)
    row, coefficients = np.empty(len(supports)), np.empty(len(supports))
    scores = np.empty(len(weights))
    for t in range(len(Z)):
        y = labels[t]
        gaussian_row(Z[t], supports, count[0], scale, row)
        class_scores(row, count[0], weights, scores)
        predictions[t] = predicted_class(scores)
        if predictions[t] != y:
            r = best_other_class(scores, y)
            learn_mistake(Z[t], y, r, row, supports, weights, count, inverse, min_squared_distance, coefficients)
    return predictions
