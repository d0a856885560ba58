"""Mixing what members say, by weights that follow how often they were right."""

import math

import numpy as np

from driftline._jit import kernel
from driftline.types import Labels, Matrix, Vector

RATE = 0.5
"""Rate of the exponential weights: how much one expected mistake counts."""
SHARE = 0.003
"""What of the weight is dealt out evenly after each label, so that a member can come back."""


@kernel
def mixture(said: Vector, weights: Vector) -> Matrix:
    """Return the mean of what the members say of each row."""
    n, n_members, c = said.shape
    h = np.zeros((n, c))
    for t in range(n):
        for m in range(n_members):
            for y in range(c):
                h[t, y] += weights[m] * said[t, m, y]
    return h


@kernel
def mix(said: Vector, labels: Labels, weights: Vector, h: Matrix) -> None:
    """Set h to the mixture of what the members say of each row, then reweigh them by its label.

    Exponential weights on the expected mistakes 1 - h_m(y|x), with a fixed share: in any stretch of the stream the
    mixture errs at most a little more often than the member that is best there.
    """
    n, n_members, c = said.shape
    for t in range(n):
        h[t] = 0.0
        for m in range(n_members):
            for y in range(c):
                h[t, y] += weights[m] * said[t, m, y]
        total = 0.0
        for m in range(n_members):
            weights[m] *= math.exp(RATE * said[t, m, labels[t]])
            total += weights[m]
        for m in range(n_members):
            weights[m] = (1.0 - SHARE) * weights[m] / total + SHARE / n_members
