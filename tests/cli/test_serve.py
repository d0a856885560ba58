"""driftline serve: where it listens, and when it refuses to."""

import socket

import pytest
import uvicorn

from driftline.cli import serve


@pytest.fixture
def addresses(monkeypatch):
    """Return a list to which each server adds the addresses at which it would listen, instead of running."""
    found = []
    monkeypatch.setattr(serve, "_log_as_json", lambda: None)
    monkeypatch.setattr(uvicorn.Server, "run", lambda _, sockets: found.extend(s.getsockname()[0] for s in sockets))
    return found


def start(command, folder, *options):
    return command("serve", "--data", str(folder), "--port", "0", *options)


@pytest.mark.parametrize("options", [(), ("--host", "localhost"), ("--host", "127.0.0.2")])
def test_it_listens_on_loopback_without_keys(command, tmp_path, addresses, options):
    assert start(command, tmp_path, *options).code == 0
    assert addresses == [options[1] if options[1:] == ("127.0.0.2",) else "127.0.0.1"]


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::", "192.0.2.1", "example.com"])
def test_it_does_not_listen_elsewhere_without_keys(command, tmp_path, addresses, monkeypatch, host):
    monkeypatch.setattr(socket, "create_server", None)
    left = start(command, tmp_path, "--host", host)
    assert left.code == 2
    assert "there are no keys; create one: driftline keys create root" in " ".join(left.err.split())
    assert addresses == []


def test_it_listens_elsewhere_with_a_key(command, tmp_path, addresses):
    assert command("keys", "create", "root", "--data", str(tmp_path)).code == 0
    assert start(command, tmp_path, "--host", "0.0.0.0").code == 0
    assert addresses == ["0.0.0.0"]


def test_a_port_that_is_in_use_is_an_error(command, tmp_path, addresses):
    with socket.create_server(("127.0.0.1", 0)) as other:
        left = command("serve", "--data", str(tmp_path), "--port", str(other.getsockname()[1]))
    assert left.code == 2
    assert "choose another --port" in " ".join(left.err.split())
