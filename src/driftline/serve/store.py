"""The database of the server: what is written at once, and how the state of a stream is read back."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import groupby
from typing import Any

import numpy as np
from sqlalchemy import Connection, Executable, bindparam, delete, insert, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from driftline.errors import CheckpointError
from driftline.serve.database import open_engine, without_password
from driftline.serve.figures import Figures
from driftline.serve.operations import Answer, Ask, Expire, Label, Learn, Operation
from driftline.serve.stream_state import OpenRow, StreamState, model_from_bytes, model_to_bytes
from driftline.serve.tables import CHECKPOINTS, EVENTS, ROWS, STREAMS, WEBHOOKS, migrate
from driftline.serve.write_session import WriteSession

KEPT_CHECKPOINTS = 2
ROWS_AT_ONCE = 5000
"""Rows that are read from the database at once."""


@dataclass(slots=True)
class Changes:
    """What one transaction writes, by the statement that writes it."""

    asked: list[dict[str, Any]] = field(default_factory=list)
    labelled: list[dict[str, Any]] = field(default_factory=list)
    expired: list[dict[str, Any]] = field(default_factory=list)
    checkpoints: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    settings: list[dict[str, Any]] = field(default_factory=list)
    others: list[tuple[Executable, list[dict[str, Any]]]] = field(default_factory=list)
    """Further statements with their rows."""
    deleted: list[int] = field(default_factory=list)
    """Streams that are deleted, after all else."""

    def add(self, other: "Changes") -> None:
        """Add the changes that come after these."""
        for name in self.__slots__:
            getattr(self, name).extend(getattr(other, name))

    @property
    def n_rows(self) -> int:
        """Number of rows that are written."""
        return len(self.asked) + len(self.labelled) + len(self.expired)

    def write(self, connection: Connection) -> None:
        """Write the changes as part of a transaction."""
        for statement, rows in (
            (insert(ROWS), self.asked),
            (LABEL_ROWS, self.labelled),
            (EXPIRE_ROWS, self.expired),
            (insert(CHECKPOINTS), self.checkpoints),
            (insert(EVENTS), self.events),
            (SET_STREAMS, self.settings),
            *self.others,
        ):
            if rows:
                connection.execute(statement, rows)
        for stream in {each["stream"] for each in self.checkpoints}:
            _remove_old_checkpoints(connection, stream)
        for stream in self.deleted:
            _delete_stream(connection, stream)


@dataclass(slots=True)
class StoredStream:
    """A stream as it stands in its table."""

    id: int
    name: str
    settings: dict[str, Any]
    created: float
    is_paused: bool

    def to_changes(self) -> dict[str, Any]:
        """Return what `Changes.settings` needs to store the settings."""
        return {"b_id": self.id, "settings": json.dumps(self.settings), "is_paused": self.is_paused}


@dataclass(frozen=True, slots=True)
class KnownRow:
    """What the database knows of a row."""

    x: bytes
    answer: Answer
    has_label: bool
    label: Any
    is_expired: bool


LABEL_ROWS = (
    update(ROWS)
    .where(ROWS.c.stream == bindparam("b_stream"), ROWS.c.id == bindparam("b_id"))
    .values(
        label=bindparam("label"),
        labelled=bindparam("labelled"),
        labelled_place=bindparam("labelled_place"),
        labelled_at=bindparam("labelled_at"),
    )
)
EXPIRE_ROWS = (
    update(ROWS)
    .where(ROWS.c.stream == bindparam("b_stream"), ROWS.c.id == bindparam("b_id"))
    .values(expired=bindparam("expired"), expired_at=bindparam("expired_at"))
)
FIND_ROWS = select(ROWS.c.id, ROWS.c.x, ROWS.c.answer, ROWS.c.labelled, ROWS.c.label, ROWS.c.expired).where(
    ROWS.c.stream == bindparam("stream"), ROWS.c.id.in_(bindparam("ids", expanding=True))
)
SET_STREAMS = (
    update(STREAMS)
    .where(STREAMS.c.id == bindparam("b_id"))
    .values(settings=bindparam("settings"), is_paused=bindparam("is_paused"))
)


class Store:
    """The database, SQLite or PostgreSQL.

    Parameters
    ----------
    url : str
        Its address.
    """

    def __init__(self, url: str) -> None:
        self.engine = open_engine(url)
        self._session = WriteSession(self.engine)
        try:
            migrate(self.engine)
        except SQLAlchemyError as error:
            raise CheckpointError(f"the database {without_password(url)} cannot be used: {error.args[0]}") from error

    def claim(self) -> None:
        """Be the one that writes to the database; raise BusyError if another server does."""
        self._session.claim()

    def close(self) -> None:
        """Close all connections."""
        self._session.close()
        self.engine.dispose()

    def write(self, changes: Changes) -> None:
        """Write changes in one transaction; when this returns, they survive the end of the process.

        After an error the same changes must be tried again, before any others. They are written once, even if the
        database has committed them although it answered with the error.
        """
        self._session.write(changes.write)

    # Streams --------------------------------------------------------------------------------------------

    def streams(self) -> list[StoredStream]:
        """Return all streams."""
        with self.engine.connect() as connection:
            found = connection.execute(select(STREAMS).order_by(STREAMS.c.id)).mappings().all()
        return [StoredStream(**each | {"settings": json.loads(each["settings"])}) for each in map(dict, found)]

    def create_stream(self, name: str, settings: dict[str, Any], created: float) -> StoredStream:
        """Add a stream with a name that no stream in use has.

        One that is stored under this name nevertheless was never answered: its connection broke. It is replaced.
        """
        values = {"name": name, "settings": json.dumps(settings), "created": created, "is_paused": False}
        with self.engine.begin() as connection:
            self._session.check(connection)
            connection.execute(delete(STREAMS).where(STREAMS.c.name == name))
            (key,) = connection.execute(insert(STREAMS).values(values)).inserted_primary_key or (0,)
        return StoredStream(int(key), name, settings, created, is_paused=False)

    def known_rows(self, stream: int, ids: Sequence[str]) -> dict[str, KnownRow]:
        """Return what is known of the rows with these ids; those that are unknown are left out."""
        with self.engine.connect() as connection:
            found = connection.execute(FIND_ROWS, {"stream": stream, "ids": ids}).all()
        return {
            each.id: KnownRow(
                each.x,
                answer_from_text(each.answer)[0],
                each.labelled is not None,
                None if each.label is None else json.loads(each.label),
                each.expired is not None,
            )
            for each in found
        }

    def events(self, stream: int | None, after: int, most: int) -> list[dict[str, Any]]:
        """Return the events of a stream, or of all streams, after the one with a number; the oldest first."""
        query = select(EVENTS).where(EVENTS.c.id > after).order_by(EVENTS.c.id).limit(most)
        if stream is not None:
            query = query.where(EVENTS.c.stream == stream)
        with self.engine.connect() as connection:
            found = connection.execute(query).mappings().all()
        return [dict(each) | {"content": json.loads(each["content"])} for each in found]

    # State ----------------------------------------------------------------------------------------------

    def load_state(self, stream: StoredStream) -> StreamState:
        """Return the state of a stream: that of its last checkpoint, and what happened since then."""
        with self.engine.connect() as connection:
            return self.state_in(connection, stream)

    def state_in(self, connection: Connection, stream: StoredStream) -> StreamState:
        """Return the state of a stream as a transaction sees it."""
        query = select(CHECKPOINTS).where(CHECKPOINTS.c.stream == stream.id)
        query = query.order_by(CHECKPOINTS.c.n_operations.desc()).limit(1)
        found = connection.execute(query).mappings().one_or_none()
        state = StreamState(stream.settings["parameters"]) if found is None else _state_of(found)
        state.open_rows = _open_rows(connection, stream.id, state.n_operations)
        for operation in _operations_since(connection, stream.id, state.n_operations):
            state.apply(operation)
        return state

    def records(self, stream: int) -> Iterator[Sequence[Any]]:
        """Return an iterator over all rows of a stream, in the order in which they were predicted, part by part."""
        query = select(ROWS).where(ROWS.c.stream == stream).order_by(ROWS.c.asked, ROWS.c.asked_place)
        with self.engine.connect().execution_options(yield_per=ROWS_AT_ONCE) as connection:
            yield from connection.execute(query).partitions()


def _remove_old_checkpoints(connection: Connection, stream: int) -> None:
    query = select(CHECKPOINTS.c.n_operations).where(CHECKPOINTS.c.stream == stream)
    kept = connection.execute(query.order_by(CHECKPOINTS.c.n_operations.desc()).limit(KEPT_CHECKPOINTS)).scalars().all()
    connection.execute(
        delete(CHECKPOINTS).where(CHECKPOINTS.c.stream == stream, CHECKPOINTS.c.n_operations < min(kept))
    )


def _delete_stream(connection: Connection, stream: int) -> None:
    for table in (ROWS, CHECKPOINTS, EVENTS, WEBHOOKS):
        connection.execute(delete(table).where(table.c.stream == stream))
    connection.execute(delete(STREAMS).where(STREAMS.c.id == stream))


# What is written ----------------------------------------------------------------------------------------


def changes_of(stream: int, operation: Operation, number: int, rows: Sequence[OpenRow]) -> Changes:
    """Return what an operation with this number changed; `rows` are those that it returned."""
    changes = Changes()
    match operation:
        case Ask():
            changes.asked = [_asked(stream, number, t, operation, row) for t, row in enumerate(rows)]
        case Learn():
            changes.asked = [_asked(stream, number, t, operation, row) for t, row in enumerate(rows)]
            changes.labelled = _labelled(stream, number, operation)
        case Label():
            changes.labelled = _labelled(stream, number, operation)
        case Expire():
            changes.expired = [
                {"b_stream": stream, "b_id": row_id, "expired": number, "expired_at": operation.time}
                for row_id in operation.ids
            ]
    return changes


def _asked(stream: int, number: int, place: int, operation: Ask | Learn, row: OpenRow) -> dict[str, Any]:
    return {
        "stream": stream,
        "id": operation.ids[place],
        "x": row.x.tobytes(),
        "asked": number,
        "asked_place": place,
        "asked_at": operation.time,
        "answer": answer_to_text(row.answer, row.shadow_label),
    }


def _labelled(stream: int, number: int, operation: Label | Learn) -> list[dict[str, Any]]:
    return [
        {
            "b_stream": stream,
            "b_id": row_id,
            "label": json.dumps(label),
            "labelled": number,
            "labelled_place": t,
            "labelled_at": operation.time,
        }
        for t, (row_id, label) in enumerate(zip(operation.ids, operation.labels, strict=True))
    ]


def answer_to_text(answer: Answer, shadow_label: Any) -> str:
    """Return what was said of a row as JSON."""
    content = {name: getattr(answer, name) for name in Answer.__slots__}  # `asdict` copies, which takes much longer
    return json.dumps(content | {"shadow_label": shadow_label}, separators=(",", ":"))


def answer_from_text(text: str) -> tuple[Answer, Any]:
    """Return what was said of a row, and what the shadow predicted."""
    content = json.loads(text)
    shadow_label = content.pop("shadow_label")
    return Answer(**content | {"labels": tuple(content["labels"])}), shadow_label


def checkpoint_of(stream: int, state: StreamState, created: float) -> Changes:
    """Return what is written to continue from a state."""
    settings = {"parameters": state.parameters, "shadow_parameters": state.shadow_parameters}
    return Changes(
        checkpoints=[
            {
                "stream": stream,
                "n_operations": state.n_operations,
                "created": created,
                "figures": json.dumps([state.figures.to_json(), state.beside_shadow.to_json()]),
                "settings": json.dumps(settings),
                "model": None if state.model is None else model_to_bytes(state.model),
                "shadow": None if state.shadow is None else model_to_bytes(state.shadow),
            }
        ]
    )


# What is read back --------------------------------------------------------------------------------------


def _state_of(checkpoint: Any) -> StreamState:
    settings = json.loads(checkpoint["settings"])
    figures, beside_shadow = map(Figures.from_json, json.loads(checkpoint["figures"]))
    return StreamState(
        parameters=settings["parameters"],
        shadow_parameters=settings["shadow_parameters"],
        model=None if checkpoint["model"] is None else model_from_bytes(checkpoint["model"]),
        shadow=None if checkpoint["shadow"] is None else model_from_bytes(checkpoint["shadow"]),
        n_operations=checkpoint["n_operations"],
        figures=figures,
        beside_shadow=beside_shadow,
    )


def _open_rows(connection: Connection, stream: int, n_operations: int) -> dict[str, OpenRow]:
    """Return the rows that waited for their labels after so many operations."""
    query = (
        select(ROWS.c.id, ROWS.c.x, ROWS.c.asked_at, ROWS.c.answer)
        .where(
            ROWS.c.stream == stream,
            ROWS.c.asked < n_operations,
            or_(ROWS.c.labelled.is_(None), ROWS.c.labelled >= n_operations),
            or_(ROWS.c.expired.is_(None), ROWS.c.expired >= n_operations),
        )
        .order_by(ROWS.c.asked, ROWS.c.asked_place)
    )
    return {
        row.id: OpenRow(np.frombuffer(row.x), row.asked_at, *answer_from_text(row.answer))
        for row in connection.execute(query)
    }


def _operations_since(connection: Connection, stream: int, n_operations: int) -> Iterator[Operation]:
    """Return an iterator over the operations from this number on."""
    parts = []
    for number, place, columns in (
        (ROWS.c.asked, ROWS.c.asked_place, (ROWS.c.id, ROWS.c.x, ROWS.c.asked_at, ROWS.c.labelled, ROWS.c.label)),
        (ROWS.c.labelled, ROWS.c.labelled_place, (ROWS.c.id, ROWS.c.label, ROWS.c.labelled_at, ROWS.c.asked)),
        (ROWS.c.expired, ROWS.c.id, (ROWS.c.id, ROWS.c.expired_at)),
    ):
        query = select(number.label("number"), *columns).where(ROWS.c.stream == stream, number >= n_operations)
        parts.append(connection.execute(query.order_by(number, place)))
    groups = merge(*(_grouped(kind, part) for kind, part in enumerate(parts)), key=lambda group: group[0])
    for _, kind, rows in groups:
        operation = _operation(kind, rows)
        if operation is not None:
            yield operation


def _grouped(kind: int, rows: Iterable[Any]) -> Iterator[tuple[int, int, list[Any]]]:
    for number, group in groupby(rows, key=lambda row: row.number):
        yield number, kind, list(group)


def _operation(kind: int, rows: list[Any]) -> Operation | None:
    """Return the operation that some rows were part of; None for the labels of `Learn`, which its rows have too."""
    ids = tuple(row.id for row in rows)
    first = rows[0]
    if kind == 2:
        return Expire(first.expired_at, ids)
    if kind == 1:
        if first.asked == first.number:
            return None
        return Label(first.labelled_at, ids, tuple(json.loads(row.label) for row in rows))
    X = np.array([np.frombuffer(row.x) for row in rows])
    if first.labelled == first.number:
        return Learn(first.asked_at, ids, X, tuple(json.loads(row.label) for row in rows))
    return Ask(first.asked_at, ids, X)
