r"""Alg. 4 of the paper: an accelerated subgradient method over the subgradients it has used.

The objective at the weights μ, a matrix with a row for each of c classes, is

    R(μ) = 1 - τᵀμ + λᵀ|μ| + φ(μ),     φ(μ) = max_i f_iᵀμ - h_i,

where row i is an instance ψ_i with a label subset C_i: f_i has ψ_i/|C_i| for the classes of C_i and 0 for the others,
and h_i = 1/|C_i|. The rows are those kept from earlier steps and all 2^c - 1 of the newest instance. The latter are
never enumerated: the best of them comes from sorting its c scores.

Which row attains φ is the one part of an iteration that grows with the number of rows, and is found exactly while
evaluating few of them: the value of a row moves by at most ‖ψ_i‖ times the path of the iterates, so that a row
cannot be the maximum until the path has crossed its gap. Its `key` is such that f_iᵀμ - h_i ≤ key + ‖ψ_i‖ path.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftline._jit import kernel, summing_kernel
from driftline.types import Matrix, Vector

NEVER = -1
HORIZON = 16
"""Iterations between two looks at all rows: in between, only those near the maximum are considered."""


class Rows(NamedTuple):
    """Rows in slots; twice as many slots as rows are kept, for those of the newest instance."""

    instances: Matrix
    members: NDArray[np.bool_]
    births: NDArray[np.int64]
    """When the instance came: of two rows with the same value the older is the maximum."""
    last_used: NDArray[np.int64]
    norms: Vector
    sizes: NDArray[np.int64]


def empty_rows(n_kept: int, n_features: int) -> Rows:
    """Return storage for `n_kept` rows, without any class."""
    n = 2 * n_kept + 1
    return Rows(
        instances=np.zeros((n, n_features)),
        members=np.zeros((n, 0), np.bool_),
        births=np.zeros(n, np.int64),
        last_used=np.full(n, NEVER, np.int64),
        norms=np.zeros(n),
        sizes=np.zeros(n, np.int64),
    )


def with_class(rows: Rows) -> Rows:
    """Return the rows for one more class, of which no row is a member."""
    return rows._replace(members=np.pad(rows.members, ((0, 0), (0, 1))))


@summing_kernel
def dot(a: Vector, b: Vector) -> float:
    """Return aᵀb."""
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@summing_kernel
def squared_distance(a: Vector, b: Vector) -> float:
    """Return ‖a - b‖²."""
    total = 0.0
    for j in range(a.size):
        total += (a[j] - b[j]) ** 2
    return total


@summing_kernel
def advance(mu: Vector, bar: Vector, pull: Vector, lam: Vector, a: float, b: float) -> float:
    r"""Iterate in place: μ̄⁺ = μ + a(τ - f_i - λ sign μ), μ⁺ = μ̄⁺ + b(μ̄⁺ - μ̄), with pull = τ - f_i.

    Return λᵀ|μ⁺| - pullᵀμ⁺, that is R(μ⁺) - 1 - φ(μ⁺) + f_iᵀμ⁺: so the risk of an iterate is known when the
    maximum is, before the iterate is overwritten.
    """
    linear = 0.0
    for j in range(mu.size):
        x = mu[j]
        sign_lam = lam[j] if x > 0.0 else (-lam[j] if x < 0.0 else 0.0)
        bar_next = x + a * (pull[j] - sign_lam)
        x_next = bar_next + b * (bar_next - bar[j])
        bar[j] = bar_next
        mu[j] = x_next
        linear += lam[j] * abs(x_next) - pull[j] * x_next
    return linear


@summing_kernel
def add_into(a: Vector, b: Vector, total: Vector) -> float:
    """Set total to a + b and return the square of how far that moved it."""
    moved = 0.0
    for j in range(total.size):
        s = a[j] + b[j]
        moved += (s - total[j]) ** 2
        total[j] = s
    return moved


@kernel
def sum_classes(mu: Matrix, total: Vector, partial: Vector) -> float:
    """Set total to Σ_y μ_y and return how far it moved."""
    last = mu.shape[0] - 1
    partial[:] = 0.0
    for y in range(last):
        partial += mu[y]
    return math.sqrt(add_into(partial, mu[last], total))


@kernel
def row_value(rows: Rows, i: int, mu: Matrix, total: Vector) -> float:
    """Return f_iᵀμ - h_i; a row of all classes needs only their sum."""
    psi = rows.instances[i]
    value = -1.0
    if rows.sizes[i] == mu.shape[0]:
        value += dot(psi, total)
    else:
        for y in range(mu.shape[0]):
            if rows.members[i, y]:
                value += dot(psi, mu[y])
    return value / float(rows.sizes[i])


@kernel
def best_proper_subset(psi: Vector, mu: Matrix, subset: NDArray[np.bool_]) -> float:
    """Return max_k<c (s_(1) + … + s_(k) - 1)/k for s = μψ, and mark in `subset` where it is attained first."""
    c = mu.shape[0]
    scores = np.empty(c)
    for y in range(c):
        scores[y] = dot(psi, mu[y])
    order = np.argsort(-scores, kind="mergesort")
    best, total, size = -np.inf, -1.0, 0
    for k in range(c - 1):
        total += scores[order[k]]
        if total / (k + 1) > best:
            best, size = total / (k + 1), k + 1
    subset[:] = False
    subset[order[:size]] = True
    return best


@kernel
def find_row(rows: Rows, n_rows: int, psi: Vector, subset: NDArray[np.bool_]) -> int:
    """Return the slot of the row (ψ, C), or -1."""
    for i in range(n_rows):
        if np.all(rows.members[i] == subset) and np.all(rows.instances[i] == psi):
            return i
    return -1


@kernel
def write_row(rows: Rows, i: int, psi: Vector, subset: NDArray[np.bool_], birth: int) -> None:
    """Put the row (ψ, C) into a slot."""
    rows.instances[i] = psi
    rows.members[i] = subset
    rows.births[i] = birth
    rows.last_used[i] = NEVER
    rows.norms[i] = math.sqrt(dot(psi, psi))
    rows.sizes[i] = subset.sum()


@kernel
def evict(rows: Rows, n_rows: int, n_kept: int) -> int:
    """Keep the rows used most recently, in their order, in the leading slots; return how many they are."""
    used = np.flatnonzero(rows.last_used[:n_rows] != NEVER)
    oldest = np.sort(rows.last_used[used])[max(used.size - n_kept, 0)]
    n = 0
    for i in used:
        if rows.last_used[i] >= oldest:
            if i != n:
                last_used = rows.last_used[i]
                write_row(rows, n, rows.instances[i], rows.members[i], rows.births[i])
                rows.last_used[n] = last_used
            n += 1
    return n


@kernel
def pull_of(rows: Rows, i: int, mean: Matrix, pull: Vector) -> None:
    """Set pull to τ - f_i, flat."""
    c, d = mean.shape
    for y in range(c):
        pull[y * d : (y + 1) * d] = mean[y]
        if rows.members[i, y]:
            pull[y * d : (y + 1) * d] -= rows.instances[i] / rows.sizes[i]


@kernel
def bound_of(rows: Rows, i: int, keys: Vector, path: Vector, c: int) -> float:
    """Return the most that the value of a row can be."""
    return float(keys[i] + rows.norms[i] * path[0 if rows.sizes[i] == c else 1])


@kernel
def largest_row(
    rows: Rows, among: NDArray[np.int64], i: int, top: float, mu: Matrix, total: Vector, keys: Vector, path: Vector
) -> tuple[int, float]:
    """Return the row of largest value and that value, given that row i has value top; evaluate only contenders."""
    c = mu.shape[0]
    for j in among:
        if j != i and bound_of(rows, j, keys, path, c) >= top:
            value = row_value(rows, j, mu, total)
            keys[j] = value - rows.norms[j] * path[0 if rows.sizes[j] == c else 1]
            if value > top or (value == top and rows.births[j] < rows.births[i]):
                i, top = j, value
    return i, top


@kernel
def divide(
    rows: Rows, n_rows: int, threshold: float, keys: Vector, path: Vector, c: int, near: NDArray[np.int64]
) -> tuple[int, float]:
    """List the rows that may reach a threshold; return their number and the most that the others can be."""
    n, far = 0, -np.inf
    for i in range(n_rows):
        bound = bound_of(rows, i, keys, path, c)
        if bound >= threshold:
            near[n] = i
            n += 1
        else:
            far = max(far, bound)
    return n, far


@kernel
def steepness(mean: Matrix, width: Matrix, steepest: float) -> float:
    """Return a bound on ‖τ_y - f_iy - λ_y sign μ_y‖ for every class y and row i."""
    largest = 0.0
    for y in range(mean.shape[0]):
        largest = max(largest, math.sqrt(dot(mean[y], mean[y])) + math.sqrt(dot(width[y], width[y])))
    return largest + steepest


@kernel
def largest_distance(a: Matrix, b: Matrix) -> float:
    """Return max_y ‖a_y - b_y‖."""
    largest = 0.0
    for y in range(a.shape[0]):
        largest = max(largest, squared_distance(a[y], b[y]))
    return math.sqrt(largest)


@kernel
def slot_for(rows: Rows, n_rows: int, first_new: int, psi: Vector, subset: NDArray[np.bool_], birth: int) -> int:
    """Return the slot of a row of the newest instance, written there if it is new.

    Where slots run out, the new row used least recently gives way: so many were used since that it would not be kept.
    """
    i = find_row(rows, n_rows, psi, subset)
    if i < 0:
        i = n_rows if n_rows < rows.sizes.size else first_new + int(np.argmin(rows.last_used[first_new:]))
        write_row(rows, i, psi, subset, birth)
    return i


@kernel
def minimize(
    rows: Rows,
    n_rows: int,
    psi: Vector,
    mean: Matrix,
    width: Matrix,
    start: Matrix,
    n_iterations: int,
    n_kept: int,
    clock: int,
) -> tuple[Matrix, float, float, int]:
    r"""Minimise R with τ = mean and λ = width from μ = start, over the kept rows and those of the instance ψ.

    Iterations l = 1, …, K with a = (l+1)^-1.5, θ_l = 2/(l+1), b = θ_{l+1}(1/θ_l - 1). Returns the best iterate, φ
    and R there, and the number of rows kept for the next step. `clock` counts the iterations of earlier steps.
    """
    c, d = start.shape
    mu, bar, best_mu, lam = start.copy(), start.copy(), start.copy(), width.copy().reshape(c * d)
    flat_mu, flat_bar = mu.reshape(c * d), bar.reshape(c * d)
    total, partial, subset = np.zeros(d), np.zeros(d), np.ones(c, np.bool_)
    sum_classes(mu, total, partial)

    n_slots = rows.sizes.size
    n_explicit = max(n_rows, slot_for(rows, n_rows, n_rows, psi, subset, clock) + 1)
    n = n_explicit  # from here on, proper subsets of the newest instance, found by sorting scores
    keys, near = np.full(n_slots, np.inf), np.empty(n_slots, np.int64)
    pulls, pulled = np.empty((n_slots, c * d)), np.zeros(n_slots, np.bool_)
    psi_norm, newest_key = math.sqrt(dot(psi, psi)), np.inf if c > 1 else -np.inf
    steepest = max(psi_norm, rows.norms[:n].max())
    G = steepness(mean, width, steepest)

    path = np.zeros(2)  # of Σ_y μ_y / c, for the rows of all classes, and of the μ_y that moved most
    n_near, far, screened, momentum = 0, np.inf, 0.0, 0.0
    best_risk, i = np.inf, n_explicit - 1
    pull_of(rows, i, mean, pulls[i])
    pulled[i] = True
    linear = dot(lam, np.abs(flat_mu)) - dot(pulls[i], flat_mu)
    for l in range(1, n_iterations + 2):  # noqa: E741  # the paper's letter
        a, theta, theta_next = 1.0 / (l + 1) ** 1.5, 2.0 / (l + 1), 2.0 / (l + 2)
        b = theta_next * (1.0 / theta - 1.0)

        top = row_value(rows, i, mu, total)
        linear -= top + 1.0 / rows.sizes[i]  # R - 1 - φ
        keys[i] = top - rows.norms[i] * path[0 if rows.sizes[i] == c else 1]
        i, top = largest_row(rows, near[:n_near], i, top, mu, total, keys, path)
        if l % HORIZON == 1 or top <= far + steepest * (path[1] - screened):
            i, top = largest_row(rows, np.arange(n_explicit), i, top, mu, total, keys, path)
            momentum, screened = largest_distance(mu, bar), path[1]
            margin = HORIZON * steepest * (momentum + a * G)
            n_near, far = divide(rows, n_explicit, top - margin, keys, path, c, near)
        if newest_key + psi_norm * path[1] > top:
            value = best_proper_subset(psi, mu, subset)
            newest_key = value - psi_norm * path[1]
            if value > top:
                top = value
                i = slot_for(rows, n, n_explicit, psi, subset, clock)
                pulled[i] = pulled[i] and rows.last_used[i] > clock
                n = max(n, i + 1)

        if 1.0 + linear + top < best_risk:
            best_risk = 1.0 + linear + top
            best_mu[:] = mu
        if l > n_iterations:
            break
        if not pulled[i]:
            pull_of(rows, i, mean, pulls[i])
            pulled[i] = True
        rows.last_used[i] = clock + l
        linear = advance(flat_mu, flat_bar, pulls[i], lam, a, b)
        # With e = μ - μ̄, an iteration moves μ by a g + e⁺, and e⁺ = b(e + a g).
        momentum = b * (momentum + a * G)
        path[1] += a * G + momentum
        path[0] += sum_classes(mu, total, partial) / c

    sum_classes(best_mu, total, partial)
    offset = best_proper_subset(psi, best_mu, subset)
    for j in range(n_explicit):
        offset = max(offset, row_value(rows, j, best_mu, total))
    risk = 1.0 - np.sum(mean * best_mu) + np.sum(width * np.abs(best_mu)) + offset
    return best_mu, offset, risk, evict(rows, n, n_kept)
