"""Integrals over standard normal vectors, by points that spread evenly and can say how wrong they are."""

from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from driftline.types import Matrix, Vector

N_REPLICATES = 16
"""Independent estimates of each integral: their spread is its standard error."""
SMALLEST = 2.0**-53
"""Probabilities whose quantiles are taken stay this far from 0 and 1."""
ROUNDING = 1e-12
"""Coefficients of unit vectors that are smaller than this come from rounding."""


@lru_cache(maxsize=4)
def even_points(n_dimensions: int, n_points: int, seed: int = 0) -> Vector:
    """Return points that fill the unit cube evenly, in replicates that are independent.

    In each replicate they are ``(shift + i α) mod 1``, i = 1, 2, …, where α_j = g^-j with g^(n+1) = g + 1, the
    golden ratio of n dimensions. The shift is random: so every point is uniform, and every replicate unbiased.

    Parameters
    ----------
    n_dimensions : int
        Number of dimensions n.
    n_points : int
        Number of points, rounded up to a multiple of `N_REPLICATES`.
    seed : int, default=0
        Seed of the shifts.

    Returns
    -------
    ndarray of shape (N_REPLICATES, n_points / N_REPLICATES, n_dimensions)
        The points.
    """
    golden = 2.0
    for _ in range(64):
        golden = (1.0 + golden) ** (1.0 / (n_dimensions + 1.0))
    alpha = golden ** -np.arange(1.0, n_dimensions + 1.0)
    shift = np.random.Generator(np.random.PCG64(seed)).random((N_REPLICATES, 1, n_dimensions))
    steps = np.arange(1.0, -(-n_points // N_REPLICATES) + 1.0)
    points: Vector = (shift + steps[:, None] * alpha) % 1.0
    points.flags.writeable = False  # they are shared
    return points


def quantiles(probabilities: Vector) -> Vector:
    """Return standard normal quantiles, none of them infinite.

    Parameters
    ----------
    probabilities : ndarray
        Probabilities; 0 and 1 are taken for their neighbours.

    Returns
    -------
    ndarray
        A quantile for each.
    """
    values: Vector = ndtri(np.clip(probabilities, SMALLEST, 1.0 - SMALLEST))
    return values


def outside_probability(normals: Matrix, offsets: Vector, n_points: int) -> Vector:
    """Return the probability that a standard normal z does not have normals z + offsets > 0 in every row.

    The rows, the one most likely to fail first, are made triangular by a rotation of z. Each then bounds its last
    coordinate, given those before; so the coordinates are drawn one after the other, each from where the rows
    hold, and the probabilities of that multiply (Genz, 1992). The last is not drawn: a single row, or a single
    feature, leaves nothing to the points, and the answer is exact.

    Parameters
    ----------
    normals : ndarray of shape (n_rows, n_features)
        A direction for each row.
    offsets : ndarray of shape (n_rows,)
        A number for each row; not 0 where the direction is.
    n_points : int
        Number of points for what has no closed form.

    Returns
    -------
    ndarray of shape (N_REPLICATES,)
        Independent estimates of the probability.
    """
    largest = np.abs(normals).max(axis=1)
    varies = largest > 0.0
    if np.any(offsets[~varies] < 0.0):
        return np.ones(N_REPLICATES)
    if not varies.any():
        return np.zeros(N_REPLICATES)
    # Scaled first by the largest, because squares may leave the range of floats.
    normals, offsets = normals[varies] / largest[varies, None], offsets[varies] / largest[varies]
    lengths = np.linalg.norm(normals, axis=1)
    order = np.argsort(offsets / lengths)
    triangle = np.linalg.qr((normals / lengths[:, None])[order].T).R.T
    return _sequential(np.where(np.abs(triangle) < ROUNDING, 0.0, triangle), (offsets / lengths)[order], n_points)


def _sequential(triangle: Matrix, depths: Vector, n_points: int) -> Vector:
    """Return replicates of P(not triangle z + depths > 0 in every row), coordinate by coordinate."""
    n = triangle.shape[1]
    last = n - 1 - np.argmax(triangle[:, ::-1] != 0.0, axis=1)
    points = even_points(n - 1, n_points if n > 1 else N_REPLICATES)
    reached = np.broadcast_to(depths, (*points.shape[:2], depths.size)).copy()
    outside = np.zeros(points.shape[:2])
    for j in range(n):
        slopes = triangle[:, j]
        above, below = (last == j) & (slopes > 0.0), (last == j) & (slopes < 0.0)
        low = np.max(-reached[..., above] / slopes[above], axis=2, initial=-np.inf)
        high = np.min(-reached[..., below] / slopes[below], axis=2, initial=np.inf)
        missed = np.minimum(ndtr(low) + ndtr(-high), 1.0)
        outside += (1.0 - outside) * missed
        if j < n - 1:
            z = quantiles(ndtr(low) + points[..., j] * (1.0 - missed))
            reached += z[..., None] * slopes
    replicates: Vector = outside.mean(axis=1)
    return replicates
