"""The connections to Kafka: only this package imports confluent_kafka."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from driftline.errors import ConfigError
from driftline.serve.kafka.messages import Outgoing
from driftline.serve.kafka.settings import KafkaSettings

RETRY_SECONDS = 1.0
SECONDS_BETWEEN_REPORTS = 30.0
LOG = logging.getLogger(__name__)


def new_consumer(settings: KafkaSettings) -> Consumer:
    """Return a connection that reads."""
    own = {
        "group.id": settings.group,
        "enable.auto.commit": "false",
        "enable.partition.eof": "true",
        "auto.offset.reset": "error",
    }
    return Consumer(_properties(settings) | own)


def new_producer(settings: KafkaSettings) -> Producer:
    """Return a connection that writes each message once, however often its server has to be asked."""
    return Producer(_properties(settings) | {"enable.idempotence": "true", "message.timeout.ms": "0"})


def check_properties(settings: KafkaSettings) -> None:
    """Raise ConfigError if librdkafka does not take the properties."""
    try:
        new_consumer(settings).close()
        new_producer(settings)
    except KafkaException as error:
        raise ConfigError(f"librdkafka does not take the properties of Kafka: {error.args[0].str()}") from error


def _properties(settings: KafkaSettings) -> dict[str, Any]:
    own = {"bootstrap.servers": settings.servers, "error_cb": ErrorLog()}
    return {"client.id": "driftline", "log_level": "2"} | dict(settings.properties) | own


class ErrorLog:
    """Logs errors of a connection, at most one in half a minute: a broken one reports the same again and again."""

    def __init__(self) -> None:
        self._last = -SECONDS_BETWEEN_REPORTS

    def __call__(self, error: KafkaError) -> None:
        """Log an error."""
        if time.monotonic() - self._last >= SECONDS_BETWEEN_REPORTS:
            self._last = time.monotonic()
            LOG.warning("Kafka: %s; it is tried again and again", error.str())


class Publisher:
    """Publishes messages, and waits until they are in their topics.

    Parameters
    ----------
    settings : KafkaSettings
        How Kafka is reached.
    """

    def __init__(self, settings: KafkaSettings) -> None:
        self._producer = new_producer(settings)

    def send(self, messages: Sequence[Outgoing], check: Callable[[], None]) -> None:
        """Publish messages, however long it takes; `check` is called now and then, and may end it by an exception."""
        left = list(messages)
        while left:
            failed: list[tuple[Outgoing, KafkaError]] = []
            for message in left:
                self._produce(message, failed)
            while self._producer.flush(0.2):
                check()
            left = [message for message, _ in failed]
            if failed:
                message, error = failed[0]
                LOG.error("Kafka did not take a message for %s, which is tried again: %s", message.topic, error.str())
                check()
                time.sleep(RETRY_SECONDS)

    def _produce(self, message: Outgoing, failed: list[tuple[Outgoing, KafkaError]]) -> None:
        def on_delivery(error: KafkaError | None, _: Any) -> None:
            if error is not None:
                failed.append((_shortened(message, error), error))

        content = {"key": message.key, "value": message.value, "headers": list(message.headers)}
        try:
            self._producer.produce(message.topic, on_delivery=on_delivery, **content)
        except KafkaException as exception:
            error = exception.args[0]
            if error.code() != KafkaError.MSG_SIZE_TOO_LARGE:
                raise
            failed.append((_shortened(message, error), error))


def _shortened(message: Outgoing, error: KafkaError) -> Outgoing:
    """Return a message without its value if it is too large: its headers still say what happened."""
    is_too_large = error.code() == KafkaError.MSG_SIZE_TOO_LARGE
    return replace(message, value=None) if is_too_large and message.headers else message
