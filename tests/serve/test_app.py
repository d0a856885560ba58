"""The HTTP interface."""

import re

import pytest
from fastapi.testclient import TestClient

from driftline import AMRC
from driftline.serve.app import create_app
from driftline.serve.settings import Limits, ServerSettings

STREAM = {"name": "payments", "parameters": {"features": "linear"}}


def new_client(folder):
    limits = Limits(body_bytes=20_000, batch_rows=50, streams=2)
    return TestClient(create_app(ServerSettings(folder, limits=limits)), raise_server_exceptions=False)


@pytest.fixture
def client(tmp_path):
    with new_client(tmp_path) as client:
        yield client


@pytest.fixture
def stream(client):
    return new_stream(client)


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    """Return a client and its stream for requests that are refused and so change nothing."""
    with new_client(tmp_path_factory.mktemp("server")) as client:
        yield client, new_stream(client)


def new_stream(client):
    """Create a stream that has learned some rows; return its path."""
    assert client.post("/v1/streams", json=STREAM).status_code == 201
    rows = [{"amount": float(t), "shop": "north" if t % 3 else "south"} for t in range(40)]
    labels = ["fraud" if t > 20 else "fine" for t in range(40)]
    assert client.post("/v1/streams/payments/learn", json={"rows": rows, "labels": labels}).json()["learned"] == 40
    return "/v1/streams/payments"


def problem(response, status):
    """Return the detail of a problem."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == status
    assert body["type"].startswith("urn:driftline:")
    return body["detail"]


def test_a_row_is_predicted_now_and_labelled_later(client, stream, tmp_path):
    said = client.post(f"{stream}/predict", json={"rows": [{"amount": 39, "shop": "north"}]}).json()["rows"][0]
    assert said["label"] == "fraud"
    assert said["label"] in said["set"]
    assert said["answer"] in (None, "fraud")
    assert 0 <= said["confidence"] <= 1
    assert client.get(stream).json()["status"]["open"] == 1
    sent = client.post(f"{stream}/label", json={"labels": [{"id": said["id"], "label": "fraud"}]})
    assert sent.json() == {
        "learned": 1,
        "refused": 0,
        "rows": [{"id": said["id"], "outcome": "learned", "known": None}],
    }
    described = client.get(stream).json()
    assert described["status"]["labelled"] == 41
    assert described["status"]["classes"] == {"fine": 21, "fraud": 20}
    assert [column["kind"] for column in described["columns"]] == ["number", "category"]
    assert {row["feature"] for row in client.get(f"{stream}/drift").json()["rows"]} >= {"amount", "shop=north"}
    (tmp_path / "model").write_bytes(client.get(f"{stream}/model").content)
    model = AMRC.load(tmp_path / "model")
    assert model.n_steps_ == 41
    figures = client.get(f"{stream}/figures").json()["windows"]
    assert sum(window["n_rows"] for window in figures) == 41


def test_refused_labels_say_why(client, stream):
    ids = ["a", "b"]
    client.post(f"{stream}/predict", json={"rows": [{"amount": 1}, {"amount": 2}], "ids": ids})
    one = lambda row_id, label: client.post(f"{stream}/label", json={"labels": [{"id": row_id, "label": label}]})  # noqa: E731
    assert one("a", "fine").status_code == 200
    assert one("a", "fine").json()["rows"][0]["outcome"] == "repeated"
    assert "has the label 'fine' already" in problem(one("a", "fraud"), 409)
    assert "no row with the id 'z'" in problem(one("z", "fraud"), 404)
    assert "same kind of label" in problem(one("b", 3), 422)
    many = [{"id": "b", "label": "fine"}, {"id": "z", "label": "fine"}]
    assert client.post(f"{stream}/label", json={"labels": many}).json()["refused"] == 1


@pytest.mark.parametrize(
    ("path", "body", "status", "detail"),
    [
        ("predict", '{"rows": [{"amount": NaN}]}', 422, "got NaN"),
        ("predict", '{"rows": [{"amount": 1e308}]}', 422, "beyond 1e+30"),
        ("predict", '{"rows": [{"amount": [1]}]}', 422, "rows"),
        ("predict", '{"rows": [{"other": 1}]}', 422, "unknown columns"),
        ("predict", '{"rows": []}', 422, "at least 1"),
        ("predict", '{"rows": [{"amount": 1}], "ids": []}', 422, "got 0 ids for 1 rows"),
        ("predict", '{"rows": [{"amount": 1}]', 422, "JSON"),
        ("predict", '{"rows": [{}], "more": 1}', 422, "more"),
        ("learn", '{"rows": [{"amount": 1}], "labels": [null]}', 422, "labels"),
        ("label", '{"labels": [{"id": "", "label": 1}]}', 422, "id"),
        ("predict", '{"rows": ' + "[" * 2000 + "]" * 2000 + "}", 400, "body"),
        ("predict", '{"rows": [[' + "1" * 19_000 + "]]}", 400, "body"),
        ("predict", '{"rows": [' + "{}," * 50 + "{}]}", 413, "at most 50"),
        ("predict", " " * 20_001, 413, "at most 20000 bytes"),
    ],
)
def test_content_that_cannot_be_used_is_refused_and_changes_nothing(refusing, path, body, status, detail):
    client, stream = refusing
    before = client.get(stream).json()
    response = client.post(f"{stream}/{path}", content=body, headers={"Content-Type": "application/json"})
    assert detail in problem(response, status)
    assert client.get(stream).json() == before


def test_requests_are_counted_by_route_whatever_callers_send(client, stream):
    client.post(f"{stream}/predict", json={"rows": [{"amount": 1}]})
    client.post(f"{stream}/predict", json={})
    for name in ("x", "y"):
        client.get(f"/v1/streams/{name}")
        client.get(f"/{name}")
        client.request(name, "/healthz")
    metrics = client.get("/metrics").text
    predict = 'driftline_requests_total{method="POST",route="/v1/streams/{name}/predict",status='
    assert f'{predict}"200"}} 1.0' in metrics
    assert f'{predict}"422"}} 1.0' in metrics
    assert 'driftline_requests_total{method="GET",route="/v1/streams/{name}",status="404"} 2.0' in metrics
    assert 'driftline_requests_total{method="GET",route="other",status="404"} 2.0' in metrics
    assert not re.search(r'="/?[xy]"', metrics)
    assert 'driftline_request_seconds_count{method="POST",route="/v1/streams/{name}/predict"} 2.0' in metrics
    assert 'driftline_oldest_open_row_seconds{stream="payments"}' in metrics


def test_a_body_that_turns_out_too_large_while_it_comes_is_refused(client, stream):
    parts = iter([b" " * 15_000] * 2)  # without a length in advance
    refused = client.post(f"{stream}/predict", content=parts, headers={"Content-Type": "application/json"})
    assert "at most 20000 bytes" in problem(refused, 413)
    assert refused.json()["type"] == "urn:driftline:too-large"


def test_paths_and_methods_that_do_not_exist_are_problems(client):
    assert problem(client.get("/v2"), 404)
    refused = client.put("/v1/openapi.json")
    assert problem(refused, 405)
    assert "GET" in refused.headers["allow"]


@pytest.mark.parametrize("number", [0, 2**31, 10**30, "x"])
def test_numbers_of_webhooks_that_cannot_be_are_refused(refusing, number):
    client, stream = refusing
    assert "webhook" in problem(client.delete(f"{stream}/webhooks/{number}"), 422)


def test_all_answers_keep_browsers_from_doing_harm(client, stream, monkeypatch):
    monkeypatch.setattr("driftline.serve.routes.figures_of", lambda state: 1 / 0)
    answers = [client.get(path) for path in ("/healthz", "/v2", stream, "/docs", f"{stream}/figures")]
    assert [answer.status_code for answer in answers] == [200, 404, 200, 200, 500]
    for answer in answers:
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_documentation_shows_every_call_and_needs_no_other_site(client):
    text = client.get("/docs").text
    for path, operations in client.get("/v1/openapi.json").json()["paths"].items():
        for method in operations:
            assert f"<h3>{method.upper()} {path}</h3>" in text
    links = set(re.findall(r"(?:src|href)=\"([^\"]*)", text))
    assert links - {"/v1/openapi.json"} <= {f"#{name}" for name in re.findall(r" id=\"([^\"]*)", text)}
    assert "<script" not in text


def test_streams_are_listed_paused_limited_and_deleted(client, stream):
    assert "already" in problem(client.post("/v1/streams", json=STREAM), 409)
    for name in ("", "../a", "a/b", ".a", "x" * 101, "é"):
        assert "cannot be used" in problem(client.post("/v1/streams", json={"name": name}), 422)
    assert "order must be" in problem(client.post("/v1/streams", json={"name": "b", "parameters": {"order": 7}}), 422)
    assert client.post("/v1/streams", json={"name": "b"}).status_code == 201
    assert "at most 2" in problem(client.post("/v1/streams", json={"name": "c"}), 429)
    assert [each["name"] for each in client.get("/v1/streams").json()["streams"]] == ["payments", "b"]
    assert client.patch(stream, json={"paused": True}).json()["status"]["state"] == "paused"
    assert "is paused" in problem(client.post(f"{stream}/predict", json={"rows": [{"amount": 1}]}), 409)
    client.patch(stream, json={"paused": False})
    assert client.post(f"{stream}/predict", json={"rows": [{"amount": 1}]}).status_code == 200
    assert client.delete(stream).status_code == 204
    assert "there is no stream" in problem(client.get(stream), 404)


def test_other_programs_can_watch(client, stream):
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json() == {"status": "ready"}
    metrics = client.get("/metrics").text
    assert 'driftline_labelled_rows_total{stream="payments"} 40.0' in metrics
    client.app.state.service.writer.failing_since = 1.0
    assert "does not take changes" in problem(client.get("/readyz"), 503)
    client.app.state.service.writer.failing_since = None
    assert client.get("/healthz").headers["x-content-type-options"] == "nosniff"
    assert set(client.get("/v1/openapi.json").json()["paths"]) >= {"/v1/streams", "/v1/streams/{name}/predict"}
