"""Databases for the tests of the server."""

import pytest

from helpers.postgresql_server import MISSING, binaries, running_postgresql


@pytest.fixture(scope="session")
def postgresql():
    """Return a server of PostgreSQL."""
    pytest.importorskip("psycopg", reason="needs psycopg")
    if binaries() is None:
        pytest.skip(MISSING)
    with running_postgresql() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """Return the address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'database' / 'driftline.db'}"
    return request.getfixturevalue("postgresql").new_database()


@pytest.fixture(scope="session")
def kafka_cluster():
    """Return a cluster of Kafka's protocol."""
    pytest.importorskip("confluent_kafka", reason="needs confluent-kafka")
    from helpers.kafka_cluster import KafkaCluster  # noqa: PLC0415  # it may be missing

    try:
        cluster = KafkaCluster()
    except AttributeError:
        pytest.skip("the mock cluster of librdkafka cannot be reached from Python on this platform")
    yield cluster
    cluster.close()
