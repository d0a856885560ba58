"""The routes of streams."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from fastapi import APIRouter, Query, Request

from driftline.serve.access import may_read
from driftline.serve.answer_bodies import (
    AnswersBody,
    DriftAnswer,
    FiguresAnswer,
    OutcomesBody,
    StreamAnswer,
    StreamsAnswer,
)
from driftline.serve.bodies import LabelsBody, LearnBody, PredictBody, StreamBody, StreamChange
from driftline.serve.operations import Answer
from driftline.serve.problems import Problem, invalid
from driftline.serve.requests import Requests
from driftline.serve.row_schema import Row
from driftline.serve.service import Service
from driftline.serve.stream_state import StreamState
from driftline.serve.worker import Outcome, Worker

REFUSED = ("unknown", "conflict", "expired")


def stream_routes(service: Service, requests: Requests) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1/streams", tags=["streams"])
    limits = service.settings.limits

    def check_rows(rows: Sequence[Row], *others: tuple[str, Sequence[Any] | None]) -> None:
        if len(rows) > limits.batch_rows:
            raise Problem(413, "too-large", f"got {len(rows)} rows; at most {limits.batch_rows} may be sent at once")
        for name, values in others:
            if values is not None and len(values) != len(rows):
                raise invalid(f"got {len(values)} {name} for {len(rows)} rows; expected one for each row")

    async def described(worker: Worker) -> dict[str, Any]:
        status = await requests.status(worker)
        stream = worker.stream
        return {
            "name": stream.name,
            "created": stream.created,
            **stream.settings,
            "parameters": dict(worker.state.parameters),
            "status": status,
        }

    @router.post("", status_code=201, response_model=StreamAnswer)
    async def create(body: StreamBody) -> Any:
        """Create a stream."""
        columns = None if body.columns is None else [column.model_dump() for column in body.columns]
        worker = await asyncio.to_thread(service.create, body.name, body.parameters, columns, body.expire_after)
        return await described(worker)

    @router.get("", response_model=StreamsAnswer)
    async def streams(request: Request) -> Any:
        """Return all streams that may be read, with their status."""
        is_allowed = may_read(getattr(request.state, "key", None))
        workers = [worker for worker in service.workers if is_allowed(worker.stream.name)]
        return {"streams": [await described(worker) for worker in workers]}

    @router.get("/{name}", response_model=StreamAnswer)
    async def stream(name: str) -> Any:
        """Return a stream: its settings and its status."""
        return await described(service.worker(name))

    @router.patch("/{name}", response_model=StreamAnswer)
    async def change(name: str, body: StreamChange) -> Any:
        """Pause a stream, which then refuses rows and labels, or resume it."""
        worker = service.worker(name)
        await requests.result(worker, lambda each, future: each.pause(future, is_paused=body.paused))
        return await described(worker)

    @router.delete("/{name}", status_code=204)
    async def delete(name: str) -> None:
        """Delete a stream with all that is known of it."""
        await asyncio.to_thread(service.delete, name)

    @router.post("/{name}/predict", response_model=AnswersBody)
    async def predict(name: str, body: PredictBody) -> Any:
        """Predict rows. The answers are kept until the labels come, or expire."""
        check_rows(body.rows, ("ids", body.ids))
        worker = service.active_worker(name)
        said = await requests.result(worker, lambda each, future: each.ask(body.ids, body.rows, future))
        return {"rows": [answer_to_json(row_id, answer) for row_id, answer in said]}

    @router.post("/{name}/label", response_model=OutcomesBody)
    async def label(name: str, body: LabelsBody) -> Any:
        """Send labels of rows that were predicted, late and in any order; the same label twice is learned once."""
        check_rows([{} for _ in body.labels])
        worker = service.active_worker(name)
        labels = [(each.id, each.label) for each in body.labels]
        return outcomes_to_json(await requests.result(worker, lambda each, future: each.label(labels, future)))

    @router.post("/{name}/learn", response_model=OutcomesBody)
    async def learn(name: str, body: LearnBody) -> Any:
        """Send rows with their labels; each is predicted, then learned."""
        check_rows(body.rows, ("labels", body.labels), ("ids", body.ids))
        worker = service.active_worker(name)
        return outcomes_to_json(
            await requests.result(worker, lambda each, future: each.learn(body.ids, body.rows, body.labels, future))
        )

    @router.get("/{name}/figures", response_model=FiguresAnswer)
    async def figures(name: str) -> Any:
        """Return counts over time, in windows of rows."""
        worker = service.worker(name)
        return await requests.result(worker, lambda each, future: each.read(figures_of, future))

    @router.get("/{name}/drift", response_model=DriftAnswer)
    async def drift(
        name: str, most: int | None = Query(default=None, ge=1, description="Number of rows; by default all.")
    ) -> Any:
        """Return how the mean of each column moves in each class, the most surprising first; null where unknown."""
        worker = service.worker(name)
        rows = await requests.result(
            worker, lambda each, future: each.read(partial(drift_of, names=each.names, most=most), future)
        )
        return {"rows": rows}

    return router


def answer_to_json(row_id: str, answer: Answer) -> dict[str, Any]:
    """Return what is said of a row as JSON values."""
    return {
        "id": row_id,
        "label": answer.label,
        "answer": answer.label if answer.is_answered else None,
        "confidence": answer.confidence,
        "bound": answer.bound,
        "set": list(answer.labels),
    }


def outcomes_to_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what became of labels as JSON values; raise Problem if there is one label, and it is refused."""
    refused = [each for each in outcomes if each.outcome in REFUSED]
    if len(outcomes) == 1 and refused:
        raise refusal(refused[0])
    return {
        "learned": sum(each.outcome == "learned" for each in outcomes),
        "refused": len(refused),
        "rows": [{"id": each.id, "outcome": each.outcome, "known": each.known} for each in outcomes],
    }


def refusal(outcome: Outcome) -> Problem:
    """Return the problem of a label that is refused."""
    if outcome.outcome == "unknown":
        return Problem(404, "unknown-row", f"no row with the id {outcome.id!r} was predicted", ids=[outcome.id])
    if outcome.outcome == "expired":
        return Problem(409, "row-expired", f"the row {outcome.id!r} was given up, for its label came too late")
    detail = f"the row {outcome.id!r} has the label {outcome.known!r} already; a label cannot be changed"
    return Problem(409, "label-conflict", detail, known=outcome.known)


def drift_of(state: StreamState, names: Sequence[str], most: int | None) -> list[dict[str, Any]]:
    """Return the rows of the drift table, at most so many, as JSON values."""
    if state.model is None:
        return []
    table = state.model.drift(columns=list(names))[:most]
    return [dict(zip(table.dtype.names, row, strict=True)) for row in table.tolist()]


def figures_of(state: StreamState) -> dict[str, Any]:
    """Return the figures over time as JSON values."""
    return state.figures.to_json()
