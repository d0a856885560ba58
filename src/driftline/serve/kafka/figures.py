"""Counts of what was read, and how they are shown to Prometheus."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


@dataclass(slots=True)
class KafkaFigures:
    """Counts of a stream since the server was started, by topic.

    Attributes
    ----------
    n_read, n_rejected, n_published : Counter
        Messages that were read, that could not be used, and that were published.
    lags : dict
        Messages that are in a topic and were not read yet.
    n_held : int
        Labels that wait for their rows.
    """

    n_read: Counter[str] = field(default_factory=Counter)
    n_rejected: Counter[str] = field(default_factory=Counter)
    n_published: Counter[str] = field(default_factory=Counter)
    lags: dict[str, int] = field(default_factory=dict)
    n_held: int = 0


class KafkaCollector(Collector):
    """Shows the counts of all streams when they are asked for.

    Parameters
    ----------
    figures : mapping
        The counts of each stream, by its name.
    """

    def __init__(self, figures: Mapping[str, KafkaFigures]) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        labels = ["stream", "topic"]
        read = CounterMetricFamily("driftline_kafka_read_messages", "Messages that were read.", labels=labels)
        rejected = CounterMetricFamily(
            "driftline_kafka_rejected_messages", "Messages that could not be used.", labels=labels
        )
        published = CounterMetricFamily(
            "driftline_kafka_published_messages", "Messages that were published.", labels=labels
        )
        lag = GaugeMetricFamily("driftline_kafka_lag", "Messages that were not read yet.", labels=labels)
        held = GaugeMetricFamily("driftline_kafka_held_labels", "Labels that wait for their rows.", labels=["stream"])
        for stream, each in self._figures.items():
            for family, values in ((read, each.n_read), (rejected, each.n_rejected), (published, each.n_published)):
                for topic, n in list(values.items()):
                    family.add_metric([stream, topic], n)
            for topic, n in list(each.lags.items()):
                lag.add_metric([stream, topic], n)
            held.add_metric([stream], each.n_held)
        yield from (read, rejected, published, lag, held)
