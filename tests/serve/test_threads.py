"""Only the thread of a stream uses its models, although requests come in other threads."""

import threading

from fastapi.testclient import TestClient

from driftline import AMRC
from driftline.serve.app import create_app
from driftline.serve.settings import ServerSettings
from helpers.served_streams import LINEAR

URL = "/v1/streams/a"
ROWS = {"rows": [[0.0], [1.0]], "ids": ["1", "2"]}
LABELS = {"labels": [{"id": "1", "label": "no"}, {"id": "2", "label": "yes"}]}


def test_only_the_thread_of_a_stream_uses_its_models(tmp_path, monkeypatch):
    app = create_app(ServerSettings(tmp_path))
    read, seen = object.__getattribute__, {}

    def noted(model, name):
        seen.setdefault(id(model), set()).add(threading.current_thread().name)
        return read(model, name)

    with TestClient(app) as client:
        client.post("/v1/streams", json={"name": "a", "parameters": LINEAR})
        worker = app.state.service.worker("a")
        monkeypatch.setattr(AMRC, "__getattribute__", noted)
        calls = [
            ("PUT", f"{URL}/shadow", {"parameters": LINEAR}),
            ("POST", f"{URL}/learn", {"rows": [[0], [1]], "labels": ["no", "yes"]}),
            ("POST", f"{URL}/predict", ROWS),
            ("POST", f"{URL}/label", LABELS),
            ("POST", f"{URL}/alarm/acknowledge", None),
            *(("GET", path.format(name="a"), None) for path in paths_of("get", client) if "/events" not in path),
            ("POST", f"{URL}/shadow/promote", None),
            ("PATCH", URL, {"paused": True}),
        ]
        statuses = {(method, path): client.request(method, path, json=body).status_code for method, path, body in calls}
        models = {id(worker.state.model), id(worker.state.shadow)}
    assert {call: status for call, status in statuses.items() if status >= 300} == {}
    assert [seen[model] for model in models] == [{f"stream-{worker.stream.id}"}] * 2


def paths_of(method, client):
    """Return the paths of the description that have a method."""
    found = client.get("/v1/openapi.json").json()["paths"]
    return [path for path, operations in found.items() if method in operations]
