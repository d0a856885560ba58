"""The gradient steps of a member on rows drawn from its store.

For weights w over the stored rows the problem of a member is

    min_μ  Σ_i w_i ℓ_i(μ) + λᵀ|μ|,    ℓ_i(μ) = 1 - s_{y_i}(x_i) + φ_{x_i}(μ),

which is `1 - τᵀμ + λᵀ|μ| + Σ_i w_i φ_{x_i}` with τ from the same weights. A step draws rows with these weights, goes
against the gradient of their mean loss, and shrinks μ as λ asks.
"""

import math

import numpy as np
from numpy.typing import NDArray

from driftline._jit import inlined_kernel, inner_kernel
from driftline.kernels.member_state import N_RULES, Members, MemberWorkspace, RowStore, member_bound
from driftline.kernels.simplex import single_support
from driftline.kernels.singles import add_multiple, proximal_step
from driftline.kernels.vectors import dot
from driftline.types import Indices, Matrix, Singles

STEPS_PER_LABEL = 3
"""Steps of the solver for each label."""
ROWS_PER_STEP = 64
"""Rows drawn for each step; the newest is always among them."""
STEP_SIZE = np.float32(6.0)
"""Size of a step, for features of mean squared norm 1."""
LOSS_GAIN = 0.5
"""Gain of the running mean of the losses."""
TEMPER_CHECK_RATIO = 0.8
"""The losses of the rules with halved weights are measured if the bound is more than this share of that of guessing."""


@inlined_kernel
def next_state(x: np.uint64) -> np.uint64:
    """Return the state of a xorshift generator after x."""
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    return np.uint64(x ^ (x << np.uint64(17)))


@inlined_kernel
def uniform_of(x: np.uint64) -> float:
    """Return the number in [0, 1) of a state of the generator."""
    return float(x >> np.uint64(11)) * 2.0**-53


@inlined_kernel
def next_uniform(random_state: NDArray[np.uint64]) -> float:
    """Return the next number in [0, 1) of a xorshift generator, and advance its state."""
    random_state[0] = next_state(random_state[0])
    return uniform_of(random_state[0])


@inlined_kernel
def age_of(uniform: float, age_quantiles: Matrix, m: int, b: int, n: int) -> int:
    """Return the age of the b-th row that member m draws from the last n, by a number that is uniform in [0, 1).

    Draws are stratified: the b-th comes from the b-th part of the distribution. Ages beyond n are folded back, which
    leaves weights (1 - gain)^age on the others.
    """
    part = age_quantiles.shape[1] // ROWS_PER_STEP
    u = uniform * part
    k = int(u)
    if age_quantiles[m, 0] < 0.0:  # uniform
        return min(int((b + (u / part)) * n / ROWS_PER_STEP), n - 1)
    age = int(age_quantiles[m, b * part + k])
    return age if age < n else age % n


@inner_kernel
def draw_rows(store: RowStore, members: Members, m: int, n: int, drawn: Indices) -> None:
    """Set `drawn` to positions in the store of rows that member m draws from the last n; the first is the newest."""
    n_rows, x = store.labels.size, store.random_state[0]
    newest = (store.n_seen[0] - 1) % n_rows
    drawn[0] = newest
    for b in range(1, ROWS_PER_STEP):
        x = next_state(x)
        i = newest - age_of(uniform_of(x), members.age_quantiles, m, b, n)
        drawn[b] = i + n_rows if i < 0 else i
    store.random_state[0] = x


@inner_kernel
def scaled_loss(scores: Singles, order: Indices, label: int, factor: float) -> float:
    """Return 1 - s_y + φ_x for the scores times a factor; `order` has the labels by falling score."""
    total = factor * float(scores[order[0]]) - 1.0
    best = total
    for k in range(1, scores.size):
        total += factor * float(scores[order[k]])
        best = max(best, total / (k + 1))
    return 1.0 - factor * float(scores[label]) + best


@inner_kernel
def score_centres(mu: Singles, work: MemberWorkspace) -> None:
    """Set the scores of the centres with the weights μ, and their factors in the gradient to 0."""
    c = work.scores.size
    for y in range(c):
        for k in range(c):
            work.centre_scores[y, k] = dot(work.centres, k, mu, y)
            work.centre_factors[y, k] = np.float32(0.0)


@inlined_kernel
def add_row_gradient(
    rows: Singles, i: int, label: int, size: int, share: np.float32, work: MemberWorkspace, compensates: bool
) -> None:
    """Add share · ∇ℓ_i to the gradient: row i times 1/size for the labels that attain φ_x, times -1 for the true one.

    The labels that attain φ_x are the first `size` of the order. Of a drift-compensated row, the factor of the centre
    is added to `centre_factors`.
    """
    is_among = False
    for k in range(size):
        y = work.order[k]
        factor = share / np.float32(size)
        if y == label:
            factor -= share
            is_among = True
        add_multiple(work.gradient, y, factor, rows, i)
        if compensates:
            work.centre_factors[y, label] += factor
    if not is_among:
        add_multiple(work.gradient, label, -share, rows, i)
        if compensates:
            work.centre_factors[label, label] -= share


@inner_kernel
def set_gradient(
    store: RowStore, members: Members, m: int, n: int, work: MemberWorkspace, compensates: bool, n_measured: int
) -> None:
    """Set the gradient of the mean loss of rows that member m draws from the last n.

    The losses of the first `n_measured` rules are added to `losses`, and φ_x and its square to `supports`.
    """
    c, mu, share = work.scores.size, members.mu[m], np.float32(1.0 / ROWS_PER_STEP)
    work.gradient[:] = np.float32(0.0)
    if compensates:
        score_centres(mu, work)
    draw_rows(store, members, m, n, work.drawn)
    for b in range(ROWS_PER_STEP):
        i = work.drawn[b]
        label = store.labels[i]
        for y in range(c):
            work.scores[y] = dot(store.rows, i, mu, y)
        if compensates:
            for y in range(c):
                work.scores[y] += work.centre_scores[y, label]
        phi, size = single_support(work.scores, work.order)
        work.losses[0] += max(1.0 - float(work.scores[label]) + float(phi), 0.0)  # below 0 by rounding alone
        work.supports[0] += float(phi)
        work.supports[1] += float(phi) * float(phi)
        for k in range(1, n_measured):
            work.losses[k] += STEPS_PER_LABEL * scaled_loss(work.scores, work.order, label, 0.5**k)
        if size == 1 and work.order[0] == label:
            continue  # the gradient is 0
        add_row_gradient(store.rows, i, label, size, share, work, compensates)
    if compensates:
        for y in range(c):
            for k in range(c):
                add_multiple(work.gradient, y, work.centre_factors[y, k], work.centres, k)


@inlined_kernel
def loss_of_two(lead: float) -> float:
    """Return 1 - s_y + φ_x of two classes, if the score of the label leads the other by so much."""
    return max(0.5 * (1.0 - lead), -lead, 0.0)


@inner_kernel
def add_supports_of_two(store: RowStore, mu: Singles, work: MemberWorkspace, compensates: bool) -> None:
    """Add φ_x of the drawn rows and its square to `supports`."""
    for b in range(ROWS_PER_STEP):
        i = work.drawn[b]
        label = store.labels[i]
        first = dot(store.rows, i, mu, 0)
        if compensates:
            first += work.centre_scores[1, label]
        difference = work.leads[b] if label == 0 else -work.leads[b]
        phi = float(max(first, first - difference, first - np.float32(0.5) * (difference - np.float32(1.0)))) - 1.0
        work.supports[0] += phi
        work.supports[1] += phi * phi


@inner_kernel
def set_gradient_of_two(
    store: RowStore,
    members: Members,
    m: int,
    n: int,
    work: MemberWorkspace,
    compensates: bool,
    n_measured: int,
    measures_supports: bool,
) -> None:
    """Do what `set_gradient` does for two classes, with half the work.

    The loss depends only on the difference s_0 - s_1, so one product gives it, and the gradient of class 1 is that of
    class 0 times -1. Only φ_x needs the scores themselves, and is measured if `measures_supports`.
    """
    mu, share = members.mu[m], np.float32(1.0 / ROWS_PER_STEP)
    work.gradient[:] = np.float32(0.0)
    for j in range(work.difference.shape[1]):
        work.difference[0, j] = mu[0, j] - mu[1, j]
    for k in range(2 if compensates else 0):
        work.centre_scores[0, k] = dot(work.centres, k, work.difference, 0)
        work.centre_scores[1, k] = dot(work.centres, k, mu, 0)
        work.centre_factors[0, k] = np.float32(0.0)
    draw_rows(store, members, m, n, work.drawn)
    for b in range(ROWS_PER_STEP):
        i = work.drawn[b]
        difference = dot(store.rows, i, work.difference, 0)
        if compensates:
            difference += work.centre_scores[0, store.labels[i]]
        work.leads[b] = difference if store.labels[i] == 0 else -difference
    for k in range(n_measured):
        total = 0.0
        for b in range(ROWS_PER_STEP):
            total += loss_of_two(0.5**k * float(work.leads[b]))
        work.losses[k] += total if k == 0 else STEPS_PER_LABEL * total
    if measures_supports:
        add_supports_of_two(store, mu, work, compensates)
    for b in range(ROWS_PER_STEP):
        lead, i = work.leads[b], work.drawn[b]
        if lead >= np.float32(1.0):
            continue  # the gradient is 0
        label = store.labels[i]
        factor = share if lead <= np.float32(-1.0) else np.float32(0.5) * share
        factor = -factor if label == 0 else factor
        add_multiple(work.gradient, 0, factor, store.rows, i)
        if compensates:
            work.centre_factors[0, label] += factor
    for k in range(2 if compensates else 0):
        add_multiple(work.gradient, 0, work.centre_factors[0, k], work.centres, k)
    add_multiple(work.gradient, 1, np.float32(-1.0), work.gradient, 0)


@inner_kernel
def descend(store: RowStore, members: Members, m: int, n: int, work: MemberWorkspace, compensates: bool) -> None:
    """Do the steps of member m at one label, on rows drawn from the last n; update its μ, its loss and its margin."""
    c = work.scores.size
    measures_all = member_bound(members, m, 0, c) > TEMPER_CHECK_RATIO * (1.0 - 1.0 / c)
    eta = STEP_SIZE / np.float32(max(store.mean_squared_norm[0], 1e-6))
    work.losses[:] = 0.0
    work.supports[:] = 0.0
    for step in range(STEPS_PER_LABEL):
        # A third of the rows is enough for rules that are seldom used, and for the spread of φ_x.
        n_measured = N_RULES if measures_all and step == 0 else 1
        if c == 2:
            measures_supports = members.width[m] > 0.0 and step == 0
            set_gradient_of_two(store, members, m, n, work, compensates, n_measured, measures_supports)
        else:
            set_gradient(store, members, m, n, work, compensates, n_measured)
        proximal_step(members.mu, m, work.gradient, work.lam, eta)
    n_drawn = STEPS_PER_LABEL * ROWS_PER_STEP
    for k in range(N_RULES if measures_all else 1):
        members.loss[m, k] += LOSS_GAIN * (work.losses[k] / n_drawn - members.loss[m, k])
    n_supports = ROWS_PER_STEP if c == 2 else n_drawn
    variance = max(work.supports[1] / n_supports - (work.supports[0] / n_supports) ** 2, 0.0)
    n_effective = members.mass[m, 0] ** 2 / members.mass[m, 1]
    members.margin[m, 1] = members.width[m] * math.sqrt(variance / n_effective)
