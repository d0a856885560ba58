"""Calibrated probabilities of the classes, and the label with the smallest expected cost under them."""

import math

import numpy as np

from driftline._jit import inner_kernel, kernel
from driftline.types import Labels, Matrix, Vector

SMOOTHING = 1e-3
"""Added to probabilities before their log-odds are taken: the 0 and 1 of a minimax rule are not meant literally."""
FORGETTING = 1e-4
"""Share by which the covariance of the weights returns to that of the start at each label."""
MAX_LOG_ODDS = 30.0
MAX_WEIGHT = 100.0
"""Largest absolute value of a weight."""
FIRST_WEIGHTS = (0.0, 1.0)
"""At first, the classifier's own probability is that of the class."""
FIRST_COVARIANCE = (1.0, 0.0, 1.0)
"""Variance of the constant, covariance, and variance of the slope."""


@inner_kernel
def log_odds_of(h: float) -> float:
    """Return the log-odds of a smoothed probability."""
    return math.log((h + SMOOTHING) / (1.0 - h + SMOOTHING))


@inner_kernel
def logistic(score: float) -> float:
    """Return 1 / (1 + exp(-score)), of a score that is limited first."""
    return 1.0 / (1.0 + math.exp(-min(max(score, -MAX_LOG_ODDS), MAX_LOG_ODDS)))


@inner_kernel
def calibrate_row(h: Matrix, t: int, weights: Matrix, p: Vector) -> None:
    """Set p_y ∝ σ(a_y + b_y log-odds(h_ty)), with sum 1; the weights of class y are (a_y, b_y)."""
    total = 0.0
    for y in range(p.size):
        p[y] = logistic(weights[y, 0] + weights[y, 1] * log_odds_of(h[t, y]))
        total += p[y]
    for y in range(p.size):
        p[y] /= total


@inner_kernel
def cheapest_label(p: Vector, costs: Matrix) -> int:
    """Return the position of the smallest expected cost Σ_y p_y C_yk, the first among equal ones."""
    best, least = 0, np.inf
    for k in range(p.size):
        expected = 0.0
        for y in range(p.size):
            expected += p[y] * costs[y, k]
        if expected < least:
            best, least = k, expected
    return best


@inner_kernel
def learn_row(h: Matrix, t: int, label: int, weights: Matrix, covariances: Matrix) -> None:
    """Update the weights of each class by whether it was the label: one step of an extended Kalman filter.

    With f = (1, log-odds of h_ty), q the logistic function of w·f, v = q(1 - q) and g = S f:
    w ← w + g (target - q) / (1 + v f·g),  S ← S - v g gᵀ / (1 + v f·g),  then S ← (1 - ρ) S + ρ S_first.
    """
    for y in range(len(weights)):
        f = log_odds_of(h[t, y])
        q = logistic(weights[y, 0] + weights[y, 1] * f)
        v = q * (1.0 - q)
        first = covariances[y, 0] + covariances[y, 1] * f
        second = covariances[y, 1] + covariances[y, 2] * f
        scale = 1.0 / (1.0 + v * (first + second * f))
        step = scale * ((1.0 if y == label else 0.0) - q)
        weights[y, 0] = min(max(weights[y, 0] + step * first, -MAX_WEIGHT), MAX_WEIGHT)
        weights[y, 1] = min(max(weights[y, 1] + step * second, -MAX_WEIGHT), MAX_WEIGHT)
        covariances[y, 0] = remembered(covariances[y, 0] - v * scale * first * first, 0)
        covariances[y, 1] = remembered(covariances[y, 1] - v * scale * first * second, 1)
        covariances[y, 2] = remembered(covariances[y, 2] - v * scale * second * second, 2)


@inner_kernel
def remembered(entry: float, i: int) -> float:
    """Return an entry of a covariance after it has returned a little to that of the start."""
    return (1.0 - FORGETTING) * entry + FORGETTING * FIRST_COVARIANCE[i]


@kernel
def calibrated(h: Matrix, weights: Matrix) -> Matrix:
    """Return the calibrated probabilities of rows, from the probabilities h that a classifier gives them."""
    p = np.empty(h.shape)
    for t in range(len(h)):
        calibrate_row(h, t, weights, p[t])
    return p


@kernel
def choose(h: Matrix, costs: Matrix, weights: Matrix) -> Labels:
    """Return the position of the label with the smallest expected cost, for each row."""
    positions, p = np.empty(len(h), np.int64), np.empty(h.shape[1])
    for t in range(len(h)):
        calibrate_row(h, t, weights, p)
        positions[t] = cheapest_label(p, costs)
    return positions


@kernel
def choose_then_learn(h: Matrix, labels: Labels, costs: Matrix, weights: Matrix, covariances: Matrix) -> Labels:
    """Return the same, and learn the label of each row before the next row, unless h has no column for it."""
    positions, p = np.empty(len(h), np.int64), np.empty(h.shape[1])
    for t in range(len(h)):
        calibrate_row(h, t, weights, p)
        positions[t] = cheapest_label(p, costs)
        if labels[t] < h.shape[1]:
            learn_row(h, t, labels[t], weights, covariances)
    return positions
