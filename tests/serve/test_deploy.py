"""The files in deploy name metrics and options that exist."""

import json
import re
from pathlib import Path

from fastapi.testclient import TestClient
from typer.testing import CliRunner

from driftline.cli.app import app
from driftline.serve.app import create_app
from driftline.serve.settings import ServerSettings
from helpers.served_streams import LINEAR

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_the_dashboard_shows_metrics_that_the_server_has(tmp_path):
    with TestClient(create_app(ServerSettings(tmp_path))) as client:
        client.post("/v1/streams", json={"name": "a", "parameters": LINEAR})
        known = set(re.findall(r"^(driftline_\w+)", client.get("/metrics").text, re.MULTILINE))
    dashboard = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    shown = {name for expression in expressions for name in re.findall(r"driftline_\w+", expression)}
    assert len(expressions) == len({panel["title"] for panel in dashboard["panels"]}) >= 6
    assert shown <= known


def test_the_unit_and_the_container_use_options_that_exist():
    options = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200"}).output
    for name in ("driftline.service", "Dockerfile"):
        used = re.findall(r"driftline serve .*|\"serve\".*", (DEPLOY / name).read_text(encoding="utf-8"))
        for option in re.findall(r"--[a-z-]+", " ".join(used)):
            assert option in options, (name, option)
