"""The support value φ_x and the rule it defines: projection of scores on the probability simplex."""

import numpy as np

from driftline._jit import inlined_kernel, inner_kernel, kernel
from driftline.types import Indices, Matrix, Singles, Vector


@inlined_kernel
def sort_labels(scores: Vector | Singles, order: Indices) -> None:
    """Set `order` to the labels by falling score; of equal scores, the first label comes first."""
    for y in range(scores.size):
        k = y
        while k > 0 and scores[order[k - 1]] < scores[y]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = y


@inlined_kernel
def largest_support(scores: Vector, order: Indices, most: int) -> tuple[float, int]:
    r"""Return max_k (s_(1) + … + s_(k) - 1)/k over k ≤ most, and the smallest k that attains it; sorts `order`."""
    sort_labels(scores, order)
    best, size, total = -np.inf, 0, -1.0
    for k in range(1, most + 1):
        total += scores[order[k - 1]]
        if total / k > best:
            best, size = total / k, k
    return best, size


@inner_kernel
def single_support(scores: Singles, order: Indices) -> tuple[np.float32, int]:
    """Return φ_x in single precision, and how many of the largest scores attain it; sorts `order`.

    Not `largest_support`, because it rounds in another way: it adds two scores before it subtracts 1, and of more than
    two it stops at the first k with no larger value.
    """
    c = scores.size
    if c == 2:
        first = 0 if scores[0] >= scores[1] else 1
        order[0], order[1] = first, 1 - first
        if scores[first] - scores[1 - first] >= np.float32(1.0):
            return scores[first] - np.float32(1.0), 1
        return (scores[0] + scores[1] - np.float32(1.0)) * np.float32(0.5), 2
    sort_labels(scores, order)
    total = scores[order[0]] - np.float32(1.0)
    best, size = total, 1
    for k in range(1, c):
        total += scores[order[k]]
        value = total / np.float32(k + 1)
        if value <= best:
            break
        best, size = value, k + 1
    return best, size


@inlined_kernel
def set_rule(scores: Vector | Singles, theta: float, h: Matrix, i: int) -> None:
    r"""Set h_i to (s_y - θ)_+ / Σ_y (s_y - θ)_+; uniform if that sum is 0."""
    c, total = scores.size, 0.0
    for y in range(c):
        h[i, y] = max(float(scores[y]) - theta, 0.0)
        total += h[i, y]
    for y in range(c):
        h[i, y] = h[i, y] / total if total > 0.0 else 1.0 / c


@kernel
def support_value(scores: Vector) -> float:
    r"""Return φ_x, the maximum over label subsets C of (Σ_{y∈C} s_y - 1)/|C|.

    The best subset of each size holds the largest scores, so a sort replaces the 2^c - 1 subsets.
    It is also the threshold of the Euclidean projection on the simplex: Σ_y (s_y - φ_x)_+ = 1.
    """
    return largest_support(scores, np.empty(scores.size, np.int64), scores.size)[0]


@kernel
def randomised_rule(scores: Matrix, offset: float) -> Matrix:
    r"""Return h(y|x) = (s_y - θ)_+ / Σ_y (s_y - θ)_+ with θ = max(φ, φ_x), a row for each row of scores.

    `offset` is φ, the support value over the instances that the rule was learned from. The paper's φ is a
    maximum over *all* instances, the one being predicted among them; hence θ. For θ > φ_x the sum can be
    0, and the rule is then uniform.
    """
    n, c = scores.shape
    h, order = np.empty((n, c)), np.empty(c, np.int64)
    for i in range(n):
        set_rule(scores[i], max(offset, largest_support(scores[i], order, c)[0]), h, i)
    return h
