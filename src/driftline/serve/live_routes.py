"""The route of events about all streams at once, for the page."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request

from driftline.serve.access import may_read
from driftline.serve.record_routes import SECONDS_BETWEEN_EVENTS, SILENT_SECONDS, EventsResponse, as_event
from driftline.serve.requests import Requests
from driftline.serve.service import Service


def live_routes(service: Service, requests: Requests) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/v1", tags=["streams"])

    @router.get("/events", response_class=EventsResponse)
    async def events(request: Request) -> EventsResponse:
        """Send events `streams`, at most once a second, if anything changed.

        Each has the names of all streams that may be read, and the status of those that changed, by name.
        """
        is_allowed = may_read(getattr(request.state, "key", None))

        async def lines() -> AsyncIterator[str]:
            names: list[str] | None = None
            seen: dict[int, dict[str, Any]] = {}
            spoke = time.monotonic()
            while not await request.is_disconnected() and not requests.are_ending():
                workers = [worker for worker in service.workers if is_allowed(worker.stream.name)]
                found = await asyncio.gather(
                    *(requests.new_status(worker, seen.get(worker.stream.id)) for worker in workers)
                )
                changed: dict[str, dict[str, Any]] = {}
                for worker, status in zip(workers, found, strict=True):
                    if status is not None:
                        seen[worker.stream.id] = changed[worker.stream.name] = status
                before, names = names, [worker.stream.name for worker in workers]
                if changed or names != before:
                    spoke = time.monotonic()
                    yield as_event("streams", {"names": names, "changed": changed})
                elif time.monotonic() - spoke > SILENT_SECONDS:
                    spoke = time.monotonic()
                    yield ": nothing new\n\n"
                await asyncio.sleep(SECONDS_BETWEEN_EVENTS)

        return EventsResponse(lines())

    return router
