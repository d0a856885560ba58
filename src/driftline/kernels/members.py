"""Members that predict each row and then learn it, from a store of instances.

What they minimise and how is in `driftline.kernels.descent`; here is what happens at every label.
"""

import numpy as np

from driftline._jit import inner_kernel, kernel
from driftline.kernels.descent import descend
from driftline.kernels.filter_bank import FilterBank, forecast, update_filters
from driftline.kernels.member_state import N_RULES, Members, MemberWorkspace, RowStore, member_bound
from driftline.kernels.simplex import set_rule, single_support
from driftline.kernels.singles import add_moments, decay, set_widths, update_average
from driftline.kernels.vectors import dot
from driftline.types import Indices, Labels, Singles, Vector

CUT_LEAD_MISTAKES = 3.0
"""A memory is cut if the partner has made so many expected mistakes fewer."""
ROWS_KEPT_AT_CUT = 10
"""Rows of a memory that was cut."""


@inner_kernel
def choose_rule(members: Members, m: int, c: int) -> None:
    """Set `n_halvings` of member m to the smallest whose bound is no worse than that of guessing."""
    k = 0
    while k < N_RULES and not member_bound(members, m, k, c) <= 1.0 - 1.0 / c:
        k += 1
    members.n_halvings[m] = k


@inner_kernel
def predict_row(
    Psi: Singles, t: int, average: Singles, n_halvings: Indices, scores: Singles, order: Indices, h: Vector
) -> None:
    """Set h_tm to h(·|x) of each member m for row t; overwrites `scores` and `order`."""
    c = scores.size
    for m in range(n_halvings.size):
        k = n_halvings[m]
        factor = np.float32(0.0 if k == N_RULES else 0.5**k)
        for y in range(c):
            scores[y] = factor * dot(Psi, t, average[m], y)
        largest = np.float32(-np.inf)
        for y in range(c):
            largest = max(largest, scores[y])
        for y in range(c):
            scores[y] -= largest  # the projection is the same, and large scores would lose their differences
        phi, _ = single_support(scores, order)
        set_rule(scores, float(phi), h[t], m)


@inner_kernel
def cut_memory(members: Members, m: int) -> None:
    """Copy the memory and the solution of its partner to member m."""
    k = members.partner[m]
    for y in range(members.mu.shape[1]):
        for j in range(members.mu.shape[2]):
            members.mu[m, y, j] = members.mu[k, y, j]
            members.average[m, y, j] = members.average[k, y, j]
            members.sums[m, y, j] = members.sums[k, y, j]
            members.squares[m, y, j] = members.squares[k, y, j]
    for j in range(members.mass.shape[1]):
        members.mass[m, j] = members.mass[k, j]
    for j in range(members.loss.shape[1]):
        members.loss[m, j] = members.loss[k, j]
    for j in range(members.margin.shape[1]):
        members.margin[m, j] = members.margin[k, j]
    members.n_since_cut[m] = ROWS_KEPT_AT_CUT
    members.partner_lead[m] = 0.0
    members.n_cuts[m] += 1


@inner_kernel
def update_memory(store: RowStore, members: Members, m: int, h: Vector, t: int) -> bool:
    """Add the newest row to the sums of member m, or cut its memory; return whether it was cut.

    h_t has the probabilities of all members for that row, before it is learned.
    """
    i = (store.n_seen[0] - 1) % store.labels.size
    y = store.labels[i]
    gain = members.gain[m]
    if members.partner[m] >= 0:
        k = members.partner[m]
        members.partner_lead[m] = max(members.partner_lead[m] + h[t, k, y] - h[t, m, y], 0.0)
        if members.partner_lead[m] > CUT_LEAD_MISTAKES:
            cut_memory(members, m)
            return True
        members.n_since_cut[m] += 1
        gain = 0.0 if members.n_since_cut[m] <= members.reach[m] else 1.0 / members.reach[m]
    if gain > 0.0:
        decay(members.sums, m, np.float32(1.0 - gain))
        decay(members.squares, m, np.float32(1.0 - gain))
    add_moments(members.sums, members.squares, m, y, store.rows, i)
    members.mass[m, 0] = (1.0 - gain) * members.mass[m, 0] + 1.0
    members.mass[m, 1] = (1.0 - gain) ** 2 * members.mass[m, 1] + 1.0
    return False


@inner_kernel
def store_row(
    Psi: Singles, t: int, y: int, elapsed: float, store: RowStore, bank: FilterBank, work: MemberWorkspace
) -> None:
    """Put row t of class y into the store; with filters, its deviation from the forecast of its class mean.

    The filters are then updated, and the centres forecast for a row that comes after the same time.
    """
    i = store.n_seen[0] % store.labels.size
    store.labels[i] = y
    if bank.gains.shape[1] > 0:
        is_first = bank.n_rows[y] == 0.0
        forecast(bank, y, elapsed, work.centres)
        for j in range(Psi.shape[1]):
            store.rows[i, j] = np.float32(0.0) if is_first else Psi[t, j] - work.centres[y, j]
        update_filters(bank, Psi, t, y, elapsed, work.centres)
        for k in range(bank.n_rows.size):
            forecast(bank, k, elapsed, work.centres)
    else:
        for j in range(Psi.shape[1]):
            store.rows[i, j] = Psi[t, j]
    store.n_seen[0] += 1
    store.mean_squared_norm[0] += (dot(Psi, t, Psi, t) - store.mean_squared_norm[0]) / store.n_seen[0]


@inner_kernel
def set_member_widths(members: Members, m: int, lam: Singles) -> None:
    """Set λ of member m."""
    if members.width[m] == 0.0:
        lam[:] = np.float32(0.0)
        return
    mass, n_effective = members.mass[m, 0], members.mass[m, 0] ** 2 / members.mass[m, 1]
    factor = members.width[m] * members.width[m] / n_effective
    set_widths(lam, members.sums, members.squares, m, np.float32(mass), np.float32(factor))


@inner_kernel
def learn_newest(store: RowStore, members: Members, bank: FilterBank, work: MemberWorkspace, h: Vector, t: int) -> None:
    """Update all members by the newest row of the store; h_t has their probabilities for it."""
    compensates = bank.gains.shape[1] > 0
    for m in range(members.gain.size):
        was_cut = update_memory(store, members, m, h, t)
        if store.n_seen[0] % members.interval[m] != 0 and not was_cut:
            continue
        set_member_widths(members, m, work.lam)
        n = min(store.n_seen[0], members.reach[m])
        if members.partner[m] >= 0:
            n = min(n, members.n_since_cut[m])
        if not was_cut:
            descend(store, members, m, n, work, compensates)
        members.margin[m, 0] = update_average(
            members.average, members.mu, m, np.float32(members.average_gain[m]), work.lam, work.gradient
        )
        choose_rule(members, m, work.scores.size)


@inner_kernel
def predict_and_learn(
    Psi: Singles,
    labels: Labels,
    elapsed: Vector,
    h: Vector,
    store: RowStore,
    members: Members,
    bank: FilterBank,
    work: MemberWorkspace,
) -> None:
    """Set h, (n, m, c), to the probabilities of the m members for each of n rows, and learn each row after that."""
    for t in range(len(Psi)):
        predict_row(Psi, t, members.average, members.n_halvings, work.scores, work.order, h)
        store_row(Psi, t, labels[t], elapsed[t], store, bank, work)
        learn_newest(store, members, bank, work, h, t)


@kernel
def predict_rows(Psi: Singles, average: Singles, n_halvings: Indices) -> Vector:
    """Return the probabilities of the m members for each of n rows, (n, m, c)."""
    m, c, _ = average.shape
    h, scores, order = np.empty((len(Psi), m, c)), np.empty(c, np.float32), np.empty(c, np.int64)
    for t in range(len(Psi)):
        predict_row(Psi, t, average, n_halvings, scores, order, h)
    return h
