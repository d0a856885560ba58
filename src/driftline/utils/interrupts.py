"""Protecting a block of code from Ctrl-C."""

import inspect
import signal
import threading
from typing import Any

# The functions of `signal` turn handlers into enumerations, which takes longer than all the rest.
_get_handler, _set_handler = inspect.unwrap(signal.getsignal), inspect.unwrap(signal.signal)


class defer_interrupt:  # noqa: N801  # used like a function
    """Defer Ctrl-C until the end of the block.

    Does nothing outside the main thread, which alone gets the signal, and if no Python function handles the signal.
    """

    __slots__ = ("_before", "_received")

    def __enter__(self) -> None:
        """Begin to keep signals back."""
        is_main = threading.get_ident() == threading.main_thread().ident
        self._before: Any = _get_handler(signal.SIGINT) if is_main else None
        if self._before == signal.SIG_IGN:
            self._before = None
        if self._before is not None:
            self._received: list[int] = []
            _set_handler(signal.SIGINT, self._receive)

    def _receive(self, number: int, frame: object) -> None:
        self._received.append(number)

    def __exit__(self, *error: object) -> None:
        """Let the signals through that came meanwhile."""
        if self._before is not None:
            _set_handler(signal.SIGINT, self._before)
            for number in self._received:
                signal.raise_signal(number)
