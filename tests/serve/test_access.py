"""Who may call what, with which key."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from driftline.serve.app import create_app
from driftline.serve.settings import ServerSettings
from driftline.serve.tables import KEYS

LINEAR = {"features": "linear"}
ROWS = {"rows": [[0.0], [1.0]]}


@pytest.fixture
def client(tmp_path):
    with TestClient(create_app(ServerSettings(tmp_path)), raise_server_exceptions=False) as client:
        for name in ("a", "b"):
            client.post("/v1/streams", json={"name": name, "parameters": LINEAR})
        yield client


def new_key(client, scopes, by=None):
    headers = {} if by is None else {"Authorization": f"Bearer {by}"}
    created = client.post("/v1/keys", json={"name": "somebody", "scopes": scopes}, headers=headers)
    assert created.status_code == 201, created.text
    return created.json()["key"]


def status(client, key, method, path, **content):
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return client.request(method, path, headers=headers, **content).status_code


CALLS = {
    "read": ("GET", "/v1/streams/a", {}),
    "write": ("POST", "/v1/streams/a/predict", {"json": ROWS}),
    "admin": ("PATCH", "/v1/streams/a", {"json": {"paused": False}}),
}


def test_each_role_may_do_what_it_should_and_no_more(client):
    root = new_key(client, {"*": "admin"})
    ranks = list(CALLS)
    for role in CALLS:
        for scopes, has_access in (({"a": role}, True), ({"*": role}, True), ({"b": role}, False)):
            key = new_key(client, scopes, by=root)
            for needed, (method, path, content) in CALLS.items():
                is_allowed = has_access and ranks.index(role) >= ranks.index(needed)
                assert status(client, key, method, path, **content) == (200 if is_allowed else 403), (scopes, needed)
    assert status(client, key, "POST", "/v1/streams", json={"name": "c"}) == 403
    assert status(client, key, "GET", "/v1/keys") == 403
    assert status(client, key, "GET", "/metrics") == 403
    listed = client.get("/v1/streams", headers={"Authorization": f"Bearer {key}"}).json()["streams"]
    assert [stream["name"] for stream in listed] == ["b"]


def test_a_request_without_a_valid_key_is_refused_once_there_is_one(client):
    assert status(client, None, "GET", "/v1/streams/a") == 200
    assert client.post("/v1/keys", json={"name": "first", "scopes": {"a": "read"}}).status_code == 422
    root = new_key(client, {"*": "admin"})
    key_id, _, secret = root.partition(".")
    for wrong in (None, "", "x", key_id, f"{key_id}.", f"{key_id}.{secret[:-1]}", f"{secret}.{key_id}", "é.é"):
        headers = {} if wrong is None else {"Authorization": f"Bearer {wrong}".encode()}
        refused = client.get("/v1/streams/a", headers=headers)
        assert refused.status_code == 401
        assert refused.json()["type"] == "urn:driftline:unauthorized"
        assert refused.headers["www-authenticate"] == "Bearer"
    for path in ("/healthz", "/readyz"):
        assert status(client, None, "GET", path) == 200
    assert status(client, root, "GET", "/metrics") == 200


def test_other_sites_can_change_nothing_even_without_keys(client):
    acknowledge = "/v1/streams/a/alarm/acknowledge"
    assert client.post(acknowledge, headers={"Origin": "http://elsewhere"}).status_code == 403
    assert client.post(acknowledge, headers={"Origin": "null"}).status_code == 403
    assert client.post(acknowledge, headers={"Origin": "http://testserver"}).status_code == 204
    assert client.post(acknowledge).status_code == 204


def test_keys_are_rotated_and_only_their_hashes_are_stored(client):
    first = new_key(client, {"*": "admin"})
    second = new_key(client, {"*": "admin"}, by=first)
    with client.app.state.service.store.engine.connect() as connection:
        stored = str(connection.execute(select(KEYS)).all())
    for key in (first, second):
        assert key.partition(".")[2] not in stored
    key_id = first.partition(".")[0]
    assert status(client, second, "DELETE", f"/v1/keys/{key_id}") == 204
    assert status(client, first, "GET", "/v1/streams/a") == 401
    assert status(client, second, "GET", "/v1/streams/a") == 200
    assert status(client, second, "DELETE", f"/v1/keys/{key_id}") == 404
    assert status(client, second, "DELETE", f"/v1/keys/{second.partition('.')[0]}") == 409
    refused = client.post("/v1/keys", json={"name": "x", "scopes": {}}, headers={"Authorization": f"Bearer {second}"})
    assert refused.status_code == 422


def test_a_server_that_requires_keys_refuses_all_without_them(tmp_path):
    with TestClient(create_app(ServerSettings(tmp_path, requires_keys=True))) as client:
        assert status(client, None, "GET", "/v1/streams") == 401
        assert status(client, None, "GET", "/healthz") == 200


def test_the_page_keeps_a_key_in_a_cookie_that_other_sites_cannot_use(client):
    key = new_key(client, {"*": "admin"})
    assert client.post("/v1/session", json={"key": "wrong"}).status_code == 401
    answer = client.post("/v1/session", json={"key": key})
    assert {"HttpOnly", "SameSite=strict"} <= {part.strip() for part in answer.headers["set-cookie"].split(";")}
    assert client.get("/v1/streams/a").status_code == 200
    change = {"json": {"paused": False}}
    assert client.patch("/v1/streams/a", **change).status_code == 403
    assert client.patch("/v1/streams/a", headers={"Origin": "http://elsewhere"}, **change).status_code == 403
    assert client.patch("/v1/streams/a", headers={"Origin": "http://testserver"}, **change).status_code == 200
    client.delete("/v1/session")
    assert client.get("/v1/streams/a").status_code == 401
