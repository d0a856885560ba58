"""NORMA: stochastic gradient descent in a reproducing kernel space."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import Baseline, kernel_scale
from driftline.baselines.supports import (
    SupportSet,
    best_other_class,
    class_scores,
    gaussian_row,
    predict_rows,
    predicted_class,
)
from driftline.core.schema import ArraySpec, Schema
from driftline.errors import ConfigError
from driftline.types import Indices, Labels, Matrix, Vector


class NORMA(Baseline):
    r"""The online kernel method NORMA with the soft margin loss (Kivinen, Smola and Williamson, 2004).

    At each step all coefficients are multiplied by 1 - `learning_rate` · `decay`. An instance whose margin is at most ρ
    becomes a support, with the coefficient `learning_rate`; if there are more than `budget`, the oldest is dropped. The
    margin ρ can itself be learned, so that about a fraction `nu` of the instances is below it. The defaults are the
    values that were best on the paper's smaller streams.

    Parameters
    ----------
    budget : int, default=100
        Largest number of supports: the truncation τ of the publication.
    scale : float or "auto", default="auto"
        Scale of the Gaussian kernel exp(-scale²‖x - x'‖²/2); "auto" is √(2/n_features).
    learning_rate : float, default=0.5
        Step η, half of which is added to the true class and half subtracted from the best other class. Publications
        that add and subtract the whole step, as for more than two classes, have half this η.
    decay : float, default=0.01
        Regularisation λ.
    nu : float or None, default=None
        Fraction ν of the instances that should be below the margin; None keeps ρ constant.
    margin : float, default=1.0
        Initial margin ρ.
    intercept : bool, default=False
        Whether an offset is learned for each class.
    scaling : {"running", "none"}, default="running"
        Standardise the columns as `AMRC` does (running mean and standard deviation, clipped at 4 deviations; columns of
        zeros and ones at half weight), or use them unchanged.

    Examples
    --------
    >>> from driftline.baselines import NORMA
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((NORMA().prequential(X, y).predicted != y).mean() < 0.25)
    True
    """

    def __init__(
        self,
        *,
        budget: int = 100,
        scale: float | str = "auto",
        learning_rate: float = 0.5,
        decay: float = 0.01,
        nu: float | None = None,
        margin: float = 1.0,
        intercept: bool = False,
        scaling: str = "running",
    ) -> None:
        self.budget = budget
        self.scale = scale
        self.learning_rate = learning_rate
        self.decay = decay
        self.nu = nu
        self.margin = margin
        self.intercept = intercept
        self.scaling = scaling

    def _checked_parameters(self) -> dict[str, Any]:
        parameters = super()._checked_parameters()
        if parameters["learning_rate"] * parameters["decay"] >= 1.0:
            raise ConfigError(
                f"learning_rate times decay must be below 1, otherwise coefficients change sign at each step; got "
                f"{self.learning_rate!r} and {self.decay!r}"
            )
        return parameters

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "NORMAMethod":
        return NORMAMethod(n_columns, kernel_scale(parameters, n_columns), parameters)


class NORMAMethod(SupportSet):
    """The method of `NORMA` on prepared rows and class positions."""

    def __init__(self, n_columns: int, scale: float, parameters: Mapping[str, Any]) -> None:
        super().__init__(n_columns, parameters["budget"], scale)
        nu = parameters["nu"]
        self._learning_rate, self._decay = parameters["learning_rate"], parameters["decay"]
        self._nu = math.nan if nu is None else nu
        self._intercept = parameters["intercept"]
        self._offsets = np.zeros(0)
        self._margin = np.full(1, parameters["margin"])

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        return super().schema() | {"offsets": ArraySpec(self._offsets.shape), "margin": ArraySpec((1,), low=0.0)}

    def add_classes(self, n: int) -> None:
        """Add n classes with coefficients 0."""
        super().add_classes(n)
        self._offsets = np.pad(self._offsets, (0, n))

    def predict(self, Z: Matrix) -> Labels:
        """Return the predicted class position of each row."""
        return predict_rows(Z, self._supports, self.size, self._weights, self._offsets, self._scale)

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        parts = self._supports, self._weights, self._count, self._offsets, self._margin
        return advance(Z, labels, *parts, self._scale, self._learning_rate, self._decay, self._nu, self._intercept)


@kernel
def advance(
    Z: Matrix,
    labels: Labels,
    supports: Matrix,
    weights: Matrix,
    count: Indices,
    offsets: Vector,
    margin: Vector,
    scale: float,
    eta: float,
    decay: float,
    nu: float,
    intercept: bool,
) -> Labels:
    """Predict each row, then take a step down the gradient of its loss."""
    predictions = np.empty(len(Z), np.int64)
    budget = len(supports)
    row, scores = np.empty(budget), np.empty(len(weights))
    for t in range(len(Z)):
        size, y = min(count[0], budget), labels[t]
        gaussian_row(Z[t], supports, size, scale, row)
        class_scores(row, size, weights, scores)
        scores += offsets
        predictions[t], r = predicted_class(scores), best_other_class(scores, y)
        weights *= 1.0 - eta * decay
        if r < 0:
            continue
        is_below = scores[y] - scores[r] <= margin[0]
        if is_below:
            place = count[0] % budget
            supports[place] = Z[t]
            weights[:, place] = 0.0
            weights[y, place], weights[r, place] = 0.5 * eta, -0.5 * eta
            count[0] += 1
            if intercept:
                offsets[y] += 0.5 * eta
                offsets[r] -= 0.5 * eta
        if not np.isnan(nu):
            margin[0] = max(0.0, margin[0] + eta * (nu - is_below))
    return predictions
