"""Products and iterations over long vectors.

They take matrices and row numbers, not slices, because numba counts references to every slice. Loops run over a whole
axis because numba vectorises no other range.
"""

import math
from typing import Any

import numpy as np

from driftline._jit import inlined_kernel, inner_kernel, kernel, summing_kernel
from driftline.kernels.sum_of_products import sum_of_products
from driftline.types import Matrix, Singles, Vector

CACHE_LINE_BYTES = 64
"""Size of a cache line: a vector load across two of them costs twice as much."""


@kernel
def aligned_empty(n: int) -> Vector:
    """Return an uninitialised array of n floats that starts on a cache line."""
    buffer = np.empty(n + CACHE_LINE_BYTES // 8)
    first = -buffer.ctypes.data % CACHE_LINE_BYTES // 8
    return buffer[first : first + n]


@inlined_kernel
def dot(A: Matrix | Singles, i: int, B: Matrix | Singles, k: int) -> Any:
    """Return A_iᵀB_k, in the precision of both, summed in the same order on every processor."""
    return sum_of_products(A, i, B, k)


@inner_kernel
def norm(A: Matrix, i: int) -> float:
    """Return ‖A_i‖."""
    return math.sqrt(dot(A, i, A, i))


@kernel
def step_sizes(n_iterations: int) -> Matrix:
    """Return a_l = (l+1)^-1.5 and b_l = θ_{l+1}(1/θ_l - 1) with θ_l = 2/(l+1), for l = 1, …, n_iterations + 1."""
    sizes = np.zeros((n_iterations + 2, 2))
    for l in range(1, n_iterations + 2):  # noqa: E741  # the paper's letter
        theta, theta_next = 2.0 / (l + 1), 2.0 / (l + 2)
        sizes[l, 0] = 1.0 / (l + 1) ** 1.5
        sizes[l, 1] = theta_next * (1.0 / theta - 1.0)
    return sizes


@summing_kernel
def accelerated_step(
    mu: Vector, bar: Vector, pulls: Matrix, i: int, lam: Vector, a: float, b: float
) -> tuple[float, float]:
    r"""Do a step of Alg. 4 in place: μ̄⁺ = μ + a g, μ⁺ = μ̄⁺ + b(μ̄⁺ - μ̄).

    Here g = τ - f_i - λ sign μ, and pulls_i = τ - f_i. Return gᵀμ, which is 1 - h_i - R(μ), and ‖μ⁺ - μ‖². Only these
    two sums may be taken in another order.
    """
    product, moved = 0.0, 0.0
    for j in range(mu.size):
        x = mu[j]
        g = pulls[i, j] - (0.0 if x == 0.0 else math.copysign(lam[j], x))
        bar_next = x + a * g
        x_next = bar_next + b * (bar_next - bar[j])
        mu[j] = x_next
        bar[j] = bar_next
        product += g * x
        moved += (x_next - x) * (x_next - x)
    return product, moved


@inner_kernel
def sum_rows(mu: Matrix, n: int, total: Matrix) -> None:
    """Set total to μ_1 + … + μ_n."""
    total[:] = 0.0
    for y in range(n):
        for j in range(mu.shape[1]):
            total[0, j] += mu[y, j]


@summing_kernel
def set_drift(A: Matrix, i: int, B: Matrix, k: int, sigma: Matrix, drift: Singles) -> float:
    """Set drift to A_i + B_k - σ in single precision; return the squared length of its change."""
    moved = np.float32(0.0)
    for j in range(drift.shape[1]):
        value = np.float32(A[i, j] + B[k, j] - sigma[0, j])
        change = value - drift[0, j]
        moved += change * change
        drift[0, j] = value
    return float(moved)


@inlined_kernel
def update_drift(mu: Matrix, sigma: Matrix, drift: Singles, partial: Matrix) -> float:
    """Set drift to Σ_y μ_y - σ in single precision; return the length of its change."""
    c = mu.shape[0]
    if c == 2:
        return math.sqrt(set_drift(mu, 0, mu, 1, sigma, drift))
    sum_rows(mu, c - 1, partial)
    return math.sqrt(set_drift(partial, 0, mu, c - 1, sigma, drift))
