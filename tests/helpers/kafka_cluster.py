"""A cluster of Kafka's protocol for tests: the mock cluster that comes with librdkafka, in this process."""

import ctypes
import json
import time
from contextlib import contextmanager

import confluent_kafka as kafka
from confluent_kafka import cimpl

PATIENCE_SECONDS = 60.0


class KafkaCluster:
    """A cluster with one broker on a port of this machine, which any program can connect to.

    It ends with the process. The property `test.mock.num.brokers` starts the same cluster, but leaves no way to stop
    its broker for a while; so librdkafka's functions are called directly.
    """

    def __init__(self):
        self._library = library()
        self._client = self._library.rd_kafka_new(0, None, None, 0)
        self._cluster = self._library.rd_kafka_mock_cluster_new(self._client, 1)
        self.servers = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster).decode()
        self._producer = kafka.Producer({"bootstrap.servers": self.servers})

    def create_topics(self, *names):
        """Create topics, which have four partitions each: whoever may write asks for them."""
        for name in names:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not self._producer.list_topics(name, PATIENCE_SECONDS).topics[name].partitions:
                assert time.monotonic() < deadline, f"the topic {name} was not created"

    def stop_broker(self):
        """Let the broker be out of reach; it keeps its messages."""
        assert self._library.rd_kafka_mock_broker_set_down(self._cluster, 1) == 0

    def start_broker(self):
        """Let the broker be there again."""
        assert self._library.rd_kafka_mock_broker_set_up(self._cluster, 1) == 0

    def send(self, topic, *messages):
        """Publish messages, each a value, or a (value, options of `produce`) pair; values become JSON."""
        for message in messages:
            value, options = message if isinstance(message, tuple) else (message, {})
            self._producer.produce(topic, value if isinstance(value, bytes) else json.dumps(value), **options)
        assert self._producer.flush(PATIENCE_SECONDS) == 0

    def read(self, topic, n=0):
        """Return the messages of a topic from its beginning: all that are there, and at least n."""
        options = {"group.id": "reader", "enable.partition.eof": True, "fetch.wait.max.ms": 10}
        consumer = kafka.Consumer({"bootstrap.servers": self.servers} | options)
        partitions = list(consumer.list_topics(topic, PATIENCE_SECONDS).topics[topic].partitions)
        consumer.assign([kafka.TopicPartition(topic, number, kafka.OFFSET_BEGINNING) for number in partitions])
        messages, n_ends, deadline = [], 0, time.monotonic() + PATIENCE_SECONDS
        while n_ends < len(partitions) or len(messages) < n:
            assert time.monotonic() < deadline, f"{topic} has {len(messages)} messages; {n} were expected"
            message = consumer.poll(0.1)
            if message is None:
                continue
            if message.error() is None:
                messages.append(message)
            else:
                assert message.error().code() == kafka.KafkaError._PARTITION_EOF
                n_ends += 1
        consumer.close()
        return messages

    def contents(self, topic, n=0):
        """Return the values of a topic from JSON."""
        return [json.loads(message.value()) for message in self.read(topic, n)]

    @contextmanager
    def other_consumer(self, group, topics):
        """Let another consumer be a member of a group, and read what it gets, within a ``with`` block."""
        other = kafka.Consumer({"bootstrap.servers": self.servers, "group.id": group, "auto.offset.reset": "earliest"})
        other.subscribe(list(topics))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not other.assignment():
            assert time.monotonic() < deadline, "the other consumer got no partitions"
            other.poll(0.1)
        try:
            yield other
        finally:
            other.close()

    def close(self):
        """End the cluster."""
        self._producer = None
        self._library.rd_kafka_mock_cluster_destroy(self._cluster)
        self._library.rd_kafka_destroy(self._client)


def library():
    """Return the functions of librdkafka; AttributeError where a loaded module does not show those it uses."""
    found = ctypes.CDLL(cimpl.__file__)
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    for name, result, arguments in (
        ("rd_kafka_new", pointer, (number, pointer, pointer, ctypes.c_size_t)),
        ("rd_kafka_destroy", None, (pointer,)),
        ("rd_kafka_mock_cluster_new", pointer, (pointer, number)),
        ("rd_kafka_mock_cluster_destroy", None, (pointer,)),
        ("rd_kafka_mock_cluster_bootstraps", text, (pointer,)),
        ("rd_kafka_mock_broker_set_down", number, (pointer, ctypes.c_int32)),
        ("rd_kafka_mock_broker_set_up", number, (pointer, ctypes.c_int32)),
    ):
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found
