"""How requests wait for the threads of streams."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from driftline.serve.problems import unavailable
from driftline.serve.worker import Worker

Task = Callable[[Worker, "Future[Any]"], None]


class Requests:
    """Lets the threads of streams do what requests ask for.

    Parameters
    ----------
    timeout : float
        Seconds that a request waits until what it changed is on disk.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout

    async def result(self, worker: Worker, task: Task) -> Any:
        """Let the thread of a stream do something, and wait until what it changed is on disk."""
        future = asyncio.wrap_future(worker.submit(task))
        done, _ = await asyncio.wait((future,), timeout=self._timeout)
        if not done:
            future.add_done_callback(lambda each: each.cancelled() or each.exception())  # nobody else looks at it
            raise unavailable(
                "the request was not stored in time, and may still be; send it again with the same ids, which does "
                "not count it twice"
            )
        return future.result()
