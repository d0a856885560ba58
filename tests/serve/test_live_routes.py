"""What the page needs of the server beyond the calls that other programs use."""

import json
import re
from importlib.resources import files

import numpy as np
import pytest
from fastapi.testclient import TestClient

from driftline.serve.app import create_app
from driftline.serve.settings import ServerSettings

LINEAR = {"features": "linear"}
ROWS = [[float(t % 2), 1.0] for t in range(40)]
LABELS = ["yes" if row[0] else "no" for row in ROWS]


@pytest.fixture
def client(tmp_path):
    with TestClient(create_app(ServerSettings(tmp_path))) as client:
        for name in ("a", "b"):
            assert client.post("/v1/streams", json={"name": name, "parameters": LINEAR}).status_code == 201
        assert client.post("/v1/streams/a/learn", json={"rows": ROWS, "labels": LABELS}).status_code == 200
        yield client


def events(client, path, n, act=lambda k: None, **headers):
    """Return the contents of the first n events; act(k) is called after the k-th."""
    found = []
    with client.stream("GET", path, headers=headers) as answer:
        for line in answer.iter_lines():
            assert line != ": nothing new", found
            if line.startswith("data: "):
                found.append(json.loads(line[6:]))
                act(len(found))
            if len(found) == n:
                return found
    raise AssertionError("the events ended")


def test_events_of_all_streams_have_all_names_and_only_the_statuses_that_changed(client):
    def act(k):
        if k == 1:
            client.patch("/v1/streams/b", json={"paused": True})
        elif k == 2:
            client.delete("/v1/streams/a")

    first, second, third = events(client, "/v1/events", 3, act)
    assert first["names"] == ["a", "b"]
    assert {name: status["labelled"] for name, status in first["changed"].items()} == {"a": 40, "b": 0}
    assert second["changed"] == {"b": first["changed"]["b"] | {"state": "paused"}}
    assert third == {"names": ["b"], "changed": {}}


def test_events_of_a_stream_tell_that_it_is_paused(client):
    pause = lambda k: client.patch("/v1/streams/a", json={"paused": k == 1})  # noqa: E731
    found = events(client, "/v1/streams/a/events", 3, pause)
    assert [status["state"] for status in found] == ["healthy", "paused", "healthy"]


def test_a_key_sees_only_the_events_of_streams_that_it_may_read(client):
    root = client.post("/v1/keys", json={"name": "root", "scopes": {"*": "admin"}}).json()["key"]
    by_root = {"Authorization": f"Bearer {root}"}
    reader = {"name": "reader", "scopes": {"b": "read"}}
    key = client.post("/v1/keys", json=reader, headers=by_root).json()["key"]
    assert client.get("/v1/events").status_code == 401
    (found,) = events(client, "/v1/events", 1, Authorization=f"Bearer {key}")
    assert found["names"] == list(found["changed"]) == ["b"]
    assert client.get("/v1/session").json() == {"needs_key": True, "key": None}
    session = client.get("/v1/session", headers={"Authorization": f"Bearer {key}"}).json()
    assert session["needs_key"]
    assert session["key"] | reader == session["key"]
    assert key.partition(".")[2] not in str(session)


def test_without_keys_none_is_needed_unless_they_are_required(client, tmp_path):
    assert client.get("/v1/session").json() == {"needs_key": False, "key": None}
    with TestClient(create_app(ServerSettings(tmp_path / "other", requires_keys=True))) as other:
        assert other.get("/v1/session").json() == {"needs_key": True, "key": None}


def test_the_status_has_the_course_of_the_error_and_whether_there_is_a_shadow(client):
    status = client.get("/v1/streams/a").json()["status"]
    windows = client.get("/v1/streams/a/figures").json()["windows"]
    assert windows[0]["n_predicted"] < windows[0]["n_rows"]  # there is no prediction before the first label
    assert status["errors"] == [window["n_wrong"] / window["n_predicted"] for window in windows]
    assert not status["has_shadow"]
    client.put("/v1/streams/a/shadow", json={"parameters": LINEAR})
    assert client.get("/v1/streams/a").json()["status"]["has_shadow"]


def test_unknown_rates_are_null_and_the_drift_table_can_be_cut(client):
    client.post("/v1/streams", json={"name": "flat", "parameters": LINEAR | {"order": 0}})
    client.post("/v1/streams/flat/learn", json={"rows": ROWS, "labels": LABELS})
    rows = client.get("/v1/streams/flat/drift").json()["rows"]
    assert len(rows) == 4
    assert {row["rate"] for row in rows} == {None}
    assert client.get("/v1/streams/flat/drift?most=3").json()["rows"] == rows[:3]
    assert client.get("/v1/streams/flat/drift?most=0").status_code == 422


def test_rows_of_an_alarm_are_numbered_as_the_stream_got_their_labels(client):
    rng = np.random.default_rng(0)
    client.put("/v1/streams/a/shadow", json={"parameters": LINEAR})
    for has_changed in (False, True):
        X = rng.normal(size=(600, 2)).round(3)
        y = rng.random(600) < 0.5 if has_changed else X[:, 0] > 0
        content = {"rows": X.tolist(), "labels": np.where(y, "yes", "no").tolist()}
        assert client.post("/v1/streams/a/learn", json=content).status_code == 200
    before = client.get("/v1/streams/a").json()["status"]["alarm"]
    assert 640 <= before["since"] <= before["raised_at"] < 900
    client.post("/v1/streams/a/shadow/promote")  # it has not learned the first rows
    after = client.get("/v1/streams/a").json()["status"]["alarm"]
    assert 640 <= after["since"] <= after["raised_at"] < 900
    assert after["since"] + after["n_rows"] == 1240


def test_the_page_loads_nothing_but_its_own_files_and_runs_nothing_else(client):
    answers = {"index.html": client.get("/")}
    pending = ["index.html"]
    while pending:
        text = answers[pending.pop()].text
        for name in re.findall(r"""(?:page|\.)/([a-z]+\.(?:js|css|svg))""", text):
            if name not in answers:
                answers[name] = client.get(f"/page/{name}")
                pending.append(name)
    kept = {file.name for file in (files("driftline") / "serve" / "page").iterdir()}
    assert set(answers) == kept | {"look.css"}
    for name, answer in answers.items():
        assert answer.status_code == 200, name
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not re.search(r"https?://(?!www\.w3\.org)|innerHTML|eval\(", answer.text), name
    assert "<script>" not in answers["index.html"].text
    assert "style=" not in answers["index.html"].text
    for name in ("other.js", "..%2Fapp.py", "%2e%2e/app.py", ""):
        assert client.get(f"/page/{name}").status_code == 404
    assert sum(len(answer.content) for answer in answers.values()) < 150_000
