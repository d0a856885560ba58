"""What holds for all requests: the size of bodies, and headers that keep browsers from doing harm."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

LARGE_BODIES = 16
"""The body of a request that uploads a model may have so many times the size of others."""
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
"""Headers of all answers that do not have them already: a page says itself what it may load."""


class BodyLimit:
    """Refuses requests whose body is larger than allowed, without reading all of it.

    Parameters
    ----------
    app : callable
        The application.
    max_bytes : int
        The largest size.
    """

    def __init__(self, app: Application, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._max_bytes * (LARGE_BODIES if scope["path"].endswith("/model") else 1)
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > limit:
            await _refuse(send, limit)
            return
        n_bytes = 0

        async def counted() -> Message:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            if n_bytes > limit:
                raise HTTPException(413, _too_large(limit), {"Connection": "close"})
            return message

        await self._app(scope, counted, send)


def _too_large(limit: int) -> str:
    return f"the body is too large; at most {limit} bytes are allowed: send fewer rows at once"


async def _refuse(send: Send, limit: int) -> None:
    problem = {"type": "urn:driftline:too-large", "title": "Content Too Large", "status": 413}
    headers = [(b"content-type", b"application/problem+json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(problem | {"detail": _too_large(limit)}).encode()})


class SecurityHeaders:
    """Adds headers to all answers.

    Parameters
    ----------
    app : callable
        The application.
    """

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle a request."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(each for each in HEADERS if each[0] not in known)]
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
