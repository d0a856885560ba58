"""Mixing what members say, by weights that follow how often they were right."""

import math

import numpy as np

from driftline._jit import inlined_kernel, kernel
from driftline.types import Labels, Matrix, Vector

RATE = 0.5
"""Rate of the exponential weights: how much one expected mistake counts."""
SHARE = 0.003
"""What of the weight is dealt out evenly after each label, so that a member can come back."""


@inlined_kernel
def blend(said: Vector, t: int, weights: Vector, h: Matrix) -> None:
    """Set h of row t to the mean of what the members say of it; above 1 by rounding alone, and not here."""
    n_members, c = said.shape[1], said.shape[2]
    for y in range(c):
        total = 0.0
        for m in range(n_members):
            total += weights[m] * said[t, m, y]
        h[t, y] = min(total, 1.0)


@kernel
def mixture(said: Vector, weights: Vector) -> Matrix:
    """Return the mean of what the members say of each row."""
    n, _, c = said.shape
    h = np.empty((n, c))
    for t in range(n):
        blend(said, t, weights, h)
    return h


@kernel
def mix(said: Vector, labels: Labels, weights: Vector, h: Matrix) -> None:
    """Set h to the mixture of what the members say of each row, then reweigh them by its label.

    Exponential weights on the expected mistakes 1 - h_m(y|x), with a fixed share: in any stretch of the stream the
    mixture errs at most a little more often than the member that is best there.
    """
    n, n_members, _ = said.shape
    for t in range(n):
        blend(said, t, weights, h)
        total = 0.0
        for m in range(n_members):
            weights[m] *= math.exp(RATE * said[t, m, labels[t]])
            total += weights[m]
        for m in range(n_members):
            weights[m] = (1.0 - SHARE) * weights[m] / total + SHARE / n_members
