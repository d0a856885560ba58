"""When a long run stops and saves: it works in short slices, may stop between any two, and saves every second."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

MIN_SLICE_SECONDS, MAX_SLICE_SECONDS = 0.05, 0.2
"""How long a slice of rows should take."""
SAVE_INTERVAL_SECONDS = 0.6
"""Time between two writes of records. With a slice and the write itself, a crash loses about one second of work."""
MAX_CHECKPOINT_SHARE = 0.05
"""Largest share of the time that is spent on checkpoints of the classifier."""


class SliceLength:
    """The number of rows in a slice, adjusted to the speed of the classifier."""

    def __init__(self) -> None:
        self.rows = 1

    def update(self, rows: int, seconds: float) -> None:
        """Adjust the number to the time that the last slice took."""
        if seconds > MAX_SLICE_SECONDS:
            self.rows = max(rows // 2, 1)
        elif seconds < MIN_SLICE_SECONDS and rows == self.rows:
            self.rows *= 2


class SaveTimer:
    """Decides when to write records and checkpoints; checkpoints that take long are written less often."""

    def __init__(self) -> None:
        self._recorded = self._saved = time.perf_counter()
        self._cost = 0.0

    def is_record_due(self) -> bool:
        """Return whether records should be written now."""
        return time.perf_counter() - self._recorded >= SAVE_INTERVAL_SECONDS

    def records_written(self) -> None:
        """Note that records were written."""
        self._recorded = time.perf_counter()

    def is_checkpoint_due(self) -> bool:
        """Return whether a checkpoint should be written now."""
        return time.perf_counter() - self._saved >= max(SAVE_INTERVAL_SECONDS, self._cost / MAX_CHECKPOINT_SHARE)

    def checkpoint_written(self, since: float) -> None:
        """Note that a checkpoint was written, and when writing it began."""
        self._saved = time.perf_counter()
        self._cost = self._saved - since


class StopRequested(BaseException):
    """Raised at the first Ctrl-C if the run is waiting for rows."""


class InterruptHandler:
    """Turns the first Ctrl-C into a request to stop, so that no row is half learned; the second stops at once.

    While the run waits for rows, the first Ctrl-C raises `StopRequested` at once.
    """

    def __init__(self) -> None:
        self.requested = False
        self._is_waiting = False

    @contextmanager
    def while_waiting(self) -> Iterator[None]:
        """Raise `StopRequested` at once if a stop is, or was, requested."""
        self._is_waiting = True
        try:
            if self.requested:
                raise StopRequested
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
            raise StopRequested
