"""The routes by which other programs watch the server: whether it lives, whether it is ready, and its metrics."""

import asyncio
from collections.abc import Iterator

from fastapi import APIRouter, Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from driftline.serve.answer_bodies import HealthAnswer
from driftline.serve.problems import Problem
from driftline.serve.requests import Requests
from driftline.serve.service import Service


class MetricsResponse(Response):
    """Metrics as text."""

    media_type = "text/plain; version=0.0.4; charset=utf-8"


def health_routes(service: Service, requests: Requests, registry: CollectorRegistry) -> APIRouter:
    """Return the routes; the registry has other metrics, and gets those of streams."""
    router = APIRouter(tags=["health"])
    registry.register(StreamCollector(service))

    @router.get("/healthz", response_model=HealthAnswer)
    async def alive() -> dict[str, str]:
        """Answer if the process lives."""
        return {"status": "alive"}

    @router.get("/readyz", response_model=HealthAnswer)
    async def ready() -> dict[str, str]:
        """Answer if the server can work now: if the database takes changes."""
        if service.writer.failing_since is not None:
            raise Problem(503, "storage-unavailable", "the database does not take changes; they wait")
        return {"status": "ready"}

    @router.get("/metrics", response_class=MetricsResponse)
    async def metrics() -> MetricsResponse:
        """Return metrics in the format of Prometheus."""
        await asyncio.gather(*(requests.status(worker) for worker in service.workers))
        return MetricsResponse(generate_latest(registry))

    return router


class StreamCollector(Collector):
    """Reads the metrics of all streams when they are asked for.

    Parameters
    ----------
    service : Service
        The streams.
    """

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        workers = self._service.workers
        rows = CounterMetricFamily("driftline_labelled_rows", "Rows whose labels were learned.", labels=["stream"])
        wrong = CounterMetricFamily(
            "driftline_wrong_predictions", "Labelled rows predicted wrongly.", labels=["stream"]
        )
        answers = CounterMetricFamily("driftline_answers", "Labelled rows that were answered.", labels=["stream"])
        wrong_answers = CounterMetricFamily("driftline_wrong_answers", "Answers that were wrong.", labels=["stream"])
        open_rows = GaugeMetricFamily("driftline_open_rows", "Rows that wait for labels.", labels=["stream"])
        oldest = GaugeMetricFamily(
            "driftline_oldest_open_row_seconds", "Age of the oldest row that waits for its label.", labels=["stream"]
        )
        alarms = GaugeMetricFamily("driftline_alarm", "1 while an alarm is raised.", labels=["stream"])
        waiting = GaugeMetricFamily("driftline_waiting_requests", "Requests that wait.", labels=["stream"])
        for worker in workers:
            name, total = [worker.stream.name], worker.state.figures.total
            rows.add_metric(name, total.n_rows)
            wrong.add_metric(name, total.n_wrong)
            answers.add_metric(name, total.n_answered)
            wrong_answers.add_metric(name, total.n_wrong_answers)
            open_rows.add_metric(name, len(worker.state.open_rows))
            oldest.add_metric(name, worker.last_status["oldest_open_seconds"] or 0.0)
            alarms.add_metric(name, worker.is_alarmed)
            waiting.add_metric(name, worker.n_waiting_tasks)
        yield from (rows, wrong, answers, wrong_answers, open_rows, oldest, alarms, waiting)
        yield GaugeMetricFamily("driftline_streams", "Number of streams.", value=len(workers))
        unwritten = self._service.writer.n_waiting_rows
        yield GaugeMetricFamily("driftline_unwritten_rows", "Rows that wait for the database.", value=unwritten)
        failing = self._service.writer.failing_since is not None
        yield GaugeMetricFamily("driftline_storage_failing", "1 while the database takes no changes.", value=failing)
