"""Events reach the address that asked for them: signed, in order, and again until they arrive."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from sqlalchemy import event

from driftline.serve import webhooks
from driftline.serve.problems import Problem
from driftline.serve.store import Changes
from driftline.serve.webhooks import signature
from helpers.served_streams import LINEAR, running_service


@pytest.fixture
def receiver():
    """Start a server on loopback that refuses as many messages as its attribute says, and keeps the others."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.server.attempts += 1
            accepted = self.server.attempts > self.server.n_refused
            if accepted:
                self.server.messages.append((self.headers["X-Driftline-Signature"], body))
            self.send_response(200 if accepted else self.server.refusal)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.messages, server.attempts, server.n_refused, server.refusal = [], 0, 0, 500
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def service(tmp_path, monkeypatch):
    monkeypatch.setattr(webhooks, "SECONDS_BETWEEN_LOOKS", 3600.0)  # the tests look themselves
    with running_service(tmp_path) as service:
        service.create("a", LINEAR, None, None)
        yield service


def add_events(service, *numbers):
    stream = service.worker("a").stream.id
    events = [
        {"stream": stream, "time": time.time(), "kind": "alarm", "content": json.dumps({"n": n})} for n in numbers
    ]
    service.store.write(Changes(events=events))


def contents(receiver):
    return [json.loads(body)["content"]["n"] for _, body in receiver.messages]


def test_events_arrive_in_order_signed_and_once(service, receiver):
    add_events(service, 0)  # before the webhook
    added = service.webhooks.add(service.worker("a").stream.id, f"http://127.0.0.1:{receiver.server_port}/hook")
    add_events(service, 1, 2)
    for _ in range(4):
        service.webhooks.send_what_is_due()
    assert contents(receiver) == [1, 2]
    for signed, body in receiver.messages:
        assert signed == signature(added["secret"], body)
    assert json.loads(receiver.messages[0][1])["stream"] == "a"


@pytest.mark.parametrize("refusal", [500, 302])
def test_an_event_that_is_refused_is_sent_again_later_and_others_wait(service, receiver, refusal, monkeypatch):
    receiver.n_refused, receiver.refusal = 3, refusal
    service.webhooks.add(service.worker("a").stream.id, f"http://127.0.0.1:{receiver.server_port}/hook")
    add_events(service, 1, 2)
    now = 0.0
    monkeypatch.setattr(webhooks.time, "monotonic", lambda: now)
    sent_at = []
    for now in range(20):
        before = receiver.attempts
        service.webhooks.send_what_is_due()
        sent_at += [now] * (receiver.attempts - before)
    assert sent_at == [0, 1, 3, 7, 8]
    assert contents(receiver) == [1, 2]


def test_an_event_that_nobody_takes_is_given_up_after_a_day(service, receiver, monkeypatch):
    receiver.n_refused = 1
    service.webhooks.add(service.worker("a").stream.id, f"http://127.0.0.1:{receiver.server_port}/hook")
    add_events(service, 1)
    now = time.time()
    monkeypatch.setattr(webhooks.time, "time", lambda: now + 90_000)
    service.webhooks.send_what_is_due()
    add_events(service, 2)
    service.webhooks.send_what_is_due()
    assert contents(receiver) == [2]


def test_webhooks_are_listed_without_secrets_limited_and_removed(service):
    stream = service.worker("a").stream.id
    for _ in range(webhooks.MOST_WEBHOOKS):
        added = service.webhooks.add(stream, "https://example.com/hook")
    assert added["secret"] not in str(service.webhooks.listed(stream))
    with pytest.raises(Problem, match="at most 10"):
        service.webhooks.add(stream, "https://example.com/hook")
    for url in ("ftp://example.com", "file:///etc/passwd", "https://", "example.com"):
        with pytest.raises(Problem, match="cannot be used"):
            service.webhooks.add(stream, url)
    service.webhooks.remove(stream, added["id"])
    with pytest.raises(Problem, match="has no webhook"):
        service.webhooks.remove(stream, added["id"])


def test_a_webhook_is_added_while_the_stream_writes(service):
    stream, engine = service.worker("a").stream.id, service.store.engine

    def write_first(connection, cursor, statement, *_):
        if statement.startswith("INSERT INTO webhooks"):
            add_events(service, 1)

    event.listen(engine, "before_cursor_execute", write_first)
    assert service.webhooks.add(stream, "https://example.com/hook")["id"] == 1
