"""The arrays of members that learn from a store of instances."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftline._jit import inner_kernel, pasted_kernel
from driftline.kernels.packing import matrix_at, stack_at, vector_at
from driftline.types import Indices, Labels, Matrix, Singles, Vector

N_RULES = 4
"""A member has the rules with weights μ, μ/2, μ/4 and μ/8; the last ones guess more."""


class RowStore(NamedTuple):
    """The last n rows, and the state of the generator that draws from them."""

    rows: Singles
    """(n, d): a ring buffer; in a drift-compensated store, deviations from the class means forecast for their time."""
    labels: Labels
    """(n,)."""
    n_seen: Indices
    """(1,): number of rows so far."""
    mean_squared_norm: Vector
    """(1,): of the features of all rows so far."""
    random_state: NDArray[np.uint64]
    """(1,): state of the generator."""

    def copy(self) -> "RowStore":
        """Return a copy; memory for rows that never came stays untouched."""
        n = min(int(self.n_seen[0]), len(self.rows))
        rows = np.zeros_like(self.rows)
        rows[:n] = self.rows[:n]
        return RowStore(
            rows=rows,
            labels=self.labels.copy(),
            n_seen=self.n_seen.copy(),
            mean_squared_norm=self.mean_squared_norm.copy(),
            random_state=self.random_state.copy(),
        )


class Members(NamedTuple):
    """Solutions with different memories over one store: m members, c classes, d features."""

    gain: Vector
    """(m,): weights of the rows are (1 - gain)^age; 0 for the members whose memory is cut."""
    average_gain: Vector
    """(m,): gain of the running average of the iterates."""
    width: Vector
    """(m,): λ in standard errors."""
    reach: Indices
    """(m,): how many rows back a memory goes at most."""
    age_quantiles: Matrix
    """(m, k): quantiles of the distribution of the ages that a member draws; -1 if all ages are equally likely."""
    partner: Indices
    """(m,): the member that decides when the memory is cut; -1 if none does."""
    interval: Indices
    """(m,): a member learns at labels whose number is a multiple of this; at others it only stores the row."""
    mu: Singles
    """(m, c, d): iterates."""
    average: Singles
    """(m, c, d): running average of the iterates, from which scores come."""
    sums: Singles
    """(m, c, d): weighted sums of Φ over the memory."""
    squares: Singles
    """(m, c, d): weighted sums of its squares."""
    mass: Matrix
    """(m, 2): sum of the weights of the memory, and of their squares."""
    n_since_cut: Indices
    """(m,): rows in a memory that can be cut."""
    partner_lead: Vector
    """(m,): how many expected mistakes fewer the partner has made, counted from 0."""
    loss: Matrix
    """(m, 4): mean loss over the store of the rules with weights μ, μ/2, μ/4, μ/8."""
    margin: Matrix
    """(m, 2): λᵀ|μ|; standard error of the mean of φ_x, times `width`. Their sum is added to the loss of a bound."""
    n_halvings: Indices
    """(m,): how often μ is halved in the rule that is used, the first whose bound is no worse than guessing; 4 if it
    guesses."""
    n_cuts: Indices
    """(m,): how often a memory was cut."""


class MemberWorkspace(NamedTuple):
    """Memory for intermediate results; only `centres` is kept from one label to the next."""

    gradient: Singles
    """(c, d)."""
    lam: Singles
    """λ, (c, d)."""
    scores: Singles
    """(c,)."""
    order: Indices
    """(c,): labels by falling score."""
    losses: Vector
    """(4,): sums of the losses of the four rules."""
    supports: Vector
    """(2,): sums of φ_x and of its square."""
    drawn: Indices
    """(64,): positions of the rows drawn for a step."""
    leads: Singles
    """(64,): of two classes, by how much the score of the label leads the other, for the drawn rows."""
    difference: Singles
    """(1, d): of two classes, the weights of the first minus those of the second."""
    centre_factors: Singles
    """(c, c): factors of the centres in the gradient: entry (y, k) is that of centre k in row y."""
    centre_scores: Singles
    """(c, c): scores of the centres: entry (y, k) is score y of centre k."""
    centres: Singles
    """(c, d): forecast class means."""


@pasted_kernel
def members_at(buffer: NDArray[np.uint8], places: Indices, k: int) -> Members:
    """Return the members whose arrays are the ones from number k on in a buffer."""
    return Members(
        gain=vector_at(buffer, places, k, np.float64),
        average_gain=vector_at(buffer, places, k + 1, np.float64),
        width=vector_at(buffer, places, k + 2, np.float64),
        reach=vector_at(buffer, places, k + 3, np.int64),
        age_quantiles=matrix_at(buffer, places, k + 4, np.float64),
        partner=vector_at(buffer, places, k + 5, np.int64),
        interval=vector_at(buffer, places, k + 6, np.int64),
        mu=stack_at(buffer, places, k + 7, np.float32),
        average=stack_at(buffer, places, k + 8, np.float32),
        sums=stack_at(buffer, places, k + 9, np.float32),
        squares=stack_at(buffer, places, k + 10, np.float32),
        mass=matrix_at(buffer, places, k + 11, np.float64),
        n_since_cut=vector_at(buffer, places, k + 12, np.int64),
        partner_lead=vector_at(buffer, places, k + 13, np.float64),
        loss=matrix_at(buffer, places, k + 14, np.float64),
        margin=matrix_at(buffer, places, k + 15, np.float64),
        n_halvings=vector_at(buffer, places, k + 16, np.int64),
        n_cuts=vector_at(buffer, places, k + 17, np.int64),
    )


@pasted_kernel
def workspace_at(buffer: NDArray[np.uint8], places: Indices, k: int) -> MemberWorkspace:
    """Return the workspace whose arrays are the ones from number k on in a buffer."""
    return MemberWorkspace(
        gradient=matrix_at(buffer, places, k, np.float32),
        lam=matrix_at(buffer, places, k + 1, np.float32),
        scores=vector_at(buffer, places, k + 2, np.float32),
        order=vector_at(buffer, places, k + 3, np.int64),
        losses=vector_at(buffer, places, k + 4, np.float64),
        supports=vector_at(buffer, places, k + 5, np.float64),
        drawn=vector_at(buffer, places, k + 6, np.int64),
        leads=vector_at(buffer, places, k + 7, np.float32),
        difference=matrix_at(buffer, places, k + 8, np.float32),
        centre_factors=matrix_at(buffer, places, k + 9, np.float32),
        centre_scores=matrix_at(buffer, places, k + 10, np.float32),
        centres=matrix_at(buffer, places, k + 11, np.float32),
    )


@inner_kernel
def member_bound(members: Members, m: int, k: int, c: int) -> float:
    """Return the worst-case error of member m, given λ, with the weights μ/2^k; for k = 4 that of guessing, 1 - 1/c."""
    if k == N_RULES:
        return 1.0 - 1.0 / c
    margin: float = members.margin[m, 0] + members.margin[m, 1]
    return float(members.loss[m, k]) + margin * 0.5**k
