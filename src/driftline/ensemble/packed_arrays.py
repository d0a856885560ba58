"""The arrays of an ensemble in one buffer, for the kernel that learns rows with all parts."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np

from driftline.core.bounds import MistakeBound
from driftline.core.calibration import CalibratedBound
from driftline.ensemble.filters import ColumnFilters
from driftline.ensemble.forest import no_forest
from driftline.ensemble.space import Space
from driftline.ensemble.tree_space import TreeSpace
from driftline.guarantees.error_intervals import BLOCK_ROWS
from driftline.guarantees.tracker import GuaranteeTracker
from driftline.kernels.packing import Packed, packed
from driftline.types import Matrix, Vector

NO_ALARM = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 0, 0)), np.zeros((0, 0, 0), np.int64)
"""The arrays of an alarm, where there is none."""


class HasArrays(Protocol):
    """A part of a model whose arrays may be replaced by others with the same values."""

    arrays: Any


def pack_ensemble(
    mistake_bound: MistakeBound,
    weights: list[Matrix],
    calibration: CalibratedBound,
    tracker: GuaranteeTracker,
    column_filters: ColumnFilters,
    spaces: Sequence[Space],
) -> tuple[Packed, list[Matrix]]:
    """Return the arrays of all parts in one buffer, in the order of `driftline.kernels.ensemble`, and the weights.

    From then on the arrays of the parts, and the weights that are returned, share the memory of the buffer.
    """
    alarm = () if tracker.alarm is None else (tracker.alarm,)
    forests = [space.forest for space in spaces if isinstance(space, TreeSpace)]
    parts: list[tuple[HasArrays | None, Sequence[Any]]] = [
        (None, [_targets(calibration, tracker)]),
        (mistake_bound, mistake_bound.arrays),
        (None, weights),
        (calibration, calibration.arrays),
        (tracker.intervals, tracker.intervals.arrays),
        (None, [BLOCK_ROWS]),
        *((part, part.arrays) for part in alarm),
        *(() if alarm else ((None, NO_ALARM),)),
        (column_filters, column_filters.arrays),
        *((forest, forest.arrays) for forest in forests),
        *(() if forests else ((None, no_forest()),)),
        *((space, space.arrays) for space in spaces),
    ]
    buffer, arrays = packed(array for _, given in parts for array in given)
    unread = iter(arrays)
    for part, given in parts:
        replaced = list(islice(unread, len(given)))
        if part is not None:
            part.arrays = replaced
        elif given is weights:
            weights = replaced
    return buffer, weights


def _targets(calibration: CalibratedBound, tracker: GuaranteeTracker) -> Vector:
    """Return what calibration and alarm aim at: coverage, multiplier, allowed rise, limits of both tests, log limit."""
    alarm = (0.0, (0.0, 0.0), 0.0) if tracker.alarm is None else tracker.alarm.target
    return np.array([*calibration.target, alarm[0], *alarm[1], alarm[2]])
