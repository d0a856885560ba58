"""The settings of the server."""

from dataclasses import dataclass, field
from pathlib import Path

from driftline.errors import ConfigError
from driftline.serve.kafka.settings import KafkaSettings
from driftline.utils.validation import real_number, whole_number

MAX_OPEN_ROWS = 100_000
"""A model keeps at most so many rows that wait for labels."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request, a stream and the server may take; above it, requests are refused with status 413 or 429.

    Attributes
    ----------
    body_bytes : int
        Size of the body of a request; that of a model file may have 16 times as much.
    batch_rows : int
        Rows in a request.
    columns : int
        Columns of a stream, after its categories were encoded.
    classes : int
        Different labels of a stream.
    streams : int
        Number of streams.
    open_rows : int
        Rows of a stream that wait for labels.
    waiting_requests : int
        Requests that wait for a stream.
    unwritten_changes : int
        New rows and labels, of all streams, that wait for the database.
    """

    body_bytes: int = 8 * 2**20
    batch_rows: int = 1000
    columns: int = 1000
    classes: int = 200
    streams: int = 100
    open_rows: int = MAX_OPEN_ROWS
    waiting_requests: int = 1000
    unwritten_changes: int = 100_000


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How the server runs.

    Attributes
    ----------
    data : Path
        The folder of the database, if no other is named, and of the lock that keeps a second server away.
    database : str or None
        The address of the database, `postgresql://…` or `sqlite:///…`; by default a file of SQLite in `data`.
    expire_after : float
        Seconds after which a row without a label is given up.
    storage_timeout : float
        Seconds that a request waits for the database before it is answered with status 503.
    requires_keys : bool
        Whether every request needs a key, even if there are none; otherwise only if there are any.
    limits : Limits
        The limits.
    kafka : KafkaSettings or None
        How Kafka is reached, and the topics of streams; None without Kafka.
    """

    data: Path
    database: str | None = None
    expire_after: float = 30 * 86_400.0
    storage_timeout: float = 10.0
    requires_keys: bool = False
    limits: Limits = field(default_factory=Limits)
    kafka: KafkaSettings | None = None

    def __post_init__(self) -> None:
        real_number("expire_after", self.expire_after, above=0.0, below=float("inf"))
        real_number("storage_timeout", self.storage_timeout, above=0.0, below=float("inf"))
        for name in Limits.__slots__:
            whole_number(name, getattr(self.limits, name), at_least=1)
        if self.limits.open_rows > MAX_OPEN_ROWS:
            raise ConfigError(f"open_rows must be at most {MAX_OPEN_ROWS}; got {self.limits.open_rows}")

    @property
    def url(self) -> str:
        """The address of the database."""
        return self.database or f"sqlite:///{self.data / 'driftline.db'}"
