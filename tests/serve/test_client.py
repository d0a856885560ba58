"""The client in Python, with a server that listens."""

import io
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pyarrow.parquet as pq
import pytest

from driftline.serve.app import create_app
from driftline.serve.client import Client, RequestRefusedError
from driftline.serve.settings import ServerSettings
from helpers.running_server import running_server
from helpers.served_streams import LINEAR

ROWS, LABELS = [[0.0], [1.0], [0.1], [0.9]], ["no", "yes", "no", "yes"]


@pytest.fixture
def client(tmp_path):
    with running_server(create_app(ServerSettings(tmp_path))) as url, Client(url) as client:
        client.create("a", parameters=LINEAR)
        yield client


def test_a_stream_is_used_from_its_creation_to_its_end(client):
    assert client.learn("a", ROWS, LABELS)["learned"] == 4
    (said,) = client.predict("a", [[0.8]], ids=["1"])
    assert (said.id, said.label) == ("1", "yes")
    assert client.label("a", {"1": "yes"})["learned"] == 1
    assert {row["feature"] for row in client.drift("a")} == {"x0"}
    assert pq.read_table(io.BytesIO(client.records("a"))).num_rows == 5
    client.acknowledge_alarm("a")
    client.pause("a")
    with pytest.raises(RequestRefusedError, match="is paused") as refused:
        client.predict("a", [[0.8]])
    assert (refused.value.status, refused.value.kind) == (409, "stream-paused")
    client.resume("a")
    assert client.stream("a")["status"]["labelled"] == 5
    client.delete("a")
    assert client.streams() == []


def test_models_move_and_shadows_are_promoted(client):
    client.learn("a", ROWS, LABELS)
    client.create("b", parameters=LINEAR, columns=[{"name": "x0", "kind": "number"}])
    client.replace_model("b", client.model("a"))
    assert client.model("b") == client.model("a")
    client.start_shadow("b", LINEAR | {"order": 0})
    client.learn("b", ROWS, LABELS)
    assert client.shadow("b")["rows"] == 3  # the first row starts the shadow
    client.promote_shadow("b")
    assert client.stream("b")["parameters"]["order"] == 0
    client.drop_shadow("b")
    with pytest.raises(RequestRefusedError, match="has no shadow"):
        client.shadow("b")


def test_an_answer_that_is_not_of_the_server_is_an_error_with_its_status():
    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_error(502)

        def log_message(self, *_):
            pass

    proxy = HTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    with (
        Client(f"http://127.0.0.1:{proxy.server_port}") as client,
        pytest.raises(RequestRefusedError, match="502 Bad Gateway"),
    ):
        client.streams()
    proxy.shutdown()
    proxy.server_close()
