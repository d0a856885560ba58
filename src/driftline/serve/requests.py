"""How requests wait for the threads of streams."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from driftline.serve.problems import Problem, unavailable
from driftline.serve.worker import Worker

Task = Callable[[Worker, "Future[Any]"], None]


STATUS_SECONDS = 0.5
"""How long a request for a status waits for a busy stream."""


class Requests:
    """Lets the threads of streams do what requests ask for.

    Parameters
    ----------
    timeout : float
        Seconds that a request waits until what it changed is on disk.

    Attributes
    ----------
    are_ending : callable
        Returns whether the server is about to stop; then answers that never end come to an end.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self.are_ending: Callable[[], bool] = lambda: False

    async def status(self, worker: Worker) -> dict[str, Any]:
        """Return the status of a stream: the last known one if the stream is busy with something long."""
        try:
            future = asyncio.wrap_future(worker.submit(Worker.read_status))
        except Problem:  # too many requests wait
            return worker.last_status
        await asyncio.wait((future,), timeout=STATUS_SECONDS)
        if not future.done():
            future.add_done_callback(_forget)
        return worker.last_status

    async def new_status(self, worker: Worker, seen: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return the status of a stream if it is another one than that which was seen; None otherwise."""
        now = worker.state.n_operations, worker.stream.is_paused
        if seen is not None and (seen["operations"], seen["state"] == "paused") == now:
            return None
        return await self.status(worker)

    async def result(self, worker: Worker, task: Task) -> Any:
        """Let the thread of a stream do something, and wait until what it changed is on disk."""
        future = asyncio.wrap_future(worker.submit(task))
        done, _ = await asyncio.wait((future,), timeout=self._timeout)
        if not done:
            future.add_done_callback(_forget)
            raise unavailable(
                "the request was not stored in time, and may still be; send it again with the same ids, which does "
                "not count it twice"
            )
        return future.result()


def _forget(future: "asyncio.Future[Any]") -> None:
    """Look at the outcome of a request that nobody waits for any more, so that it is not reported as forgotten."""
    if not future.cancelled():
        future.exception()
