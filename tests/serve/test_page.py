"""The pages about serving: their commands and their code work with a server that listens elsewhere."""

import contextlib
import io
import json
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from helpers.kill_server import free_port, start_server

ROOT = Path(__file__).parents[2]
PAGE, TUTORIAL = (ROOT / "docs" / "how-to" / name for name in ("serve.md", "serve-tutorial.md"))
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)


pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


def test_the_page_about_serving_does_what_it_says(tmp_path):
    port = free_port()
    process, answers = start_server(tmp_path / "data", port), []
    try:
        text = re.sub(r"(localhost|127\.0\.0\.1):8000", f"127.0.0.1:{port}", PAGE.read_text(encoding="utf-8"))
        names = {}
        for kind, code, shown in BLOCK.findall(text.replace("curl -s ", "curl -s --fail ")):
            if kind == "python":
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(code, names)
                assert printed.getvalue() == shown
            elif code.startswith("curl"):
                done = subprocess.run(["bash", "-ec", code], capture_output=True, text=True, check=True, cwd=tmp_path)
                answers.append(done.stdout)
        assert '"label":"fraud"' in answers[2]
        assert '"learned":1' in answers[3]
        assert '"labelled":4' in answers[3]
        with_key = {"Authorization": f"Bearer {names['root']}"}
        address = urllib.request.Request(f"http://127.0.0.1:{port}/v1/streams/machines/events", headers=with_key)
        events = urllib.request.urlopen(address, timeout=60)  # still open when the server is stopped
        assert b"status" in events.readline() + events.readline()
    finally:
        process.terminate()
        assert process.wait(60) == 143


@pytest.mark.slow
def test_the_tutorial_ends_with_an_alarm(tmp_path):
    port = free_port()
    process, printed = start_server(tmp_path / "data", port), []
    try:
        text = TUTORIAL.read_text(encoding="utf-8").replace("localhost:8000", f"127.0.0.1:{port}")
        feed = f"'{sys.executable}' '{ROOT / 'examples' / 'feed.py'}' --pause 0 --url http://127.0.0.1:{port}"
        blocks = [code for kind, code, _ in BLOCK.findall(text) if kind == "bash"]
        assert blocks[0].splitlines() == ["pip install 'driftline[serve]'", "driftline serve"]
        for code in blocks[1:]:
            command = code.replace("python feed.py", feed).replace("curl -s ", "curl -s --fail ")
            printed.append(subprocess.run(["bash", "-ec", command], capture_output=True, text=True, check=True).stdout)
    finally:
        process.terminate()
        assert process.wait(60) == 143
    rows = [int(row) for row in re.findall(r"row (\d+): alarm!", printed[0])]
    assert len(rows) == 1
    assert 1500 < rows[0] < 1800
    stream = json.loads(printed[1])
    assert stream["status"]["alarm"]["kind"] == "rise"
    assert stream["status"]["recent_error"]["error"] < 0.08  # as low as before the change
    assert printed[2:] == ["", ""]
