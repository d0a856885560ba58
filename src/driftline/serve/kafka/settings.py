"""The file that `driftline serve --kafka` reads: servers, the topics of each stream, and properties of librdkafka."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from driftline.errors import ConfigError
from driftline.utils.validation import real_number

OWN_PROPERTIES = frozenset(
    {
        "bootstrap.servers",
        "metadata.broker.list",
        "group.id",
        "enable.auto.commit",
        "enable.partition.eof",
        "auto.offset.reset",
        "enable.idempotence",
        "message.timeout.ms",
        "delivery.timeout.ms",
        "transactional.id",
    }
)
"""What driftline sets itself: its promises depend on it."""
EXAMPLE = (
    'servers = "localhost:9092"',
    'streams.payments.rows = "payments-rows"',
    'streams.payments.labels = "payments-labels"',
    'streams.payments.predictions = "payments-predictions"',
)
EXPECTED = f"expected lines such as {', '.join(EXAMPLE)}"


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a stream.

    Attributes
    ----------
    rows, labels : str or None
        Topics to read, at least one of them.
    predictions : str or None
        The topic to which predictions are published.
    rejected : str or None
        The topic to which messages are copied that cannot be used.
    hold_labels : float
        Seconds to wait for the row of a label, after all rows in the topic were read.
    """

    rows: str | None = None
    labels: str | None = None
    predictions: str | None = None
    rejected: str | None = None
    hold_labels: float = 3600.0

    @property
    def inputs(self) -> tuple[str, ...]:
        """The topics that are read."""
        return tuple(topic for topic in (self.rows, self.labels) if topic is not None)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The topics that are written."""
        return tuple(topic for topic in (self.predictions, self.rejected) if topic is not None)


@dataclass(frozen=True, slots=True)
class KafkaSettings:
    """How Kafka is reached, and what is read and written for which stream.

    Attributes
    ----------
    servers : str
        The servers to connect to first, such as "localhost:9092".
    streams : mapping
        The topics of each stream, by its name.
    group : str
        The consumer group under which Kafka's tools show how far the topics were read.
    properties : mapping
        Further properties of librdkafka, for all connections.
    """

    servers: str
    streams: Mapping[str, Topics]
    group: str = "driftline"
    properties: Mapping[str, str] = field(default_factory=dict)


def read_kafka_settings(path: str | os.PathLike[str]) -> KafkaSettings:
    """Return the settings in a TOML file; a ConfigError names the key that is wrong."""
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot open {os.fspath(path)!r}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is not in TOML: {error}; {EXPECTED}") from error
    try:
        return _settings(content)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}; {EXPECTED}") from error


def _settings(content: dict[str, Any]) -> KafkaSettings:
    _check_keys(content, KafkaSettings, "")
    streams = _table(content, "streams")
    if not streams:
        raise ConfigError("streams must have the topics of at least one stream")
    topics = {name: _topics(f"streams.{name}", _table(streams, name)) for name in streams}
    inputs = {topic for each in topics.values() for topic in each.inputs}
    for name, each in topics.items():
        if looped := inputs & set(each.outputs):
            raise ConfigError(f"streams.{name}: {looped.pop()!r} is read as well; write to another topic")
    names = {key: _text(content, key) for key in ("servers", *({"group"} & content.keys()))}
    return KafkaSettings(**names, streams=topics, properties=_properties(_table(content, "properties")))


def _topics(place: str, table: dict[str, Any]) -> Topics:
    _check_keys(table, Topics, f"{place}.")
    given: dict[str, Any] = {
        key: value if key == "hold_labels" else _text(table, key, f"{place}.") for key, value in table.items()
    }
    topics = Topics(**given)
    if not topics.inputs or topics.rows == topics.labels:
        raise ConfigError(f"{place} must have rows, labels or both, and they must be different topics")
    real_number(f"{place}.hold_labels", topics.hold_labels, above=0.0, below=float("inf"))
    return topics


def _properties(table: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Return properties with their full names: TOML takes the points in names for tables."""
    found: dict[str, str] = {}
    for key, value in table.items():
        name = prefix + key
        if isinstance(value, dict):
            found |= _properties(value, f"{name}.")
        elif name in OWN_PROPERTIES:
            raise ConfigError(f"properties.{name} cannot be set: driftline sets it")
        elif isinstance(value, bool):
            found[name] = str(value).lower()
        elif isinstance(value, str | int | float):
            found[name] = str(value)
        else:
            raise ConfigError(f"properties.{name} must be a text, a number, true or false; got {value!r}")
    return found


def _check_keys(table: dict[str, Any], expected: type[Any], place: str) -> None:
    names = [each.name for each in fields(expected)]
    unknown = sorted(table.keys() - set(names))
    if unknown:
        raise ConfigError(f"{place}{unknown[0]} is unknown; the keys are {', '.join(names)}")


def _table(content: dict[str, Any], key: str) -> dict[str, Any]:
    table = content.get(key, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{key} must be a table; got {table!r}")
    return table


def _text(content: dict[str, Any], key: str, place: str = "") -> str:
    text = content.get(key)
    if not isinstance(text, str) or not text:
        raise ConfigError(f"{place}{key} must be a text; got {text!r}")
    return text
