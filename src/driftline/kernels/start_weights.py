"""Weights of the starting times k = 1, 2, …, of which there is no last one.

Let f(k) = 1 / (1 + log(1 + k/c)). It falls from f(0) = 1 to 0, and it is convex. The weight of start k is

    w_k = -f'(k) = 1 / ((c + k) (1 + log(1 + k/c))²) ≤ f(k - 1) - f(k),

because a convex function falls between k - 1 and k at least as fast as at k. So the weights after start k sum to at
most f(k), and all weights to at most f(0) = 1. They fall little faster than 1/k, so that late starts are not
neglected; up to about c they are nearly equal.
"""

import math

from driftline._jit import inner_kernel


@inner_kernel
def remaining_weight(k: int, scale: float) -> float:
    """Return f(k), which the weights of all starts after k do not exceed in sum; `scale` is c."""
    return 1.0 / (1.0 + math.log1p(k / scale))


@inner_kernel
def start_weight(k: int, scale: float) -> float:
    """Return w_k, the weight of start k = 1, 2, …; `scale` is c."""
    remaining = remaining_weight(k, scale)
    return remaining * remaining / (scale + k)
