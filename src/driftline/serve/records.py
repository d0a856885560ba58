"""The rows of a stream as a Parquet file, written part by part."""

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from driftline.evaluation.records import arrow
from driftline.serve.store import Store, answer_from_text


def parquet_parts(store: Store, stream: int, names: Sequence[str]) -> Iterator[bytes]:
    """Yield the bytes of a Parquet file with all rows of a stream, in the order in which they were predicted.

    Labels are texts. The values of the rows are numbers, as the model got them, in columns that begin with "row.".
    """
    pa = arrow()
    text, number, time = pa.string(), pa.float64(), pa.timestamp("us", tz="UTC")
    fields = [
        ("id", text),
        ("predicted_at", time),
        ("prediction", text),
        ("answered", pa.bool_()),
        ("confidence", number),
        ("bound", number),
        ("set", pa.list_(text)),
        ("shadow_prediction", text),
        ("label", text),
        ("labelled_at", time),
    ]
    schema = pa.schema([*fields, *((f"row.{name}", number) for name in names)])
    file = _Sink()
    with pa.parquet.ParquetWriter(file, schema) as writer:
        for rows in store.records(stream):
            writer.write_table(pa.table(_columns(rows, names), schema=schema))
            yield file.take()
    yield file.take()


def _columns(rows: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    said = [answer_from_text(row.answer) for row in rows]
    X = np.array([np.frombuffer(row.x) for row in rows])
    return {
        "id": [row.id for row in rows],
        "predicted_at": [_microseconds(row.asked_at) for row in rows],
        "prediction": [_text(answer.label) for answer, _ in said],
        "answered": [answer.is_answered for answer, _ in said],
        "confidence": [answer.confidence for answer, _ in said],
        "bound": [answer.bound for answer, _ in said],
        "set": [[str(label) for label in answer.labels] for answer, _ in said],
        "shadow_prediction": [_text(label) for _, label in said],
        "label": [None if row.label is None else str(json.loads(row.label)) for row in rows],
        "labelled_at": [_microseconds(row.labelled_at) for row in rows],
        **{f"row.{name}": X[:, j] for j, name in enumerate(names)},
    }


def _text(label: Any) -> str | None:
    return None if label is None else str(label)


def _microseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(1e6 * seconds)


class _Sink(io.RawIOBase):
    """A file that is written once from start to end, and read part by part meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._n_bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._n_bytes += len(part)
        return len(part)

    def tell(self) -> int:
        return self._n_bytes

    def take(self) -> bytes:
        """Return what was written since the last call."""
        parts, self._parts = self._parts, []
        return b"".join(parts)
