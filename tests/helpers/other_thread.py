"""A thread that does nothing, so that a program has more than one."""

import threading
from contextlib import contextmanager


@contextmanager
def other_thread():
    """Let another thread wait until the end of the block."""
    is_done = threading.Event()
    thread = threading.Thread(target=is_done.wait)
    thread.start()
    try:
        yield
    finally:
        is_done.set()
        thread.join()
