"""A table of how well the models of a fleet do."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftline.fleet.layout import Bytes, StreamMemory
from driftline.guarantees.error_interval import error_interval
from driftline.guarantees.tracker import GuaranteeTracker
from driftline.kernels.alarm import NOT_RAISED, RAISED
from driftline.kernels.ensemble import ALARM, COUNTS
from driftline.kernels.row_counts import N_ROWS, N_WRONG
from driftline.kernels.statements import N_ANSWERED
from driftline.kernels.statements import N_WRONG as N_WRONG_ANSWERS
from driftline.types import Indices

FIELDS = [
    ("n_rows", np.int64),
    ("n_wrong", np.int64),
    ("error", float),
    ("low", float),
    ("high", float),
    ("n_answered", np.int64),
    ("n_wrong_answers", np.int64),
    ("has_alarm", bool),
    ("n_waiting", np.int64),
]
"""Columns of the table after the key."""


def status_table(
    keys: Sequence[Any], streams: Bytes, n_waiting: Indices, memory: StreamMemory, tracker: GuaranteeTracker
) -> "np.ndarray[Any, np.dtype[np.void]]":
    """Return a row for each key, from the bytes of its stream; `tracker` has the settings that all have."""
    table = np.zeros(len(keys), dtype=[("key", object), *FIELDS])
    if not len(keys):
        return table
    counts = memory.array_of(streams, COUNTS, np.int64)
    table["key"] = np.fromiter(keys, object, len(keys))
    table["n_rows"], table["n_wrong"], table["n_waiting"] = counts[:, N_ROWS], counts[:, N_WRONG], n_waiting
    limits = {}
    for row in table:
        pair = int(row["n_rows"]), int(row["n_wrong"])
        if pair not in limits:
            interval = error_interval(*pair, tracker.guarantees.delta)
            limits[pair] = interval.error, interval.low, interval.high
        row["error"], row["low"], row["high"] = limits[pair]
    statements = memory.statements(streams)
    of_first_level = answer_places(tracker)
    table["n_answered"] = statements[:, of_first_level[..., N_ANSWERED].ravel()].sum(axis=1)
    table["n_wrong_answers"] = statements[:, of_first_level[..., N_WRONG_ANSWERS].ravel()].sum(axis=1)
    if tracker.alarm is not None:
        table["has_alarm"] = memory.array_of(streams, ALARM, np.int64)[:, RAISED] != NOT_RAISED
    return table


def answer_places(tracker: GuaranteeTracker) -> Indices:
    """Return where, in what is kept to make statements, the counts of answers at the first level are."""
    rows = tracker.rows.copy()
    buffer, _ = rows.arrays
    buffer[:] = np.arange(buffer.size)
    places: Indices = rows.parts.answers.counts[0].astype(np.int64)
    return places
