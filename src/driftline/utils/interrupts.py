"""Protecting a block of code from Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def defer_interrupt() -> Iterator[None]:
    """Defer Ctrl-C until the end of the block.

    Does nothing outside the main thread, which alone gets the signal, and if no Python function handles the signal.
    """
    before = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if before is None or before is signal.SIG_IGN:
        yield
        return
    received: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        for number in received:
            signal.raise_signal(number)
