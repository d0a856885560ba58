"""The mixture of the members' probabilities, with weights that follow how often the members were right."""

import math

import numpy as np

from driftline._jit import inlined_kernel, kernel
from driftline.types import Labels, Matrix, Vector

LEARNING_RATE = 0.5
"""η: the weight of a member is multiplied by exp(-η) for each expected mistake."""
FIXED_SHARE = 0.003
"""Fraction of the weight that is shared equally after each label, so that a member can come back."""


@inlined_kernel
def mix_row(h_members: Vector, t: int, weights: Vector, h: Matrix) -> None:
    """Set h_t = Σ_m w_m h_tm, at most 1: only rounding could make it more."""
    n_members, c = h_members.shape[1], h_members.shape[2]
    for y in range(c):
        total = 0.0
        for m in range(n_members):
            total += weights[m] * h_members[t, m, y]
        h[t, y] = min(total, 1.0)


@kernel
def mixture(h_members: Vector, weights: Vector) -> Matrix:
    """Return h_t = Σ_m w_m h_tm for each row t, from the members' probabilities, (rows, members, classes)."""
    n, _, c = h_members.shape
    h = np.empty((n, c))
    for t in range(n):
        mix_row(h_members, t, weights, h)
    return h


@inlined_kernel
def counted_right(h_members: Vector, t: int, m: int, label: int) -> float:
    """Return 1 if member m has its largest probability for row t at this label, else 0; 1/k if k labels share it."""
    n_equal = 0
    for y in range(h_members.shape[2]):
        if h_members[t, m, y] > h_members[t, m, label]:
            return 0.0
        n_equal += h_members[t, m, y] == h_members[t, m, label]
    return 1.0 / n_equal


@kernel
def mix_and_reweigh(h_members: Vector, labels: Labels, weights: Vector, h: Matrix, counted_share: float) -> None:
    """Set h_t to the mixture for each row t, then update the weights w in place by its label y.

    Exponential weights with a fixed share α: w_m ∝ w_m exp(-η ℓ_tm), then w_m ← (1 - α) w_m + α/M for M members. Over
    any part of the stream the mixture loses little more than the member that is best there. The loss ℓ_tm consists of
    the expected mistakes of the randomised rule, 1 - h_tm(y), and for the share β, `counted_share`, of the mistakes of
    the deterministic rule, 0 or 1. Expected mistakes alone would favour members that are sure over those that are right
    more often.
    """
    n, n_members, _ = h_members.shape
    for t in range(n):
        mix_row(h_members, t, weights, h)
        total = 0.0
        for m in range(n_members):
            right = (1.0 - counted_share) * h_members[t, m, labels[t]]
            if counted_share > 0.0:
                right += counted_share * counted_right(h_members, t, m, labels[t])
            weights[m] *= math.exp(LEARNING_RATE * right)
            total += weights[m]
        for m in range(n_members):
            # The quotient first: equal weights then stay equal to 1/M, to the last bit.
            weights[m] = (1.0 - FIXED_SHARE) * (weights[m] / total) + FIXED_SHARE / n_members


@inlined_kernel
def largest_entry(h: Matrix, t: int) -> int:
    """Return the position of the largest probability of row t, the first among equal ones."""
    position = 0
    for y in range(1, h.shape[1]):
        if h[t, y] > h[t, position]:
            position = y
    return position


@kernel
def largest_entries(h: Matrix) -> Labels:
    """Return the position of the largest probability of each row, the first among equal ones."""
    positions = np.empty(len(h), np.int64)
    for t in range(len(h)):
        positions[t] = largest_entry(h, t)
    return positions


@kernel
def label_entries(h: Matrix, labels: Labels) -> Vector:
    """Return the probability of the label of each row."""
    entries = np.empty(len(h))
    for t in range(len(h)):
        entries[t] = h[t, labels[t]]
    return entries
