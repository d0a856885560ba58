r"""Alg. 4 of the paper: an accelerated subgradient method over the subgradients it has used.

The objective at the weights μ, a matrix with a row for each of c classes, is

    R(μ) = 1 - τᵀμ + λᵀ|μ| + φ(μ),     φ(μ) = max_i v_i(μ),

over the rows i kept from earlier steps and all 2^c - 1 of the newest instance.
"""

import numpy as np

from driftline._jit import kernel
from driftline.kernels.dense import is_dense, minimize_densely
from driftline.kernels.rows import Rows, best_proper_subset, evict, row_value
from driftline.kernels.search import minimize_by_search
from driftline.types import Matrix, Vector


@kernel
def minimize(
    rows: Rows,
    n_rows: int,
    psi: Vector,
    mean: Matrix,
    width: Matrix,
    start: Matrix,
    steps: Matrix,
    n_kept: int,
    clock: int,
) -> tuple[Matrix, float, float, int]:
    """Minimise R with τ = mean and λ = width from μ = start, over the kept rows and those of the instance ψ.

    `steps` has the sizes of the steps of each iteration, and `clock` counts the iterations of all earlier solves with
    these rows. Return the best iterate, φ and R there, and the number of rows kept.
    """
    c, d = start.shape
    if is_dense(c, d, n_rows, rows.slopes.size):
        mu, n = minimize_densely(rows, n_rows, psi, mean, width, start, steps, clock)
    else:
        mu, n = minimize_by_search(rows, n_rows, psi, mean, width, start, steps, clock)
    phi = best_proper_subset(psi.reshape(1, d), mu, np.empty(c), np.empty(c, np.int64), np.empty(c, np.bool_))
    for i in range(n):
        phi = max(phi, row_value(rows.instances, rows.subsets, rows.sizes, i, mu))
    risk = 1.0 - (mean * mu).sum() + (width * np.abs(mu)).sum() + phi
    return mu, phi, risk, evict(rows, n, n_kept)
