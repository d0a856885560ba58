"""A disk that is full: nothing is answered that is not stored, and nothing that was answered is lost."""

from fastapi.testclient import TestClient
from sqlalchemy import event

from driftline.serve.app import create_app
from driftline.serve.settings import ServerSettings
from helpers.served_streams import LINEAR
from helpers.state_contents import contents

URL = "/v1/streams/a"


def rows_of(t):
    """Return the body of request number t: 50 rows with their labels and ids."""
    ids = [f"{t}-{k}" for k in range(50)]
    return {"rows": [[k / 50, t] for k in range(50)], "labels": ["no", "yes"] * 25, "ids": ids}


def limit_pages(store, n_pages):
    """Let SQLite answer that the disk is full when it needs more pages, on all connections from now on."""

    def limit(connection, _):
        connection.execute(f"PRAGMA max_page_count = {n_pages}")

    event.listen(store.engine, "connect", limit)
    store.engine.dispose()
    store._session.close()
    return lambda: event.remove(store.engine, "connect", limit)


def test_requests_are_refused_while_the_disk_is_full_and_stored_once_when_it_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr("driftline.serve.writer.RETRY_SECONDS", 0.01)
    app = create_app(ServerSettings(tmp_path, storage_timeout=0.5))
    with TestClient(app, raise_server_exceptions=False) as client:
        store = app.state.service.store
        client.post("/v1/streams", json={"name": "a", "parameters": LINEAR})
        with store.engine.connect() as connection:
            n_pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        make_room, statuses = limit_pages(store, n_pages + 20), []
        while 503 not in statuses:
            statuses.append(client.post(f"{URL}/learn", json=rows_of(len(statuses))).status_code)
        assert set(statuses[:-1]) == {200}
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
        assert client.get(URL).status_code == 200
        make_room()
        again = client.post(f"{URL}/learn", json=rows_of(len(statuses) - 1))
        assert {row["outcome"] for row in again.json()["rows"]} == {"repeated"}
        assert client.get("/readyz").status_code == 200
        state = app.state.service.worker("a").state
        assert state.model.n_steps_ == 50 * len(statuses)
        expected = contents(state)
    app = create_app(ServerSettings(tmp_path))
    with TestClient(app):
        assert contents(app.state.service.worker("a").state) == expected
