"""The tables of the server's database, and the migrations that lead to them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    inspect,
    select,
    text,
)

from driftline.errors import CheckpointError

METADATA = MetaData()
VERSION = Table("schema_version", METADATA, Column("version", Integer, nullable=False))
STREAMS = Table(
    "streams",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("settings", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("is_paused", Boolean, nullable=False),
)
ROWS = Table(
    "rows",
    METADATA,
    Column("stream", ForeignKey("streams.id", ondelete="CASCADE"), primary_key=True),
    Column("id", String(256), primary_key=True),
    Column("x", LargeBinary, nullable=False),
    Column("asked", BigInteger, nullable=False),
    Column("asked_place", Integer, nullable=False),
    Column("asked_at", Float, nullable=False),
    Column("answer", Text, nullable=False),
    Column("labelled", BigInteger),
    Column("labelled_place", Integer),
    Column("labelled_at", Float),
    Column("label", Text),
    Column("expired", BigInteger),
    Column("expired_at", Float),
    Index("rows_asked", "stream", "asked"),
    Index("rows_labelled", "stream", "labelled"),
    Index("rows_expired", "stream", "expired"),
)
"""`asked`, `labelled` and `expired` are numbers of operations; places are positions of the row in them."""
CHECKPOINTS = Table(
    "checkpoints",
    METADATA,
    Column("stream", ForeignKey("streams.id", ondelete="CASCADE"), primary_key=True),
    Column("n_operations", BigInteger, primary_key=True),
    Column("created", Float, nullable=False),
    Column("figures", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("model", LargeBinary),
    Column("shadow", LargeBinary),
)
SERVER = Table(
    "server",
    METADATA,
    Column("token", String(32), primary_key=True),
    Column("n_written", BigInteger, nullable=False),
)
"""One row: the server that writes, and how many transactions it has written."""
EVENTS = Table(
    "events",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("stream", ForeignKey("streams.id", ondelete="CASCADE"), nullable=False),
    Column("time", Float, nullable=False),
    Column("kind", String(40), nullable=False),
    Column("content", Text, nullable=False),
)

KEYS = Table(
    "keys",
    METADATA,
    Column("id", String(20), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("revoked", Float),
)
WEBHOOKS = Table(
    "webhooks",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("stream", ForeignKey("streams.id", ondelete="CASCADE"), nullable=False),
    Column("url", String(2000), nullable=False),
    Column("secret", String(100), nullable=False),
    Column("created", Float, nullable=False),
    Column("delivered", Integer, nullable=False),
)
"""`delivered` is the number of the last event that was delivered, or given up."""
KAFKA_POSITIONS = Table(
    "kafka_positions",
    METADATA,
    Column("stream", ForeignKey("streams.id", ondelete="CASCADE"), primary_key=True),
    Column("topic", String(249), primary_key=True),
    Column("partition", Integer, primary_key=True),
    Column("read", BigInteger, nullable=False),
    Column("published", BigInteger, nullable=False),
)
"""Offsets before which all messages of a partition were read, and before which all that they led to was published."""
KAFKA_HELD_LABELS = Table(
    "kafka_held_labels",
    METADATA,
    Column("stream", ForeignKey("streams.id", ondelete="CASCADE"), primary_key=True),
    Column("id", String(256), primary_key=True),
    Column("label", Text, nullable=False),
    Column("since", Float, nullable=False),
    Column("topic", String(249), nullable=False),
    Column("partition", Integer, nullable=False),
    Column("offset", BigInteger, nullable=False),
)
"""Labels that came before their rows."""

MIGRATIONS: tuple[Callable[[Connection], Any], ...] = (
    partial(METADATA.create_all, tables=[VERSION, STREAMS, ROWS, CHECKPOINTS, EVENTS, KEYS, WEBHOOKS]),
    partial(METADATA.create_all, tables=[SERVER]),
    partial(METADATA.create_all, tables=[KAFKA_POSITIONS, KAFKA_HELD_LABELS]),
)
"""What leads from each version of the tables to the next; the first creates those of version 1."""
MIGRATION_LOCK = 0x647269667400
"""The lock of PostgreSQL that lets a second server wait until the first has created the tables."""


def migrate(engine: Engine) -> None:
    """Bring a database to the tables of this version; all of it or nothing."""
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": MIGRATION_LOCK})
        version = 0
        if inspect(connection).has_table(VERSION.name):
            version = connection.execute(select(VERSION.c.version)).scalar_one()
        if version == len(MIGRATIONS):
            return
        if version > len(MIGRATIONS):
            raise CheckpointError(
                f"the database has version {version} of driftline's tables, and this driftline knows up to "
                f"{len(MIGRATIONS)}; upgrade driftline"
            )
        for step in MIGRATIONS[version:]:
            step(connection)
        connection.execute(VERSION.delete())
        connection.execute(VERSION.insert().values(version=len(MIGRATIONS)))
