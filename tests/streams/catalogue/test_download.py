"""Downloads for real, from a server on this machine that behaves well or badly."""

import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from driftline.errors import DownloadError
from driftline.streams.catalogue import OriginalFile, describe
from driftline.streams.catalogue.loading import DOWNLOAD_FOLDER_PREFIX, fetch, load
from driftline.streams.catalogue.locations import find_dataset
from helpers.fake_dataset import CSV, X, pebbles

BODY = CSV + 100_000 * b"\n"  # blank lines, which hold no row, and which make it last


class Handler(BaseHTTPRequestHandler):
    """Answers by the last part of the path; counts the requests; can be held up in mid-file."""

    def do_GET(self):
        self.server.asked.append(self.path)
        getattr(self, self.path.strip("/"))()

    def good(self):
        self._send(200, CSV)

    def other(self):
        self._send(200, CSV.replace(b"0.25", b"0.75"))

    def garbage(self):
        self._send(200, b"<html>Please log in</html>")

    def missing(self):
        self._send(404, b"nothing here")

    def truncated(self):
        self._send(200, CSV, length=len(CSV) + 10)

    def flaky(self):
        first = self.server.asked.count("/flaky") == 1
        self._send(503, b"") if first else self.good()

    def broken(self):
        self._send(503, b"")

    def stalled(self):
        self._send(200, BODY[: len(BODY) // 2], length=len(BODY))
        self.server.half_sent.set()
        self.server.go_on.wait(20)

    def _send(self, code, body, length=None):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.half_sent, server.go_on = [], threading.Event(), threading.Event()
    server.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.go_on.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("DRIFTLINE_DATA", raising=False)
    monkeypatch.setenv("DRIFTLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))
    return tmp_path / "cache"


def left(cache):
    return [path.name for path in cache.iterdir()]


def test_a_stream_is_downloaded_converted_and_kept(server, cache, monkeypatch):
    monkeypatch.setattr("driftline.streams.catalogue.loading.describe", lambda name: pebbles(f"{server.address}/good"))
    for _ in range(2):
        stream = load("pebbles", with_leaks=True)
        assert np.array_equal(next(stream.blocks()).rows, X)
    assert server.asked == ["/good"]
    assert left(cache) == ["pebbles.npz"]


def test_progress_is_shown_on_the_standard_error_of_a_terminal(server, cache, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich's way of being told that there is a terminal
    fetch(pebbles(f"{server.address}/good"))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "downloading pebbles.csv" in captured.err
    assert f"{len(CSV)}/{len(CSV)} bytes" in captured.err


def test_where_there_is_no_terminal_nothing_is_shown(server, cache, capfd):
    fetch(pebbles(f"{server.address}/good"))
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_a_stream_of_another_content_is_not_kept(server, cache):
    with pytest.raises(
        DownloadError, match=rf"{server.address}/other: pebbles\.csv, converted, is not the stream pebbles"
    ):
        fetch(pebbles(f"{server.address}/other"))
    assert left(cache) == []


def test_a_page_instead_of_the_file_is_not_kept(server, cache):
    with pytest.raises(DownloadError, match=rf"{server.address}/garbage: pebbles\.csv cannot be converted"):
        fetch(pebbles(f"{server.address}/garbage"))
    assert left(cache) == []


def test_an_original_with_another_checksum_is_not_kept(server, cache):
    original = OriginalFile("pebbles.csv", f"{server.address}/good", sha256="0" * 64)
    with pytest.raises(DownloadError, match="the sha256 of the file is not 000"):
        fetch(pebbles(originals=((original,),)))
    assert left(cache) == []


@pytest.mark.parametrize(
    ("behaviour", "reason", "requests"),
    [
        ("truncated", "the connection broke before the end of the file", 3),
        ("missing", "the server answered 404 Not Found", 1),
        ("broken", "the server answered 503 Service Unavailable", 3),
    ],
)
def test_failures_name_the_reason_the_file_the_address_and_the_folder(server, cache, behaviour, reason, requests):
    address = f"{server.address}/{behaviour}"
    with pytest.raises(DownloadError) as caught:
        fetch(pebbles(address))
    assert f"{address}: {reason}" in str(caught.value)
    assert f"download pebbles.csv from {address}, and put it into {cache}" in str(caught.value)
    assert server.asked == requests * [f"/{behaviour}"]
    assert left(cache) == []


def test_a_server_that_stalls_is_given_up(server, cache):
    with pytest.raises(DownloadError, match=r"no answer from the server for 0\.1 seconds"):
        fetch(pebbles(f"{server.address}/stalled"), timeout=0.1)
    assert left(cache) == []


def test_without_a_network_the_error_says_what_to_put_where(cache):
    address = "http://127.0.0.1:9/pebbles.csv"  # a port at which nobody listens
    with pytest.raises(DownloadError) as caught:
        fetch(pebbles(address))
    assert str(caught.value) == (
        f"the stream pebbles cannot be downloaded ({address}: there is no connection to the server); "
        f"download pebbles.csv from {address}, and put it into {cache}"
    )
    (cache / "pebbles.csv").write_bytes(CSV)
    assert find_dataset(pebbles(address)).is_original


def test_a_download_that_fails_once_is_tried_again(server, cache):
    assert fetch(pebbles(f"{server.address}/flaky")) == cache / "pebbles.npz"
    assert server.asked == ["/flaky", "/flaky"]


def test_the_next_place_is_asked_if_one_does_not_have_it(server, cache):
    fetch(pebbles(*(f"{server.address}/{name}" for name in ("missing", "other", "good"))))
    assert server.asked == ["/missing", "/other", "/good"]
    assert left(cache) == ["pebbles.npz"]


def test_what_is_only_to_be_had_by_hand_is_not_asked_for(cache):
    with pytest.raises(
        DownloadError, match=r"email cannot be downloaded automatically; download email_data\.arff with a browser"
    ):
        fetch(describe("email"))


def begin_and_stop(server, cache, number):
    """Have another process download a file, and stop it by a signal in mid-file."""
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from driftline.streams.catalogue.loading import fetch; from helpers.fake_dataset import pebbles\n"
        f"fetch(pebbles('{server.address}/stalled'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    child = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE)
    assert server.half_sent.wait(60)
    child.send_signal(number)
    child.communicate(timeout=60)
    assert child.returncode != 0


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing on Windows")
def test_an_interrupted_download_leaves_nothing(server, cache):
    begin_and_stop(server, cache, signal.SIGINT)
    assert left(cache) == []
    fetch(pebbles(f"{server.address}/good"))
    assert left(cache) == ["pebbles.npz"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_killed_download_leaves_nothing_that_is_taken_for_the_file(server, cache):
    begin_and_stop(server, cache, signal.SIGKILL)
    (remains,) = cache.iterdir()
    assert remains.name.startswith(DOWNLOAD_FOLDER_PREFIX)
    assert find_dataset(pebbles(f"{server.address}/good")) is None
    fetch(pebbles(f"{server.address}/good"))
    assert sorted(left(cache)) == [remains.name, "pebbles.npz"]  # it might be another process at work
    os.utime(remains, (0, 0))
    (cache / ".pebbles.npz.0123456789abcdef").write_bytes(b"half")
    os.utime(cache / ".pebbles.npz.0123456789abcdef", (0, 0))
    fetch(pebbles(f"{server.address}/good"))
    assert left(cache) == ["pebbles.npz"]
