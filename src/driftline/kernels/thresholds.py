"""Thresholds that keep a share of wrong answers, or of missed labels, at a level: on any stream, at any time.

Each level has a *debt*: the mistakes so far in excess of those that the level allows. The threshold is the one that
would have met the level on the rows so far, old rows counting less; the level that it aims at is lowered while there
is debt, and raised while there is credit. The debt is limited, which proves what is promised (see `RowGuarantees`).
"""

import math

import numpy as np

from driftline._jit import inner_kernel
from driftline.types import Matrix, Vector

GROWTH = 1.0 / (1.0 - 1.0 / 50_000)
"""Each row counts more than the one before by this factor, so that rows 50,000 back count a third."""
MAX_WEIGHT = 1e9
"""Weight of a row above which all weights are scaled down."""
LIMIT = 20.0
"""Debt at which nothing is answered, or sets hold all labels; and the largest credit."""
FIRST_DEBT = -5.0
"""Debt at the start of a level for answers: some mistakes are allowed for before the threshold is found."""
SOFT_LIMIT = 8.0
"""Debt or credit from which on it counts more."""
SLOW, FAST = 128.0, 8.0
"""Debt that changes the aim by a factor of e; and the same for the debt above the soft limit."""
TRIED_SHARE = 0.02
"""While debt keeps all rows from being answered, at least this share, the most confident ones, are put on trial."""

FIRST_ROWS = 100.0
"""Nothing is answered before so many labels have arrived."""

N_CONFIDENCE_BINS, LEAST_CONFIDENCE_SCORE, CONFIDENCE_STEP = 96, -1.0, 0.1
"""Bins of the log-odds of confidences: their number, the lowest value, and their width."""
N_SCORE_BINS, LEAST_SCORE, SCORE_STEP = 160, -10.0, 0.125
"""Bins of the log-odds of class probabilities."""
NO_ROW = float(N_CONFIDENCE_BINS)
"""Threshold at which nothing is answered."""
TRIAL = 1000.0
"""Added to a threshold from which on rows are put on trial instead of being answered."""
ALL_LABELS, NO_LABEL = 0.0, 2.0
"""Thresholds at which sets hold all labels, or none."""


@inner_kernel
def bin_of_probability(p: float, lowest: float, step: float, n_bins: int) -> int:
    """Return the bin of a probability, by its log-odds."""
    bounded = min(max(p, 1e-12), 1.0 - 1e-12)
    place = int((math.log(bounded / (1.0 - bounded)) - lowest) / step)
    return min(max(place, 0), n_bins - 1)


@inner_kernel
def confidence_place(confidence: float) -> int:
    """Return the bin of a confidence."""
    return bin_of_probability(confidence, LEAST_CONFIDENCE_SCORE, CONFIDENCE_STEP, N_CONFIDENCE_BINS)


@inner_kernel
def score_place(p: float) -> int:
    """Return the bin of a class probability."""
    return bin_of_probability(p, LEAST_SCORE, SCORE_STEP, N_SCORE_BINS)


@inner_kernel
def aim_of(level: float, debt: float) -> float:
    """Return the level to aim at: less than `level` while there is debt, more while there is credit."""
    beyond = math.copysign(max(abs(debt) - SOFT_LIMIT, 0.0), debt)
    return level * math.exp(-debt / SLOW - beyond / FAST)


@inner_kernel
def answer_threshold(n_seen: float, n_rows: Vector, n_wrong: Vector, level: float, debt: float) -> float:
    """Return the bin of confidence from which on rows are answered; plus `TRIAL` if they are put on trial instead.

    It is the lowest bin at which the rows so far, from there up, were wrong at most at the rate aimed at. Rows are put
    on trial if there is too much debt to answer, or if no bin meets the aim because of debt. Without debt, nothing
    is answered then (`NO_ROW`): what is learned of handed-over rows brings the answers back.
    """
    if n_seen < FIRST_ROWS:
        return NO_ROW
    aim, total = aim_of(level, debt), 0.0
    for place in range(N_CONFIDENCE_BINS):
        total += n_rows[place]
    rows, wrong, lowest, tried = 0.0, 0.0, N_CONFIDENCE_BINS, N_CONFIDENCE_BINS
    for step in range(N_CONFIDENCE_BINS):
        place = N_CONFIDENCE_BINS - 1 - step
        rows += n_rows[place]
        wrong += n_wrong[place]
        if tried == N_CONFIDENCE_BINS and rows >= TRIED_SHARE * total:
            tried = place
        if rows > 0.0 and wrong <= aim * rows:
            lowest = place
    if debt >= LIMIT or (debt > 0.0 and lowest == N_CONFIDENCE_BINS):
        return TRIAL + min(lowest, tried)
    return float(lowest)


@inner_kernel
def set_threshold(n_rows: Vector, level: float, debt: float) -> float:
    """Return the class probability from which on a label is in the set, for a share `level` of missed labels.

    It is the quantile, at the level aimed at, of the probabilities that true labels had so far. With too much debt
    sets hold all labels, with too much credit none.
    """
    if debt >= LIMIT:
        return ALL_LABELS
    if debt <= -LIMIT:
        return NO_LABEL
    total = 0.0
    for place in range(N_SCORE_BINS):
        total += n_rows[place]
    wanted, below = min(aim_of(level, debt), 1.0) * total, 0.0
    for place in range(N_SCORE_BINS):
        if below + n_rows[place] >= wanted and n_rows[place] > 0.0:
            score = LEAST_SCORE + SCORE_STEP * (place + (wanted - below) / n_rows[place])
            return 1.0 / (1.0 + math.exp(-score))
        below += n_rows[place]
    return ALL_LABELS


@inner_kernel
def grow_weight(weight: Vector, one: Vector, other: Matrix) -> None:
    """Let the next row count more than the last; scale all weights down before they become too large."""
    weight[0] *= GROWTH
    if weight[0] > MAX_WEIGHT:
        for index in np.ndindex(one.shape):
            one[index] /= weight[0]
        for index in np.ndindex(other.shape):
            other[index] /= weight[0]
        weight[0] = 1.0
