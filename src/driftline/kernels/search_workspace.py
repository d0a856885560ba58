"""The arrays that Alg. 4 works with where m = cd is large."""

from typing import NamedTuple

import numpy as np

from driftline._jit import kernel
from driftline.kernels.vectors import aligned_empty
from driftline.types import Flags, Indices, Matrix, Singles, Vector


class SearchWorkspace(NamedTuple):
    """The arrays of a solve; m = c d."""

    psi: Matrix
    """The newest instance, (1, d)."""
    x: Vector
    """μ, flat, (m,)."""
    mu: Matrix
    """The same memory as (c, d)."""
    bar: Vector
    """μ̄, flat, (m,)."""
    tau: Matrix
    """τ, (c, d)."""
    lam: Vector
    """λ, flat, (m,)."""
    sigma: Matrix
    """σ = Σ_y μ_y when it was last anchored, (1, d)."""
    drift: Singles
    """Change of σ since then, (1, d)."""
    partial: Matrix
    """Memory for a partial sum of the μ_y, (1, d)."""
    pulls: Matrix
    """τ - f_i of the rows used, (slots, m)."""
    used: Indices
    """The row used in each iteration."""
    iterates: Matrix
    """The two saved iterates, (2, 2, m)."""
    keys: Vector
    """v_i ≤ keys_i + slopes_i path."""
    bases: Vector
    """v_i when σ was last anchored; NaN if not evaluated since."""
    near: Indices
    """The near rows."""
    candidates: Indices
    """The rows evaluated in an iteration."""
    values: Vector
    """Their values."""
    own: Indices
    """Slots of rows of the newest instance."""
    scores: Vector
    """Scores of the newest instance, (c,)."""
    order: Indices
    """Memory to sort them, (c,)."""
    subset: Flags
    """The label subset of the best of its rows, (c,)."""


@kernel
def new_search_workspace(
    n_slots: int, psi: Vector, tau: Matrix, lam: Matrix, start: Matrix, n_iterations: int
) -> SearchWorkspace:
    """Return the arrays of a solve that starts at μ = start."""
    c, d = start.shape
    m = c * d
    x, bar, widths, newest = aligned_empty(m), aligned_empty(m), aligned_empty(m), aligned_empty(d).reshape(1, d)
    x[:], bar[:], widths[:], newest[0] = start.copy().reshape(m), start.copy().reshape(m), lam.copy().reshape(m), psi
    return SearchWorkspace(
        psi=newest,
        x=x,
        mu=x.reshape(c, d),
        bar=bar,
        tau=tau,
        lam=widths,
        sigma=aligned_empty(d).reshape(1, d),
        drift=aligned_empty((d + 1) // 2).view(np.float32)[:d].reshape(1, d),
        partial=aligned_empty(d).reshape(1, d),
        pulls=aligned_empty(n_slots * m).reshape(n_slots, m),
        used=np.empty(n_iterations + 2, np.int64),
        iterates=aligned_empty(4 * m).reshape(2, 2, m),
        keys=np.full(n_slots, np.inf),
        bases=np.empty(n_slots),
        near=np.empty(n_slots, np.int64),
        candidates=np.empty(n_slots + 1, np.int64),
        values=np.empty(n_slots + 1),
        own=np.empty(n_slots, np.int64),
        scores=np.empty(c),
        order=np.empty(c, np.int64),
        subset=np.ones(c, np.bool_),
    )
