"""Tests, row by row, whether the error has risen above a level since an unknown row.

Row t is a mistake (m_t = 1) with the probability r_t given all that came before, and the hypothesis is that r_t is at
most a level l_t, known before the row. For λ > 0 the factor exp(λ m_t) / (1 + l_t (e^λ - 1)) then has a mean of at
most 1. So has the product of the factors since any start, and so has a mixture of these products over starts s with
weights w_s and over several λ with weights that sum to 1. Let A be the sum over the starts so far of w_s times the
product since s. It is updated by A ← (A + w_t) · factor. Together with the weights of the starts that are still to
come it is at most 1 in the mean at all times, so the probability that it ever reaches a number L is at most 1/L.

The largest term of the sum belongs to the start that explains the mistakes best: it is updated by the same formula
with the larger of A and w_t instead of their sum, and tells since when the error may have been higher.
"""

from typing import NamedTuple

import numpy as np

from driftline._jit import inner_kernel, kernel
from driftline.kernels.error_interval import upper_limit
from driftline.kernels.start_weights import remaining_weight, start_weight
from driftline.types import Indices, Labels, Matrix, Vector

RATES = 0.04 * 2.0 ** np.arange(7)
"""The λ: a test is most sensitive to a rise that multiplies the odds of a mistake by e^λ, that is by 1.04 to 12.9."""
RATE_WEIGHTS = np.array([1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 1.0]) / 14.0
RISES = np.expm1(RATES)
GAINS = np.exp(RATES)
N_RATES = 7
START_SCALE = 5000.0
"""Starts up to about this row have nearly equal weights."""
REFRESH_ROWS = 64
"""After so many rows, the upper limit of the error so far is computed afresh."""

TOLERATED, RISE = range(2)
"""The two tests: against a fixed level, and against the lowest mean error so far plus a margin."""
N_TESTS = 2
ROWS, ARMED_AT, WRONG, RAISED, RAISED_AT, SINCE, WRONG_SINCE = range(7)
"""Positions in `AlarmState.counts`."""
N_COUNTS = 7
NOT_RAISED = -1
SUM, LARGEST = range(2)
"""Rows of `AlarmState.evidence` of a test: A, and its largest term."""
START, WRONG_FROM_START = range(2)
"""Rows of `AlarmState.starts` of a test: the start of the largest term, and the number of mistakes since."""


class AlarmTarget(NamedTuple):
    """When an alarm is raised."""

    rise: float
    """How much higher than before the error may be; infinite if that is not tested."""
    limits: tuple[float, float]
    """L of each test."""
    log_limit: float
    """The logarithm of L of the upper limit of the error so far."""


class AlarmState(NamedTuple):
    """What the tests have counted; rows are numbered from 0."""

    counts: Indices
    """(7,): rows so far; first row since arming; mistakes since arming, or if an alarm is raised, those before the
    row since which the error may have been higher; the test that raised the alarm, or -1; the row at which it did;
    the row since which the error may have been higher; mistakes since then."""
    n_tested: Indices
    """(2,): number of rows that each test has used."""
    levels: Vector
    """(2,): the level of each test for the next row; a test whose level is 1 is not made."""
    evidence: Matrix
    """(2, 2, 7): for each test, A and its largest term, for each λ."""
    starts: Indices
    """(2, 2, 7): for each test, the start of the largest term and the mistakes since then, for each λ."""


@inner_kernel
def update_test(state: AlarmState, test: int, row: int, mistake: int) -> float:
    """Update a test by a row; return the mixture over starts and λ."""
    k = state.n_tested[test] + 1
    state.n_tested[test] = k
    weight, mixture = start_weight(k, START_SCALE), remaining_weight(k, START_SCALE)
    for j in range(N_RATES):
        if state.evidence[test, LARGEST, j] <= weight:
            state.evidence[test, LARGEST, j] = weight
            state.starts[test, START, j], state.starts[test, WRONG_FROM_START, j] = row, 0
        factor = (GAINS[j] if mistake else 1.0) / (1.0 + state.levels[test] * RISES[j])
        state.evidence[test, LARGEST, j] *= factor
        state.starts[test, WRONG_FROM_START, j] += mistake
        state.evidence[test, SUM, j] = (state.evidence[test, SUM, j] + weight) * factor
        mixture += RATE_WEIGHTS[j] * state.evidence[test, SUM, j]
    return mixture


@inner_kernel
def raise_alarm(state: AlarmState, test: int, row: int) -> None:
    """Record that a test has raised the alarm at a row which is already counted, and since when by its largest term."""
    counts, best = state.counts, 0
    for j in range(1, N_RATES):
        largest = state.evidence[test, LARGEST]
        if RATE_WEIGHTS[j] * largest[j] > RATE_WEIGHTS[best] * largest[best]:
            best = j
    # An altered file can have a start that is no row since the arming, or more mistakes than rows.
    since = min(max(state.starts[test, START, best], counts[ARMED_AT]), row)
    wrong_since = min(state.starts[test, WRONG_FROM_START, best], counts[WRONG], row + 1 - since)
    counts[RAISED], counts[RAISED_AT], counts[SINCE], counts[WRONG_SINCE] = test, row, since, wrong_since
    counts[WRONG] = min(counts[WRONG] - wrong_since, since - counts[ARMED_AT])


@inner_kernel
def add_row(state: AlarmState, target: AlarmTarget, mistake: int) -> None:
    """Count a row and test it; raise the alarm if a test says so."""
    counts, row = state.counts, state.counts[ROWS]
    counts[ROWS] += 1
    counts[WRONG] += mistake
    for test in range(N_TESTS):
        if state.levels[test] == 1.0 or counts[RAISED] != NOT_RAISED:
            continue
        if update_test(state, test, row, mistake) >= target.limits[test]:
            raise_alarm(state, test, row)
    n = counts[ROWS] - counts[ARMED_AT]
    if target.rise < 1.0 and n % REFRESH_ROWS == 0 and counts[RAISED] == NOT_RAISED:
        limit = upper_limit(float(n), float(counts[WRONG]), target.log_limit)
        state.levels[RISE] = min(limit + target.rise, state.levels[RISE])


@kernel
def add_rows(
    mistakes: Labels,
    counts: Indices,
    n_tested: Indices,
    levels: Vector,
    evidence: Matrix,
    starts: Indices,
    target: AlarmTarget,
) -> None:
    """Count rows and test them in order; once the alarm is raised, only count rows and mistakes."""
    state = AlarmState(counts, n_tested, levels, evidence, starts)
    for t in range(mistakes.size):
        if counts[RAISED] == NOT_RAISED:
            add_row(state, target, mistakes[t])
        else:
            counts[ROWS] += 1
            counts[WRONG_SINCE] += mistakes[t]
