"""The page about Kafka: its commands and its code work with a server and a cluster that listen elsewhere."""

import contextlib
import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from driftline.serve.kafka.settings import read_kafka_settings
from helpers.kill_server import free_port, start_server

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "kafka.md"
BLOCK = re.compile(r"^```(bash|python|toml)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_page_about_kafka_does_what_it_says(kafka_cluster, tmp_path):
    port = free_port()
    text = PAGE.read_text(encoding="utf-8").replace("localhost:8000", f"127.0.0.1:{port}")
    blocks = BLOCK.findall(text.replace("localhost:9092", kafka_cluster.servers))
    files = [code for kind, code, _ in blocks if kind == "toml"]
    settings = tmp_path / "kafka.toml"
    settings.write_text("\n".join(files), encoding="utf-8")
    assert read_kafka_settings(settings).properties["sasl.username"] == "driftline"
    settings.write_text(files[0], encoding="utf-8")
    kafka_cluster.create_topics(*(f"payments-{name}" for name in ("rows", "labels", "predictions", "rejected")))
    process, names = start_server(tmp_path, port, options=("--kafka", settings)), {}
    try:
        for kind, code, shown in blocks:
            if kind == "bash" and code.startswith("curl"):
                subprocess.run(["bash", "-ec", code.replace("curl -s", "curl -s --fail")], check=True)
            elif kind == "python":
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(code, names)
                assert printed.getvalue() == shown
        assert not kafka_cluster.read("payments-rejected")
    finally:
        process.terminate()
        assert process.wait(60) == 143
