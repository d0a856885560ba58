"""driftline keys."""

import pytest
from fastapi.testclient import TestClient

from driftline.serve.app import create_app
from driftline.serve.settings import ServerSettings


def test_keys_are_created_listed_and_revoked_beside_a_server_that_runs(command, tmp_path):
    data = ("--data", str(tmp_path / "data"))
    root = command("keys", "create", "root", *data).out.strip()
    with TestClient(create_app(ServerSettings(tmp_path / "data"))) as client:
        headers = {"Authorization": f"Bearer {root}"}
        assert client.post("/v1/streams", json={"name": "a"}, headers=headers).status_code == 201
        key = command("keys", "create", "reader", "--scope", "a=read", "--scope", "b=write", *data).out.strip()
        client.app.state.service.keys.read_now_and_then()
        assert client.get("/v1/streams/a", headers={"Authorization": f"Bearer {key}"}).status_code == 200
    listed = command("keys", "list", *data).out.splitlines()
    assert [line.split()[2:] for line in listed] == [["root", "*=admin"], ["reader", "a=read", "b=write"]]
    assert command("keys", "revoke", listed[1].split()[0], *data).code == 0
    assert len(command("keys", "list", *data).out.splitlines()) == 1


def test_keys_are_kept_in_the_database_of_the_server(command, tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path / 'elsewhere' / 'streams.db'}"
    created = command("keys", "create", "root", "--data", str(tmp_path / "data"), "--database", url)
    assert created.code == 0
    monkeypatch.setenv("DRIFTLINE_DATABASE", url)
    assert "root" in command("keys", "list", "--data", str(tmp_path / "data")).out
    with TestClient(create_app(ServerSettings(tmp_path / "data", database=url))) as client:
        headers = {"Authorization": f"Bearer {created.out.strip()}"}
        assert client.get("/v1/keys").status_code == 401
        assert client.get("/v1/keys", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("create", "x", "--scope", "a"), "--scope must be STREAM=ROLE"),
        (("create", "x", "--scope", "a=read"), "the first key must be admin"),
        (("create", "x", "--scope", "*=admin", "--scope", "a=owner"), "roles are read, write, admin"),
        (("revoke", "none"), "there is no key"),
    ],
)
def test_what_cannot_be_done_is_said(command, tmp_path, words, message):
    if words[0] == "revoke":
        command("keys", "create", "root", "--data", str(tmp_path))
    left = command("keys", *words, "--data", str(tmp_path))
    assert left.code in (1, 2)
    assert message in " ".join(left.err.split())
