"""The probability that a prediction is right, calibrated by the labels that arrive, and the error of rows like it."""

import math
from typing import NamedTuple

from driftline._jit import inner_kernel
from driftline.types import Matrix, Vector

N_FEATURES = 5
"""A constant; the log-odds of the prediction, alone and against the second class; two errors of recent rows."""
SMOOTHING = 0.01
"""Added to probabilities before their log-odds are taken: a classifier's 0 and 1 are not meant literally."""
ERROR_SMOOTHING = 0.02
"""The same for recent errors."""
SHORT, LONG = 0.03, 0.003
"""Gains of the two running errors."""
FORGETTING = 1e-4
"""Share by which the covariance of the weights returns to that of the start at each label."""
MAX_LOG_ODDS = 30.0

BIN_EDGES = (0.65, 0.8, 0.9, 0.97)
"""Confidences that separate the bins; rows of one bin count as alike."""
N_BINS = 5
STRETCH_ROWS = 500
"""So many rows of a bin are compared with the bounds that were given for them."""
MEMORY = 200.0
"""Effective number of rows from which the error of a bin is estimated."""
PRIOR_ROWS = 10.0
"""The row's own confidence counts as so many rows of its bin."""
MARGIN = 1.3
"""How many standard errors the bound of a row is above the error of its bin, before any adjustment."""
MIN_VARIANCE = 0.002
ALLOWED = 0.05
"""Share of stretches in which mistakes may exceed their bounds."""
MARGIN_STEP = 0.25
"""How much a stretch with too many mistakes adds to the logarithm of a factor of the margin."""
MIN_LOG_FACTOR, MAX_LOG_FACTOR = -0.5, 7.0
"""Limits of this logarithm. From 6 on every bound is 1."""

ROWS, ERROR, LOG_FACTOR, OPEN_ROWS, OPEN_WRONG, OPEN_BOUNDS = range(6)
"""Columns of `ConfidenceState.bins`: effective rows, their error, logarithm of the factor; and the open stretch."""
N_COLUMNS = 6
LOW, MIDDLE, BOUND = range(3)
"""Columns of the errors of like rows: the lower limit, the estimate and the bound."""


class ConfidenceState(NamedTuple):
    """What confidences and bounds of rows are computed from."""

    weights: Vector
    """(5,): weights of the features in the log-odds of being right."""
    covariance: Matrix
    """(5, 5): covariance of the weights."""
    recent_errors: Vector
    """(2,): running errors, over about 30 and 300 rows."""
    bins: Matrix
    """(5, 6): the bins."""


@inner_kernel
def log_odds(p: float, q: float, smoothing: float) -> float:
    """Return log(p/q), of smoothed numbers."""
    return math.log((p + smoothing) / (q + smoothing))


@inner_kernel
def describe(h: Vector, predicted: int, recent_errors: Vector, features: Vector) -> None:
    """Set the features of a row from its probabilities h, its predicted class and the recent errors."""
    largest, second = h[predicted], 0.0
    for y in range(h.size):
        if y != predicted:
            second = max(second, h[y])
    features[0] = 1.0
    features[1] = 0.5 * log_odds(largest, 1.0 - largest, SMOOTHING)
    features[2] = 0.5 * log_odds(largest, second, SMOOTHING)
    for i in range(2):
        error = recent_errors[i]
        features[3 + i] = -0.5 * (log_odds(error, 1.0 - error, ERROR_SMOOTHING) + 1.0)


@inner_kernel
def confidence_of(features: Vector, weights: Vector) -> float:
    """Return the probability that the prediction is right: 1 / (1 + exp(-w·f))."""
    score = 0.0
    for i in range(N_FEATURES):
        score += weights[i] * features[i]
    return 1.0 / (1.0 + math.exp(-min(max(score, -MAX_LOG_ODDS), MAX_LOG_ODDS)))


@inner_kernel
def learn_confidence(features: Vector, is_right: float, state: ConfidenceState) -> None:
    """Update the weights by whether the prediction was right: one step of an extended Kalman filter.

    With p the confidence of the current weights w, v = p(1 - p) and g = S f:
    w ← w + g (right - p) / (1 + v f·g),  S ← S - v g gᵀ / (1 + v f·g),  then S ← (1 - ρ) S + ρ I.
    """
    weights, S = state.weights, state.covariance
    p = confidence_of(features, weights)
    v, total = p * (1.0 - p), 0.0
    for i in range(N_FEATURES):
        for j in range(N_FEATURES):
            total += features[i] * S[i, j] * features[j]
    scale = 1.0 / (1.0 + v * total)
    # The gains are computed before S changes; three nested loops need no memory for them.
    for i in range(N_FEATURES):
        gain = 0.0
        for j in range(N_FEATURES):
            gain += S[i, j] * features[j]
        weights[i] += scale * gain * (is_right - p)
    shrink(features, v * scale, S)
    for i in range(2):
        state.recent_errors[i] += (SHORT, LONG)[i] * (1.0 - is_right - state.recent_errors[i])


@inner_kernel
def shrink(features: Vector, factor: float, S: Matrix) -> None:
    """Set S ← (1 - ρ)(S - factor S f fᵀ S) + ρ I."""
    g0, g1, g2, g3, g4 = (
        times(S, 0, features),
        times(S, 1, features),
        times(S, 2, features),
        times(S, 3, features),
        times(S, 4, features),
    )
    gains = (g0, g1, g2, g3, g4)
    for i in range(N_FEATURES):
        for j in range(N_FEATURES):
            S[i, j] = (1.0 - FORGETTING) * (S[i, j] - factor * gains[i] * gains[j])
        S[i, i] += FORGETTING


@inner_kernel
def times(S: Matrix, i: int, features: Vector) -> float:
    """Return row i of S times the features."""
    total = 0.0
    for j in range(N_FEATURES):
        total += S[i, j] * features[j]
    return total


@inner_kernel
def bin_of(confidence: float) -> int:
    """Return the bin of a confidence."""
    place = 0
    for edge in BIN_EDGES:
        if confidence >= edge:
            place += 1
    return place


@inner_kernel
def describe_like_rows(confidence: float, bins: Matrix, errors: Vector) -> None:
    """Set the lower limit, the estimate and the bound of the error among rows of like confidence."""
    row = bins[bin_of(confidence)]
    n = row[ROWS] + PRIOR_ROWS
    error = (row[ROWS] * row[ERROR] + PRIOR_ROWS * (1.0 - confidence)) / n
    variance = max(error * (1.0 - error), MIN_VARIANCE) * (1.0 / n + 1.0 / STRETCH_ROWS)
    margin = MARGIN * math.exp(row[LOG_FACTOR]) * math.sqrt(variance)
    errors[LOW], errors[MIDDLE], errors[BOUND] = max(error - margin, 0.0), error, min(error + margin, 1.0)


@inner_kernel
def learn_like_rows(confidence: float, bound: float, is_right: float, bins: Matrix) -> None:
    """Update the bin of a row that was given this confidence and this bound.

    After each stretch of 500 rows of a bin, the mistakes are compared with the sum of the bounds: if there are more,
    the margin is widened, else it is narrowed a little.
    """
    row = bins[bin_of(confidence)]
    row[ROWS] = row[ROWS] * (1.0 - 1.0 / MEMORY) + 1.0
    row[ERROR] += (1.0 - is_right - row[ERROR]) / row[ROWS]
    row[OPEN_ROWS] += 1.0
    row[OPEN_WRONG] += 1.0 - is_right
    row[OPEN_BOUNDS] += bound
    if row[OPEN_ROWS] >= STRETCH_ROWS:
        failed = 1.0 if row[OPEN_WRONG] > row[OPEN_BOUNDS] else 0.0
        moved = row[LOG_FACTOR] + MARGIN_STEP * (failed - ALLOWED)
        row[LOG_FACTOR] = min(max(moved, MIN_LOG_FACTOR), MAX_LOG_FACTOR)
        row[OPEN_ROWS] = row[OPEN_WRONG] = row[OPEN_BOUNDS] = 0.0
