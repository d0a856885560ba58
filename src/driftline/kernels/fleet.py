"""Many streams of one shape: one kernel that lets the model of each stream learn its rows, or predict them.

The arrays of all streams are in one buffer. At its beginning are those that all models share: constants, and memory for
intermediate results. After them come the arrays of each stream, in the same order for all. So the places of the arrays
of one stream are those of another one, moved by a multiple of the number of bytes of a stream.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftline._jit import kernel, unlocked_kernel
from driftline.kernels.calibration import CalibrationTarget, next_bounds
from driftline.kernels.ensemble import (
    CALIBRATION,
    TARGETS,
    WEIGHTS,
    learn_columns,
    learn_forest,
    learn_spaces,
    mix_members,
    n_forest_features,
    predict_with_spaces,
    set_forest_features,
    update_bounds,
)
from driftline.kernels.mixing import largest_entry
from driftline.kernels.packing import SHAPE, STOP, matrix_at, vector_at
from driftline.kernels.representation import fill_and_scale, represent
from driftline.kernels.statements import state_rows, state_then_learn
from driftline.kernels.vectors import CACHE_LINE_BYTES
from driftline.types import Flags, Indices, Labels, Matrix, Singles, Vector

COUNT, MEAN, SQUARES, IS_BINARY, MISSING, EARLY, RECENT, RECENT_FIGURES, STATEMENTS, SCHEME_SHARES = range(10)
"""Numbers of the other arrays of a model, which `driftline.kernels.ensemble` does not expect in the buffer."""


class FleetLayout(NamedTuple):
    """Where the arrays of a stream are, and what all streams have in common."""

    places: Indices
    """(n, 5): places of the arrays of an ensemble, as in `driftline.kernels.packing.Packed`, for the first stream."""
    is_own: Flags
    """(n,): whether each stream has such an array of its own; all streams share the others."""
    other_places: Indices
    """(10, 5): places of the other arrays, for the first stream."""
    n_head_bytes: int
    """Number of bytes before those of the first stream."""
    n_bytes: int
    """Number of bytes of a stream."""
    directions: Matrix
    """(D, p): random directions of all spaces, one after the other."""
    n_directions: Indices
    """(s,): number of them for each space that has no forest."""
    standardises: bool
    """Whether columns are standardised."""
    sizes: Indices
    """Sizes of the statements, as in `driftline.kernels.statements`."""
    counted_share: float
    """As in `driftline.kernels.mixing.mix_and_reweigh`."""
    pace: float
    """Pace at which trees are grown."""


@kernel
def set_places(slot: int, layout: FleetLayout, places: Indices, other_places: Indices) -> None:
    """Set the places to those of the arrays of the stream in a slot."""
    moved = slot * layout.n_bytes
    for k in range(len(places)):
        for i in range(places.shape[1]):
            places[k, i] = layout.places[k, i] + (moved if i <= STOP and layout.is_own[k] else 0)
    for k in range(len(other_places)):
        for i in range(other_places.shape[1]):
            other_places[k, i] = layout.other_places[k, i] + (moved if i <= STOP else 0)


@kernel
def features_of(Z: Matrix, directions: Matrix, n_directions: Indices) -> Singles:
    """Return the features of prepared rows in one space without a forest after the other."""
    n, p = Z.shape
    flat = np.empty(n * (n_directions.size * (1 + p) + 2 * np.sum(n_directions)), np.float32)
    at, first = 0, 0
    for k in n_directions:
        Psi = represent(Z, directions[first : first + k], p)
        flat[at : at + Psi.size] = Psi.ravel()
        at += Psi.size
        first += k
    return flat


@kernel
def prepare(X: Matrix, buffer: NDArray[np.uint8], places: Indices, standardises: bool, updates: bool) -> Matrix:
    """Return raw rows of a stream with missing values filled and columns scaled; if `updates`, learn the columns."""
    Z, n_missing = fill_and_scale(
        X,
        vector_at(buffer, places, COUNT, np.float64),
        vector_at(buffer, places, MEAN, np.float64),
        vector_at(buffer, places, SQUARES, np.float64),
        vector_at(buffer, places, IS_BINARY, np.float64),
        matrix_at(buffer, places, EARLY, np.float64),
        matrix_at(buffer, places, RECENT, np.float64),
        matrix_at(buffer, places, RECENT_FIGURES, np.float64),
        X.shape[1],
        standardises,
        updates,
    )
    vector_at(buffer, places, MISSING, np.float64)[0] += n_missing
    return Z


@kernel
def read_through(buffer: NDArray[np.uint8], slot: int, layout: FleetLayout) -> int:
    """Read a byte of each cache line of a stream, in order; return their sum, which is never negative.

    The processor fetches lines that are read in order ahead of time. Reading them first is quicker than waiting for
    each of them where it is needed: a fleet is larger than any cache.
    """
    first = layout.n_head_bytes + slot * layout.n_bytes
    total = 0
    for byte in range(first, first + layout.n_bytes, CACHE_LINE_BYTES):
        total += buffer[byte]
    return total


@kernel
def learn_stream(
    X: Matrix,
    labels: Labels,
    h: Matrix,
    bounds: Vector,
    buffer: NDArray[np.uint8],
    places: Indices,
    other_places: Indices,
    layout: FleetLayout,
    said: Any,
) -> None:
    """Let the model of one stream predict, then learn each of its rows, as `driftline.kernels.ensemble.learn_rows`."""
    (n, p), c = X.shape, h.shape[1]
    n_members = places[WEIGHTS, SHAPE]
    elapsed = np.ones(n)
    Z = prepare(X, buffer, other_places, layout.standardises, True)
    features = features_of(Z, layout.directions, layout.n_directions)
    members, of_forest = np.empty((n, n_members, c)), np.empty((n, n_forest_features(places, c)), np.float32)
    if of_forest.size > 0:
        learn_forest(X, labels, of_forest, np.empty((n, p), np.float32), np.empty((2, c)), layout.pace, buffer, places)
    learn_spaces(features, of_forest, labels, elapsed, members, np.empty(members.size), buffer, places)
    learn_columns(X, labels, elapsed, np.empty((n, p)), np.empty((c, p)), buffer, places)
    losses, predicted, rates = np.empty(n), said[0], np.empty(n)
    mix_members(members, labels, h, predicted, losses, layout.counted_share, buffer, places)
    state_then_learn(h, labels, vector_at(buffer, other_places, STATEMENTS, np.float64), layout.sizes, *said)
    update_bounds(predicted, labels, losses, np.empty(n, np.int64), bounds, rates, 1.0 - 1.0 / c, buffer, places)


@kernel
def predict_stream(
    X: Matrix,
    h: Matrix,
    buffer: NDArray[np.uint8],
    places: Indices,
    other_places: Indices,
    layout: FleetLayout,
    said: Any,
) -> None:
    """Set the mixture for raw rows of one stream and what is said of them, as they are now; changes nothing."""
    (n, p), c = X.shape, h.shape[1]
    Z = prepare(X, buffer, other_places, layout.standardises, False)
    members = np.empty((n, places[WEIGHTS, SHAPE], c))
    of_forest = np.empty((n, n_forest_features(places, c)), np.float32)
    if of_forest.size > 0:
        set_forest_features(X, of_forest, np.empty((n, p), np.float32), np.empty((2, c)), buffer, places)
    features = features_of(Z, layout.directions, layout.n_directions)
    scores, order = np.empty(c, np.float32), np.empty(c, np.int64)
    predict_with_spaces(features, of_forest, h, members, np.empty(members.size), scores, order, buffer, places)
    for t in range(n):
        said[0][t] = largest_entry(h, t)
    state_rows(h, vector_at(buffer, other_places, STATEMENTS, np.float64), layout.sizes, *said)


@kernel
def current_bound(buffer: NDArray[np.uint8], places: Indices, c: int) -> float:
    """Return the calibrated bound of a stream, of c classes, for the next row."""
    targets = vector_at(buffer, places, TARGETS, np.float64)
    bound, _ = next_bounds(
        vector_at(buffer, places, CALIBRATION, np.float64),
        matrix_at(buffer, places, CALIBRATION + 1, np.float64),
        matrix_at(buffer, places, CALIBRATION + 2, np.float64),
        CalibrationTarget(targets[0], targets[1]),
        1.0 - 1.0 / c,
    )
    return float(bound)


@kernel
def part_of(said: Any, first: int, stop: int) -> Any:
    """Return what is said of some of the rows; the arrays share their memory."""
    return (
        said[0][first:stop],
        said[1][first:stop],
        said[2][first:stop],
        said[3][first:stop],
        said[4][first:stop],
        said[5][first:stop],
        said[6][first:stop],
    )


@unlocked_kernel
def learn_streams(
    slots: Indices,
    starts: Indices,
    buffer: NDArray[np.uint8],
    layout: FleetLayout,
    X: Matrix,
    labels: Labels,
    h: Matrix,
    bounds: Vector,
    *said: Any,
) -> None:
    """Let the models in some slots learn rows: rows starts[i] to starts[i + 1] are those of slots[i], in order.

    Set the mixture, the calibrated bound and what is said of each row to what they were before it was learned.
    """
    places, other_places = layout.places.copy(), layout.other_places.copy()
    for i in range(slots.size):
        first, stop = starts[i], starts[i + 1]
        set_places(slots[i], layout, places, other_places)
        if read_through(buffer, slots[i], layout) < 0:
            return
        learn_stream(
            X[first:stop],
            labels[first:stop],
            h[first:stop],
            bounds[first:stop],
            buffer,
            places,
            other_places,
            layout,
            part_of(said, first, stop),
        )


@unlocked_kernel
def predict_streams(
    slots: Indices,
    starts: Indices,
    buffer: NDArray[np.uint8],
    layout: FleetLayout,
    X: Matrix,
    h: Matrix,
    bounds: Vector,
    *said: Any,
) -> None:
    """Set the same for rows as `learn_streams`, as it would be now; changes nothing."""
    places, other_places = layout.places.copy(), layout.other_places.copy()
    for i in range(slots.size):
        first, stop = starts[i], starts[i + 1]
        set_places(slots[i], layout, places, other_places)
        part = part_of(said, first, stop)
        predict_stream(X[first:stop], h[first:stop], buffer, places, other_places, layout, part)
        bounds[first:stop] = current_bound(buffer, places, h.shape[1])
