"""AdaRaker: experts of different memories on Fourier features of different scales."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import Baseline, Keeping
from driftline.baselines.supports import winner
from driftline.kernels.vectors import dot
from driftline.types import Indices, Labels, Matrix, Vector

SCALES = (0.1, 1.0, 10.0)
BASE = 2
"""Each memory is so many times as long as the one before."""
DISCOUNT = 0.5
"""What a scale's weight is multiplied by at a mistake."""
RESTORED = 1e-4
"""What is added to the weight of each scale at each step."""
DECAY = 5e-4
"""Regularisation of the weights of features."""
LONGEST = 48
"""Number of memories that there is room for: enough for 2⁴⁷ rows."""


class AdaRaker(Baseline):
    """Adaptive online multi-kernel learning with random features (Shen, Chen and Giannakis, 2019).

    Kernel functions of three scales, on random features, are combined by their mistakes. That is done many times over,
    with step sizes for memories of 1, 2, 4, … rows, which are combined by theirs. With more than two classes there is
    such a combination for each, against all others.

    Parameters
    ----------
    n_components : int, default=50
        Number of random directions for each scale.
    scaling : {"running", "none"}, default="running"
        Whether columns are standardised as `AMRC` does it (running mean and deviation, cut at 4 of them; columns of
        zeros and ones at half weight), or left as they are.
    random_state : int, RandomState or None, default=0
        Seed of the directions.

    Examples
    --------
    >>> from driftline.baselines import AdaRaker
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((AdaRaker().prequential(X, y).predictions != y).mean() < 0.25)
    True
    """

    def __init__(
        self,
        *,
        n_components: int = 50,
        scaling: str = "running",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_components = n_components
        self.scaling = scaling
        self.random_state = random_state

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "ManyMemories":
        return ManyMemories(n_columns, parameters["n_components"], np.random.default_rng(seed))


class ManyMemories(Keeping):
    """The method: see `AdaRaker`. Axes of its arrays: class, memory, scale, feature."""

    _kept = ("directions", "theta", "q", "h", "count")

    def __init__(self, n_columns: int, n_components: int, rng: np.random.Generator) -> None:
        parts = [scale * orthogonal_directions(n_columns, n_components, rng) for scale in SCALES]
        self._directions = np.stack(parts)
        self._theta = np.zeros((0, LONGEST, len(SCALES), 2 * n_components))
        self._q = np.zeros((0, LONGEST, len(SCALES)))
        self._h = np.zeros((0, LONGEST))
        self._count: Indices = np.zeros(1, np.int64)

    def add_class(self) -> None:
        """Make room for one more class, for which all scales and memories are alike."""
        self._theta = np.pad(self._theta, ((0, 1), (0, 0), (0, 0), (0, 0)))
        self._q = np.pad(self._q, ((0, 1), (0, 0), (0, 0)), constant_values=1.0 / len(SCALES))
        self._h = np.pad(self._h, ((0, 1), (0, 0)), constant_values=1.0)

    def predict(self, Z: Matrix) -> Labels:
        """Return the position of a class for each row."""
        predictions = np.empty(len(Z), np.int64)
        for t in range(len(Z)):  # as if it were the next
            h = self._h.copy()
            renew(h, self._count[0] + 1)
            F = np.empty((len(h), LONGEST))
            look(features(Z, t, self._directions), self._count[0] + 1, self._theta, self._q, F)
            predictions[t] = winner(combined(h, F, self._count[0] + 1))
        return predictions

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        return advance(Z, labels, self._directions, self._theta, self._q, self._h, self._count)


def orthogonal_directions(n_columns: int, n_components: int, rng: np.random.Generator) -> Matrix:
    """Return directions as rows: in groups of `n_columns` orthogonal to each other, as long as Gaussian ones."""
    groups = []
    for _ in range(math.ceil(n_components / n_columns)):
        basis, triangle = np.linalg.qr(rng.standard_normal((n_columns, n_columns)))
        groups.append(basis * np.sign(np.diag(triangle)))
    lengths = np.sqrt(rng.chisquare(n_columns, n_components))
    directions: Matrix = np.concatenate(groups)[:n_components] * lengths[:, None]
    return directions


@kernel
def features(Z: Matrix, t: int, directions: Matrix) -> Matrix:
    """Return [sin Vx; cos Vx] for the directions V of each scale, with x = Z_t."""
    n_scales, n_components, _ = directions.shape
    z = np.empty((n_scales, 2 * n_components))
    for p in range(n_scales):
        for i in range(n_components):
            angle = dot(directions[p], i, Z, t)
            z[p, i], z[p, n_components + i] = math.sin(angle), math.cos(angle)
    return z


@kernel
def n_active(t: int) -> int:
    """Return how many memories there are at step t, counted from 1: ⌊log_S t⌋ + 1."""
    n, length = 1, BASE
    while length <= t and n < LONGEST:
        length *= BASE
        n += 1
    return n


@kernel
def step_size(k: int) -> float:
    """Return η_k = min(1/S, S^(-k/2)) of the k-th memory, counted from 1."""
    return min(1.0 / BASE, math.pow(BASE, -0.5 * k))


@kernel
def renew(h: Matrix, t: int) -> None:
    """Give the weight η_k to each memory whose time has come round at step t."""
    for k in range(1, n_active(t) + 1):
        if (t - 1) % BASE ** (k - 1) == 0:
            h[:, k - 1] = step_size(k)


@kernel
def look(z: Matrix, t: int, theta: Matrix, q: Matrix, F: Matrix) -> None:
    """Put what each memory says for each class into F: the mean of its scales, by their weights."""
    for c in range(len(F)):
        for k in range(n_active(t)):
            F[c, k] = 0.0
            for p in range(len(z)):
                F[c, k] += q[c, k, p] / q[c, k].sum() * dot(theta[c, k], p, z, p)


@kernel
def combined(h: Matrix, F: Matrix, t: int) -> Vector:
    """Return Σ_k h_k F_k for each class."""
    scores = np.zeros(len(F))
    for c in range(len(F)):
        for k in range(n_active(t)):
            scores[c] += h[c, k] * F[c, k]
    return scores


@kernel
def learn(z: Matrix, sign: float, eta: float, theta: Matrix, q: Vector) -> None:
    """Let a memory learn: its scales' weights by their mistakes, and each a step down the logistic loss."""
    for p in range(len(z)):
        f = dot(theta, p, z, p)
        q[p] = (q[p] * DISCOUNT if sign * f < 0.0 else q[p]) + RESTORED
        step = eta * sign / (1.0 + math.exp(min(sign * f, 700.0)))
        for j in range(z.shape[1]):
            theta[p, j] = (1.0 - eta * DECAY) * theta[p, j] + step * z[p, j]


@kernel
def weigh(h: Vector, F: Vector, sign: float, n: int) -> None:
    """Divide the weights of the memories that are right by η_n, multiply the others; leave them if all agree."""
    n_wrong = 0
    for k in range(n):
        n_wrong += sign * F[k] < 0.0
    if 0 < n_wrong < n:
        for k in range(n):
            h[k] *= step_size(n) if sign * F[k] < 0.0 else 1.0 / step_size(n)
    h[:n] /= h[:n].sum()


@kernel
def advance(
    Z: Matrix, labels: Labels, directions: Matrix, theta: Matrix, q: Matrix, h: Matrix, count: Indices
) -> Labels:
    """Predict each row, then learn its label."""
    predictions = np.empty(len(Z), np.int64)
    F = np.empty((len(h), LONGEST))
    for i in range(len(Z)):
        count[0] += 1
        t = count[0]
        z = features(Z, i, directions)
        renew(h, t)
        look(z, t, theta, q, F)
        predictions[i] = winner(combined(h, F, t))
        for c in range(len(h)):
            sign = 1.0 if c == labels[i] else -1.0
            for k in range(n_active(t)):
                learn(z, sign, step_size(k + 1), theta[c, k], q[c, k])
            weigh(h[c], F[c], sign, n_active(t))
    return predictions
