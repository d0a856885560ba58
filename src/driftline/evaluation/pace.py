"""The rhythm of a long run: short slices, so that it can be stopped between any two, and saved every second."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

SHORTEST, LONGEST = 0.05, 0.2
"""Seconds that a slice of rows should take."""
SAVE_EVERY = 0.6
"""Seconds between two writings of records: with a slice and the writing itself, about one is lost at most, unless
a single row takes longer."""
SHARE_OF_SAVING = 0.05
"""Most of the time that checkpoints of the classifier may take."""


class SliceLength:
    """Rows in a slice, adjusted to the speed of the classifier."""

    def __init__(self) -> None:
        self.rows = 1

    def took(self, rows: int, seconds: float) -> None:
        """Adjust to how long the last slice took."""
        if seconds > LONGEST:
            self.rows = max(rows // 2, 1)
        elif seconds < SHORTEST and rows == self.rows:
            self.rows *= 2


class Timer:
    """Says when records are due, and when a checkpoint is: less often the longer one takes."""

    def __init__(self) -> None:
        self._recorded = self._saved = time.perf_counter()
        self._cost = 0.0

    def is_record_due(self) -> bool:
        """Return whether the records should be written."""
        return time.perf_counter() - self._recorded >= SAVE_EVERY

    def recorded(self) -> None:
        """Say that they were."""
        self._recorded = time.perf_counter()

    def is_checkpoint_due(self) -> bool:
        """Return whether the classifier should be saved."""
        return time.perf_counter() - self._saved >= max(SAVE_EVERY, self._cost / SHARE_OF_SAVING)

    def saved(self, since: float) -> None:
        """Say that it was, and when the saving began."""
        self._saved = time.perf_counter()
        self._cost = self._saved - since


class Stopped(BaseException):
    """The first Ctrl-C came while rows were waited for."""


class Interruption:
    """Turns the first Ctrl-C into a request to stop, so that no row is left half learned; the second stops at once.

    While rows are waited for, nothing is under way: the first stops that, with `Stopped`.
    """

    def __init__(self) -> None:
        self.requested = False
        self._is_waiting = False

    @contextmanager
    def while_waiting(self) -> Iterator[None]:
        """Let a request come through at once."""
        self._is_waiting = True
        try:
            if self.requested:
                raise Stopped
            yield
        finally:
            self._is_waiting = False

    def __enter__(self) -> Self:
        is_main = threading.current_thread() is threading.main_thread()
        self._handles = is_main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
        if self._handles:
            self._before: Any = signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handles:
            signal.signal(signal.SIGINT, self._before)

    def _request(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        if self._is_waiting:
            raise Stopped
