"""Running means and variances."""

import numpy as np

from driftline._jit import kernel
from driftline.types import Vector


@kernel
def welford(x: Vector, count: Vector, mean: Vector, squares: Vector) -> int:
    r"""Update the statistics of each column by the known values of a row, in place; return how many are missing.

    With n ← n + 1 and δ = x - m:  m ← m + δ/n,  s ← s + δ(x - m). `count` is n, `mean` m, and `squares` s, the sum of
    squared deviations.
    """
    missing = 0
    for j in range(x.size):
        if np.isnan(x[j]):
            missing += 1
            continue
        count[j] += 1.0
        delta = x[j] - mean[j]
        mean[j] += delta / count[j]
        squares[j] += delta * (x[j] - mean[j])
    return missing
