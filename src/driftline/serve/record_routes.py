"""The routes by which what happened leaves the server: records as Parquet, and events as they come."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from itertools import chain
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import StreamingResponse
from sqlalchemy.exc import SQLAlchemyError

from driftline.serve.answer_bodies import NewWebhookAnswer, WebhooksAnswer
from driftline.serve.bodies import WebhookBody
from driftline.serve.records import parquet_parts
from driftline.serve.requests import Requests
from driftline.serve.service import Service

MAX_EVENT, MAX_WEBHOOK = 10**18, 2**31 - 1
SECONDS_BETWEEN_EVENTS = 1.0
SILENT_SECONDS = 15.0
"""After so long without an event a comment is sent, so that nobody between takes the connection for dead."""


class ParquetResponse(StreamingResponse):
    """A Parquet file."""

    media_type = "application/vnd.apache.parquet"


class EventsResponse(StreamingResponse):
    """Server-sent events."""

    media_type = "text/event-stream"


def record_routes(service: Service, requests: Requests) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1/streams/{name}", tags=["records"])

    def events_after(stream: int, known: int) -> list[dict[str, Any]]:
        try:
            return service.store.events(stream, known, 100)
        except SQLAlchemyError:  # the database does not answer; they come when it does
            return []

    @router.get("/records", response_class=ParquetResponse)
    async def records(name: str) -> ParquetResponse:
        """Return all rows with predictions and labels as a Parquet file."""
        worker = service.worker(name)
        parts: Iterator[bytes] = parquet_parts(service.store, worker.stream.id, worker.names)
        first = await asyncio.to_thread(next, parts)  # if the database does not answer, the status can still say so
        headers = {"Content-Disposition": f'attachment; filename="{name}.parquet"'}
        return ParquetResponse(chain((first,), parts), headers=headers)

    @router.get("/events", response_class=EventsResponse)
    async def events(
        name: str,
        request: Request,
        after: int = Query(default=0, ge=0, le=MAX_EVENT, description="Number of the last event that is known."),
    ) -> EventsResponse:
        """Send events as they come: alarms, each with a number, and at most once a second the status if it changed."""
        worker = service.worker(name)
        last = request.headers.get("last-event-id", "")
        first = int(last) if last.isdecimal() and len(last) < 19 else after

        async def lines() -> AsyncIterator[str]:
            known, spoke = first, time.monotonic()
            seen: dict[str, Any] | None = None
            while not (worker.is_stopped or requests.are_ending() or await request.is_disconnected()):
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

        return EventsResponse(lines())

    @router.post("/webhooks", status_code=201, response_model=NewWebhookAnswer)
    async def add_webhook(name: str, body: WebhookBody) -> Any:
        """Send events to an address from now on. The secret that signs them is in the answer, and nowhere else."""
        return await asyncio.to_thread(service.webhooks.add, service.worker(name).stream.id, body.url)

    @router.get("/webhooks", response_model=WebhooksAnswer)
    async def webhooks(name: str) -> Any:
        """Return the webhooks of a stream."""
        return {"webhooks": await asyncio.to_thread(service.webhooks.listed, service.worker(name).stream.id)}

    @router.delete("/webhooks/{webhook}", status_code=204)
    async def remove_webhook(name: str, webhook: Annotated[int, Path(ge=1, le=MAX_WEBHOOK)]) -> None:
        """Remove a webhook."""
        await asyncio.to_thread(service.webhooks.remove, service.worker(name).stream.id, webhook)

    return router


def as_event(kind: str, content: dict[str, Any], number: int | None = None) -> str:
    """Return a server-sent event."""
    head = "" if number is None else f"id: {number}\n"
    return f"{head}event: {kind}\ndata: {json.dumps(content)}\n\n"
