"""One kernel that learns rows with all parts of an ensemble, so that Ctrl-C cannot come in between."""

import numpy as np
from numpy.typing import NDArray

from driftline._jit import inner_kernel, kernel
from driftline.kernels.alarm import AlarmTarget, add_rows
from driftline.kernels.calibration import CalibrationTarget, calibrate
from driftline.kernels.filter_bank import FilterBank, filters_at, track_columns
from driftline.kernels.forest import (
    ForestStore,
    forest_features_then_learn,
    forest_store_at,
    n_tried_columns,
    set_features,
    set_origin,
    set_values,
)
from driftline.kernels.member_state import Members, MemberWorkspace, RowStore, members_at, workspace_at
from driftline.kernels.members import predict_and_learn, predict_row
from driftline.kernels.mistake_sums import add_steps
from driftline.kernels.mixing import largest_entry, mix_and_reweigh, mix_row
from driftline.kernels.packing import SHAPE, START, STOP, matrix_at, stack_at, vector_at
from driftline.kernels.representation import fill_and_scale
from driftline.kernels.row_counts import count_rows
from driftline.kernels.statements import learn_at_once
from driftline.kernels.trees import GrowthWorkspace, Trees, growth_workspace_at, trees_at
from driftline.types import Indices, Labels, Matrix, Singles, Vector

TARGETS, SUMS, WEIGHTS, SCHEME_WEIGHTS, CALIBRATION = range(5)
COUNTS = CALIBRATION + 3
ALARM = COUNTS + 5
COLUMN_FILTERS = ALARM + 5
FOREST = COLUMN_FILTERS + 1 + len(FilterBank._fields)
RECENT_TREES = FOREST + 1 + len(ForestStore._fields)
LONG_TREES = RECENT_TREES + len(Trees._fields)
GROWTH_WORKSPACE = LONG_TREES + len(Trees._fields)
FIRST_SPACE = GROWTH_WORKSPACE + len(GrowthWorkspace._fields)
"""Numbers of the arrays in the buffer: what is aimed at, sums, weights, then the first array of each part."""
MEMBERS = len(RowStore._fields)
FILTERS = MEMBERS + len(Members._fields)
WORKSPACE = FILTERS + len(FilterBank._fields)
N_SPACE_ARRAYS = WORKSPACE + len(MemberWorkspace._fields)
"""Numbers of the arrays of a space, counted from its first one; its store begins them."""


@inner_kernel
def has_forest(places: Indices) -> bool:
    """Return whether there is a forest; its features are those of the last space."""
    return bool(places[FOREST, STOP] > places[FOREST, START])


@inner_kernel
def n_forest_features(places: Indices, c: int) -> int:
    """Return the number of features of the forest; 0 if there is none."""
    return 1 + 2 * c if has_forest(places) else 0


@inner_kernel
def smallest(values: Indices) -> int:
    """Return the smallest of some whole numbers."""
    found = values[0]
    for k in range(1, values.size):
        found = min(found, values[k])
    return int(found)


@inner_kernel
def learn_forest(
    X: Matrix,
    labels: Labels,
    Psi: Singles,
    values: Singles,
    shares: Matrix,
    pace: float,
    buffer: NDArray[np.uint8],
    places: Indices,
) -> None:
    """Set ψ to the features of raw rows before each is learned by the forest; overwrites `values` and `shares`.

    Trees are grown at the given pace, or more slowly if all members rest.
    """
    origin = vector_at(buffer, places, FOREST, np.float64)
    members = members_at(buffer, places, len(places) - N_SPACE_ARRAYS + MEMBERS)
    set_origin(X, origin)
    set_values(X, origin, values)
    forest_features_then_learn(
        values,
        labels,
        forest_store_at(buffer, places, FOREST + 1),
        trees_at(buffer, places, RECENT_TREES),
        trees_at(buffer, places, LONG_TREES),
        n_tried_columns(X.shape[1]),
        pace / smallest(members.interval),
        growth_workspace_at(buffer, places, GROWTH_WORKSPACE),
        Psi,
        shares,
    )


@inner_kernel
def set_forest_features(
    X: Matrix, Psi: Singles, values: Singles, shares: Matrix, buffer: NDArray[np.uint8], places: Indices
) -> None:
    """Set ψ to the features of raw rows; overwrites `values` and `shares`."""
    set_values(X, vector_at(buffer, places, FOREST, np.float64), values)
    recent, long = trees_at(buffer, places, RECENT_TREES), trees_at(buffer, places, LONG_TREES)
    for t in range(len(X)):
        set_features(recent, long, values, t, shares, Psi, t)


@inner_kernel
def learn_spaces(
    features: Singles,
    of_forest: Singles,
    labels: Labels,
    elapsed: Vector,
    h: Vector,
    own: Vector,
    buffer: NDArray[np.uint8],
    places: Indices,
) -> None:
    """Learn rows with all spaces; set h to the probabilities of all members for each row before it was learned.

    `features` has those of all spaces but that of the forest. `own` has as many entries as h, and is overwritten.
    """
    n, c, start, m = labels.size, h.shape[2], 0, 0
    for first in range(FIRST_SPACE, len(places), N_SPACE_ARRAYS):
        store = RowStore(
            rows=matrix_at(buffer, places, first, np.float32),
            labels=vector_at(buffer, places, first + 1, np.int64),
            n_seen=vector_at(buffer, places, first + 2, np.int64),
            mean_squared_norm=vector_at(buffer, places, first + 3, np.float64),
            random_state=vector_at(buffer, places, first + 4, np.uint64),
        )
        members = members_at(buffer, places, first + MEMBERS)
        bank, work = filters_at(buffer, places, first + FILTERS), workspace_at(buffer, places, first + WORKSPACE)
        n_members, d = members.gain.size, store.rows.shape[1]
        is_forest = has_forest(places) and first + N_SPACE_ARRAYS == len(places)
        Psi = of_forest if is_forest else features[start : start + n * d].reshape(n, d)
        said = own[: n * n_members * c].reshape(n, n_members, c)
        predict_and_learn(Psi, labels, elapsed, said, store, members, bank, work)
        for t in range(n):
            for k in range(n_members):
                for y in range(c):
                    h[t, m + k, y] = said[t, k, y]
        start += n * d
        m += n_members


@inner_kernel
def mix_members(
    members: Vector,
    labels: Labels,
    h: Matrix,
    predicted: Labels,
    losses: Vector,
    counted_share: float,
    buffer: NDArray[np.uint8],
    places: Indices,
) -> None:
    """Set h to the mixture, and predictions and expected mistakes accordingly; update the weights by the labels."""
    weights = vector_at(buffer, places, WEIGHTS, np.float64)
    scheme_weights = matrix_at(buffer, places, SCHEME_WEIGHTS, np.float64)
    mix_and_reweigh(members, labels, weights, h, counted_share)
    for m in range(weights.size):
        scheme_weights[0, m] = scheme_weights[1, m] = weights[m]
    for t in range(labels.size):
        predicted[t] = largest_entry(h, t)
        losses[t] = 1.0 - h[t, labels[t]]


@inner_kernel
def update_bounds(
    predicted: Labels,
    labels: Labels,
    losses: Vector,
    mistakes: Labels,
    bounds: Vector,
    rates: Vector,
    guessing: float,
    buffer: NDArray[np.uint8],
    places: Indices,
) -> None:
    """Set both bounds to what they were before each row; update them, the counts, the alarm and the sums by the labels.

    `mistakes` has an entry for each row, and is overwritten.
    """
    count_rows(
        predicted,
        labels,
        vector_at(buffer, places, COUNTS, np.int64),
        matrix_at(buffer, places, COUNTS + 1, np.int64),
        matrix_at(buffer, places, COUNTS + 2, np.int64),
        matrix_at(buffer, places, COUNTS + 3, np.int64),
        vector_at(buffer, places, COUNTS + 4, np.int64),
    )
    targets, alarm_counts = vector_at(buffer, places, TARGETS, np.float64), vector_at(buffer, places, ALARM, np.int64)
    for t in range(labels.size):
        mistakes[t] = 1 if predicted[t] != labels[t] else 0
    if alarm_counts.size > 0:
        add_rows(
            mistakes,
            alarm_counts,
            vector_at(buffer, places, ALARM + 1, np.int64),
            vector_at(buffer, places, ALARM + 2, np.float64),
            stack_at(buffer, places, ALARM + 3, np.float64),
            stack_at(buffer, places, ALARM + 4, np.int64),
            AlarmTarget(targets[2], (targets[3], targets[4]), targets[5]),
        )
    calibrate(
        losses,
        bounds,
        rates,
        vector_at(buffer, places, CALIBRATION, np.float64),
        matrix_at(buffer, places, CALIBRATION + 1, np.float64),
        matrix_at(buffer, places, CALIBRATION + 2, np.float64),
        CalibrationTarget(targets[0], targets[1]),
        guessing,
    )
    add_steps(vector_at(buffer, places, SUMS, np.float64), rates, losses)


@inner_kernel
def learn_columns(
    X: Matrix,
    labels: Labels,
    elapsed: Vector,
    shifted: Matrix,
    centres: Matrix,
    buffer: NDArray[np.uint8],
    places: Indices,
) -> None:
    """Update the filters of the raw columns by rows; overwrites `shifted` and `centres`."""
    origin = vector_at(buffer, places, COLUMN_FILTERS, np.float64)
    track_columns(X, labels, elapsed, origin, filters_at(buffer, places, COLUMN_FILTERS + 1), shifted, centres)


@kernel
def learn_rows(
    X: Matrix,
    labels: Labels,
    elapsed: Vector,
    features: Singles,
    buffer: NDArray[np.uint8],
    places: Indices,
    statements: Vector,
    sizes: Indices,
    updates_columns: bool,
    updates_weights: bool,
    missing: Vector,
    count: Vector,
    mean: Vector,
    squares: Vector,
    is_binary: Vector,
    early: Matrix,
    recent: Matrix,
    recent_figures: Matrix,
    n_first: int,
    standardises: bool,
    counted_share: float,
    pace: float,
) -> tuple[Vector, Matrix, Vector, Vector]:
    """Learn raw rows; return the members' probabilities, the mixture and both bounds as they were before each row.

    The statistics of the columns are updated if `updates_columns`. Weights, guarantees and bounds are updated if
    `updates_weights`; otherwise there is no mixture, and nothing is set in the last three arrays.
    `features` are those of all rows in the first space, then those in the next space, and so on, without those of the
    forest, which is let learn the rows here. `statements` and
    `sizes` are what is said of rows, as `driftline.kernels.statements` keeps it; `counted_share` is that of
    `driftline.kernels.mixing.mix_and_reweigh`; `pace` is that at which trees are grown.
    """
    if updates_columns:
        _, n_missing = fill_and_scale(
            X, count, mean, squares, is_binary, early, recent, recent_figures, n_first, standardises, True
        )
        missing[0] += n_missing
    n, n_members, c = len(X), places[WEIGHTS, SHAPE], sizes[4]
    members, of_forest = np.empty((n, n_members, c)), np.empty((n, n_forest_features(places, c)), np.float32)
    if has_forest(places):
        learn_forest(X, labels, of_forest, np.empty(X.shape, np.float32), np.empty((2, c)), pace, buffer, places)
    learn_spaces(features, of_forest, labels, elapsed, members, np.empty(members.size), buffer, places)
    learn_columns(X, labels, elapsed, np.empty(X.shape), np.empty((c, X.shape[1])), buffer, places)
    h, predicted, losses = np.empty((n, c)), np.empty(n, np.int64), np.empty(n)
    bounds, rates = np.empty(n), np.empty(n)
    if updates_weights:
        mix_members(members, labels, h, predicted, losses, counted_share, buffer, places)
        learn_at_once(h, predicted, labels, statements, sizes)
        update_bounds(predicted, labels, losses, np.empty(n, np.int64), bounds, rates, 1.0 - 1.0 / c, buffer, places)
    return members, h, bounds, rates


@inner_kernel
def predict_with_spaces(
    features: Singles,
    of_forest: Singles,
    h: Matrix,
    members: Vector,
    own: Vector,
    scores: Singles,
    order: Indices,
    buffer: NDArray[np.uint8],
    places: Indices,
) -> None:
    """Set h to the mixture of the probabilities of all members for each row; overwrites the four arrays after it."""
    (n, c), start, m = h.shape, 0, 0
    for first in range(FIRST_SPACE, len(places), N_SPACE_ARRAYS):
        of_space = members_at(buffer, places, first + MEMBERS)
        n_members, _, d = of_space.average.shape
        is_forest = has_forest(places) and first + N_SPACE_ARRAYS == len(places)
        Psi = of_forest if is_forest else features[start : start + n * d].reshape(n, d)
        said = own[: n * n_members * c].reshape(n, n_members, c)
        for t in range(n):
            predict_row(Psi, t, of_space.average, of_space.n_halvings, scores, order, said)
            for k in range(n_members):
                for y in range(c):
                    members[t, m + k, y] = said[t, k, y]
        start += n * d
        m += n_members
    weights = vector_at(buffer, places, WEIGHTS, np.float64)
    for t in range(n):
        mix_row(members, t, weights, h)


@kernel
def predict_rows(X: Matrix, features: Singles, c: int, buffer: NDArray[np.uint8], places: Indices) -> Matrix:
    """Return the mixture for raw rows; `features` are as in `learn_rows`."""
    n = len(X)
    members, h = np.empty((n, places[WEIGHTS, SHAPE], c)), np.empty((n, c))
    scores, order = np.empty(c, np.float32), np.empty(c, np.int64)
    of_forest = np.empty((n, n_forest_features(places, c)), np.float32)
    if has_forest(places):
        set_forest_features(X, of_forest, np.empty(X.shape, np.float32), np.empty((2, c)), buffer, places)
    predict_with_spaces(features, of_forest, h, members, np.empty(members.size), scores, order, buffer, places)
    return h
