"""A program that feeds a server which is killed again and again, and compares what is left with what was answered.

    cd tests && python -m helpers.kill_server --kills 200

Each round starts the server on the same folder, sends rows and labels from several threads, and kills the process at a
random moment. Everything that was answered must be there afterwards, and the state must be that of a process which
never died: the operations on disk are applied anew, without any checkpoint, and all arrays are compared.
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.client import HTTPException
from pathlib import Path

from sqlalchemy import delete

from driftline.serve.store import Store
from driftline.serve.tables import CHECKPOINTS
from helpers.state_contents import contents

N_THREADS, N_COLUMNS = 4, 3


class Client(threading.Thread):
    """Sends rows and labels until the server dies, and keeps what was answered."""

    def __init__(self, port, seed):
        super().__init__(daemon=True)
        self._url, self._random = f"http://127.0.0.1:{port}/v1/streams/a", random.Random(seed)
        self.predicted, self.labelled = {}, {}

    def post(self, path, body):
        request = urllib.request.Request(
            f"{self._url}/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def run(self):
        waiting = []
        try:
            while True:
                row = [round(self._random.gauss(0, 1), 3) for _ in range(N_COLUMNS)]
                (said,) = self.post("predict", {"rows": [row]})["rows"]
                self.predicted[said["id"]] = said
                waiting.append((said["id"], "yes" if row[0] > self._random.gauss(0, 0.5) else "no"))
                if len(waiting) > self._random.randrange(10):
                    row_id, label = waiting.pop(self._random.randrange(len(waiting)))
                    self.post("label", {"labels": [{"id": row_id, "label": label}]})
                    self.labelled[row_id] = label
        except (OSError, HTTPException, ValueError):
            return  # the server is gone


def start_server(folder, port, database=None, options=()):
    """Start a server in a process of its own, and return it when it answers."""
    code = (
        "import sys; from driftline.serve import worker; worker.CHECKPOINT_ROWS = 150; "
        "from driftline.cli import main; main()"
    )
    arguments = ["serve", "--data", folder, "--port", str(port), *options]
    if database is not None:
        arguments += ["--database", database]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5)
        except OSError:
            time.sleep(0.1)
        else:
            return process
    raise RuntimeError("the server did not start")


def free_port():
    """Return a port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def feed_and_kill(folder, seed, database):
    """Start the server, send rows from several threads, and kill it; return what was answered."""
    port = free_port()
    process = start_server(folder, port, database)
    try:
        clients = [Client(port, f"{seed} {k}") for k in range(N_THREADS)]
        if seed == 0:
            body = json.dumps({"name": "a", "parameters": {"features": "linear"}}).encode()
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}/v1/streams", body, {"Content-Type": "application/json"}
            )
            urllib.request.urlopen(request, timeout=60)
        for client in clients:
            client.start()
        time.sleep(random.Random(seed).uniform(0.05, 1.5))
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    for client in clients:
        client.join(60)
    return clients


def check(database, predicted, labelled):
    """Assert that the database has all that was answered, and that its checkpoints are those of its operations."""
    store = Store(database)
    (stream,) = store.streams()
    with_checkpoint = contents(store.load_state(stream))
    with store.engine.connect() as connection:  # what is deleted here comes back at the end of the block
        assert connection.execute(delete(CHECKPOINTS)).rowcount >= 0
        without = contents(store.state_in(connection, stream))
    assert with_checkpoint == without, "the state differs from that of a process that never died"
    known = store.known_rows(stream.id, list(predicted))
    for row_id, said in predicted.items():
        assert known[row_id].answer.label == said["label"]
        assert known[row_id].answer.bound == said["bound"]
    for row_id, label in labelled.items():
        assert known[row_id].label == label
    store.close()
    return with_checkpoint[2]


def kill_repeatedly(folder, n_kills, progress=lambda text: None, database=None):
    """Kill a server so many times, with checks in between."""
    database = database or f"sqlite:///{folder / 'driftline.db'}"
    predicted, labelled, n_operations = {}, {}, 0
    for seed in range(n_kills):
        clients = feed_and_kill(folder, seed, database)
        new_predicted = {row_id: said for each in clients for row_id, said in each.predicted.items()}
        new_labelled = {row_id: label for each in clients for row_id, label in each.labelled.items()}
        predicted, labelled = predicted | new_predicted, labelled | new_labelled
        if seed % 10 == n_kills % 10 or seed == n_kills - 1:
            n_operations = check(database, predicted, labelled)
        else:
            n_operations = check(database, new_predicted, new_labelled)
        progress(f"kill {seed + 1}: {len(predicted)} predictions, {len(labelled)} labels, {n_operations} operations")
    return n_operations


def main():
    """Kill the server as often as asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--database", help="an empty database; by default a file of SQLite")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kill_repeatedly(Path(folder), arguments.kills, print, arguments.database)


if __name__ == "__main__":
    main()
