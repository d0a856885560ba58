"""Running means and variances."""

import numpy as np

from driftline._jit import kernel
from driftline.types import Vector


@kernel
def welford(x: Vector, count: Vector, mean: Vector, squares: Vector) -> int:
    r"""Take the known values of a row into the statistics of their columns, in place; return how many are missing.

    With n ← n + 1 and δ = x - m:  m ← m + δ/n,  s ← s + δ(x - m), where s is the sum of squared deviations.
    """
    missing = 0
    for j in range(x.size):
        if np.isnan(x[j]):
            missing += 1
            continue
        count[j] += 1.0
        shift = x[j] - mean[j]
        mean[j] += shift / count[j]
        squares[j] += shift * (x[j] - mean[j])
    return missing
