"""What a worker gets of a key, and what is kept of it between two calls."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from driftline.adapters.spark.settings import Settings

HELD_MAGIC = b"driftline held labels 1\n"
"""How the bytes of a key begin that holds labels; the number is the version of their format."""
LENGTH_BYTES = 4


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A row of a key: a row with features, a label of an earlier row, both, or an acknowledgement of its alarm.

    Attributes
    ----------
    moment : int or None
        Its time: microseconds, or a whole number. Rows without a time are refused before anything else.
    id : int, str or None
        By which the label finds its row.
    x : list of float, or None
        The features; NaN where one is missing. None if this is an acknowledgement; empty if it is a label that is held.
    label : object
        The label; None if it is not known.
    """

    moment: Any
    id: Any
    x: list[float] | None
    label: Any

    @property
    def has_features(self) -> bool:
        """Whether any feature is known."""
        return self.x is not None and not all(map(math.isnan, self.x))

    @property
    def was_held(self) -> bool:
        """Whether this is a label from `KeyState.held`."""
        return self.x == []


@dataclass(slots=True)
class KeyState:
    """What is kept of a key between two calls.

    Attributes
    ----------
    model : bytes or None
        The state of its model; None if it has not learned or observed anything.
    last : int or None
        The time of its newest row.
    waiting : dict
        The ids of the rows that wait for their labels, with their times, the oldest first.
    held : dict
        The labels that wait for their rows, by id, the oldest first.
    """

    model: bytes | None = None
    last: int | None = None
    waiting: dict[Any, int] = field(default_factory=dict)
    held: dict[Any, KeyRow] = field(default_factory=dict)

    def deadline(self, settings: Settings) -> int | None:
        """Return the time after which something happens to the key without new rows; None if nothing does."""
        deadlines = []
        if settings.label_timeout is not None:
            oldest = [*islice(self.waiting.values(), 1), *(row.moment for row in islice(self.held.values(), 1))]
            deadlines = [moment + settings.label_timeout for moment in oldest]
        if settings.time_to_live is not None and self.last is not None:
            deadlines.append(self.last + settings.time_to_live)
        return min(deadlines, default=None)

    def model_and_labels(self) -> bytes | None:
        """Return the bytes of the model, after those of the labels that are held, if there are any."""
        if not self.held:
            return self.model
        labels = json.dumps([(row.id, row.moment, row.label) for row in self.held.values()]).encode()
        return HELD_MAGIC + len(labels).to_bytes(LENGTH_BYTES, "little") + labels + (self.model or b"")

    def set_model_and_labels(self, data: bytes | None) -> None:
        """Go on from what `model_and_labels` returned."""
        self.model, self.held = data, {}
        if data is not None and data.startswith(HELD_MAGIC):
            start = len(HELD_MAGIC) + LENGTH_BYTES
            stop = start + int.from_bytes(data[start - LENGTH_BYTES : start], "little")
            labels = [KeyRow(moment, row_id, [], label) for row_id, moment, label in json.loads(data[start:stop])]
            self.model, self.held = data[stop:] or None, {row.id: row for row in labels}


def in_order(rows: Iterable[KeyRow]) -> list[KeyRow]:
    """Return rows by time. At the same time labels come last, and the order depends on nothing but the values.

    Spark passes rows on in any order, which is another one when it repeats a task.
    """
    rows = list(rows)
    if len({row.moment for row in rows}) == len(rows):
        return sorted(rows, key=lambda row: -math.inf if row.moment is None else row.moment)
    return sorted(rows, key=_order)


def _order(row: KeyRow) -> tuple[Any, ...]:
    is_acknowledgement = row.x is None
    return (
        row.moment is not None,
        row.moment or 0,
        is_acknowledgement,
        not row.has_features,
        row.label is not None,
        repr(row),
    )
