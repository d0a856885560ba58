"""A server whose PostgreSQL stops and comes back, is exactly as one whose database never stopped."""

import threading
import time

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete, text

from driftline.serve.app import create_app
from driftline.serve.settings import ServerSettings
from driftline.serve.store import Store
from driftline.serve.tables import CHECKPOINTS
from helpers.state_contents import contents

N_CLIENTS, N_ROWS = 4, 60
PATIENCE_SECONDS = 120.0


class Sender(threading.Thread):
    """Sends rows and labels with ids of their own, each until it is answered, and keeps what was answered.

    It sends N_ROWS rows, and more until it has seen that the server has no database.
    """

    def __init__(self, client, k):
        super().__init__(daemon=True)
        self._client, self._k = client, k
        self.statuses, self.said, self.labels = set(), {}, {}

    def post(self, path, body):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            answer = self._client.post(f"/v1/streams/a/{path}", json=body)
            self.statuses.add(answer.status_code)
            if answer.status_code != 503:
                return answer.json()
        raise TimeoutError

    def run(self):
        t = 0
        while t < N_ROWS or 503 not in self.statuses:
            row_id, x = f"{self._k}-{t}", (t * 37 + self._k) % 20 / 10
            self.said[row_id] = self.post("predict", {"rows": [[x]], "ids": [row_id]})["rows"][0]
            label = "yes" if x > 1 else "no"
            (outcome,) = self.post("label", {"labels": [{"id": row_id, "label": label}]})["rows"]
            assert outcome["outcome"] in ("learned", "repeated")
            self.labels[row_id] = label
            t += 1


@pytest.mark.parametrize("seconds", [0, pytest.param(60, marks=pytest.mark.slow)])
def test_a_database_that_is_stopped_under_load_loses_nothing(tmp_path, postgresql, seconds):
    url = postgresql.new_database()
    app = create_app(ServerSettings(tmp_path, database=url, storage_timeout=0.2))
    with TestClient(app, raise_server_exceptions=False) as client:
        client.post("/v1/streams", json={"name": "a", "parameters": {"features": "linear"}})
        senders = [Sender(client, k) for k in range(N_CLIENTS)]
        for sender in senders:
            sender.start()
        wait_until(lambda: all(len(sender.said) > 10 for sender in senders))
        postgresql.stop()
        wait_until(lambda: all(503 in sender.statuses for sender in senders))
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
        assert client.get("/v1/streams/a").status_code == 200
        time.sleep(seconds)
        postgresql.start()
        for sender in senders:
            sender.join(PATIENCE_SECONDS)
            assert sender.statuses == {200, 503}
            assert len(sender.labels) == len(sender.said) >= N_ROWS
        assert client.get("/readyz").status_code == 200
        worker = app.state.service.worker("a")
        n_steps, expected = worker.state.model.n_steps_, contents(worker.state)
    assert n_steps == sum(len(sender.labels) for sender in senders)
    check(url, senders, expected)


def check(url, senders, expected):
    """Assert that the database has all that was answered, and that its operations lead to the state."""
    store = Store(url)
    (stream,) = store.streams()
    assert contents(store.load_state(stream)) == expected
    with store.engine.connect() as connection:
        connection.execute(delete(CHECKPOINTS))  # comes back at the end of the block
        assert contents(store.state_in(connection, stream)) == expected
    for sender in senders:
        known = store.known_rows(stream.id, list(sender.said))
        for row_id, said in sender.said.items():
            assert known[row_id].answer.bound == said["bound"]
            assert known[row_id].label == sender.labels[row_id]
    store.close()


def wait_until(condition):
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_connections_that_are_ended_are_opened_again(tmp_path, postgresql):
    app = create_app(ServerSettings(tmp_path, database=postgresql.new_database()))
    with TestClient(app, raise_server_exceptions=False) as client:
        client.post("/v1/streams", json={"name": "a", "parameters": {"features": "linear"}})
        others = text(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        for t in range(5):
            with app.state.service.store.engine.begin() as connection:
                assert connection.execute(others).all()
            learned = client.post("/v1/streams/a/learn", json={"rows": [[t]], "labels": ["yes"], "ids": [str(t)]})
            assert learned.json()["learned"] == 1
