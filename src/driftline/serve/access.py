"""Who may call what: a middleware that asks for a key if there are any."""

import json
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie

from driftline.serve.keys import ALL, Key, KeyRing
from driftline.serve.middleware import Application, Message, Receive, Send

COOKIE = "driftline_key"
OPEN_PATHS = ("/healthz", "/readyz", "/v1/openapi.json", "/v1/session", "/docs")
"""Paths that nobody needs a key for; so are all that are not under /v1 and not /metrics: files of the page."""
LISTS = ("/v1/streams", "/v1/events")
"""Paths that answer with the streams that a key may read."""
WRITING = ("predict", "label", "learn")


def needed_role(method: str, path: str) -> tuple[str, str] | None:
    """Return the role and the stream that a request needs; None if it needs none.

    Examples
    --------
    >>> needed_role("POST", "/v1/streams/payments/predict"), needed_role("GET", "/v1/streams/payments")
    (('write', 'payments'), ('read', 'payments'))
    >>> needed_role("DELETE", "/v1/streams/payments"), needed_role("POST", "/v1/streams")
    (('admin', 'payments'), ('admin', '*'))
    >>> needed_role("GET", "/healthz") is None
    True
    """
    if path in OPEN_PATHS or not (path.startswith("/v1/") or path == "/metrics"):
        return None
    parts = path.split("/")
    if path == "/v1/events":
        return "read", ALL
    if parts[1:3] != ["v1", "streams"]:
        return ("read" if path == "/metrics" else "admin"), ALL
    stream = parts[3] if len(parts) > 3 else ALL
    if method in ("GET", "HEAD"):
        return "read", stream
    return ("write" if parts[4:] in [[word] for word in WRITING] else "admin"), stream


class AccessControl:
    """Refuses requests without a key that allows them, if there are keys or if they are required.

    The key of a request is left in its scope, where the list of streams finds it.

    Parameters
    ----------
    app : callable
        The application.
    keys : KeyRing
        The keys.
    is_required : bool
        Whether a key is needed even if there are none.
    """

    def __init__(self, app: Application, keys: KeyRing, *, is_required: bool) -> None:
        self._app, self._keys, self._is_required = app, keys, is_required

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_change = scope["method"] not in ("GET", "HEAD")
        if not (self._is_required or len(self._keys)):
            if is_change and _is_of_another_site(scope):
                await _refuse(send, 403, "forbidden", "the request comes from another site")
            else:
                await self._app(scope, receive, send)
            return
        role = needed_role(scope["method"], scope["path"])
        token, is_cookie = token_of(scope)
        key = None if token is None else self._keys.find(token)
        if role is None:
            await self._app(scope, receive, send)
        elif key is None:
            await _refuse(send, 401, "unauthorized", "send a key that is valid: Authorization: Bearer KEY")
        elif is_cookie and is_change and not _is_same_origin(scope):
            await _refuse(send, 403, "forbidden", "the request comes from another site")
        elif not (key.allows(*role) or (role == ("read", ALL) and scope["path"] in LISTS)):
            await _refuse(send, 403, "forbidden", f"the key {key.name!r} does not allow to {role[0]} here")
        else:
            scope["state"] = {**scope.get("state", {}), "key": key}
            await self._app(scope, receive, send)


def token_of(scope: Message) -> tuple[str | None, bool]:
    """Return the key that came with a request, and whether it came as a cookie."""
    headers = dict(scope["headers"])
    kind, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if kind.lower() == "bearer" and token:
        return token.strip(), False
    try:
        cookies: SimpleCookie = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return None, False
    return (cookies[COOKIE].value, True) if COOKIE in cookies else (None, False)


def may_read(key: Key | None) -> Callable[[str], bool]:
    """Return whether a key allows to read a stream; without access control, all may be read."""
    return lambda stream: key is None or key.allows("read", stream)


def _is_same_origin(scope: Message) -> bool:
    headers = dict(scope["headers"])
    origin, host = headers.get(b"origin", b"").decode("latin-1"), headers.get(b"host", b"").decode("latin-1")
    return bool(origin) and origin.partition("://")[2] == host


def _is_of_another_site(scope: Message) -> bool:
    """Return whether a browser sent a request for a page of another site; programs send no origin."""
    return b"origin" in dict(scope["headers"]) and not _is_same_origin(scope)


async def _refuse(send: Send, status: int, kind: str, detail: str) -> None:
    title = {401: "Unauthorized", 403: "Forbidden"}[status]
    problem = {"type": f"urn:driftline:{kind}", "title": title, "status": status, "detail": detail}
    headers = [(b"content-type", b"application/problem+json")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(problem).encode()})
