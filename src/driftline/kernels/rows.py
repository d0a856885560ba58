"""The subgradients of φ that Alg. 4 keeps: rows, each an instance with a label subset.

Row i stands for ``v_i(μ) = f_iᵀμ - h_i``, where f_i has ψ_i/|C_i| for the classes of C_i and 0 for the others, and
h_i = 1/|C_i|.
"""

import math
from typing import NamedTuple

import numpy as np

from driftline._jit import inlined_kernel, inner_kernel, kernel
from driftline.kernels.simplex import largest_support
from driftline.kernels.vectors import aligned, dot, norm
from driftline.types import Flags, Indices, Matrix, Singles, Vector

NEVER = -1
ROUNDING = 1e-13
"""Relative allowance for double precision; values that are nearer are compared by one and the same formula."""


class Rows(NamedTuple):
    """Kept rows in the leading slots, and room for those of the newest instance."""

    instances: Matrix
    """ψ_i, (slots, d)."""
    members: Flags
    """C_i, (slots, c)."""
    births: Indices
    """Clock when the instance came."""
    last_used: Indices
    """Clock when the row was last used as a subgradient."""
    singles: Singles
    """ψ_i in single precision."""
    slopes: Vector
    """How fast v_i can change: ‖f_i‖, as μ moves; for a row of all classes ‖ψ_i‖, as Σ_y μ_y / c does."""
    sizes: Indices
    """|C_i|."""


def empty_rows(n_kept: int, n_features: int) -> Rows:
    """Return storage for `n_kept` rows, as many of the newest instance, and two to spare; no class is known."""
    n, d = 2 * n_kept + 2, n_features
    return Rows(
        instances=aligned(n * d).reshape(n, d),
        members=np.zeros((n, 0), np.bool_),
        births=np.zeros(n, np.int64),
        last_used=np.full(n, NEVER, np.int64),
        singles=aligned((n * d + 1) // 2).view(np.float32)[: n * d].reshape(n, d),
        slopes=np.zeros(n),
        sizes=np.zeros(n, np.int64),
    )


def with_class(rows: Rows) -> Rows:
    """Return the rows for one more class, which is in none of them."""
    return rows._replace(members=np.pad(rows.members, ((0, 0), (0, 1))))


@inner_kernel
def write_row(rows: Rows, i: int, psi: Matrix, subset: Flags, birth: int) -> None:
    """Put the row (ψ, C) into a slot, not used yet; ψ is a matrix of one row."""
    size = 0
    for j in range(psi.shape[1]):
        rows.instances[i, j] = psi[0, j]
        rows.singles[i, j] = psi[0, j]
    for y in range(subset.size):
        rows.members[i, y] = subset[y]
        size += subset[y]
    rows.births[i] = birth
    rows.last_used[i] = NEVER
    rows.slopes[i] = norm(psi, 0) / (1.0 if size == subset.size else math.sqrt(size))
    rows.sizes[i] = size


@inlined_kernel
def row_value(instances: Matrix, members: Flags, sizes: Indices, i: int, mu: Matrix) -> float:
    """Return v_i(μ)."""
    total = -1.0
    for y in range(mu.shape[0]):
        if members[i, y]:
            total += dot(instances, i, mu, y)
    return total / float(sizes[i])


@inner_kernel
def pull_of(rows: Rows, i: int, tau: Matrix, pull: Vector) -> None:
    """Set pull to τ - f_i, flat."""
    c, d = tau.shape
    for y in range(c):
        for j in range(d):
            pull[y * d + j] = tau[y, j] - (rows.instances[i, j] / rows.sizes[i] if rows.members[i, y] else 0.0)


@inner_kernel
def best_proper_subset(psi: Matrix, mu: Matrix, scores: Vector, order: Indices, subset: Flags) -> float:
    """Return max_k<c (s_(1) + … + s_(k) - 1)/k for the scores s = μψ, and leave in `subset` where it is attained."""
    for y in range(scores.size):
        scores[y] = dot(psi, 0, mu, y)
    best, size = largest_support(scores, order, scores.size - 1)
    for k in range(scores.size):
        subset[order[k]] = k < size
    return best


@inner_kernel
def precedes(births: Indices, sizes: Indices, members: Flags, i: int, j: int) -> bool:
    """Tell whether row i comes before row j: by arrival, then by |C|, then by labels."""
    if births[i] != births[j]:
        return bool(births[i] < births[j])
    if sizes[i] != sizes[j]:
        return bool(sizes[i] < sizes[j])
    for y in range(members.shape[1]):
        if members[i, y] != members[j, y]:
            return bool(members[i, y])
    return False


@inner_kernel
def is_instance(rows: Rows, i: int, psi: Matrix) -> bool:
    """Tell whether row i is one of ψ."""
    for j in range(psi.shape[1]):
        if rows.instances[i, j] != psi[0, j]:
            return False
    return True


@inner_kernel
def find_subset(members: Flags, own: Indices, subset: Flags) -> int:
    """Return which of the slots `own` has this label subset, or -1."""
    for k in range(own.size):
        same = True
        for y in range(subset.size):
            same &= members[own[k], y] == subset[y]
        if same:
            return int(own[k])
    return -1


@inner_kernel
def least_recent(last_used: Indices, first: int) -> int:
    """Return the least recently used of the slots from the first on."""
    oldest = first
    for i in range(first, last_used.size):
        if last_used[i] < last_used[oldest]:
            oldest = i
    return oldest


@kernel
def evict(rows: Rows, n: int, n_kept: int) -> int:
    """Move the most recently used of n rows into the leading slots, in order; return their number."""
    oldest = NEVER + 1
    if n > n_kept:
        oldest = max(oldest, np.sort(rows.last_used[:n])[n - n_kept])
    n_left = 0
    for i in range(n):
        if rows.last_used[i] >= oldest:
            rows.instances[n_left], rows.members[n_left] = rows.instances[i], rows.members[i]
            rows.singles[n_left], rows.slopes[n_left] = rows.singles[i], rows.slopes[i]
            rows.births[n_left], rows.last_used[n_left] = rows.births[i], rows.last_used[i]
            rows.sizes[n_left] = rows.sizes[i]
            n_left += 1
    return n_left
