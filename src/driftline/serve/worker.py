"""The thread of a stream: it checks and applies operations one after another, and passes on what they changed."""

import json
import logging
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from driftline.serve.operations import Answer, Ask, Expire, Label, Learn, Operation
from driftline.serve.problems import Problem, unavailable
from driftline.serve.row_schema import Row, RowSchema
from driftline.serve.settings import Limits
from driftline.serve.status import alarm_to_json, status_of
from driftline.serve.store import Changes, KnownRow, Store, StoredStream, changes_of, checkpoint_of
from driftline.serve.stream_state import OpenRow, StreamState
from driftline.serve.throughput import Throughput
from driftline.serve.writer import Writer
from driftline.types import Matrix, Vector

CHECKPOINT_ROWS, CHECKPOINT_SECONDS = 20_000, 60.0
"""A checkpoint is written after so many rows, or after so much time if anything changed."""
LOG = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a label: "learned", "repeated", "unknown", "conflict" or "expired"."""

    id: str
    outcome: str
    known: Any = None
    """The label that is known already, if it differs."""


class Worker:
    """Owns the state of a stream.

    Parameters
    ----------
    stream : StoredStream
        The stream.
    store : Store
        The database, from which the state is read.
    writer : Writer
        What writes changes.
    limits : Limits
        What the stream may take.
    """

    def __init__(
        self,
        stream: StoredStream,
        store: Store,
        writer: Writer,
        limits: Limits,
    ) -> None:
        self.stream = stream
        columns = stream.settings["columns"]
        self.schema = None if columns is None else RowSchema.from_json(columns)
        """How rows are read; None before the first rows of a stream whose columns were not declared."""
        self._store, self._writer = store, writer
        self._limits = limits
        self._tasks: queue.Queue[tuple[Callable[[], None], Future[Any]] | None] = queue.Queue(limits.waiting_requests)
        self._thread = threading.Thread(target=self._run, name=f"stream-{stream.id}", daemon=True)
        self.state = store.load_state(stream)
        self._last_time = max((row.time for row in self.state.open_rows.values()), default=0.0)
        self._changes = Changes()
        """What the current task changed so far."""
        self._is_consistent = True
        """False after a request failed, until the state was read again."""
        self.is_alarmed = self.state.alarm is not None
        self.is_stopped = False
        self._throughput = Throughput()
        self.last_status = self._status()
        """The status when it was last asked for."""
        self._unwritten: dict[str, tuple[int, KnownRow]] = {}
        """Rows that do not wait any more and are not on disk yet as they are now, with the number of the operation."""
        self._n_rows_since, self._checkpoint_time = 0, time.monotonic()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def submit(self, task: Callable[["Worker", Future[T]], None]) -> "Future[T]":
        """Let the thread run a task, which must set the future; raise Problem if too many wait."""
        if self.is_stopped:
            raise stopped()
        future: Future[T] = Future()
        try:
            self._tasks.put_nowait((lambda: task(self, future), future))
        except queue.Full:
            raise Problem(
                429, "too-many-requests", f"{self._tasks.maxsize} requests wait for this stream; try again later"
            ) from None
        return future

    def stop(self) -> None:
        """Finish what waits, write a checkpoint, and end the thread."""
        if not self.is_stopped:
            self.is_stopped = True
            self._tasks.put(None)
        self._thread.join()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns; none before they are known."""
        return () if self.schema is None else self.schema.names

    @property
    def n_waiting_tasks(self) -> int:
        """Number of requests that wait."""
        return self._tasks.qsize()

    def _run(self) -> None:
        while True:
            entry = self._tasks.get()
            if entry is None:
                if self._n_rows_since and self._is_consistent:
                    self._write_checkpoint()
                self._refuse_the_rest()
                return
            task, future = entry
            try:
                if not self._is_consistent:
                    self._rebuild()
                with self.state.exclusive():
                    task()
            except Problem as problem:
                self._changes = Changes()
                future.set_exception(problem)
            except BaseException as error:
                LOG.exception("stream %s: a request failed; its state will be read again", self.stream.name)
                self._is_consistent = False
                future.set_exception(error)
            else:
                self._write_checkpoint_if_due()

    def _refuse_the_rest(self) -> None:
        """Refuse the requests that came after the end."""
        with suppress(queue.Empty):
            while entry := self._tasks.get_nowait():
                entry[1].set_exception(stopped())

    # Tasks ----------------------------------------------------------------------------------------------

    def ask(
        self,
        ids: Sequence[str] | None,
        rows: Sequence[Row],
        future: "Future[list[tuple[str, Answer]]]",
        more: Callable[[list[tuple[str, Answer]]], Changes] | None = None,
    ) -> None:
        """Predict rows; one that was asked about before with the same values gets the same answer.

        `more` returns, from the answers, what else is stored in the same transaction.
        """
        schema, X = self._encode(rows)
        if ids is None:
            ids, known = [secrets.token_hex(8) for _ in X], {}
        else:
            known = self._known_rows([row_id for row_id in ids if row_id not in self.state.open_rows])
            check_new_ids(ids)
        repeated = {row_id: self._answer_again(row_id, X[t], known) for t, row_id in enumerate(ids)}
        new = [t for t, row_id in enumerate(ids) if repeated[row_id] is None]
        if len(self.state.open_rows) + len(new) > self._limits.open_rows:
            raise Problem(
                429,
                "too-many-open-rows",
                f"{len(self.state.open_rows)} rows wait for labels, and at most {self._limits.open_rows} may; send "
                "labels first, or let rows expire earlier",
            )
        answers = {row_id: answer for row_id, answer in repeated.items() if answer is not None}
        if new:
            said = self._apply(Ask(self._now(), tuple(ids[t] for t in new), X[new]), schema)
            answers |= {ids[t]: row.answer for t, row in zip(new, said, strict=True)}
        self._answer_when_stored(future, [(row_id, answers[row_id]) for row_id in ids], more)

    def label(
        self,
        labels: Sequence[tuple[str, Any]],
        future: "Future[list[Outcome]]",
        more: Callable[[list[Outcome]], Changes] | None = None,
    ) -> None:
        """Learn the labels of rows; whichever cannot be learned are said so, and the others are learned.

        `more` returns, from the outcomes, what else is stored in the same transaction.
        """
        known = self._known_rows([row_id for row_id, _ in labels if row_id not in self.state.open_rows])
        chosen: dict[str, Any] = {}
        outcomes = []
        for row_id, label in labels:
            if row_id in chosen:
                same = are_same(chosen[row_id], label)
                outcomes.append(Outcome(row_id, "repeated" if same else "conflict", None if same else chosen[row_id]))
            elif row_id in self.state.open_rows:
                chosen[row_id] = label
                outcomes.append(Outcome(row_id, "learned"))
            else:
                outcomes.append(outcome_of_known(row_id, label, known.get(row_id)))
        if chosen:
            self.state.check_labels(list(chosen.values()), self._limits.classes)
            self._apply(Label(self._now(), tuple(chosen), tuple(chosen.values())))
        self._answer_when_stored(future, outcomes, more)

    def learn(
        self, ids: Sequence[str] | None, rows: Sequence[Row], labels: Sequence[Any], future: "Future[list[Outcome]]"
    ) -> None:
        """Learn rows that come with their labels; those that were learned before are left out."""
        schema, X = self._encode(rows)
        if ids is None:
            ids, known = [secrets.token_hex(8) for _ in X], {}
        else:
            check_new_ids(ids)
            known = self._known_rows(ids)
        outcomes = []
        for row_id, label in zip(ids, labels, strict=True):
            if row_id in self.state.open_rows:
                raise Problem(409, "id-in-use", f"row {row_id!r} was predicted and waits for its label; send that only")
            outcomes.append(
                outcome_of_known(row_id, label, known.get(row_id)) if row_id in known else Outcome(row_id, "learned")
            )
        new = [t for t, outcome in enumerate(outcomes) if outcome.outcome == "learned"]
        if new:
            chosen = tuple(labels[t] for t in new)
            self.state.check_labels(chosen, self._limits.classes)
            self._apply(Learn(self._now(), tuple(ids[t] for t in new), X[new], chosen), schema)
        self._answer_when_stored(future, outcomes)

    def expire(self, future: "Future[int]") -> None:
        """Give up the rows that have waited for too long; return their number."""
        self.give_up_before(self._now() - self.stream.settings["expire_after"], future)

    def give_up_before(self, limit: float, future: "Future[int]") -> None:
        """Give up the rows that were predicted before a time; return their number."""
        ids = [row_id for row_id, _ in takewhile(lambda row: row[1].time < limit, self.state.open_rows.items())]
        if ids:
            self._apply(Expire(self._now(), tuple(ids)))
        self._answer_when_stored(future, len(ids))

    def store(self, changes: Changes, future: "Future[None]") -> None:
        """Store changes that no operation made."""
        self._changes.add(changes)
        self._answer_when_stored(future, None)

    def pause(self, future: "Future[None]", *, is_paused: bool) -> None:
        """Pause the stream, or resume it."""
        self.stream.is_paused = is_paused
        self._changes.settings.append(self.stream.to_changes())
        self._answer_when_stored(future, None)

    def replace_models(self, change: Callable[[StreamState], T], future: "Future[T]") -> None:
        """Let a function change the models of the state, and write a checkpoint: later operations depend on it."""
        answer = change(self.state)
        self.state.n_operations += 1  # the checkpoint before this change has the number before
        self.is_alarmed = self.state.alarm is not None
        self._write_checkpoint()
        self._answer_when_stored(future, answer)

    def read_status(self, future: "Future[dict[str, Any]]") -> None:
        """Return the status of the stream."""
        self.last_status = self._status()
        future.set_result(self.last_status)

    def read(self, view: Callable[[StreamState], T], future: "Future[T]") -> None:
        """Return what a function, which changes nothing, returns of the state."""
        future.set_result(view(self.state))

    def _status(self) -> dict[str, Any]:
        status = status_of(self.state, self.names, is_paused=self.stream.is_paused)
        return status | {"throughput": self._throughput.per_second()}

    # Parts of tasks -------------------------------------------------------------------------------------

    def _encode(self, rows: Sequence[Row]) -> tuple[RowSchema, Matrix]:
        """Return rows as numbers, and the schema by which they were read."""
        schema = self.schema
        if schema is None:
            schema = RowSchema.from_rows(rows)
            schema.check_size(self._limits.columns)
        return schema, schema.encode(rows)

    def _apply(self, operation: Operation, schema: RowSchema | None = None) -> list[OpenRow]:
        if self._writer.n_waiting_rows >= self._limits.unwritten_changes:
            raise unavailable(
                f"{self._writer.n_waiting_rows} changes wait for the database; send the request again later"
            )
        number = self.state.n_operations
        if schema is not None and self.schema is None:
            self.schema = schema
            self.stream.settings["columns"] = schema.to_json()
            self._changes.settings.append(self.stream.to_changes())
        rows = self.state.apply(operation)
        self._changes.add(changes_of(self.stream.id, operation, number, rows))
        if not isinstance(operation, Ask):
            self._unwritten |= zip(operation.ids, known_after(operation, number, rows), strict=True)
        if isinstance(operation, Ask):
            self._throughput.add(n_predicted=len(rows))
        if isinstance(operation, Label | Learn):
            self._throughput.add(n_labelled=len(rows))
            self._note_alarm(operation.time)
        self._n_rows_since += len(operation.ids)
        return rows

    def _answer_when_stored(self, future: "Future[T]", answer: T, more: Callable[[T], Changes] | None = None) -> None:
        if more is not None:
            self._changes.add(more(answer))
        changes, self._changes = self._changes, Changes()
        written = [(each["b_id"], each["labelled"]) for each in changes.labelled]
        written += [(each["b_id"], each["expired"]) for each in changes.expired]

        def on_stored() -> None:
            for row_id, number in written:
                if row_id in self._unwritten and self._unwritten[row_id][0] == number:
                    del self._unwritten[row_id]
            future.set_result(answer)

        self._writer.put(changes, on_stored)

    def _note_alarm(self, now: float) -> None:
        """Add an event if an alarm is raised that was not raised before."""
        if self.is_alarmed or (alarm := self.state.alarm) is None:
            return
        self.is_alarmed = True
        content = json.dumps(alarm_to_json(alarm, self.state, self.names))
        self._changes.events.append({"stream": self.stream.id, "time": now, "kind": "alarm", "content": content})

    def _known_rows(self, ids: Sequence[str]) -> dict[str, KnownRow]:
        """Return what is known of rows that do not wait, as it is on disk or will be."""
        # Rows leave `_unwritten` when they are on disk, so it must be read first.
        unwritten = {row_id: entry[1] for row_id in ids if (entry := self._unwritten.get(row_id)) is not None}
        others = [row_id for row_id in ids if row_id not in unwritten]
        try:
            return unwritten | (self._store.known_rows(self.stream.id, others) if others else {})
        except SQLAlchemyError as error:
            raise unavailable("the database does not answer; send the request again later") from error

    def _answer_again(self, row_id: str, x: Vector, known: Mapping[str, KnownRow]) -> Answer | None:
        """Return what was said of a row before; None if it is new, Problem if the id was used for another row."""
        waiting, stored = self.state.open_rows.get(row_id), known.get(row_id)
        if waiting is None and stored is None:
            return None
        if waiting is not None and waiting.x.tobytes() == x.tobytes():
            return waiting.answer
        if stored is not None and stored.x == x.tobytes():
            return stored.answer
        raise Problem(409, "id-in-use", f"the id {row_id!r} belongs to an earlier row; use a new id", ids=[row_id])

    def _now(self) -> float:
        """Return the time, which never goes backwards, even if the clock of the machine does."""
        self._last_time = max(self._last_time, time.time())
        return self._last_time

    # Checkpoints ----------------------------------------------------------------------------------------

    def _write_checkpoint_if_due(self) -> None:
        is_late = time.monotonic() - self._checkpoint_time > CHECKPOINT_SECONDS
        if self._n_rows_since >= CHECKPOINT_ROWS or (self._n_rows_since and is_late):
            self._write_checkpoint()

    def _write_checkpoint(self) -> None:
        self._n_rows_since, self._checkpoint_time = 0, time.monotonic()
        changes = checkpoint_of(self.stream.id, self.state, time.time())
        self._writer.put(changes, lambda: None)

    def _rebuild(self) -> None:
        """Read the state again from what is on disk, after all that waits has been written."""
        self._changes = Changes()
        stored = threading.Event()
        self._writer.put(Changes(), stored.set)
        stored.wait()
        self.state = self._store.load_state(self.stream)
        self._is_consistent = True


def stopped() -> Problem:
    """Return the problem that a stream is not served any more."""
    return Problem(404, "no-such-stream", "the stream was stopped or deleted meanwhile")


def check_new_ids(ids: Sequence[str]) -> None:
    """Raise Problem if an id occurs twice."""
    if len(set(ids)) < len(ids):
        twice = next(row_id for row_id in ids if ids.count(row_id) > 1)
        raise Problem(422, "invalid-content", f"the id {twice!r} occurs twice; give each row an id of its own")


def known_after(operation: Operation, number: int, rows: Sequence[OpenRow]) -> Iterator[tuple[int, KnownRow]]:
    """Yield what is known of the rows of an operation after it, and its number."""
    labels = operation.labels if isinstance(operation, Label | Learn) else (None,) * len(rows)
    is_expired = isinstance(operation, Expire)
    for row, label in zip(rows, labels, strict=True):
        yield number, KnownRow(row.x.tobytes(), row.answer, not is_expired, label, is_expired)


def outcome_of_known(row_id: str, label: Any, known: KnownRow | None) -> Outcome:
    """Return what becomes of a label whose row does not wait for one."""
    if known is None:
        return Outcome(row_id, "unknown")
    if known.is_expired:
        return Outcome(row_id, "expired")
    same = are_same(known.label, label)
    return Outcome(row_id, "repeated" if same else "conflict", None if same else known.label)


def are_same(label: Any, other: Any) -> bool:
    """Return whether two labels are equal and of the same type: 1 and True are not."""
    return type(label) is type(other) and bool(label == other)
