"""Passes the messages of a stream's topics to its worker, and publishes predictions."""

import logging
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from driftline.errors import ConfigError, DataError
from driftline.serve.kafka.clients import Publisher
from driftline.serve.kafka.figures import KafkaFigures
from driftline.serve.kafka.held_labels import MOST_HELD, HeldLabel, HeldLabels
from driftline.serve.kafka.messages import Outgoing, Received, label_of, prediction_of, rejection_of, row_of
from driftline.serve.kafka.positions import Positions
from driftline.serve.kafka.settings import Topics
from driftline.serve.kafka.topic_reader import TopicReader
from driftline.serve.operations import Answer
from driftline.serve.problems import Problem, invalid
from driftline.serve.routes import refusal
from driftline.serve.store import Changes
from driftline.serve.worker import Outcome, Worker, are_same

WAIT_SECONDS = 0.2
"""How long to wait before what is refused now is tried again."""
LEAVE_SECONDS = 5.0
"""How long what has begun may take when the server stops."""
TRY_AGAIN = ("too-many-requests", "storage-unavailable")
LOG = logging.getLogger(__name__)
T = TypeVar("T")


class EndedError(Exception):
    """The stream was stopped, or the server stops."""


class Session:
    """Reads the topics of a stream until the stream or the server is stopped.

    Messages are stored, then what they led to is published, then the next ones are read. So a message that was
    published is stored, and what is stored but was not published is published after a restart.

    Parameters
    ----------
    worker : Worker
        The stream.
    topics : Topics
        Its topics.
    reader : TopicReader
        What reads them.
    publisher : Publisher
        What publishes messages.
    positions : Positions
        How far the topics were read.
    held : HeldLabels
        Labels that came before their rows.
    figures : KafkaFigures
        What is counted.
    is_closing : callable
        Returns whether the server stops.
    """

    def __init__(
        self,
        worker: Worker,
        topics: Topics,
        reader: TopicReader,
        publisher: Publisher,
        positions: Positions,
        held: HeldLabels,
        figures: KafkaFigures,
        is_closing: Callable[[], bool],
    ) -> None:
        self._worker, self._topics, self._reader, self._publisher = worker, topics, reader, publisher
        self._positions, self._held, self._figures = positions, held, figures
        self._is_closing = is_closing
        self._deadline = math.inf
        self._waiting: list[Received] = []
        """Rows for which there is no room, since too many wait for their labels."""

    def run(self) -> None:
        """Read until the stream or the server is stopped."""
        with suppress(EndedError):
            while not self._is_closing():
                self._check()
                self._take(self._reader.read())
        changes = self._positions.unstored()
        with suppress(Problem, TimeoutError):
            self._worker.submit(lambda each, future: each.store(changes, future)).result(LEAVE_SECONDS)

    def _take(self, messages: Sequence[Received]) -> None:
        """Do all that messages lead to."""
        self._figures.n_read.update(message.topic for message in messages)
        rows, self._waiting = self._waiting, []
        rows += [message for message in messages if message.topic == self._topics.rows]
        self._in_parts(self._predict, rows, self._refuse_row)
        self._learn_held()  # they came before the next ones
        labels = [message for message in messages if message.topic == self._topics.labels]
        self._in_parts(self._learn, labels, self._refuse)
        self._pause_what_is_full()
        if not messages:
            self._store(self._positions.unstored())
            self._positions.note_stored()
            self._reader.show_positions()
        self._show_figures()

    # Rows -----------------------------------------------------------------------------------------------

    def _predict(self, messages: Sequence[Received]) -> None:
        """Predict the rows of messages, and publish the predictions."""
        if self._waiting:  # the order within a partition is kept
            self._waiting += messages
            return
        rows, unusable = _read(row_of, messages)
        changes = self._positions.after(messages)
        ids, values = [row_id for _, (row_id, _) in rows], [row for _, (_, row) in rows]
        answers: list[tuple[str, Answer]] = []
        if rows:
            answers = self._do(lambda each, future: each.ask(ids, values, future, lambda _: changes))
        else:
            self._store(changes)
        self._positions.note_read(messages)
        outgoing = [self._rejection(message, reason) for message, reason in unusable]
        if (topic := self._topics.predictions) is not None:
            said = zip(rows, answers, strict=True)
            outgoing += [prediction_of(topic, message, row_id, answer) for (message, _), (row_id, answer) in said]
        self._publish(outgoing, messages)

    def _refuse_row(self, message: Received, problem: Problem) -> None:
        if problem.kind == "too-many-open-rows":
            self._waiting.append(message)
        else:
            self._refuse(message, problem)

    # Labels ---------------------------------------------------------------------------------------------

    def _learn(self, messages: Sequence[Received]) -> None:
        """Learn the labels of messages, and hold those whose rows are unknown."""
        labels, unusable = _read(label_of, messages)
        changes, to_hold = self._positions.after(messages), dict[str, HeldLabel]()

        def with_held(outcomes: Sequence[Outcome]) -> Changes:
            now = time.time()
            for (message, (row_id, label)), outcome in zip(labels, outcomes, strict=True):
                if outcome.outcome == "unknown" and row_id not in to_hold and row_id not in self._held:
                    place = message.topic, message.partition, message.offset
                    to_hold[row_id] = HeldLabel(row_id, label, now, *place)
            changes.add(self._held.additions(to_hold.values()))
            return changes

        pairs = [pair for _, pair in labels]
        outcomes: list[Outcome] = []
        if labels:
            outcomes = self._do(lambda each, future: each.label(pairs, future, with_held))
        else:
            self._store(changes)
        self._positions.note_read(messages)
        self._held.note_added(to_hold.values())
        for (message, (row_id, label)), outcome in zip(labels, outcomes, strict=True):
            if reason := self._reason_to_refuse(row_id, label, outcome):
                unusable.append((message, reason))
        self._publish([self._rejection(message, reason) for message, reason in unusable], messages)

    def _reason_to_refuse(self, row_id: str, label: Any, outcome: Outcome) -> str:
        """Return why a label is refused; nothing if it is not."""
        if outcome.outcome == "unknown":
            held = self._held.label_of(row_id)
            return "" if are_same(held, label) else refusal(Outcome(row_id, "conflict", held)).detail
        return refusal(outcome).detail if outcome.outcome in ("conflict", "expired") else ""

    def _learn_held(self) -> None:
        """Learn the held labels whose rows have come, and give up those that have been held too long."""
        self._in_parts(self._release, self._held.of(self._worker.state.open_rows), self._refuse_held)
        if self._waiting or not self._are_rows_behind:
            limit = -math.inf if self._waiting else time.time() - self._topics.hold_labels
            self._in_parts(self._release, self._held.due(limit), self._refuse_held)

    def _release(self, labels: Sequence[HeldLabel]) -> None:
        """Learn held labels; those that are refused even now are rejected."""
        learned: list[str] = []

        def without_learned(outcomes: Sequence[Outcome]) -> Changes:
            learned.extend(each.id for each in outcomes if each.outcome in ("learned", "repeated"))
            return self._held.removals(learned)

        pairs = [(held.id, held.label) for held in labels]
        outcomes: list[Outcome] = self._do(lambda each, future: each.label(pairs, future, without_learned))
        self._held.note_removed(learned)
        for held, outcome in zip(labels, outcomes, strict=True):
            if outcome.outcome not in ("learned", "repeated"):
                self._give_up(held, refusal(outcome).detail)

    def _refuse_held(self, held: HeldLabel, problem: Problem) -> None:
        self._give_up(held, problem.detail)

    def _give_up(self, held: HeldLabel, reason: str) -> None:
        self._publish([self._rejection(held.message, reason)], [])
        self._store(self._held.removals([held.id]))
        self._held.note_removed([held.id])

    # Parts ----------------------------------------------------------------------------------------------

    def _in_parts(
        self, take: Callable[[Sequence[T]], None], items: Sequence[T], refuse: Callable[[T, Problem], None]
    ) -> None:
        """Take items at once; if that is refused, in halves, until those are found which are refused."""
        if not items:
            return
        try:
            take(items)
        except Problem as problem:
            if len(items) == 1:
                refuse(items[0], problem)
                return
            middle = len(items) // 2
            self._in_parts(take, items[:middle], refuse)
            self._in_parts(take, items[middle:], refuse)

    def _refuse(self, message: Received, problem: Problem) -> None:
        self._store(self._positions.after([message]))
        self._positions.note_read([message])
        self._publish([self._rejection(message, problem.detail)], [message])

    def _rejection(self, message: Received, reason: str) -> Outgoing:
        """Report a message that cannot be used; return the copy of it."""
        LOG.warning("stream %s: %s cannot be used: %s", self._worker.stream.name, message.place, reason)
        self._figures.n_rejected[message.topic] += 1
        return rejection_of(self._topics.rejected or "", message, reason)

    def _publish(self, outgoing: Sequence[Outgoing], messages: Sequence[Received]) -> None:
        """Publish what messages led to."""
        with_topic = [each for each in outgoing if each.topic]
        self._publisher.send(with_topic, self._check)
        self._figures.n_published.update(each.topic for each in with_topic)
        self._positions.note_published(messages)

    def _store(self, changes: Changes) -> None:
        """Store changes that no operation made."""
        if changes != Changes():
            self._do(lambda each, future: each.store(changes, future))

    def _do(self, task: Callable[[Worker, "Future[T]"], None]) -> T:
        """Let the worker do something, and wait until it is stored; while it has no time, or is paused, try again."""
        while True:
            self._check()
            try:
                if not self._worker.stream.is_paused:
                    return self._stored(self._worker.submit(task))
            except Problem as problem:
                if problem.kind == "no-such-stream":
                    raise EndedError from problem
                if problem.kind not in TRY_AGAIN:
                    raise
            except (SQLAlchemyError, OSError, MemoryError) as error:
                LOG.warning("stream %s: messages are tried again: %s", self._worker.stream.name, error)
            except (DataError, ConfigError) as error:
                raise invalid(str(error)) from error
            time.sleep(WAIT_SECONDS)

    def _stored(self, future: "Future[T]") -> T:
        while True:
            try:
                return future.result(WAIT_SECONDS)
            except TimeoutError:
                self._check()

    def _check(self) -> None:
        """Raise EndedError if what has begun cannot be finished: the stream is gone, or the server stops meanwhile."""
        if self._is_closing():
            self._deadline = min(self._deadline, time.monotonic() + LEAVE_SECONDS)
        if self._worker.is_stopped or time.monotonic() > self._deadline:
            raise EndedError

    @property
    def _are_rows_behind(self) -> bool:
        """Whether there are rows that were not taken yet."""
        return self._topics.rows is not None and bool(self._waiting or not self._reader.is_at_end(self._topics.rows))

    def _pause_what_is_full(self) -> None:
        """Read no more rows while some wait for room, and no more labels while too many wait for rows to come."""
        if self._topics.rows is not None:
            self._reader.pause(self._topics.rows, is_paused=bool(self._waiting))
        if self._topics.labels is not None:
            is_full = len(self._held) >= MOST_HELD and self._are_rows_behind and not self._waiting
            self._reader.pause(self._topics.labels, is_paused=is_full)

    def _show_figures(self) -> None:
        self._figures.n_held = len(self._held)
        self._figures.lags |= {topic: self._reader.lag(topic) for topic in self._topics.inputs}


def _read(
    read: Callable[[Received], T], messages: Sequence[Received]
) -> tuple[list[tuple[Received, T]], list[tuple[Received, str]]]:
    """Return messages with what they contain, and those that contain nothing usable, with the reason."""
    usable, unusable = [], []
    for message in messages:
        try:
            usable.append((message, read(message)))
        except Problem as problem:
            unusable.append((message, problem.detail))
    return usable, unusable
