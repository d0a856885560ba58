"""What is said of a row before its label is known, and what its label changes: confidence, answers, sets."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftline._jit import inner_kernel, kernel
from driftline.kernels.confidence import (
    BOUND,
    N_BINS,
    N_COLUMNS,
    N_FEATURES,
    ConfidenceState,
    confidence_of,
    describe,
    describe_like_rows,
    learn_confidence,
    learn_like_rows,
)
from driftline.kernels.thresholds import (
    LIMIT,
    N_CONFIDENCE_BINS,
    N_SCORE_BINS,
    TRIAL,
    answer_threshold,
    confidence_place,
    grow_weight,
    score_place,
    set_threshold,
)
from driftline.types import Flags, Indices, Labels, Matrix, Vector

SHARE_GAIN = 0.01
"""Gain of the running shares of the classes."""
SHARE_WEIGHT, MIN_SHARE = 0.05, 0.001
"""What a class's share, and a share that each class has at least, add to its probability: it breaks ties at 0."""

HANDED_OVER, ANSWERED, ON_TRIAL = range(3)
"""What is done with a row. One on trial is handed over too, but its label counts as if it had been answered."""
N_ANSWERED, N_WRONG, N_TRIED = range(3)
"""Last axis of `AnswerState.counts`: rows answered, wrong ones among them, rows on trial."""
N_ROWS, N_MISSED, N_LABELS = range(3)
"""Last axis of `SetState.counts`: rows, those whose label was not in the set, and labels in all sets."""


class AnswerState(NamedTuple):
    """What decisions are computed from: e levels; group 0 holds all rows, group 1 + k those predicted as class k."""

    levels: Matrix
    """(e, groups): the allowed shares of wrong answers."""
    by_class: Vector
    """(e,): 1 if the level differs between predicted classes, so that groups 1 + k count, else 0."""
    seen: Vector
    """(groups,): number of labels."""
    rows: Vector
    """(2, groups, bins): weights of all rows and of the wrong ones, by confidence."""
    debts: Matrix
    """(e, groups)."""
    thresholds: Matrix
    """(e, groups): bins of confidence from which on rows are answered, plus `TRIAL` if they are put on trial."""
    counts: Vector
    """(e, groups, 3)."""


class SetState(NamedTuple):
    """What sets are computed from: s coverages; one group, or one for each class."""

    levels: Vector
    """(s,): the allowed shares of missed labels."""
    allows_empty: Vector
    """(1,): 1 if sets may be empty, else 0."""
    class_shares: Vector
    """(c,): running shares of the classes."""
    rows: Matrix
    """(groups, bins): weights of rows, by the probability of the true label."""
    debts: Matrix
    """(s, groups)."""
    thresholds: Matrix
    """(s, groups): probabilities from which on a label is in the set."""
    counts: Vector
    """(s, groups, 3)."""


class TrackedState(NamedTuple):
    """All that is kept, as parts of one buffer."""

    weight: Vector
    """(1,): weight of the next row."""
    confidence: ConfidenceState
    answers: AnswerState
    sets: SetState


class RowStatements(NamedTuple):
    """What was said of n rows before their labels were known."""

    predicted: Labels
    """(n,)."""
    features: Matrix
    """(n, 5): what the confidence was computed from."""
    confidences: Vector
    """(n,): probability that the prediction is right."""
    like_errors: Matrix
    """(n, 3): the error among rows of like confidence: lower limit, estimate, bound."""
    decisions: NDArray[np.int8]
    """(n, e): handed over, answered, or on trial."""
    class_probabilities: Matrix
    """(n, c): probability of each class, after calibration."""
    sets: Flags
    """(n, s, c): whether a label is in the set."""


@kernel
def unpacked(buffer: Vector, sizes: Indices) -> TrackedState:
    """Return the parts of a buffer, which share its memory: one array is quicker to pass and to copy than two dozen.

    The sizes are the numbers of error levels, of groups of answers, of coverages, of groups of sets, and of classes.
    """
    e, g, s, q, c = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
    weight, at = take_part(buffer, 0, 1)
    weights, at = take_part(buffer, at, N_FEATURES)
    covariance, at = take_part(buffer, at, N_FEATURES * N_FEATURES)
    recent_errors, at = take_part(buffer, at, 2)
    bins, at = take_part(buffer, at, N_BINS * N_COLUMNS)
    confidence = ConfidenceState(
        weights, covariance.reshape(N_FEATURES, N_FEATURES), recent_errors, bins.reshape(N_BINS, N_COLUMNS)
    )
    levels, at = take_part(buffer, at, e * g)
    by_class, at = take_part(buffer, at, e)
    seen, at = take_part(buffer, at, g)
    rows, at = take_part(buffer, at, 2 * g * N_CONFIDENCE_BINS)
    debts, at = take_part(buffer, at, e * g)
    thresholds, at = take_part(buffer, at, e * g)
    counts, at = take_part(buffer, at, e * g * 3)
    answers = AnswerState(
        levels.reshape(e, g),
        by_class,
        seen,
        rows.reshape(2, g, N_CONFIDENCE_BINS),
        debts.reshape(e, g),
        thresholds.reshape(e, g),
        counts.reshape(e, g, 3),
    )
    misses, at = take_part(buffer, at, s)
    allows_empty, at = take_part(buffer, at, 1)
    class_shares, at = take_part(buffer, at, c)
    rows, at = take_part(buffer, at, q * N_SCORE_BINS)
    debts, at = take_part(buffer, at, s * q)
    thresholds, at = take_part(buffer, at, s * q)
    counts, at = take_part(buffer, at, s * q * 3)
    sets = SetState(
        misses,
        allows_empty,
        class_shares,
        rows.reshape(q, N_SCORE_BINS),
        debts.reshape(s, q),
        thresholds.reshape(s, q),
        counts.reshape(s, q, 3),
    )
    return TrackedState(weight, confidence, answers, sets)


@kernel
def take_part(buffer: Vector, start: int, length: int) -> tuple[Vector, int]:
    """Return a part of a buffer, and the place after it."""
    return buffer[start : start + length], start + length


@inner_kernel
def state_decisions(t: int, said: RowStatements, answers: AnswerState) -> None:
    """Set the decision at each level, by the confidence."""
    place = confidence_place(said.confidences[t])
    for e in range(answers.by_class.size):
        group = int(answers.by_class[e]) * (1 + said.predicted[t])
        threshold = answers.thresholds[e, group]
        if place < (threshold - TRIAL if threshold >= TRIAL else threshold):
            said.decisions[t, e] = HANDED_OVER
        else:
            said.decisions[t, e] = ON_TRIAL if threshold >= TRIAL else ANSWERED


@inner_kernel
def state_sets(t: int, h: Vector, said: RowStatements, sets: SetState) -> None:
    """Set the calibrated probabilities of the classes, then the set for each coverage.

    The predicted class has the confidence as its probability; the others share the rest as h has it.
    """
    k, c, total, rest = said.predicted[t], h.size, 0.0, 1.0 - said.confidences[t]
    for y in range(c):
        g = h[y] + SHARE_WEIGHT * (sets.class_shares[y] + MIN_SHARE)
        said.class_probabilities[t, y] = g
        total += g if y != k else 0.0
    for y in range(c):
        said.class_probabilities[t, y] *= rest / total if y != k else 0.0
    said.class_probabilities[t, k] = said.confidences[t]
    n_groups = sets.rows.shape[0]
    for s in range(sets.levels.size):
        for y in range(c):
            is_kept = y == k and sets.allows_empty[0] == 0.0
            threshold = sets.thresholds[s, y if n_groups > 1 else 0]
            said.sets[t, s, y] = is_kept or said.class_probabilities[t, y] >= threshold


@inner_kernel
def learn_decisions(t: int, is_right: float, weight: float, said: RowStatements, answers: AnswerState) -> None:
    """Update debts and thresholds by the label of a row, as it was decided."""
    place, k = confidence_place(said.confidences[t]), said.predicted[t]
    for which in range(min(answers.seen.size, 2)):
        group = which * (1 + k)
        answers.seen[group] += 1.0
        answers.rows[0, group, place] += weight
        answers.rows[1, group, place] += weight * (1.0 - is_right)
    for e in range(answers.by_class.size):
        group = int(answers.by_class[e]) * (1 + k)
        level, counts = answers.levels[e, group], answers.counts[e, group]
        decision = said.decisions[t, e]
        if decision != HANDED_OVER:
            before = answers.debts[e, group]
            debt = before + 1.0 - is_right - level
            if decision == ON_TRIAL:  # late labels may have made more debt than that, which is not forgiven
                debt = min(debt, max(LIMIT + 1.0, before - level))
            answers.debts[e, group] = max(debt, -LIMIT)
            counts[N_TRIED if decision == ON_TRIAL else N_ANSWERED] += 1.0
            counts[N_WRONG] += 1.0 - is_right if decision == ANSWERED else 0.0
        rows, wrong, debt = answers.rows[0, group], answers.rows[1, group], answers.debts[e, group]
        answers.thresholds[e, group] = answer_threshold(answers.seen[group], rows, wrong, level, debt)


@inner_kernel
def learn_sets(t: int, label: int, weight: float, said: RowStatements, sets: SetState) -> None:
    """Update debts and thresholds by the label of a row, as its set was; a class not known before is always missed."""
    c, n_groups = said.class_probabilities.shape[1], sets.rows.shape[0]
    is_known, group = label < c, label if n_groups > 1 else 0
    if group >= n_groups:
        return
    sets.rows[group, score_place(said.class_probabilities[t, label]) if is_known else 0] += weight
    for s in range(sets.levels.size):
        counts, n_labels = sets.counts[s, group], 0
        for y in range(c):
            n_labels += said.sets[t, s, y]
        missed = 0.0 if is_known and said.sets[t, s, label] else 1.0
        counts[N_ROWS] += 1.0
        counts[N_MISSED] += missed
        counts[N_LABELS] += n_labels
        debt = sets.debts[s, group] + missed - sets.levels[s]
        sets.debts[s, group] = debt if sets.allows_empty[0] == 1.0 else max(debt, -LIMIT)
        sets.thresholds[s, group] = set_threshold(sets.rows[group], sets.levels[s], sets.debts[s, group])
    for y in range(sets.class_shares.size):
        sets.class_shares[y] += SHARE_GAIN * ((1.0 if y == label else 0.0) - sets.class_shares[y])


@inner_kernel
def state_row(t: int, h: Vector, said: RowStatements, state: TrackedState) -> None:
    """Set all that is said of row t, whose probabilities are h."""
    confidence = state.confidence
    describe(h, said.predicted[t], confidence.recent_errors, said.features[t])
    said.confidences[t] = confidence_of(said.features[t], confidence.weights)
    describe_like_rows(said.confidences[t], confidence.bins, said.like_errors[t])
    state_decisions(t, said, state.answers)
    state_sets(t, h, said, state.sets)


@inner_kernel
def learn_row(t: int, label: int, said: RowStatements, state: TrackedState) -> None:
    """Update everything by the label of row t."""
    is_right, weight = 1.0 if said.predicted[t] == label else 0.0, state.weight[0]
    learn_decisions(t, is_right, weight, said, state.answers)
    learn_sets(t, label, weight, said, state.sets)
    learn_like_rows(said.confidences[t], said.like_errors[t, BOUND], is_right, state.confidence.bins)
    learn_confidence(said.features[t], is_right, state.confidence)
    grow_weight(state.weight, state.answers.rows, state.sets.rows)


@kernel
def state_rows(h: Matrix, buffer: Vector, sizes: Indices, *said: Any) -> None:
    """Set what is said of each row; nothing is learned."""
    state, statements = unpacked(buffer, sizes), RowStatements(*said)
    for t in range(len(h)):
        state_row(t, h[t], statements, state)


@kernel
def learn_rows(labels: Labels, buffer: Vector, sizes: Indices, *said: Any) -> None:
    """Learn the labels of rows in order, with what was said of them."""
    state, statements = unpacked(buffer, sizes), RowStatements(*said)
    for t in range(labels.size):
        learn_row(t, labels[t], statements, state)


@kernel
def state_then_learn(h: Matrix, labels: Labels, buffer: Vector, sizes: Indices, *said: Any) -> None:
    """Set what is said of each row, then learn its label, row by row."""
    state, statements = unpacked(buffer, sizes), RowStatements(*said)
    for t in range(len(h)):
        state_row(t, h[t], statements, state)
        learn_row(t, labels[t], statements, state)


@kernel
def learn_at_once(h: Matrix, predicted: Labels, labels: Labels, buffer: Vector, sizes: Indices) -> None:
    """Learn the label of each row as `state_then_learn` does; what is said of a row is forgotten with the next."""
    state, c = unpacked(buffer, sizes), h.shape[1]
    n_errors, n_sets = state.answers.by_class.size, state.sets.levels.size
    said = RowStatements(
        predicted[:1].copy(),
        np.empty((1, N_FEATURES)),
        np.empty(1),
        np.empty((1, 3)),
        np.empty((1, n_errors), np.int8),
        np.empty((1, c)),
        np.empty((1, n_sets, c), np.bool_),
    )
    for t in range(len(h)):
        said.predicted[0] = predicted[t]
        state_row(0, h[t], said, state)
        learn_row(0, labels[t], said, state)
