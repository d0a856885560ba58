"""The subgradients of φ that Alg. 4 keeps: rows, each an instance with a label subset.

Row i stands for ``v_i(μ) = f_iᵀμ - h_i``, where f_i has ψ_i/|C_i| for the classes of C_i and 0 for the others, and
h_i = 1/|C_i|.
"""

import math
from typing import NamedTuple

import numpy as np

from driftline._jit import inlined_kernel, inner_kernel, kernel
from driftline.kernels.simplex import largest_support
from driftline.kernels.vectors import aligned_empty, dot, norm
from driftline.types import Flags, Indices, Matrix, Singles, Vector

NEVER_USED = -1
"""`last_used` of a row that was not used yet."""
ROUNDING = 1e-13
"""Relative error of values in double precision; values that are nearer are compared by one and the same formula."""


class Rows(NamedTuple):
    """Kept rows in the leading slots, and free slots for those of the newest instance."""

    instances: Matrix
    """ψ_i, (slots, d)."""
    subsets: Flags
    """C_i, (slots, c)."""
    arrivals: Indices
    """Clock when the instance arrived, (slots,)."""
    last_used: Indices
    """Clock when the row was last used as a subgradient, (slots,)."""
    instances_single: Singles
    """ψ_i in single precision, (slots, d)."""
    slopes: Vector
    """Largest change of v_i for a unit step: of μ, ‖f_i‖; for a row of all classes, of Σ_y μ_y / c, ‖ψ_i‖. (slots,)"""
    sizes: Indices
    """|C_i|, (slots,)."""

    def copy(self) -> "Rows":
        """Return a copy, aligned in memory like the original."""
        rows = empty_rows(len(self.sizes) // 2 - 1, self.instances.shape[1])
        rows.instances[:], rows.instances_single[:] = self.instances, self.instances_single
        names = ("subsets", "arrivals", "last_used", "slopes", "sizes")
        return rows._replace(**{name: getattr(self, name).copy() for name in names})


def empty_rows(n_kept: int, n_features: int) -> Rows:
    """Return 2 `n_kept` + 2 free slots, for no class yet: half of them for rows that are kept between solves."""
    n, d = 2 * n_kept + 2, n_features
    return Rows(
        instances=aligned_empty(n * d).reshape(n, d),
        subsets=np.zeros((n, 0), np.bool_),
        arrivals=np.zeros(n, np.int64),
        last_used=np.full(n, NEVER_USED, np.int64),
        instances_single=aligned_empty((n * d + 1) // 2).view(np.float32)[: n * d].reshape(n, d),
        slopes=np.zeros(n),
        sizes=np.zeros(n, np.int64),
    )


def with_classes(rows: Rows, n: int) -> Rows:
    """Return the rows with n more classes, which are in none of their label subsets."""
    return rows._replace(subsets=np.pad(rows.subsets, ((0, 0), (0, n))))


@inner_kernel
def write_row(rows: Rows, i: int, psi: Matrix, subset: Flags, arrival: int) -> None:
    """Write the row (ψ, C) into slot i, as one that was not used yet; ψ is a matrix of one row."""
    size = 0
    for j in range(psi.shape[1]):
        rows.instances[i, j] = psi[0, j]
        rows.instances_single[i, j] = psi[0, j]
    for y in range(subset.size):
        rows.subsets[i, y] = subset[y]
        size += subset[y]
    rows.arrivals[i] = arrival
    rows.last_used[i] = NEVER_USED
    rows.slopes[i] = norm(psi, 0) / (1.0 if size == subset.size else math.sqrt(size))
    rows.sizes[i] = size


@inlined_kernel
def row_value(instances: Matrix, subsets: Flags, sizes: Indices, i: int, mu: Matrix) -> float:
    """Return v_i(μ) = (Σ_{y∈C_i} ψ_iᵀμ_y - 1)/|C_i|."""
    total = -1.0
    for y in range(mu.shape[0]):
        if subsets[i, y]:
            total += dot(instances, i, mu, y)
    return total / float(sizes[i])


@inner_kernel
def set_pull(rows: Rows, i: int, tau: Matrix, pull: Vector) -> None:
    """Set pull to τ - f_i, flat."""
    c, d = tau.shape
    for y in range(c):
        for j in range(d):
            pull[y * d + j] = tau[y, j] - (rows.instances[i, j] / rows.sizes[i] if rows.subsets[i, y] else 0.0)


@inner_kernel
def best_proper_subset(psi: Matrix, mu: Matrix, scores: Vector, order: Indices, subset: Flags) -> float:
    """Return max_{k<c} (s_(1) + … + s_(k) - 1)/k for the scores s = μψ; set `subset` to the labels that attain it."""
    for y in range(scores.size):
        scores[y] = dot(psi, 0, mu, y)
    best, size = largest_support(scores, order, scores.size - 1)
    for k in range(scores.size):
        subset[order[k]] = k < size
    return best


@inner_kernel
def precedes(arrivals: Indices, sizes: Indices, subsets: Flags, i: int, j: int) -> bool:
    """Return whether row i comes before row j: by arrival, then by |C|, then by labels."""
    if arrivals[i] != arrivals[j]:
        return bool(arrivals[i] < arrivals[j])
    if sizes[i] != sizes[j]:
        return bool(sizes[i] < sizes[j])
    for y in range(subsets.shape[1]):
        if subsets[i, y] != subsets[j, y]:
            return bool(subsets[i, y])
    return False


@inner_kernel
def is_row_of(rows: Rows, i: int, psi: Matrix) -> bool:
    """Return whether ψ is the instance of row i."""
    for j in range(psi.shape[1]):
        if rows.instances[i, j] != psi[0, j]:
            return False
    return True


@inner_kernel
def find_subset(subsets: Flags, own: Indices, subset: Flags) -> int:
    """Return the slot of those in `own` that has this label subset; -1 if none has."""
    for k in range(own.size):
        same = True
        for y in range(subset.size):
            same &= subsets[own[k], y] == subset[y]
        if same:
            return int(own[k])
    return -1


@inner_kernel
def least_recently_used(last_used: Indices, first: int) -> int:
    """Return the slot, from slot `first` on, whose row was used least recently."""
    oldest = first
    for i in range(first, last_used.size):
        if last_used[i] < last_used[oldest]:
            oldest = i
    return oldest


@kernel
def evict(rows: Rows, n: int, n_kept: int) -> int:
    """Move the `n_kept` most recently used of n rows to the leading slots, in the same order; return their number.

    Rows that were never used are dropped.
    """
    oldest = NEVER_USED + 1
    if n > n_kept:
        oldest = max(oldest, np.sort(rows.last_used[:n])[n - n_kept])
    n_left = 0
    for i in range(n):
        if rows.last_used[i] >= oldest:
            rows.instances[n_left], rows.subsets[n_left] = rows.instances[i], rows.subsets[i]
            rows.instances_single[n_left], rows.slopes[n_left] = rows.instances_single[i], rows.slopes[i]
            rows.arrivals[n_left], rows.last_used[n_left] = rows.arrivals[i], rows.last_used[i]
            rows.sizes[n_left] = rows.sizes[i]
            n_left += 1
    return n_left
