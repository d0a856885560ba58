"""Models as files, shadows, records and events."""

import io
import json

import httpx
import numpy as np
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient

from driftline import AMRC
from driftline.serve.app import create_app
from driftline.serve.settings import ServerSettings
from helpers.running_server import running_server

URL = "/v1/streams/a"


def rows_of(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(3)
    return X.tolist(), np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, "yes", "no").tolist()


@pytest.fixture
def client(tmp_path):
    with TestClient(create_app(ServerSettings(tmp_path / "data")), raise_server_exceptions=False) as client:
        assert client.post("/v1/streams", json={"name": "a", "parameters": {"features": "linear"}}).status_code == 201
        yield client


def learn(client, seed, n):
    rows, labels = rows_of(seed, n)
    assert client.post(f"{URL}/learn", json={"rows": rows, "labels": labels}).status_code == 200


def test_a_model_moves_from_one_stream_to_another_as_a_file(client, tmp_path):
    assert client.get(f"{URL}/model").json()["type"] == "urn:driftline:no-model"
    rows, labels = rows_of(0, 100)
    other = AMRC(features="linear", order=0).partial_fit(np.array(rows), np.array(labels))
    other.save(tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    assert client.put(f"{URL}/model", content=content).json()["type"] == "urn:driftline:model-does-not-fit"
    learn(client, 1, 10)
    client.post(f"{URL}/predict", json={"rows": rows[:1], "ids": ["1"]})
    assert client.put(f"{URL}/model", content=content).status_code == 204
    assert client.get(URL).json()["parameters"]["order"] == 0
    assert client.post(f"{URL}/label", json={"labels": [{"id": "1", "label": "yes"}]}).json()["learned"] == 1
    (tmp_path / "again").write_bytes(client.get(f"{URL}/model").content)
    assert AMRC.load(tmp_path / "again").n_steps_ == 101
    for altered, detail in ((content[:-50], "no model file"), (b"", "no model file")):
        refused = client.put(f"{URL}/model", content=altered)
        assert refused.status_code == 422
        assert detail in refused.json()["detail"]
    AMRC(features="linear").partial_fit([[0.0], [1.0]], ["no", "yes"]).save(tmp_path / "model")
    refused = client.put(f"{URL}/model", content=(tmp_path / "model").read_bytes())
    assert "has 1 columns, and the stream 2" in refused.json()["detail"]


def test_a_shadow_is_compared_promoted_rolled_back_and_dropped(tmp_path):
    with TestClient(create_app(ServerSettings(tmp_path))) as client:
        client.post("/v1/streams", json={"name": "a", "parameters": {"features": "linear"}})
        content = promoted_shadow(client)
    with TestClient(create_app(ServerSettings(tmp_path))) as client:
        assert client.get(f"{URL}/model").content == content
        assert client.get(URL).json()["parameters"]["order"] == 0
        assert client.post(f"{URL}/shadow/promote").status_code == 204
        assert client.get(URL).json()["parameters"] == {"features": "linear"}
        assert client.delete(f"{URL}/shadow").status_code == 204
        assert client.get(f"{URL}/shadow").status_code == 404


def promoted_shadow(client):
    """Start a shadow, let it learn, and promote it; return the file of the model then."""
    learn(client, 0, 50)
    assert client.get(f"{URL}/shadow").status_code == 404
    assert client.post(f"{URL}/shadow/promote").status_code == 409
    assert client.put(f"{URL}/shadow", json={"parameters": {"order": 9}}).status_code == 422
    assert client.put(f"{URL}/shadow", json={"parameters": {"features": "linear", "order": 0}}).status_code == 204
    assert client.get(f"{URL}/shadow").json()["comparison"]["rows"] == 0
    learn(client, 1, 400)
    compared = client.get(f"{URL}/shadow").json()["comparison"]
    assert compared["rows"] == 399  # the first row starts the shadow
    assert compared["low"] <= compared["difference"] <= compared["high"]
    assert compared["verdict"] in ("no significant difference", "the shadow is better", "the shadow is worse")
    assert client.post(f"{URL}/shadow/promote").status_code == 204
    assert client.get(URL).json()["parameters"]["order"] == 0
    assert client.get(f"{URL}/shadow").json()["parameters"] == {"features": "linear"}
    return client.get(f"{URL}/model").content


def test_records_have_all_rows_with_predictions_and_labels(client):
    learn(client, 0, 30)
    rows, labels = rows_of(1, 20)
    said = client.post(f"{URL}/predict", json={"rows": rows}).json()["rows"]
    sent = [{"id": row["id"], "label": label} for row, label in zip(said[:15], labels, strict=False)]
    client.post(f"{URL}/label", json={"labels": sent})
    table = pq.read_table(io.BytesIO(client.get(f"{URL}/records").content))
    assert table.num_rows == 50
    late = table.slice(30).to_pydict()
    assert late["id"] == [row["id"] for row in said]
    assert late["prediction"] == [row["label"] for row in said]
    assert late["label"] == [*labels[:15], *[None] * 5]
    assert late["set"] == [row["set"] for row in said]
    assert late["answered"] == [row["answer"] is not None for row in said]
    assert np.array_equal(np.column_stack([late["row.x0"], late["row.x1"]]), rows)
    assert table.column("labelled_at").null_count == 5


def test_events_end_when_the_stream_is_deleted(tmp_path):
    with running_server(create_app(ServerSettings(tmp_path))) as url, httpx.Client(base_url=url) as client:
        client.post("/v1/streams", json={"name": "a"})
        with client.stream("GET", f"{URL}/events") as answer:
            lines = answer.iter_lines()
            assert next(lines) == "event: status"
            assert httpx.delete(f"{url}{URL}").status_code == 204
            assert [line.partition(":")[0] for line in lines][:1] == ["data"]  # and no error at the end


def test_events_tell_alarms_once_and_the_status_when_it_changes(client):
    learn(client, 0, 600)
    rows, _ = rows_of(1, 600)
    labels = np.where(np.random.default_rng(0).random(600) < 0.5, "yes", "no").tolist()
    client.post(f"{URL}/learn", json={"rows": rows, "labels": labels})
    assert client.get(URL).json()["status"]["state"] == "alarm"

    def first_events(**headers):
        found = []
        with client.stream("GET", f"{URL}/events", headers=headers) as answer:
            lines = (line for line in answer.iter_lines() if line.startswith(("event", "data", "id")))
            for line in lines:
                found.append(line)
                if line.startswith("data") and '"operations"' in line:
                    break
        return found

    number, kind, content, _, status = first_events()
    assert (number, kind) == ("id: 1", "event: alarm")
    assert 600 <= json.loads(content[6:])["raised_at"] < 900
    assert json.loads(status[6:])["labelled"] == 1200
    assert first_events(**{"Last-Event-ID": "1"})[0] == "event: status"
    assert client.post(f"{URL}/alarm/acknowledge").status_code == 204
    assert client.get(URL).json()["status"]["alarm"] is None
