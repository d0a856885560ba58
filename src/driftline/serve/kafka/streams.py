"""The threads that read the topics of streams."""

import logging
import threading

from driftline.serve.kafka.clients import Publisher, check_properties, new_consumer
from driftline.serve.kafka.figures import KafkaFigures
from driftline.serve.kafka.held_labels import HeldLabels
from driftline.serve.kafka.positions import Positions
from driftline.serve.kafka.session import Session
from driftline.serve.kafka.settings import KafkaSettings
from driftline.serve.kafka.topic_reader import TopicReader
from driftline.serve.service import Service
from driftline.serve.store import Store
from driftline.serve.worker import Worker

RETRY_SECONDS = 1.0
"""How long to wait for a stream to be created, and before a session that failed is begun again."""
LOG = logging.getLogger(__name__)


class KafkaStreams:
    """Reads the topics of streams, each in a thread of its own.

    Parameters
    ----------
    settings : KafkaSettings
        How Kafka is reached, and the topics of each stream; ConfigError if librdkafka does not take the properties.
    """

    def __init__(self, settings: KafkaSettings) -> None:
        check_properties(settings)
        self._settings = settings
        self._is_closing = threading.Event()
        self.figures = {name: KafkaFigures() for name in settings.streams}
        """The counts of each stream, by its name."""
        self._threads: list[threading.Thread] = []

    def start(self, service: Service) -> None:
        """Start reading for the streams of a server."""
        for name in self._settings.streams:
            thread = threading.Thread(target=self._run, args=(service, name), name=f"kafka-{name}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Finish what has begun, and stop reading."""
        self._is_closing.set()
        for thread in self._threads:
            thread.join()

    def _run(self, service: Service, name: str) -> None:
        is_missing = False
        while not self._is_closing.is_set():
            worker = next((each for each in service.workers if each.stream.name == name), None)
            if worker is None and not is_missing:
                LOG.warning("there is no stream %s; its topics are read as soon as it is created", name)
            is_missing = worker is None
            if worker is not None:
                try:
                    self._serve(worker, service.store)
                except Exception:
                    LOG.exception("stream %s: reading from Kafka failed, and begins again", name)
            self._is_closing.wait(RETRY_SECONDS)

    def _serve(self, worker: Worker, store: Store) -> None:
        """Read the topics of a stream until it or the server is stopped."""
        topics, number = self._settings.streams[worker.stream.name], worker.stream.id
        positions = Positions(store, number)
        consumer = new_consumer(self._settings)
        try:
            Session(
                worker,
                topics,
                TopicReader(consumer, topics.inputs, positions),
                Publisher(self._settings),
                positions,
                HeldLabels(store, number),
                self.figures[worker.stream.name],
                self._is_closing.is_set,
            ).run()
        finally:
            consumer.close()
