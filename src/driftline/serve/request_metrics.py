"""Metrics of requests: how many there were, with which status, and how long their answers took."""

import time

from prometheus_client import CollectorRegistry, Counter, Histogram

from driftline.serve.middleware import Application, Message, Receive, Send

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
OTHER = "other"
SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


class RequestMetrics:
    """Counts requests by their route, so that the number of metrics does not depend on what callers send.

    Parameters
    ----------
    app : callable
        The application.
    registry : CollectorRegistry
        Where the metrics are kept.
    """

    def __init__(self, app: Application, registry: CollectorRegistry) -> None:
        self._app = app
        labels = ("method", "route")
        self._requests = Counter(
            "driftline_requests", "Requests that were answered.", (*labels, "status"), registry=registry
        )
        self._seconds = Histogram(
            "driftline_request_seconds", "Seconds until an answer began.", labels, registry=registry, buckets=SECONDS
        )

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle a request."""
        start = time.perf_counter()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                method = scope["method"] if scope["method"] in METHODS else OTHER
                route = getattr(scope.get("route"), "path", OTHER)
                self._requests.labels(method, route, message["status"]).inc()
                self._seconds.labels(method, route).observe(time.perf_counter() - start)
            await send(message)

        await self._app(scope, receive, counted if scope["type"] == "http" else send)
