"""A logistic regression for each class against the others, learned online from columns that it standardises."""

import math

import numpy as np

from driftline._jit import inner_kernel, kernel
from driftline.kernels.moments import welford
from driftline.types import Labels, Matrix, Vector

STEP = 0.1
"""Size of a gradient step, before it is divided by the root of the number of columns."""
LARGEST_DEVIATION = 5.0
"""Standardised values are cut off here."""


@inner_kernel
def standardise(x: Vector, count: Vector, mean: Vector, squares: Vector, z: Vector) -> None:
    r"""Write z_j = (x_j - m_j)/σ_j, cut off at ±5, and 1 at the end; a missing value is replaced by its mean m_j."""
    for j in range(x.size):
        z[j] = 0.0
        if not np.isnan(x[j]) and squares[j] > 0.0:
            deviation = (x[j] - mean[j]) / math.sqrt(squares[j] / count[j])
            z[j] = min(max(deviation, -LARGEST_DEVIATION), LARGEST_DEVIATION)
    z[x.size] = 1.0


@inner_kernel
def score(weights: Vector, z: Vector) -> float:
    """Return w·z."""
    total = 0.0
    for j in range(z.size):
        total += weights[j] * z[j]
    return total


@inner_kernel
def best_class(weights: Matrix, n_classes: int, z: Vector) -> int:
    """Return the class with the largest score among the first ones; -1 if there are none."""
    best, largest = -1, -np.inf
    for k in range(n_classes):
        s = score(weights[k], z)
        if s > largest:
            best, largest = k, s
    return best


@inner_kernel
def step_row(weights: Matrix, n_classes: int, z: Vector, label: int) -> None:
    r"""Take a gradient step on the logistic loss of each class: w_k ← w_k - η(σ(w_k·z) - 1{y = k})z."""
    size = STEP / math.sqrt(z.size)
    for k in range(n_classes):
        residual = 1.0 / (1.0 + math.exp(-score(weights[k], z))) - (1.0 if k == label else 0.0)
        for j in range(z.size):
            weights[k, j] -= size * residual * z[j]


@kernel
def predict_row(x: Vector, weights: Matrix, n_classes: int, count: Vector, mean: Vector, squares: Vector) -> int:
    """Return the class that is predicted for a row; -1 if none is known."""
    z = np.empty(x.size + 1)
    standardise(x, count, mean, squares, z)
    return best_class(weights, n_classes, z)


@kernel
def predict_then_learn(
    X: Matrix, labels: Labels, weights: Matrix, n_classes: int, count: Vector, mean: Vector, squares: Vector
) -> Labels:
    """Return the class that is predicted for each row before it is learned, -1 if none is known; changes the state.

    Labels are numbered in the order in which they first occur, and `weights` has a row for each of them; `n_classes`
    of them are known before the first row.
    """
    predicted = np.empty(len(X), np.int64)
    z = np.empty(X.shape[1] + 1)
    for t in range(len(X)):
        standardise(X[t], count, mean, squares, z)
        predicted[t] = best_class(weights, n_classes, z)
        n_classes = max(n_classes, labels[t] + 1)
        welford(X[t], count, mean, squares)
        standardise(X[t], count, mean, squares, z)
        step_row(weights, n_classes, z, labels[t])
    return predicted
