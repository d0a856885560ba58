"""Vectors in single precision: rows of matrices, and of stacks of matrices with one for each member.

Loops run over a whole axis because numba vectorises no other range.
"""

import numpy as np

from driftline._jit import inlined_kernel, summing_kernel
from driftline.types import Singles

TINY = np.float32(1e-30)
"""Added to sums that decay, which would become subnormal numbers: arithmetic with these is ten times slower."""
NOTHING = np.float32(1e-20)
"""What an average that decays is rounded to 0 below, for the same reason."""


@inlined_kernel
def add_multiple(G: Singles, y: int, factor: np.float32, A: Singles, i: int) -> None:
    """Add factor · A_i to G_y."""
    for j in range(G.shape[1]):
        G[y, j] += factor * A[i, j]


@inlined_kernel
def decay(stack: Singles, m: int, factor: np.float32) -> None:
    """Multiply the matrix of a member by a factor, and keep it off the subnormal numbers."""
    for y in range(stack.shape[1]):
        for j in range(stack.shape[2]):
            stack[m, y, j] = stack[m, y, j] * factor + TINY


@inlined_kernel
def add_moments(first: Singles, second: Singles, m: int, y: int, A: Singles, i: int) -> None:
    """Add A_i, and its squares, to the sums of class y."""
    for j in range(first.shape[2]):
        first[m, y, j] += A[i, j]
        second[m, y, j] += A[i, j] * A[i, j]


@inlined_kernel
def set_widths(lam: Singles, first: Singles, second: Singles, m: int, mass: np.float32, factor: np.float32) -> None:
    """Set λ² to the variance of Φ in the window, times a factor; `mass` is the weight of the sums."""
    for y in range(lam.shape[0]):
        for j in range(lam.shape[1]):
            mean = first[m, y, j] / mass
            variance = second[m, y, j] / mass - mean * mean
            lam[y, j] = np.sqrt(max(variance, np.float32(0.0)) * factor)


@inlined_kernel
def proximal_step(stack: Singles, m: int, G: Singles, lam: Singles, eta: np.float32) -> None:
    """Step from μ against the gradient, then towards 0 by η λ: what λᵀ|μ| asks for."""
    for y in range(G.shape[0]):
        for j in range(G.shape[1]):
            x = stack[m, y, j] - eta * G[y, j]
            threshold = eta * lam[y, j]
            stack[m, y, j] = max(x - threshold, np.float32(0.0)) - max(-x - threshold, np.float32(0.0))


@summing_kernel
def follow_average(average: Singles, stack: Singles, m: int, gain: np.float32, lam: Singles) -> np.float32:
    """Move the average of a member towards its matrix; return λᵀ|average|."""
    total = np.float32(0.0)
    for y in range(lam.shape[0]):
        for j in range(lam.shape[1]):
            x = average[m, y, j] + gain * (stack[m, y, j] - average[m, y, j])
            x = np.float32(0.0) if abs(x) < NOTHING else x
            average[m, y, j] = x
            total += lam[y, j] * abs(x)
    return total
