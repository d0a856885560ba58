"""The support value φ_x and the rule it defines: projection of scores on the probability simplex."""

import numpy as np

from driftline._jit import inner_kernel, kernel
from driftline.types import Matrix, Vector


@inner_kernel
def threshold(scores: Matrix, i: int, ordered: Vector) -> float:
    r"""Return φ_x = max_k (s_(1) + … + s_(k) - 1)/k for row i of the scores; `ordered` is room to sort them."""
    for y in range(ordered.size):
        k = y
        while k > 0 and ordered[k - 1] < scores[i, y]:
            ordered[k] = ordered[k - 1]
            k -= 1
        ordered[k] = scores[i, y]
    best, total = -np.inf, -1.0
    for k in range(ordered.size):
        total += ordered[k]
        best = max(best, total / (k + 1))
    return best


@kernel
def support_value(scores: Vector) -> float:
    r"""Return φ_x, the maximum over label subsets C of (Σ_{y∈C} s_y - 1)/|C|.

    The best subset of each size holds the largest scores, so a sort replaces the 2^c - 1 subsets.
    It is also the threshold of the Euclidean projection on the simplex: Σ_y (s_y - φ_x)_+ = 1.
    """
    return threshold(scores.reshape(1, scores.size), 0, np.empty(scores.size))


@kernel
def randomised_rule(scores: Matrix, offset: float) -> Matrix:
    r"""Return h(y|x) = (s_y - θ)_+ / Σ_y (s_y - θ)_+ with θ = max(φ, φ_x), a row for each row of scores.

    `offset` is φ, the support value over the instances that the rule was learned from. The paper's φ is a
    maximum over *all* instances, the one being predicted among them; hence θ. For θ > φ_x the sum can be
    0, and the rule is then uniform.
    """
    n, c = scores.shape
    h, ordered = np.empty((n, c)), np.empty(c)
    for i in range(n):
        theta = max(offset, threshold(scores, i, ordered))
        total = 0.0
        for y in range(c):
            h[i, y] = max(scores[i, y] - theta, 0.0)
            total += h[i, y]
        for y in range(c):
            h[i, y] = h[i, y] / total if total > 0.0 else 1.0 / c
    return h
