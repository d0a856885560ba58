"""Members that learn from a store of instances: the tracked-marginal problem, solved a little at every label.

For weights w over the stored rows the problem is

    min_μ  Σ_i w_i ℓ_i(μ) + λᵀ|μ|,    ℓ_i(μ) = 1 - s_{y_i}(x_i) + φ_{x_i}(μ),

which is `1 - τᵀμ + λᵀ|μ| + Σ_i w_i φ_{x_i}` with τ from the same weights. A step draws rows with these weights, goes
against the gradient of their mean loss, and shrinks μ as λ asks.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftline._jit import inlined_kernel, inner_kernel, kernel
from driftline.kernels.ladder import Ladder, absorb, forecast
from driftline.kernels.simplex import set_rule, single_support
from driftline.kernels.singles import (
    add_moments,
    add_multiple,
    decay,
    follow_average,
    proximal_step,
    set_widths,
)
from driftline.kernels.vectors import dot
from driftline.types import Indices, Labels, Matrix, Singles, Vector

N_STEPS = 3
"""Steps of the solver for each label."""
BATCH = 64
"""Rows drawn for each step; the newest is always among them."""
STEP_SIZE = np.float32(6.0)
"""Size of a step, for features of mean squared norm 1."""
AVERAGING = 0.5
"""Gain with which the rule of a member follows the iterates."""
PATIENCE = 3.0
"""By how many expected mistakes a partner of short memory must be ahead before a member's memory is cut."""
WATCHFUL = 0.8
"""How close to that of guessing a bound may come before tempered rules are measured."""
N_RULES = 4
"""How often a rule is tempered, by half each time, before it guesses."""
KEPT_AT_A_CUT = 10
"""Rows that it keeps."""


class Store(NamedTuple):
    """The last rows, as each member sees them."""

    rows: Singles
    """(n, d): a ring; in a drift-compensated store, the deviations from the class means of their time."""
    labels: Labels
    """(n,)."""
    seen: Indices
    """(1,): number of rows so far."""
    norm: Vector
    """(1,): mean squared norm of their features."""
    random: NDArray[np.uint64]
    """(1,): state of the generator."""


class Members(NamedTuple):
    """Solutions with different memories over one store: m members, c classes, d features."""

    gain: Vector
    """(m,): weights of the rows are (1 - gain)^age; 0 for the members whose memory is cut."""
    width: Vector
    """(m,): λ in standard errors."""
    reach: Indices
    """(m,): how many rows back a memory goes at most."""
    ages: Matrix
    """(m, k): quantiles of the ages that a member draws, at its gain; -1 if all are as likely."""
    partner: Indices
    """(m,): the member that decides when the memory is cut; -1 if none does."""
    mu: Singles
    """(m, c, d): iterates."""
    rule: Singles
    """(m, c, d): their average, from which scores come."""
    first: Singles
    """(m, c, d): sums of Φ over the window."""
    second: Singles
    """(m, c, d): and of its squares."""
    mass: Matrix
    """(m, 2): sum of the weights of the window, and of their squares."""
    span: Indices
    """(m,): rows since a memory was cut."""
    lead: Vector
    """(m,): by how many expected mistakes the partner is ahead."""
    loss: Matrix
    """(m, 4): mean loss over the store of the rules with weights μ, μ/2, μ/4, μ/8."""
    doubt: Matrix
    """(m, 2): λᵀ|μ|; standard error of the mean of φ_x, times `width`."""
    tempered: Indices
    """(m,): which of the rules is used, the first whose bound is no worse than guessing; 4 if none is."""
    cuts: Indices
    """(m,): how often a memory was cut."""


class Room(NamedTuple):
    """Scratch space."""

    gradient: Singles
    lam: Singles
    scores: Singles
    order: Indices
    losses: Vector
    """(4,): sums of the losses of the four rules."""
    pull: Singles
    """(c, c): coefficients of the centres in the gradient."""
    lift: Singles
    """(c, c): scores of the centres."""
    centres: Singles
    """(c, d): forecast class means."""


@inlined_kernel
def uniform(random: NDArray[np.uint64]) -> float:
    """Return a number in [0, 1), by a xorshift generator."""
    x = random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    random[0] = x
    return float(x >> np.uint64(11)) * 2.0**-53


@inner_kernel
def bound_of(members: Members, m: int, k: int, c: int) -> float:
    """Return the worst-case error of the rule with weights μ/2^k, given λ; with none of the four, of guessing."""
    if k == N_RULES:
        return 1.0 - 1.0 / c
    doubt: float = members.doubt[m, 0] + members.doubt[m, 1]
    return float(members.loss[m, k]) + doubt * 0.5**k


@inner_kernel
def temper(members: Members, m: int, c: int) -> None:
    """Choose the rule of a member: the least tempered whose bound is no worse than that of guessing."""
    k = 0
    while k < N_RULES and not bound_of(members, m, k, c) <= 1.0 - 1.0 / c:
        k += 1
    members.tempered[m] = k


@inner_kernel
def say(Psi: Singles, t: int, members: Members, room: Room, said: Vector, place: int) -> None:
    """Set said[place] to h(·|x) of each member for row t."""
    c = room.scores.size
    for m in range(members.gain.size):
        k = members.tempered[m]
        factor = np.float32(0.0 if k == N_RULES else 0.5**k)
        for y in range(c):
            room.scores[y] = factor * dot(Psi, t, members.rule[m], y)
        largest = np.float32(-np.inf)
        for y in range(c):
            largest = max(largest, room.scores[y])
        for y in range(c):
            room.scores[y] -= largest  # the projection is the same, and large scores have no room for differences
        phi, _ = single_support(room.scores, room.order)
        set_rule(room.scores, float(phi), said[place], m)


@inner_kernel
def tempered_loss(scores: Singles, order: Indices, label: int, factor: float) -> float:
    """Return 1 - s_y + φ_x for the scores times a factor; `order` sorts them."""
    total = factor * float(scores[order[0]]) - 1.0
    best = total
    for k in range(1, scores.size):
        total += factor * float(scores[order[k]])
        best = max(best, total / (k + 1))
    return 1.0 - factor * float(scores[label]) + best


@inlined_kernel
def draw_age(random: NDArray[np.uint64], ages: Matrix, m: int, b: int, n: int) -> int:
    """Return the age of the b-th of the rows that a member draws from n.

    Draws are stratified: the b-th comes from the b-th part of the distribution. Ages beyond n are folded back, which
    leaves weights (1 - gain)^age on the others.
    """
    part = ages.shape[1] // BATCH
    u = uniform(random) * part
    k = int(u)
    if ages[m, 0] < 0.0:  # uniform
        return min(int((b + (u / part)) * n / BATCH), n - 1)
    age = int(ages[m, b * part + k])
    return age if age < n else age % n


@inner_kernel
def descend(store: Store, members: Members, m: int, n: int, room: Room, is_compensated: bool) -> None:
    """Do the steps of one member at one label, and measure its risk on the way."""
    c = room.scores.size
    n_rows = store.labels.size
    newest = (store.seen[0] - 1) % n_rows
    watches = bound_of(members, m, 0, c) > WATCHFUL * (1.0 - 1.0 / c)
    share = np.float32(1.0 / BATCH)
    eta = STEP_SIZE / np.float32(max(store.norm[0], 1e-6))
    room.losses[:] = 0.0
    phis, squares = 0.0, 0.0
    for step in range(N_STEPS):
        room.gradient[:] = np.float32(0.0)
        if is_compensated:
            lift(members.mu, m, room)
        for b in range(BATCH):
            i = newest - (0 if b == 0 else draw_age(store.random, members.ages, m, b, n))
            i += n_rows if i < 0 else 0
            label = store.labels[i]
            for y in range(c):
                room.scores[y] = dot(store.rows, i, members.mu[m], y)
            if is_compensated:
                for y in range(c):
                    room.scores[y] += room.lift[y, label]
            phi, size = single_support(room.scores, room.order)
            room.losses[0] += max(1.0 - float(room.scores[label]) + float(phi), 0.0)  # below 0 by rounding alone
            phis += float(phi)
            squares += float(phi) * float(phi)
            if watches and step == 0:  # a third of the rows is enough for rules that are seldom used
                for k in range(1, N_RULES):
                    room.losses[k] += N_STEPS * tempered_loss(room.scores, room.order, label, 0.5**k)
            if size == 1 and room.order[0] == label:
                continue
            pull(store.rows, i, label, size, share, room, is_compensated)
        if is_compensated:
            for y in range(c):
                for k in range(c):
                    add_multiple(room.gradient, y, room.pull[y, k], room.centres, k)
        proximal_step(members.mu, m, room.gradient, room.lam, eta)
    n_drawn = N_STEPS * BATCH
    for k in range(N_RULES if watches else 1):
        members.loss[m, k] += AVERAGING * (room.losses[k] / n_drawn - members.loss[m, k])
    spread = max(squares / n_drawn - (phis / n_drawn) ** 2, 0.0)
    effective = members.mass[m, 0] ** 2 / members.mass[m, 1]
    members.doubt[m, 1] = members.width[m] * math.sqrt(spread / effective)


@inner_kernel
def lift(mu: Singles, m: int, room: Room) -> None:
    """Set the scores of the centres, and no pull on them yet."""
    c = room.scores.size
    for y in range(c):
        for k in range(c):
            room.lift[y, k] = dot(room.centres, k, mu[m], y)
            room.pull[y, k] = np.float32(0.0)


@inlined_kernel
def pull(rows: Singles, i: int, label: int, size: int, share: np.float32, room: Room, is_compensated: bool) -> None:
    """Add to the gradient that of ℓ at row i: 1/size for the labels that attain φ_x, -1 for the true one."""
    is_among = False
    for k in range(size):
        y = room.order[k]
        factor = share / np.float32(size)
        if y == label:
            factor -= share
            is_among = True
        add_multiple(room.gradient, y, factor, rows, i)
        if is_compensated:
            room.pull[y, label] += factor
    if not is_among:
        add_multiple(room.gradient, label, -share, rows, i)
        if is_compensated:
            room.pull[label, label] -= share


@inner_kernel
def cut(members: Members, m: int) -> None:
    """Give a member the memory of its partner, from which it grows again."""
    k = members.partner[m]
    for y in range(members.mu.shape[1]):
        for j in range(members.mu.shape[2]):
            members.mu[m, y, j] = members.mu[k, y, j]
            members.rule[m, y, j] = members.rule[k, y, j]
            members.first[m, y, j] = members.first[k, y, j]
            members.second[m, y, j] = members.second[k, y, j]
    for j in range(members.mass.shape[1]):
        members.mass[m, j] = members.mass[k, j]
    for j in range(members.loss.shape[1]):
        members.loss[m, j] = members.loss[k, j]
    for j in range(members.doubt.shape[1]):
        members.doubt[m, j] = members.doubt[k, j]
    members.span[m] = KEPT_AT_A_CUT
    members.lead[m] = 0.0
    members.cuts[m] += 1


@inner_kernel
def remember(store: Store, members: Members, m: int, said: Vector, place: int) -> bool:
    """Bring the sums of a member up to the newest row; return whether its memory was cut."""
    i = (store.seen[0] - 1) % store.labels.size
    y = store.labels[i]
    gain = members.gain[m]
    if members.partner[m] >= 0:
        k = members.partner[m]
        members.lead[m] = max(members.lead[m] + said[place, k, y] - said[place, m, y], 0.0)
        if members.lead[m] > PATIENCE:
            cut(members, m)
            return True
        members.span[m] += 1
        gain = 0.0 if members.span[m] <= members.reach[m] else 1.0 / members.reach[m]
    if gain > 0.0:
        decay(members.first, m, np.float32(1.0 - gain))
        decay(members.second, m, np.float32(1.0 - gain))
    add_moments(members.first, members.second, m, y, store.rows, i)
    members.mass[m, 0] = (1.0 - gain) * members.mass[m, 0] + 1.0
    members.mass[m, 1] = (1.0 - gain) ** 2 * members.mass[m, 1] + 1.0
    return False


@inner_kernel
def keep(Psi: Singles, t: int, y: int, elapsed: float, store: Store, ladder: Ladder, room: Room) -> None:
    """Put row t into the store; in a drift-compensated one, as its deviation from what was forecast for its class."""
    is_compensated = ladder.gains.shape[1] > 0
    i = store.seen[0] % store.labels.size
    store.labels[i] = y
    if is_compensated:
        is_first = ladder.n_rows[y] == 0.0
        forecast(ladder, y, elapsed, room.centres)
        for j in range(Psi.shape[1]):
            store.rows[i, j] = np.float32(0.0) if is_first else Psi[t, j] - room.centres[y, j]
        absorb(ladder, Psi, t, y, elapsed, room.centres)
        for k in range(ladder.n_rows.size):
            forecast(ladder, k, elapsed, room.centres)
    else:
        for j in range(Psi.shape[1]):
            store.rows[i, j] = Psi[t, j]
    store.seen[0] += 1
    store.norm[0] += (dot(Psi, t, Psi, t) - store.norm[0]) / store.seen[0]


@inner_kernel
def learn(store: Store, members: Members, ladder: Ladder, room: Room, said: Vector, place: int) -> None:
    """Let every member learn from the newest row."""
    is_compensated = ladder.gains.shape[1] > 0
    for m in range(members.gain.size):
        was_cut = remember(store, members, m, said, place)
        mass, effective = members.mass[m, 0], members.mass[m, 0] ** 2 / members.mass[m, 1]
        factor = members.width[m] * members.width[m] / effective
        set_widths(room.lam, members.first, members.second, m, np.float32(mass), np.float32(factor))
        n = min(store.seen[0], members.reach[m])
        if members.partner[m] >= 0:
            n = min(n, members.span[m])
        if not was_cut:
            descend(store, members, m, n, room, is_compensated)
        members.doubt[m, 0] = follow_average(members.rule, members.mu, m, np.float32(AVERAGING), room.lam)
        temper(members, m, room.scores.size)


@kernel
def follow(
    Psi: Singles,
    labels: Labels,
    elapsed: Vector,
    said: Vector,
    store: Store,
    members: Members,
    ladder: Ladder,
    room: Room,
) -> None:
    """Say what each member says of each row, in `said` of shape (n, m, c); then learn the row. All in place."""
    for t in range(len(Psi)):
        say(Psi, t, members, room, said, t)
        keep(Psi, t, labels[t], elapsed[t], store, ladder, room)
        learn(store, members, ladder, room, said, t)


@kernel
def say_all(Psi: Singles, said: Vector, members: Members, room: Room) -> None:
    """Say what each member says of each row; learns nothing."""
    for t in range(len(Psi)):
        say(Psi, t, members, room, said, t)
