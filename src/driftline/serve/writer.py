"""The thread that writes what streams changed, many changes in one transaction, before they are answered."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from driftline.serve.store import Changes, Store

MAX_ROWS_AT_ONCE = 2000
"""Rows that are written in one transaction."""
RETRY_SECONDS = 0.5
LOG = logging.getLogger(__name__)


class Writer:
    """Writes changes in the order in which they come, and says when they are on disk.

    While the database does not answer, or the disk is full, the changes wait and are tried again and again; nothing
    that waits is answered.

    Parameters
    ----------
    store : Store
        The database.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: deque[tuple[Changes, Callable[[], object]]] = deque()
        self._condition = threading.Condition()
        self._is_closing = False
        self.n_waiting_rows = 0
        self.failing_since: float | None = None
        """When the database first refused to write what waits now; None if it did not."""
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    def start(self) -> None:
        """Start writing."""
        self._thread.start()

    def put(self, changes: Changes, on_stored: Callable[[], object]) -> None:
        """Write changes after all that came before; `on_stored` is called by the thread when they are on disk."""
        with self._condition:
            self._waiting.append((changes, on_stored))
            self.n_waiting_rows += changes.n_rows
            self._condition.notify()

    def close(self, timeout: float) -> bool:
        """Write what waits, then stop; return whether all of it was written in this time."""
        with self._condition:
            self._is_closing = True
            self._condition.notify()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._waiting and not self._is_closing:
                    self._condition.wait()
                if not self._waiting:
                    return
                changes, calls = self._take()
            self._write(changes)
            for call in calls:
                call()
            with self._condition:
                self.n_waiting_rows -= changes.n_rows

    def _take(self) -> tuple[Changes, list[Callable[[], object]]]:
        """Remove the next changes, as many as fit one transaction."""
        changes, calls = Changes(), []
        while self._waiting and changes.n_rows < MAX_ROWS_AT_ONCE:
            part, call = self._waiting.popleft()
            changes.add(part)
            calls.append(call)
        return changes, calls

    def _write(self, changes: Changes) -> None:
        while True:
            try:
                self._store.write(changes)
            except Exception as error:  # whatever it is, what was not written must not be answered
                if self.failing_since is None:
                    self.failing_since = time.time()
                    LOG.error("the database does not take changes, which are tried again: %s", error)
                time.sleep(RETRY_SECONDS)
            else:
                if self.failing_since is not None:
                    LOG.warning("the database takes changes again")
                    self.failing_since = None
                return
