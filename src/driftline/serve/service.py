"""The streams of a server: created, found by name, and kept up."""

import logging
import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from driftline.errors import BusyError, ConfigError
from driftline.evaluation.run_checkpoint import locked_folder
from driftline.serve.database import sqlite_folder
from driftline.serve.keys import KeyRing
from driftline.serve.operations import Ask, Label, Learn
from driftline.serve.problems import Problem, invalid, unavailable
from driftline.serve.row_schema import RowSchema
from driftline.serve.settings import ServerSettings
from driftline.serve.store import Changes, Store, StoredStream
from driftline.serve.stream_state import StreamState, new_model
from driftline.serve.webhooks import Webhooks
from driftline.serve.worker import Worker
from driftline.serve.writer import Writer

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
UPKEEP_SECONDS = 5.0
CLOSE_SECONDS = 30.0
LOG = logging.getLogger(__name__)


class Service:
    """All streams, with the threads that work for them.

    Parameters
    ----------
    settings : ServerSettings
        How the server runs.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        with ExitStack() as stack:
            for folder in {settings.data.resolve(), sqlite_folder(settings.url) or settings.data.resolve()}:
                stack.enter_context(_locked(folder))
            self.store = Store(settings.url)
            stack.callback(self.store.close)
            self.store.claim()
            self._stack = stack.pop_all()
        self.writer = Writer(self.store)
        self.keys = KeyRing(self.store)
        self.webhooks = Webhooks(self.store)
        self._workers: dict[str, Worker] = {}
        self._lock = threading.Lock()
        self._is_closing = threading.Event()
        self._upkeep = threading.Thread(target=self._keep_up, name="upkeep", daemon=True)

    def start(self) -> None:
        """Read the state of all streams, and start working."""
        _compile()
        self.writer.start()
        for stream in self.store.streams():
            worker = self._workers[stream.name] = self._new_worker(stream)
            LOG.info("stream %s goes on after %d operations", stream.name, worker.state.n_operations)
        self._upkeep.start()
        self.webhooks.start()

    def close(self) -> None:
        """Finish what waits, write checkpoints, and stop."""
        self._is_closing.set()
        self.webhooks.close()
        if self._upkeep.is_alive():
            self._upkeep.join()
        for worker in self._workers.values():
            worker.stop()
        if not self.writer.close(CLOSE_SECONDS):
            LOG.error("the database did not take all changes; nothing that was acknowledged is lost")
        self._stack.close()

    def _new_worker(self, stream: StoredStream) -> Worker:
        worker = Worker(stream, self.store, self.writer, self.settings.limits)
        worker.start()
        return worker

    def _keep_up(self) -> None:
        """Let rows expire that have waited too long, and read the keys again, now and then."""
        while not self._is_closing.wait(UPKEEP_SECONDS):
            self.keys.read_now_and_then()
            for worker in list(self._workers.values()):
                try:
                    worker.submit(Worker.expire)
                except Problem:  # it has enough to do, and is asked again later
                    continue

    # Streams --------------------------------------------------------------------------------------------

    @property
    def workers(self) -> list[Worker]:
        """The workers of all streams, by the time of their creation."""
        return [worker for worker in list(self._workers.values()) if not worker.is_stopped]

    def worker(self, name: str) -> Worker:
        """Return the worker of a stream; raise Problem if there is no such stream."""
        worker = self._workers.get(name)
        if worker is None:
            raise Problem(404, "no-such-stream", f"there is no stream {name[:100]!r}; create it with POST /v1/streams")
        return worker

    def active_worker(self, name: str) -> Worker:
        """Return the worker of a stream that is not paused."""
        worker = self.worker(name)
        if worker.stream.is_paused:
            raise Problem(409, "stream-paused", f"the stream {name!r} is paused; resume it first")
        return worker

    def create(
        self, name: str, parameters: dict[str, Any], columns: list[dict[str, Any]] | None, expire_after: float | None
    ) -> Worker:
        """Create a stream."""
        if not NAME.fullmatch(name):
            raise invalid(
                f"name {name[:120]!r} cannot be used; expected up to 100 letters, digits, '.', '_' and '-', of which "
                "the first is a letter or a digit"
            )
        try:
            new_model(parameters)
        except (ConfigError, TypeError, ValueError) as error:
            raise invalid(f"parameters cannot be used: {error}") from error
        if columns is not None:
            self._check_columns(columns)
        settings = {
            "parameters": parameters,
            "columns": columns,
            "expire_after": self.settings.expire_after if expire_after is None else expire_after,
        }
        with self._lock:
            if name in self._workers:
                raise Problem(409, "stream-exists", f"there is a stream {name!r} already; choose another name")
            if len(self._workers) >= self.settings.limits.streams:
                raise Problem(
                    429,
                    "too-many-streams",
                    f"there are {len(self._workers)} streams, and at most {self.settings.limits.streams} are allowed; "
                    "delete one",
                )
            stream = self.store.create_stream(name, settings, time.time())
            worker = self._workers[name] = self._new_worker(stream)
        return worker

    def _check_columns(self, columns: list[dict[str, Any]]) -> None:
        names = [column["name"] for column in columns]
        if not names or len(set(names)) < len(names):
            raise invalid("columns must have different names, and there must be at least one")
        RowSchema.from_json(columns).check_size(self.settings.limits.columns)

    def delete(self, name: str) -> None:
        """Delete a stream with all that is known of it."""
        worker = self.worker(name)
        worker.stop()
        deleted = threading.Event()

        def on_stored() -> None:
            self._workers.pop(name, None)
            deleted.set()

        self.writer.put(Changes(deleted=[worker.stream.id]), on_stored)
        if not deleted.wait(self.settings.storage_timeout):
            raise unavailable("the stream is stopped, and is deleted as soon as the database answers")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    try:
        with locked_folder(folder):
            yield
    except BusyError as error:
        raise BusyError(f"another server is using {folder}; stop it, or choose another folder") from error


def _compile() -> None:
    """Use what streams use, so that the first requests do not wait for compilers."""
    state = StreamState({})
    for t, label in enumerate(("a", "b", "c", "a")):
        X = np.array([[float(t), 1.0]])
        state.apply(Ask(0.0, (str(t),), X))
        state.apply(Label(0.0, (str(t),), (label,)))
        state.apply(Learn(0.0, (f"{t} again",), X, (label,)))
