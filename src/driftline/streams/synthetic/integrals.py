"""Integrals over standard normal vectors by quasi-random points, with their standard errors."""

from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from driftline.types import Matrix, Vector

N_REPLICATES = 16
"""Number of independent estimates of each integral; the standard error is computed from them."""
MIN_PROBABILITY = 2.0**-53
"""Smallest distance of a probability from 0 and 1, so that its normal quantile is finite."""
MAX_ROUNDING_ERROR = 1e-12
"""Coefficients of unit vectors that are smaller than this are rounding errors, and set to 0."""


@lru_cache(maxsize=4)
def quasirandom_points(n_dimensions: int, n_points: int, seed: int = 0) -> Vector:
    """Return independent sets of points, each of which fills the unit cube evenly.

    The points of a set are ``(shift + i α) mod 1``, i = 1, 2, …, where α_j = g^-j with g^(n+1) = g + 1, the
    golden ratio of n dimensions. The shift is random, so every point is uniformly distributed and the mean over a set
    is an unbiased estimate of an integral.

    Parameters
    ----------
    n_dimensions : int
        Number of dimensions n.
    n_points : int
        Total number of points, rounded up to a multiple of `N_REPLICATES`.
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
    points.flags.writeable = False  # the cache returns the same array to all callers
    return points


def normal_quantiles(probabilities: Vector) -> Vector:
    """Return standard normal quantiles, all finite.

    Parameters
    ----------
    probabilities : ndarray
        Probabilities; those nearer than `MIN_PROBABILITY` to 0 or 1 are moved to that distance.

    Returns
    -------
    ndarray
        One quantile for each probability.
    """
    values: Vector = ndtri(np.clip(probabilities, MIN_PROBABILITY, 1.0 - MIN_PROBABILITY))
    return values


def outside_probability(normals: Matrix, offsets: Vector, n_points: int) -> Vector:
    """Return the probability that a standard normal z violates any of the inequalities normals z + offsets > 0.

    This is the algorithm of Genz (1992). The inequalities are sorted, the one most likely to be violated first, and
    made triangular by a rotation of z. Each then bounds one coordinate, given those before. So the coordinates are
    drawn one after the other, each from the interval in which the inequalities hold, and the probabilities of these
    intervals are multiplied. The last coordinate need not be drawn: with a single inequality, or a single feature, the
    result is exact.

    Parameters
    ----------
    normals : ndarray of shape (n_rows, n_features)
        A normal vector for each inequality.
    offsets : ndarray of shape (n_rows,)
        An offset for each inequality; not 0 if the vector is 0.
    n_points : int
        Number of quasi-random points.

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
    # Divided by the largest coefficient first: the squares of large coefficients may overflow.
    normals, offsets = normals[varies] / largest[varies, None], offsets[varies] / largest[varies]
    lengths = np.linalg.norm(normals, axis=1)
    order = np.argsort(offsets / lengths)
    triangle = np.linalg.qr((normals / lengths[:, None])[order].T).R.T
    return _sequential(
        np.where(np.abs(triangle) < MAX_ROUNDING_ERROR, 0.0, triangle), (offsets / lengths)[order], n_points
    )


def _sequential(triangle: Matrix, depths: Vector, n_points: int) -> Vector:
    """Return estimates of P(triangle z + depths ≤ 0 in some row), coordinate by coordinate."""
    n = triangle.shape[1]
    last = n - 1 - np.argmax(triangle[:, ::-1] != 0.0, axis=1)
    points = quasirandom_points(n - 1, n_points if n > 1 else N_REPLICATES)
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
            z = normal_quantiles(ndtr(low) + points[..., j] * (1.0 - missed))
            reached += z[..., None] * slopes
    replicates: Vector = outside.mean(axis=1)
    return replicates
