"""The routes by which what happened leaves the server: records as Parquet, and events as they come."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from itertools import chain
from typing import Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from sqlalchemy.exc import SQLAlchemyError

from driftline.serve.bodies import WebhookBody
from driftline.serve.records import parquet_parts
from driftline.serve.requests import Requests
from driftline.serve.service import Service

MAX_EVENT = 10**18
SECONDS_BETWEEN_EVENTS = 1.0
SILENT_SECONDS = 15.0
"""After so long without an event a comment is sent, so that nobody between takes the connection for dead."""


def record_routes(service: Service, requests: Requests) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1/streams/{name}", tags=["records"])

    def events_after(stream: int, known: int) -> list[dict[str, Any]]:
        try:
            return service.store.events(stream, known, 100)
        except SQLAlchemyError:  # the database does not answer; they come when it does
            return []

    @router.get("/records", response_class=StreamingResponse)
    async def records(name: str) -> StreamingResponse:
        """Return all rows with predictions and labels as a Parquet file."""
        worker = service.worker(name)
        parts: Iterator[bytes] = parquet_parts(service.store, worker.stream.id, worker.names)
        first = await asyncio.to_thread(next, parts)  # if the database does not answer, the status can still say so
        headers = {"Content-Disposition": f'attachment; filename="{name}.parquet"'}
        return StreamingResponse(chain((first,), parts), media_type="application/vnd.apache.parquet", headers=headers)

    @router.get("/events", response_class=StreamingResponse)
    async def events(
        name: str,
        request: Request,
        after: int = Query(default=0, ge=0, le=MAX_EVENT, description="Number of the last event that is known."),
    ) -> StreamingResponse:
        """Send events as they come: alarms, each with a number, and at most once a second the status if it changed."""
        service.worker(name)
        last = request.headers.get("last-event-id", "")
        first = int(last) if last.isdecimal() and len(last) < 19 else after

        async def lines() -> AsyncIterator[str]:
            known, spoke = first, time.monotonic()
            seen: dict[str, Any] | None = None
            while not await request.is_disconnected() and not requests.are_ending():
                worker = service.worker(name)
                for event in await asyncio.to_thread(events_after, worker.stream.id, known):
                    known, spoke = event["id"], time.monotonic()
                    yield as_event(event["kind"], {"time": event["time"]} | event["content"], known)
                if (status := await requests.new_status(worker, seen)) is not None:
                    seen, spoke = status, time.monotonic()
                    yield as_event("status", status)
                elif time.monotonic() - spoke > SILENT_SECONDS:
                    spoke = time.monotonic()
                    yield ": nothing new\n\n"
                await asyncio.sleep(SECONDS_BETWEEN_EVENTS)

        return StreamingResponse(lines(), media_type="text/event-stream")

    @router.post("/webhooks", status_code=201)
    async def add_webhook(name: str, body: WebhookBody) -> dict[str, Any]:
        """Send events to an address from now on. The secret that signs them is in the answer, and nowhere else."""
        return await asyncio.to_thread(service.webhooks.add, service.worker(name).stream.id, body.url)

    @router.get("/webhooks")
    async def webhooks(name: str) -> dict[str, Any]:
        """Return the webhooks of a stream."""
        return {"webhooks": await asyncio.to_thread(service.webhooks.listed, service.worker(name).stream.id)}

    @router.delete("/webhooks/{webhook}", status_code=204)
    async def remove_webhook(name: str, webhook: int) -> None:
        """Remove a webhook."""
        await asyncio.to_thread(service.webhooks.remove, service.worker(name).stream.id, webhook)

    return router


def as_event(kind: str, content: dict[str, Any], number: int | None = None) -> str:
    """Return a server-sent event."""
    head = "" if number is None else f"id: {number}\n"
    return f"{head}event: {kind}\ndata: {json.dumps(content)}\n\n"
