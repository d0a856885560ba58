"""Reads the topics of a stream: all their partitions, each from the place where reading ended."""

import logging
import time
from collections.abc import Sequence

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from driftline.serve.kafka.messages import Received
from driftline.serve.kafka.positions import Partition, Positions

MESSAGES_AT_ONCE = 200
POLL_SECONDS = 0.2
PARTITION_SECONDS, MISSING_TOPIC_SECONDS = 30.0, 1.0
"""How often to look for new partitions, and for topics that were not there."""
METADATA_TIMEOUT = 2.0
LOG = logging.getLogger(__name__)


class TopicReader:
    """Reads topics.

    All partitions are read here, whoever else joins the consumer group: rows and their labels can be in any of them.

    Parameters
    ----------
    consumer : Consumer
        The connection.
    topics : sequence of str
        The topics.
    positions : Positions
        Where to begin.
    """

    def __init__(self, consumer: Consumer, topics: Sequence[str], positions: Positions) -> None:
        self._consumer, self._positions = consumer, positions
        self._partitions: dict[str, set[int]] = {topic: set() for topic in topics}
        self._paused: set[str] = set()
        self._at_end: set[Partition] = set()
        self._next_look = 0.0
        self._reported: dict[str, str] = {}
        """What was reported last of each topic."""

    def read(self) -> list[Received]:
        """Return the next messages, of all topics; none if none came for a moment."""
        self._look_for_partitions()
        first = self._consumer.poll(POLL_SECONDS)
        if first is None:
            return []
        found = [first, *self._consumer.consume(MESSAGES_AT_ONCE - 1, 0)]
        return [_received(message) for message in found if self._has_content(message)]

    def is_at_end(self, topic: str) -> bool:
        """Return whether all messages of a topic have been read."""
        numbers = self._partitions[topic]
        return bool(numbers) and self._at_end.issuperset((topic, number) for number in numbers)

    def lag(self, topic: str) -> int:
        """Return how many messages of a topic have not been read yet, as far as that is known."""
        total = 0
        for number in self._partitions[topic]:
            low, high = self._consumer.get_watermark_offsets(TopicPartition(topic, number), cached=True)
            total += max(high - self._positions.read.get((topic, number), max(low, 0)), 0)
        return total

    def pause(self, topic: str, *, is_paused: bool) -> None:
        """Stop reading a topic, or go on with it."""
        if is_paused == (topic in self._paused):
            return
        partitions = [TopicPartition(topic, number) for number in self._partitions[topic]]
        if is_paused:
            self._consumer.pause(partitions)
            self._paused.add(topic)
        else:
            self._consumer.resume(partitions)
            self._paused.remove(topic)

    def show_positions(self) -> None:
        """Tell Kafka how far the topics were read, for its tools; what counts is what the database has."""
        offsets = [TopicPartition(*partition, offset) for partition, offset in self._positions.published.items()]
        if offsets:
            self._consumer.commit(offsets=offsets, asynchronous=True)

    def _look_for_partitions(self) -> None:
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + PARTITION_SECONDS
        for topic, known in self._partitions.items():
            numbers = self._numbers(topic)
            if not numbers and not known:
                self._next_look = time.monotonic() + MISSING_TOPIC_SECONDS
            for number in sorted(numbers - known):
                self._begin((topic, number), self._positions.start((topic, number)))
                known.add(number)

    def _numbers(self, topic: str) -> set[int]:
        """Return the numbers of a topic's partitions; none if they cannot be found out."""
        try:
            found = self._consumer.list_topics(topic, timeout=METADATA_TIMEOUT).topics[topic]
        except KafkaException as exception:
            self._report(topic, exception.args[0].str())
            return set()
        self._report(topic, "" if found.error is None else found.error.str())
        return set(found.partitions)

    def _report(self, topic: str, error: str) -> None:
        """Report why the partitions of a topic cannot be found out, once."""
        if error and self._reported.get(topic) != error:
            LOG.warning("the partitions of %s cannot be found out, which is tried again and again: %s", topic, error)
        self._reported[topic] = error

    def _begin(self, partition: Partition, offset: int) -> None:
        topic, number = partition
        self._consumer.incremental_assign([TopicPartition(topic, number, offset)])
        if topic in self._paused:
            self._consumer.pause([TopicPartition(topic, number)])

    def _has_content(self, message: Message) -> bool:
        """Return whether a message has content; otherwise it is a report, which is dealt with."""
        error, partition = message.error(), (message.topic(), message.partition())
        if error is None:
            self._at_end.discard(partition)
            return True
        if error.code() == KafkaError._PARTITION_EOF:
            self._at_end.add(partition)
        elif error.code() == KafkaError._AUTO_OFFSET_RESET:
            self._begin_anew(partition, message.offset())
        elif error.fatal():
            raise KafkaException(error)
        else:
            LOG.warning("Kafka: %s", error.str())
        return False

    def _begin_anew(self, partition: Partition, offset: int) -> None:
        """Go on with the oldest message, since the one to go on with is gone."""
        LOG.error(
            "messages of %s, partition %d, were deleted from offset %d on before they were read; going on with the "
            "oldest that is left",
            *partition,
            offset,
        )
        self._positions.forget(partition)
        self._consumer.incremental_unassign([TopicPartition(*partition)])
        self._begin(partition, OFFSET_BEGINNING)


def _received(message: Message) -> Received:
    return Received(
        message.topic(),
        message.partition(),
        message.offset(),
        message.key(),
        message.value(),
        tuple(message.headers() or ()),
    )
