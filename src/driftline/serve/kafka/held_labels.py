"""Labels that came before their rows."""

import json
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, delete, insert, select

from driftline.serve.kafka.messages import Received
from driftline.serve.store import Changes, Store
from driftline.serve.tables import KAFKA_HELD_LABELS

MOST_HELD = 100_000
"""Labels of a stream that are held; if more come, the oldest are given up."""
RELEASE = delete(KAFKA_HELD_LABELS).where(
    KAFKA_HELD_LABELS.c.stream == bindparam("b_stream"), KAFKA_HELD_LABELS.c.id == bindparam("b_id")
)


@dataclass(frozen=True, slots=True)
class HeldLabel:
    """A label whose row has not come yet."""

    id: str
    label: Any
    since: float
    topic: str
    partition: int
    offset: int

    @property
    def message(self) -> Received:
        """The message that brought it, as far as it is known still."""
        value = json.dumps({"id": self.id, "label": self.label}).encode()
        return Received(self.topic, self.partition, self.offset, value=value)


class HeldLabels:
    """The labels of a stream that wait for their rows, the oldest first.

    Parameters
    ----------
    store : Store
        The database.
    stream : int
        Number of the stream.
    """

    def __init__(self, store: Store, stream: int) -> None:
        self._stream = stream
        table = KAFKA_HELD_LABELS
        query = select(table).where(table.c.stream == stream).order_by(table.c.since)
        with store.engine.connect() as connection:
            found = [dict(each) for each in connection.execute(query).mappings()]
        self._labels: dict[str, HeldLabel] = {}
        for each in found:
            del each["stream"]
            self._labels[each["id"]] = HeldLabel(**each | {"label": json.loads(each["label"])})

    def __len__(self) -> int:
        """Return the number of labels."""
        return len(self._labels)

    def __contains__(self, row_id: str) -> bool:
        """Return whether the label of a row is held."""
        return row_id in self._labels

    def label_of(self, row_id: str) -> Any:
        """Return the label that is held for a row."""
        return self._labels[row_id].label

    def of(self, rows: Container[str]) -> list[HeldLabel]:
        """Return the labels whose rows are there."""
        return [held for row_id, held in self._labels.items() if row_id in rows]

    def due(self, limit: float) -> list[HeldLabel]:
        """Return the labels that have been held since before a time, and the oldest of those that are too many."""
        n_too_many = len(self) - MOST_HELD
        return [held for t, held in enumerate(self._labels.values()) if t < n_too_many or held.since < limit]

    def additions(self, labels: Iterable[HeldLabel]) -> Changes:
        """Return what is stored to hold labels."""
        rows = [
            {
                "stream": self._stream,
                "id": held.id,
                "label": json.dumps(held.label),
                "since": held.since,
                "topic": held.topic,
                "partition": held.partition,
                "offset": held.offset,
            }
            for held in labels
        ]
        return Changes(others=[(insert(KAFKA_HELD_LABELS), rows)] if rows else [])

    def removals(self, ids: Iterable[str]) -> Changes:
        """Return what is stored to hold labels no longer."""
        rows = [{"b_stream": self._stream, "b_id": row_id} for row_id in ids]
        return Changes(others=[(RELEASE, rows)] if rows else [])

    def note_added(self, labels: Iterable[HeldLabel]) -> None:
        """Note that labels are held now."""
        self._labels |= {held.id: held for held in labels}

    def note_removed(self, ids: Sequence[str]) -> None:
        """Note that labels are held no longer."""
        for row_id in ids:
            del self._labels[row_id]
