"""Plain NumPy twins of the compiled kernels, written from the formulas and not from the kernels."""

import math
from itertools import combinations

import numpy as np

from driftline.types import Matrix, Vector


def support_value(scores: Vector) -> float:
    """Maximise over all label subsets, one by one."""
    labels = range(scores.size)
    subsets = (subset for size in range(1, scores.size + 1) for subset in combinations(labels, size))
    return max((scores[list(subset)].sum() - 1) / len(subset) for subset in subsets)


def randomised_rule(scores: Vector, offset: float) -> Vector:
    """Eq. (prob) of the paper, with φ covering the instance."""
    above = np.maximum(scores - max(offset, support_value(scores)), 0)
    return above / above.sum() if above.sum() > 0 else np.full(scores.size, 1 / scores.size)


def transition(order: int, elapsed: float) -> Matrix:
    """H = I + Σ_s Δ^s U_s / s!, with U_s the ones on the s-th upper diagonal."""
    H = np.eye(order + 1)
    for s in range(1, order + 1):
        H += elapsed**s * np.eye(order + 1, k=s) / math.factorial(s)
    return H


def objective(weights: Matrix, instances: Matrix, mean: Matrix, width: Matrix) -> float:
    """1 - τᵀμ + λᵀ|μ| + max_x φ_x."""
    phi = max(support_value(weights @ psi) for psi in instances)
    return float(1 - (mean * weights).sum() + (width * np.abs(weights)).sum() + phi)
