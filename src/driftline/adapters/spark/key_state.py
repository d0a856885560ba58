"""What a worker gets of a key, and what is kept of it between two calls."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from driftline.adapters.spark.settings import Settings
from driftline.errors import CheckpointError

MAGIC = b"driftline key of Spark 1\n"
"""How the bytes of a key begin; the number is the version of their format."""
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
        The ids of the rows that wait for their labels, with their times, in the order in which they came.
    held : dict
        The labels that wait for their rows, by id, in the order in which they came.
    """

    model: bytes | None = None
    last: int | None = None
    waiting: dict[Any, int] = field(default_factory=dict)
    held: dict[Any, KeyRow] = field(default_factory=dict)

    def deadline(self, settings: Settings) -> int | None:
        """Return the time after which something happens to the key without new rows; None if nothing does."""
        deadlines = []
        if settings.label_timeout is not None:
            moments = [*self.waiting.values(), *(row.moment for row in self.held.values())]
            deadlines = [min(moments) + settings.label_timeout] if moments else []
        if settings.time_to_live is not None and self.last is not None:
            deadlines.append(self.last + settings.time_to_live)
        return min(deadlines, default=None)

    def to_bytes(self, settings: Settings) -> bytes | None:
        """Return features, classes, the labels that are held and the model; None without labels and model."""
        if self.model is None and not self.held:
            return None
        labels = [(row.id, row.moment, row.label) for row in self.held.values()]
        header = json.dumps(_shared(settings) | {"labels": labels}).encode()
        return MAGIC + len(header).to_bytes(LENGTH_BYTES, "little") + header + (self.model or b"")

    def restore(self, data: bytes | None, settings: Settings) -> None:
        """Go on from what `to_bytes` returned; raise CheckpointError if features or classes were others."""
        if data is None:
            self.model, self.held = None, {}
            return
        if not data.startswith(MAGIC):
            raise CheckpointError(
                "the state of the key was written by another version of driftline; begin with a new checkpoint"
            )
        start = len(MAGIC) + LENGTH_BYTES
        stop = start + int.from_bytes(data[len(MAGIC) : start], "little")
        header = json.loads(data[start:stop])
        for name, expected in _shared(settings).items():
            if header[name] != expected:
                raise CheckpointError(
                    f"the state of the key is that of a query with the {name} {header[name]}, and this one has "
                    f"{expected}; give the same {name} in the same order, or begin with a new checkpoint"
                )
        labels = [KeyRow(moment, row_id, [], label) for row_id, moment, label in header["labels"]]
        self.model, self.held = data[stop:] or None, {row.id: row for row in labels}


def _shared(settings: Settings) -> dict[str, list[Any]]:
    """Return what the state of a key shares with those of all others."""
    return {"features": list(settings.columns), "classes": list(settings.classes)}


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
