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
