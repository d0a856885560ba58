"""Streams that read topics, for tests."""

import time
from contextlib import contextmanager

from prometheus_client import CollectorRegistry

from driftline.serve.kafka.figures import KafkaCollector
from driftline.serve.kafka.settings import KafkaSettings, Topics
from driftline.serve.kafka.streams import KafkaStreams
from helpers.kafka_cluster import PATIENCE_SECONDS
from helpers.served_streams import LINEAR, running_service

QUICK = {"fetch.wait.max.ms": "10", "reconnect.backoff.max.ms": "200"}


@contextmanager
def reading(service, cluster, topics, **properties):
    """Let the stream "a" of a service read topics within a ``with`` block."""
    streams = KafkaStreams(KafkaSettings(cluster.servers, {"a": topics}, properties=QUICK | properties))
    streams.start(service)
    try:
        yield streams
    finally:
        streams.close()


@contextmanager
def running(folder, cluster, topics, **options):
    """Start a service with a stream "a" that reads topics; return the worker of the stream and what was counted."""
    with running_service(folder, **options) as service:
        workers = service.workers or [service.create("a", LINEAR, None, None)]
        with reading(service, cluster, topics) as streams:
            yield workers[0], streams.figures["a"]


def metric(streams, name, **labels):
    """Return a metric of streams."""
    registry = CollectorRegistry()
    registry.register(KafkaCollector(streams.figures))
    return registry.get_sample_value(name, {"stream": "a"} | labels)


def until(condition):
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def new_topics(cluster, name, **options):
    """Create topics of their own for a test."""
    topics = Topics(f"{name}-rows", f"{name}-labels", f"{name}-predictions", f"{name}-rejected", **options)
    cluster.create_topics(*topics.inputs, *topics.outputs)
    return topics
