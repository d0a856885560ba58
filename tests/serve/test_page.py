"""The page about serving: its commands and its code work with a server that listens elsewhere."""

import contextlib
import io
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path

import pytest

from helpers.kill_server import free_port, start_server

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serve.md"
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_page_about_serving_does_what_it_says(tmp_path):
    port = free_port()
    process, answers = start_server(tmp_path, port), []
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
                done = subprocess.run(["bash", "-ec", code], capture_output=True, text=True, check=True)
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
