"""How far the topics of a stream have been read and published, as the database has it."""

from collections.abc import Sequence

from confluent_kafka import OFFSET_BEGINNING
from sqlalchemy import bindparam, select, text, update

from driftline.serve.kafka.messages import Received
from driftline.serve.store import Changes, Store
from driftline.serve.tables import KAFKA_POSITIONS

Partition = tuple[str, int]
SET_POSITIONS = text(
    "INSERT INTO kafka_positions (stream, topic, partition, read, published) "
    "VALUES (:stream, :topic, :partition, :read, :published) ON CONFLICT (stream, topic, partition) "
    "DO UPDATE SET read = excluded.read, published = excluded.published"
)
TABLE = KAFKA_POSITIONS
SET_PUBLISHED = (
    update(TABLE)
    .where(
        TABLE.c.stream == bindparam("b_stream"),
        TABLE.c.topic == bindparam("b_topic"),
        TABLE.c.partition == bindparam("b_partition"),
    )
    .values(published=bindparam("published"))
)


class Positions:
    """For each partition, the offsets before which all messages were read, and before which all were published.

    Reading begins with what was not published: the answers to these rows are known, and are published again.

    Parameters
    ----------
    store : Store
        The database.
    stream : int
        Number of the stream.
    """

    def __init__(self, store: Store, stream: int) -> None:
        self._stream = stream
        with store.engine.connect() as connection:
            found = connection.execute(select(TABLE).where(TABLE.c.stream == stream)).all()
        self.read: dict[Partition, int] = {(each.topic, each.partition): each.read for each in found}
        self.published: dict[Partition, int] = {(each.topic, each.partition): each.published for each in found}
        self._published_on_disk = dict(self.published)

    def start(self, partition: Partition) -> int:
        """Return the offset from which to read."""
        return self.published.get(partition, int(OFFSET_BEGINNING))

    def forget(self, partition: Partition) -> None:
        """Forget how far a partition was read: what it has now is something else."""
        for offsets in (self.read, self.published):
            offsets.pop(partition, None)

    def after(self, messages: Sequence[Received]) -> Changes:
        """Return what is stored with all that messages led to."""
        for message in messages:
            self.published.setdefault((message.topic, message.partition), message.offset)
        rows = [
            {
                "stream": self._stream,
                "topic": partition[0],
                "partition": partition[1],
                "read": offset,
                "published": self.published[partition],
            }
            for partition, offset in self._read_after(messages).items()
        ]
        return Changes(others=[(SET_POSITIONS, rows)])

    def _read_after(self, messages: Sequence[Received]) -> dict[Partition, int]:
        """Return the new offsets of the partitions of messages; those that come again change nothing."""
        read: dict[Partition, int] = {}
        for message in messages:
            partition = message.topic, message.partition
            read[partition] = max(message.offset + 1, read.get(partition, self.read.get(partition, 0)))
        return read

    def note_read(self, messages: Sequence[Received]) -> None:
        """Note that what `after` returned is stored."""
        read = self._read_after(messages)
        self.read |= read
        self._published_on_disk |= {partition: self.published[partition] for partition in read}

    def note_published(self, messages: Sequence[Received]) -> None:
        """Note that all that messages led to was published."""
        for message in messages:
            self.published[message.topic, message.partition] = message.offset + 1

    def unstored(self) -> Changes:
        """Return what is stored after messages were published, unless it is stored with the next ones."""
        moved = [each for each in self.read if self.published[each] != self._published_on_disk[each]]
        rows = [
            {"b_stream": self._stream, "b_topic": each[0], "b_partition": each[1], "published": self.published[each]}
            for each in moved
        ]
        return Changes(others=[(SET_PUBLISHED, rows)] if rows else [])

    def note_stored(self) -> None:
        """Note that what `unstored` returned is stored."""
        self._published_on_disk |= {each: self.published[each] for each in self.read}
