"""AdaRaker: a mixture of learners with different memory lengths on random features of different scales."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import Baseline
from driftline.baselines.supports import predicted_class
from driftline.core.schema import ArraySpec, Schema, whole_numbers
from driftline.core.state import ArrayState
from driftline.kernels.vectors import dot
from driftline.types import Indices, Labels, Matrix, Vector

KERNEL_SCALES = (0.1, 1.0, 10.0)
"""Scales of the kernels."""
MEMORY_GROWTH = 2
"""Length of a memory divided by the length of the one before it."""
MISTAKE_DISCOUNT = 0.5
"""Factor for the weight of a scale that is wrong."""
WEIGHT_ADDED_PER_STEP = 1e-4
"""Number added to the weight of each scale at each step."""
REGULARISATION = 5e-4
"""Regularisation of the weights of the features."""
MAX_MEMORIES = 48
"""Largest number of memories: enough for 2⁴⁷ rows."""


class AdaRaker(Baseline):
    """Adaptive online multi-kernel learning with random features (Shen, Chen and Giannakis, 2019).

    Kernel functions of three scales, approximated by random features, are averaged with weights that depend on their
    mistakes. There is one such average for each of the memory lengths 1, 2, 4, … rows, each with its own step size;
    they are averaged in the same way. With more than two classes there is one model of this kind for each class,
    against all others.

    Parameters
    ----------
    n_components : int, default=50
        Number of random directions for each scale.
    scaling : {"running", "none"}, default="running"
        Standardise the columns as `AMRC` does (running mean and standard deviation, clipped at 4 deviations; columns of
        zeros and ones at half weight), or use them unchanged.
    random_state : int, RandomState or None, default=0
        Seed of the directions.

    Examples
    --------
    >>> from driftline.baselines import AdaRaker
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((AdaRaker().prequential(X, y).predicted != y).mean() < 0.25)
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

    def _n_bytes(self, parameters: Mapping[str, Any], n_columns: int, n_classes: int) -> int:
        bases = 3 * 8 * n_columns**2  # matrices from which the directions are made
        return super()._n_bytes(parameters, n_columns, n_classes) + bases

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "AdaRakerMethod":
        return AdaRakerMethod(n_columns, parameters["n_components"], np.random.default_rng(seed))


class AdaRakerMethod(ArrayState):
    """The method of `AdaRaker` on prepared rows. Axes of its arrays: class, memory, scale, feature."""

    def __init__(self, n_columns: int, n_components: int, rng: np.random.Generator) -> None:
        parts = [scale * orthogonal_directions(n_columns, n_components, rng) for scale in KERNEL_SCALES]
        self._directions = np.stack(parts)
        self._theta = np.zeros((0, MAX_MEMORIES, len(KERNEL_SCALES), 2 * n_components))
        self._q = np.zeros((0, MAX_MEMORIES, len(KERNEL_SCALES)))
        self._h = np.zeros((0, MAX_MEMORIES))
        self._count: Indices = np.zeros(1, np.int64)

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        return {
            "directions": ArraySpec(self._directions.shape),
            "theta": ArraySpec(self._theta.shape),
            "q": ArraySpec(self._q.shape, low=np.finfo(float).tiny),
            "h": ArraySpec(self._h.shape, low=0.0),
            "count": whole_numbers((1,)),
        }

    def add_classes(self, n: int) -> None:
        """Add n classes, with equal weights for all scales and memories."""
        self._theta = np.pad(self._theta, ((0, n), (0, 0), (0, 0), (0, 0)))
        self._q = np.pad(self._q, ((0, n), (0, 0), (0, 0)), constant_values=1.0 / len(KERNEL_SCALES))
        self._h = np.pad(self._h, ((0, n), (0, 0)), constant_values=1.0)

    def predict(self, Z: Matrix) -> Labels:
        """Return the predicted class position of each row, as if it were the next row."""
        predictions = np.empty(len(Z), np.int64)
        for t in range(len(Z)):
            h = self._h.copy()
            restart_memories(h, self._count[0] + 1)
            F = np.empty((len(h), MAX_MEMORIES))
            memory_scores(features(Z, t, self._directions), self._count[0] + 1, self._theta, self._q, F)
            predictions[t] = predicted_class(combine_memories(h, F, self._count[0] + 1))
        return predictions

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        return advance(Z, labels, self._directions, self._theta, self._q, self._h, self._count)


def orthogonal_directions(n_columns: int, n_components: int, rng: np.random.Generator) -> Matrix:
    """Return directions (rows) that are orthogonal in groups of `n_columns`, with the lengths of Gaussian vectors."""
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
    """Return the number of memories at step t = 1, 2, …: ⌊log_S t⌋ + 1, where S is `MEMORY_GROWTH`."""
    n, length = 1, MEMORY_GROWTH
    while length <= t and n < MAX_MEMORIES:
        length *= MEMORY_GROWTH
        n += 1
    return n


@kernel
def step_size(k: int) -> float:
    """Return the step size η_k = min(1/S, S^(-k/2)) of memory k, counted from 1."""
    return min(1.0 / MEMORY_GROWTH, math.pow(MEMORY_GROWTH, -0.5 * k))


@kernel
def restart_memories(h: Matrix, t: int) -> None:
    """Set the weight of each memory k that restarts at step t, every S^(k-1) steps, to η_k."""
    for k in range(1, n_active(t) + 1):
        if (t - 1) % MEMORY_GROWTH ** (k - 1) == 0:
            h[:, k - 1] = step_size(k)


@kernel
def memory_scores(z: Matrix, t: int, theta: Matrix, q: Matrix, F: Matrix) -> None:
    """Write the score of each class and memory to F: the weighted mean over its scales."""
    for c in range(len(F)):
        for k in range(n_active(t)):
            F[c, k] = 0.0
            for p in range(len(z)):
                F[c, k] += q[c, k, p] / q[c, k].sum() * dot(theta[c, k], p, z, p)


@kernel
def combine_memories(h: Matrix, F: Matrix, t: int) -> Vector:
    """Return Σ_k h_k F_k for each class."""
    scores = np.zeros(len(F))
    for c in range(len(F)):
        for k in range(n_active(t)):
            scores[c] += h[c, k] * F[c, k]
    return scores


@kernel
def update_memory(z: Matrix, sign: float, eta: float, theta: Matrix, q: Vector) -> None:
    """Update the weights of a memory's scales by their mistakes, and each scale by a gradient step (logistic loss)."""
    for p in range(len(z)):
        f = dot(theta, p, z, p)
        q[p] = (q[p] * MISTAKE_DISCOUNT if sign * f < 0.0 else q[p]) + WEIGHT_ADDED_PER_STEP
        step = eta * sign / (1.0 + math.exp(min(sign * f, 700.0)))
        for j in range(z.shape[1]):
            theta[p, j] = (1.0 - eta * REGULARISATION) * theta[p, j] + step * z[p, j]


@kernel
def update_memory_weights(h: Vector, F: Vector, sign: float, n: int) -> None:
    """Divide the weights of the memories that are right by η_n, and multiply those of the others, unless all agree."""
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
    F = np.empty((len(h), MAX_MEMORIES))
    for i in range(len(Z)):
        count[0] += 1
        t = count[0]
        z = features(Z, i, directions)
        restart_memories(h, t)
        memory_scores(z, t, theta, q, F)
        predictions[i] = predicted_class(combine_memories(h, F, t))
        for c in range(len(h)):
            sign = 1.0 if c == labels[i] else -1.0
            for k in range(n_active(t)):
                update_memory(z, sign, step_size(k + 1), theta[c, k], q[c, k])
            update_memory_weights(h[c], F[c], sign, n_active(t))
    return predictions
