"""Connections to the database: SQLite or PostgreSQL."""

from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from driftline.errors import ConfigError, MissingExtraError

SQLITE_SETTINGS = ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000", "foreign_keys=ON")
POSTGRESQL_OPTIONS = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",
    "application_name": "driftline",
}
"""What an address may say otherwise. A server that is out of reach is noticed in seconds, not in hours."""


def open_engine(database: str) -> Engine:
    """Return the connections to a database; raise ConfigError if its address cannot be used."""
    url = _checked_url(database)
    if url.drivername.startswith("sqlite"):
        return _sqlite(url)
    try:
        return create_engine(url, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"PostgreSQL needs {error.name}; pip install 'driftline[postgres]'") from error


def sqlite_folder(database: str) -> Path | None:
    """Return the folder of the file of SQLite; None for another database."""
    url = _checked_url(database)
    return Path(url.database).resolve().parent if url.database and url.drivername.startswith("sqlite") else None


def without_password(database: str) -> str:
    """Return the address of a database as it may be shown."""
    return _checked_url(database).render_as_string(hide_password=True)


def _checked_url(database: str) -> URL:
    expected = "expected postgresql://user:password@host/name or sqlite:///file"
    try:
        url = make_url(database)
    except ArgumentError as error:  # the address may have a password, and is not shown
        raise ConfigError(f"the address of the database cannot be read; {expected}") from error
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        missing = {name: value for name, value in POSTGRESQL_OPTIONS.items() if name not in url.query}
        return url.set(drivername="postgresql+psycopg").update_query_dict(missing)
    if url.drivername in ("sqlite", "sqlite+pysqlite") and url.database not in (None, "", ":memory:"):
        return url
    raise ConfigError(f"the database {url.render_as_string(hide_password=True)} cannot be used; {expected}")


def _sqlite(url: URL) -> Engine:
    engine = create_engine(url)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # Python begins no transactions: it would leave out CREATE TABLE
        for setting in SQLITE_SETTINGS:
            connection.execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine
