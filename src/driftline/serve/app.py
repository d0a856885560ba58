"""The HTTP application: its routes, and what holds for all of them."""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from prometheus_client import CollectorRegistry
from sqlalchemy.exc import DataError, SQLAlchemyError
from starlette.exceptions import HTTPException

import driftline
from driftline.errors import BusyError, DriftlineError, MissingExtraError
from driftline.serve.access import AccessControl
from driftline.serve.answer_bodies import ProblemBody
from driftline.serve.description_page import description_page
from driftline.serve.health_routes import health_routes
from driftline.serve.kafka.figures import KafkaCollector
from driftline.serve.kafka.settings import KafkaSettings
from driftline.serve.key_routes import key_routes
from driftline.serve.live_routes import live_routes
from driftline.serve.middleware import HEADERS, BodyLimit, SecurityHeaders
from driftline.serve.model_routes import model_routes
from driftline.serve.page_routes import page_routes
from driftline.serve.problems import Problem, unavailable
from driftline.serve.record_routes import record_routes
from driftline.serve.request_metrics import RequestMetrics
from driftline.serve.requests import Requests
from driftline.serve.routes import stream_routes
from driftline.serve.service import Service
from driftline.serve.settings import ServerSettings

if TYPE_CHECKING:
    from driftline.serve.kafka.streams import KafkaStreams

LOG = logging.getLogger(__name__)
DESCRIPTION = """Predictions now, labels later, and nothing lost.

Create a stream, ask for predictions of its rows, and send their labels when they are known: late, in any order, twice
if need be. An answer with status 200 is on disk. All problems are answered as RFC 9457 describes."""
PROBLEM = "application/problem+json"
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemBody, "description": HTTPStatus(status).phrase}
    for status in (400, 401, 403, 404, 409, 413, 422, 429, 503)
}


class Application(FastAPI):
    """An application whose description is made when somebody asks for it."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI description, in which problems have their media type."""
        is_new = self.openapi_schema is None
        description = super().openapi()
        if is_new:
            _describe_problems(description)
        return description


def create_app(settings: ServerSettings) -> FastAPI:
    """Return the application; it opens the database when it starts."""
    kafka = None if settings.kafka is None else kafka_streams(settings.kafka)
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.start()
        if kafka is not None:
            kafka.start(service)
        try:
            yield
        finally:
            if kafka is not None:
                kafka.close()
            service.close()

    app = Application(
        title="driftline",
        version=driftline.__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # that of FastAPI loads scripts from another site
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        responses=ERRORS,
    )
    app.state.service = service
    requests = app.state.requests = Requests(settings.storage_timeout)
    for routes in (stream_routes, model_routes, record_routes):
        app.include_router(routes(service, requests))
    app.include_router(live_routes(service, requests))
    registry = CollectorRegistry()
    if kafka is not None:
        registry.register(KafkaCollector(kafka.figures))
    app.include_router(health_routes(service, requests, registry))
    app.include_router(key_routes(service.keys, is_required=settings.requires_keys))
    app.include_router(description_page(app))
    app.include_router(page_routes())
    app.add_middleware(AccessControl, keys=service.keys, is_required=settings.requires_keys)
    app.add_middleware(BodyLimit, max_bytes=settings.limits.body_bytes)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestMetrics, registry=registry)
    app.add_exception_handler(Problem, _on_problem)
    app.add_exception_handler(RequestValidationError, _on_invalid_body)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(DriftlineError, _on_driftline_error)
    app.add_exception_handler(SQLAlchemyError, _on_database_error)
    app.add_exception_handler(BusyError, _on_database_error)
    app.add_exception_handler(Exception, _on_error)
    return app


def kafka_streams(settings: KafkaSettings) -> "KafkaStreams":
    """Return what reads the topics of streams; raise MissingExtraError if the library for Kafka is missing."""
    try:
        from driftline.serve.kafka.streams import KafkaStreams  # noqa: PLC0415  # an extra may be missing
    except ModuleNotFoundError as error:
        if error.name != "confluent_kafka":
            raise
        raise MissingExtraError("Kafka needs confluent-kafka; pip install 'driftline[kafka]'") from error
    return KafkaStreams(settings)


def _describe_problems(description: dict[str, Any]) -> None:
    """Give problems their media type; FastAPI describes them as what the route answers otherwise."""
    for operations in description["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                if int(status) in ERRORS:
                    (schema,) = answer["content"].values()
                    answer["content"] = {PROBLEM: schema}


def problem_response(
    status: int, kind: str, detail: str, headers: Mapping[str, str] | None = None, **more: Any
) -> JSONResponse:
    """Return the answer that describes a problem."""
    title = HTTPStatus(status).phrase
    body = {"type": f"urn:driftline:{kind}", "title": title, "status": status, "detail": detail} | more
    waiting = {"Retry-After": "1"} if status in (429, 503) else {}
    return JSONResponse(body, status, waiting | dict(headers or {}), PROBLEM)


async def _on_problem(request: Request, error: Any) -> JSONResponse:
    return problem_response(error.status, error.kind, error.detail, **error.more)


async def _on_invalid_body(request: Request, error: Any) -> JSONResponse:
    found = error.errors()
    places = [".".join(str(part) for part in each["loc"]) for each in found]
    detail = f"{places[0]}: {found[0]['msg']}"
    if len(found) > 1:
        detail += f" (and {len(found) - 1} more)"
    return problem_response(422, "invalid-content", detail, places=places[:20])


async def _on_http_exception(request: Request, error: Any) -> JSONResponse:
    kind = {404: "no-such-path", 405: "method-not-allowed", 413: "too-large"}.get(error.status_code, "bad-request")
    return problem_response(error.status_code, kind, str(error.detail), error.headers)


async def _on_driftline_error(request: Request, error: Any) -> JSONResponse:
    return problem_response(422, "invalid-content", str(error))


async def _on_database_error(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, DataError):  # such as a text with a null character, which PostgreSQL cannot store
        return problem_response(422, "invalid-content", "a value cannot be stored, such as a null character in a text")
    LOG.error("%s %s: the database does not answer: %s", request.method, request.url.path, error)
    problem = unavailable("the database does not answer; send the request again later")
    return problem_response(problem.status, problem.kind, problem.detail)


async def _on_error(request: Request, error: Exception) -> JSONResponse:
    LOG.exception("%s %s failed", request.method, request.url.path, exc_info=error)
    headers = {name.decode(): value.decode() for name, value in HEADERS}  # this answer does not pass the middleware
    return problem_response(500, "internal", "the server failed; its log says why", headers)
