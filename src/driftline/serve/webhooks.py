"""Webhooks: events that are sent to the address of somebody else, signed, and again until they arrive."""

import hashlib
import hmac
import json
import logging
import secrets
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from driftline.serve.problems import Problem, invalid
from driftline.serve.store import Store
from driftline.serve.tables import EVENTS, STREAMS, WEBHOOKS

SECONDS_BETWEEN_LOOKS = 1.0
FIRST_WAIT, LONGEST_WAIT, GIVE_UP_AFTER = 1.0, 300.0, 86_400.0
"""Seconds before the second attempt; the most before any; and after which an event is given up."""
TIMEOUT = 10.0
MOST_WEBHOOKS = 10
"""Most webhooks of a stream."""
LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class Attempts:
    """The attempts to deliver the next event of a webhook: their number, and when the next one is due."""

    n: int = 0
    due: float = 0.0


class Webhooks:
    """Sends the events of streams to the addresses that asked for them, in order.

    What was delivered is on disk, so that no event is lost when the process ends; one may be sent twice then.

    Parameters
    ----------
    store : Store
        The database.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._attempts: dict[int, Attempts] = {}
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)

    def start(self) -> None:
        """Start sending."""
        self._thread.start()

    def close(self) -> None:
        """Stop sending."""
        self._is_closing.set()
        if self._thread.is_alive():
            self._thread.join(TIMEOUT + SECONDS_BETWEEN_LOOKS)

    def add(self, stream: int, url: str) -> dict[str, Any]:
        """Add a webhook for the events of a stream from now on; return it with the secret that signs them."""
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname or len(url) > 2000:
            raise invalid(f"url {url[:100]!r} cannot be used; expected an address such as https://example.com/hook")
        if len(self.listed(stream)) >= MOST_WEBHOOKS:
            raise Problem(429, "too-many-webhooks", f"a stream has at most {MOST_WEBHOOKS} webhooks; delete one first")
        last = select(func.coalesce(func.max(EVENTS.c.id), 0)).where(EVENTS.c.stream == stream).scalar_subquery()
        values = {"stream": stream, "url": url, "secret": secrets.token_urlsafe(32), "created": time.time()}
        values["delivered"] = last  # in the same statement: SQLite lets no transaction write that has read before
        with self._store.engine.begin() as connection:
            (key,) = connection.execute(insert(WEBHOOKS).values(values)).inserted_primary_key or (0,)
        return {"id": int(key), "url": url, "secret": values["secret"]}

    def listed(self, stream: int) -> list[dict[str, Any]]:
        """Return the webhooks of a stream, without their secrets."""
        query = select(WEBHOOKS.c.id, WEBHOOKS.c.url, WEBHOOKS.c.created).where(WEBHOOKS.c.stream == stream)
        with self._store.engine.connect() as connection:
            return [dict(row) for row in connection.execute(query.order_by(WEBHOOKS.c.id)).mappings()]

    def remove(self, stream: int, webhook: int) -> None:
        """Remove a webhook."""
        statement = delete(WEBHOOKS).where(WEBHOOKS.c.stream == stream, WEBHOOKS.c.id == webhook)
        with self._store.engine.begin() as connection:
            if not connection.execute(statement).rowcount:
                raise Problem(404, "no-such-webhook", f"the stream has no webhook {webhook}")

    def _run(self) -> None:
        while not self._is_closing.wait(SECONDS_BETWEEN_LOOKS):
            try:
                self.send_what_is_due()
            except SQLAlchemyError as error:
                LOG.warning("webhooks wait for the database: %s", error)

    def send_what_is_due(self) -> None:
        """Send the next event of each webhook, unless it has to wait for another attempt."""
        query = select(WEBHOOKS, STREAMS.c.name).join(STREAMS, STREAMS.c.id == WEBHOOKS.c.stream)
        with self._store.engine.connect() as connection:
            webhooks = connection.execute(query).mappings().all()
        for webhook in webhooks:
            attempts = self._attempts.setdefault(webhook["id"], Attempts())
            events = self._store.events(webhook["stream"], webhook["delivered"], 1)
            if not events or time.monotonic() < attempts.due:
                continue
            if self._deliver(webhook, events[0]) or time.time() - events[0]["time"] > GIVE_UP_AFTER:
                self._attempts[webhook["id"]] = Attempts()
                self._set_delivered(webhook["id"], events[0]["id"])
            else:
                attempts.n += 1
                attempts.due = time.monotonic() + min(FIRST_WAIT * 2 ** (attempts.n - 1), LONGEST_WAIT)

    def _deliver(self, webhook: Any, event: dict[str, Any]) -> bool:
        """Send an event; return whether it arrived."""
        message = {"stream": webhook["name"], "event": event["kind"], "id": event["id"], "time": event["time"]}
        body = json.dumps(message | {"content": event["content"]}).encode()
        headers = {"Content-Type": "application/json", "X-Driftline-Signature": signature(webhook["secret"], body)}
        request = urllib.request.Request(webhook["url"], body, headers, method="POST")
        try:
            with _OPENER.open(request, timeout=TIMEOUT) as answer:
                return bool(200 <= answer.status < 300)
        except (OSError, ValueError) as error:  # URLError and HTTPError are OSErrors
            LOG.warning("webhook %d: event %d did not arrive: %s", webhook["id"], event["id"], error)
            return False

    def _set_delivered(self, webhook: int, event: int) -> None:
        with self._store.engine.begin() as connection:
            connection.execute(update(WEBHOOKS).where(WEBHOOKS.c.id == webhook).values(delivered=event))


def signature(secret: str, body: bytes) -> str:
    """Return the signature of a message, by which its receiver knows that it comes from this server.

    Examples
    --------
    >>> signature("secret", b"{}")
    'sha256=77325902caca812dc259733aacd046b73817372c777b8d95b402647474516e13'
    """
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for a failure, so that an address cannot send events elsewhere."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler({}))
