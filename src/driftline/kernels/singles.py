"""Operations on matrices in single precision, and on stacks of matrices with one for each member.

Loops run over a whole axis because numba vectorises no other range.
"""

import numpy as np

from driftline._jit import inlined_kernel
from driftline.kernels.vectors import dot
from driftline.types import Singles

TINY = np.float32(1e-30)
"""Added to sums that decay, so that they do not become subnormal: arithmetic with such numbers is ten times slower."""
MIN_AVERAGE = np.float32(1e-20)
"""An average of smaller absolute value is set to 0, for the same reason."""


@inlined_kernel
def add_multiple(G: Singles, y: int, factor: np.float32, A: Singles, i: int) -> None:
    """Add factor · A_i to G_y."""
    for j in range(G.shape[1]):
        G[y, j] += factor * A[i, j]


@inlined_kernel
def decay(stack: Singles, m: int, factor: np.float32) -> None:
    """Multiply the matrix of member m by a factor, and add `TINY`."""
    for y in range(stack.shape[1]):
        for j in range(stack.shape[2]):
            stack[m, y, j] = stack[m, y, j] * factor + TINY


@inlined_kernel
def add_moments(sums: Singles, squares: Singles, m: int, y: int, A: Singles, i: int) -> None:
    """Add A_i to row y of the sums of member m, and its squares to the sums of squares."""
    for j in range(sums.shape[2]):
        sums[m, y, j] += A[i, j]
        squares[m, y, j] += A[i, j] * A[i, j]


@inlined_kernel
def set_widths(lam: Singles, sums: Singles, squares: Singles, m: int, mass: np.float32, factor: np.float32) -> None:
    """Set λ = √(factor · variance of Φ), from the weighted sums of Φ and Φ² of member m; `mass` is their weight."""
    for y in range(lam.shape[0]):
        for j in range(lam.shape[1]):
            mean = sums[m, y, j] / mass
            variance = squares[m, y, j] / mass - mean * mean
            lam[y, j] = np.sqrt(max(variance, np.float32(0.0)) * factor)


@inlined_kernel
def proximal_step(mu: Singles, m: int, G: Singles, lam: Singles, eta: np.float32) -> None:
    """Set μ of member m to argmin_x ½‖x - (μ - ηG)‖² + η λᵀ|x|: a gradient step, then shrinkage by ηλ."""
    for y in range(G.shape[0]):
        for j in range(G.shape[1]):
            x = mu[m, y, j] - eta * G[y, j]
            threshold = eta * lam[y, j]
            mu[m, y, j] = max(x - threshold, np.float32(0.0)) - max(-x - threshold, np.float32(0.0))


@inlined_kernel
def update_average(average: Singles, mu: Singles, m: int, gain: np.float32, lam: Singles, size: Singles) -> np.float32:
    """Move the average of member m towards its μ, by the gain; return λᵀ|average|. `size` is overwritten."""
    total = np.float32(0.0)
    for y in range(lam.shape[0]):
        for j in range(lam.shape[1]):
            x = average[m, y, j] + gain * (mu[m, y, j] - average[m, y, j])
            x = np.float32(0.0) if abs(x) < MIN_AVERAGE else x
            average[m, y, j] = x
            size[y, j] = abs(x)
        total += dot(lam, y, size, y)
    return total
