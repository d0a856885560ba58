"""A program that kills a server which reads from Kafka again and again, and compares what is left with what was sent.

    cd tests && python -m helpers.kill_kafka_server --kills 100

Rows and labels are sent all the time: in any order, twice, unusable. Each round starts the server on the same folder,
and kills it at a random moment; in every second round another consumer joins the server's group, and leaves it. In the
end each row must have one prediction, each label must have been learned once, and the state must be that of a process
which never died: the operations on disk are applied anew, without any checkpoint, and all arrays are compared.
"""

import argparse
import itertools
import json
import random
import signal
import tempfile
import threading
import time
import urllib.request
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

from sqlalchemy import select

from driftline.serve.store import Store
from driftline.serve.tables import KAFKA_HELD_LABELS
from helpers.kafka_cluster import KafkaCluster
from helpers.kafka_streams import new_topics, until
from helpers.kill_server import check, free_port, start_server

N_COLUMNS, ROWS_A_ROUND, GROUP = 3, 150, "driftline"


class Sender(threading.Thread):
    """Sends rows, labels and unusable messages until it is told to stop, and keeps what it sent."""

    def __init__(self, cluster, topics, seed):
        super().__init__(daemon=True)
        self._cluster, self._topics, self._random = cluster, topics, random.Random(seed)
        self._is_stopping = threading.Event()
        self.labels, self.n_unusable = {}, 0
        self.rows = set()
        self.n_allowed = 0
        """How many rows may be sent by now."""

    def run(self):
        later = []
        for t in itertools.count():
            row = [round(self._random.gauss(0, 1), 3) for _ in range(N_COLUMNS)]
            row_id, label = f"row {t}", "yes" if row[0] > self._random.gauss(0, 0.5) else "no"
            options = {"key": row_id} if t % 2 else {"key": f"customer {t % 7}", "headers": {"id": row_id}}
            row_message = self._topics.rows, (row, options)
            label_message = self._topics.labels, {"id": row_id, "label": label}
            self.rows.add(row_id)
            self.labels[row_id] = label
            later += [row_message, label_message]
            later += self._random.choices((row_message, label_message), k=t % 5 == 0)
            if t % 20 == 0:
                later.append((self._topics.rows, b"{"))
                self.n_unusable += 1
            while len(later) > self._random.randrange(20):
                topic, message = later.pop(self._random.randrange(len(later)))
                self._cluster.send(topic, message)
            while len(self.rows) >= self.n_allowed and not self._is_stopping.wait(0.01):
                pass
            if self._is_stopping.wait(0.002):
                break
        for topic, message in later:
            self._cluster.send(topic, message)

    def stop(self):
        """Send what is left, and end."""
        self._is_stopping.set()
        self.join()


def run_for_a_while(process, cluster, topics, seed):
    """Let a server run for a random time, while another consumer is a member of its group, and kill it."""
    rng = random.Random(seed)
    try:
        with ExitStack() as stack:
            if seed % 2:
                other = stack.enter_context(cluster.other_consumer(GROUP, topics.inputs))
                other.consume(10, 0.2)
            time.sleep(rng.uniform(0.0, 1.0))
        time.sleep(rng.uniform(0.05, 0.5))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def finish(process, database, sender):
    """Wait until the server has learned all labels, and stop it."""
    store = Store(database)
    (stream,) = store.streams()

    def are_labelled():
        known = store.known_rows(stream.id, list(sender.labels))
        with store.engine.connect() as connection:
            n_held = len(connection.execute(select(KAFKA_HELD_LABELS)).all())
        return n_held == 0 and len(known) == len(sender.labels) and all(each.has_label for each in known.values())

    try:
        until(are_labelled)
        process.terminate()
        assert process.wait(60) == 143
    finally:
        store.close()
        process.kill()


def check_what_was_published(cluster, topics, sender):
    """Assert that each row has one prediction, however often it was published; return these, by the ids of the rows."""
    said = defaultdict(set)
    for message in cluster.read(topics.predictions):
        content = json.loads(message.value())
        said[content["id"]].add(message.value())
    assert said.keys() == sender.rows
    assert all(len(each) == 1 for each in said.values()), "a row got two different predictions"
    places = [(each.value(), *each.headers()) for each in cluster.read(topics.rejected)]
    assert len(set(places)) == sender.n_unusable
    return {row_id: json.loads(min(each)) for row_id, each in said.items()}


def kill_repeatedly(cluster, folder, n_kills, progress=lambda text: None, database=None):
    """Kill a server so many times while rows and labels are sent to it, and check what is left."""
    database = database or f"sqlite:///{folder / 'driftline.db'}"
    topics = new_topics(cluster, f"kills-{n_kills}-{time.monotonic_ns()}")
    settings = folder / "kafka.toml"
    names = "\n".join(f'{name} = "{getattr(topics, name)}"' for name in ("rows", "labels", "predictions", "rejected"))
    settings.write_text(f'servers = "{cluster.servers}"\ngroup = "{GROUP}"\n[streams.a]\n{names}\n', encoding="utf-8")
    sender = Sender(cluster, topics, n_kills)
    for seed in range(n_kills + 1):
        sender.n_allowed += ROWS_A_ROUND
        port = free_port()
        process = start_server(folder, port, database, ("--kafka", settings))
        if seed == 0:
            body = json.dumps({"name": "a", "parameters": {"features": "linear"}}).encode()
            headers = {"Content-Type": "application/json"}
            urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/v1/streams", body, headers))
            sender.start()
        if seed < n_kills:
            run_for_a_while(process, cluster, topics, seed)
            progress(f"kill {seed + 1}: {len(sender.rows)} rows, {check(database, {}, {})} operations")
    sender.stop()
    finish(process, database, sender)
    predicted = check_what_was_published(cluster, topics, sender)
    n_operations = check(database, predicted, sender.labels)
    store = Store(database)
    assert store.load_state(store.streams()[0]).figures.total.n_rows == len(sender.labels), "a label was learned twice"
    store.close()
    n_published = len(cluster.read(topics.predictions))
    progress(
        f"{len(sender.rows)} rows have one prediction each, published {n_published} times; {n_operations} operations"
    )
    return len(sender.rows)


def main():
    """Kill the server as often as asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--database", help="an empty database; by default a file of SQLite")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kill_repeatedly(KafkaCluster(), Path(folder), arguments.kills, print, arguments.database)


if __name__ == "__main__":
    main()
