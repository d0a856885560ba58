"""The connection that writes: it keeps other servers away, and knows what was written before it broke."""

import logging
import secrets
import time
from collections.abc import Callable

from sqlalchemy import Connection, Engine, delete, insert, select, text, update

from driftline.errors import BusyError
from driftline.serve.tables import SERVER

LOCK_NUMBER = 0x6472696674
"""The lock of PostgreSQL that a server holds as long as it is connected."""
LOCK_SECONDS = 5.0
"""How long to wait for the lock: PostgreSQL may take a moment to notice that a killed server is gone."""
LOG = logging.getLogger(__name__)


class WriteSession:
    """Writes transactions, each exactly once, as long as no other server has taken over the database.

    If a connection breaks while a transaction is committed, nobody can tell whether it was. So the database has a row
    with a token of its server and the number of the last transaction, which each transaction changes with the rest: if
    the same transaction is tried again and its number is there already, it was committed.

    On PostgreSQL the connection also holds a lock, so that a second server is refused when it starts. The token is for
    the case that this lock was lost with the connection, and that another server came first.

    Parameters
    ----------
    engine : Engine
        The database.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._token = secrets.token_hex(16)
        self._n_written = 0
        self._connection: Connection | None = None

    def claim(self) -> None:
        """Be the server that writes to the database from now on; raise BusyError if another one does."""
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                connection = self._open()
            except BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                break
        with connection.begin():
            connection.execute(delete(SERVER))
            connection.execute(insert(SERVER).values(token=self._token, n_written=0))

    def write(self, work: Callable[[Connection], None]) -> None:
        """Let a function write in a transaction; after an error, the next call must be with the same work."""
        connection = self._open()
        try:
            with connection.begin():
                if self._begin(connection):
                    work(connection)
        except BaseException:
            self.close()
            raise
        self._n_written += 1

    def check(self, connection: Connection) -> None:
        """Raise BusyError in a transaction if another server writes to the database now; none can until its end."""
        mine = update(SERVER).where(SERVER.c.token == self._token).values(token=self._token)
        if not connection.execute(mine).rowcount:
            raise BusyError("another server has taken over the database; stop this one")

    def close(self) -> None:
        """Close the connection, with which its lock ends."""
        if self._connection is not None:
            self._connection.invalidate()
            self._connection.close()
            self._connection = None

    def _open(self) -> Connection:
        """Return the connection, with the lock."""
        if self._connection is None:
            connection = self._engine.connect()
            try:
                if self._engine.dialect.name == "postgresql" and not _has_locked(connection):
                    raise BusyError("another server is using the database; stop it, or choose another --database")
            except BaseException:
                connection.invalidate()
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _begin(self, connection: Connection) -> bool:
        """Return whether the transaction with the next number is yet to be written.

        The row is locked by this. So an earlier attempt that the database is still working on comes to its end first.
        """
        number = self._n_written + 1
        own = SERVER.c.token == self._token
        counted = update(SERVER).where(own, SERVER.c.n_written == self._n_written).values(n_written=number)
        if connection.execute(counted).rowcount:
            return True
        self.check(connection)
        if connection.execute(select(SERVER.c.n_written)).scalar_one() == number:
            LOG.warning("a transaction had been committed although its connection broke; it is not written again")
            return False
        raise RuntimeError(f"the database does not have the transactions before number {number}; restart the server")


def _has_locked(connection: Connection) -> bool:
    with connection.begin():
        return bool(connection.execute(text("SELECT pg_try_advisory_lock(:n)"), {"n": LOCK_NUMBER}).scalar_one())
