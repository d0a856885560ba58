"""Load on `driftline serve`: single rows that are predicted, then labelled, and batches, from a second process.

    python benchmarks/bench_serve.py [--seconds 60] [--connections 16] [--pairs 500000] [--write]

The server runs with the default model and SQLite in a temporary folder, and every answer is on disk before it is sent.
The client is this process, on loopback; each part ends after the given time. Then so many pairs go to a stream in this
process, without HTTP, and the memory is shown as they go; `--pairs 0` leaves that out. `--write` writes
results/serve.md.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import deque
from pathlib import Path

import numpy as np

from driftline.serve.service import Service
from driftline.serve.settings import ServerSettings
from provenance import write_results

N_COLUMNS, BATCH_ROWS = 8, 100
NAMES = [f"x{j}" for j in range(N_COLUMNS)]


class Connection:
    """A connection that sends one request after another."""

    def __init__(self, reader, writer):
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, port):
        """Return a new connection."""
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def post(self, path, body):
        """Send a request; return the status and the answer."""
        content = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        self._writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        length = next(int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length"))
        return int(lines[0].split()[1]), json.loads(await self._reader.readexactly(length))


def rows_of(rng, n):
    """Return rows and labels of two classes."""
    X = rng.normal(size=(n, N_COLUMNS))
    labels = np.where(X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n) > 0, "yes", "no").tolist()
    return [dict(zip(NAMES, row, strict=True)) for row in X.round(4).tolist()], labels


async def pairs(connection, name, rng, n_rows, deadline, latencies):
    """Ask for rows, then send their labels, until the deadline."""
    while time.perf_counter() < deadline:
        rows, labels = rows_of(rng, n_rows)
        start = time.perf_counter()
        status, said = await connection.post(f"/v1/streams/{name}/predict", {"rows": rows})
        middle = time.perf_counter()
        assert status == 200, said
        given = [{"id": row["id"], "label": label} for row, label in zip(said["rows"], labels, strict=True)]
        status, said = await connection.post(f"/v1/streams/{name}/label", {"labels": given})
        assert status == 200, said
        latencies += [middle - start, time.perf_counter() - middle]


async def load(server, port, n_connections, n_rows, seconds):
    """Return rows per second, latencies of all requests, and the server's processor time per row, in milliseconds."""
    connections, name = [await Connection.open(port) for _ in range(n_connections)], f"rows-{n_rows}"
    await connections[0].post("/v1/streams", {"name": name})
    rng, latencies = np.random.default_rng(0), []
    await pairs(connections[0], name, rng, n_rows, time.perf_counter() + 2.0, [])
    start, before = time.perf_counter(), cpu_seconds(server.pid)
    await asyncio.gather(*(pairs(each, name, rng, n_rows, start + seconds, latencies) for each in connections))
    n, used = len(latencies) / 2 * n_rows, cpu_seconds(server.pid) - before
    return n / (time.perf_counter() - start), 1000 * np.array(latencies), 1000 * used / n


def memory(n_pairs):
    """Send pairs to a stream in this process, 20 at once; return the lines of a table of its memory on the way."""
    lines = ["| pairs so far | memory, MB | on disk, MB |", "|---:|---:|---:|"]
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        service = Service(ServerSettings(Path(folder)))
        service.start()
        worker, waiting = service.create("a", {}, None, None), deque()
        for start in range(0, n_pairs, 20):
            rows, labels = rows_of(rng, 20)
            ids = [str(start + t) for t in range(20)]
            given = list(zip(ids, labels, strict=True))
            waiting.append(worker.submit(lambda each, future, ids=ids, rows=rows: each.ask(ids, rows, future)))
            waiting.append(worker.submit(lambda each, future, given=given: each.label(given, future)))
            while len(waiting) > 20:
                waiting.popleft().result()
            if (start + 20) % (n_pairs // 10) == 0:
                pages = int(Path("/proc/self/statm").read_text().split()[1])
                megabytes = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
                size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
                lines.append(f"| {start + 20:,} | {megabytes:.0f} | {size:.0f} |")
                print(lines[-1], flush=True)
        service.close()
    return lines


def start_server(folder, port):
    """Start a server, and return its process when it answers."""
    command = [sys.executable, "-m", "driftline", "serve", "--data", folder, "--port", str(port)]
    process = subprocess.Popen(command)
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5)
        except OSError:
            time.sleep(0.2)
        else:
            return process
    raise SystemExit("the server did not start")


def requests(seconds, n_connections, port):
    """Return the lines of a table of the requests that a server answers."""
    lines = [
        "| rows in a request | rows/s | goal | median, ms | p99, ms | goal | server's processor, ms per row |",
        "|---:" * 7 + "|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        process = start_server(folder, port)
        try:
            for n_rows, goal, limit in ((1, 400, "< 100"), (BATCH_ROWS, 2000, "")):
                rate, latencies, used = asyncio.run(load(process, port, n_connections, n_rows, seconds))
                low, high = np.percentile(latencies, [50, 99])
                lines.append(f"| {n_rows} | {rate:,.0f} | ≥ {goal:,} | {low:.1f} | {high:.1f} | {limit} | {used:.2f} |")
                print(lines[-1], flush=True)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
    return lines


def main():
    """Run the benchmark, print the tables, and write them if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--pairs", type=int, default=500_000, help="pairs over which memory is measured; 0 for none")
    parser.add_argument("--write", action="store_true", help="write results/serve.md")
    arguments = parser.parse_args()
    busy = os.getloadavg()[0]
    lines = [
        f"{arguments.connections} connections, {arguments.seconds:.0f} seconds, on a machine with {os.cpu_count()} "
        f"cores whose load was {busy:.1f} before the run:",
        "",
    ]
    print(lines[0], flush=True)
    lines += requests(arguments.seconds, arguments.connections, arguments.port)
    if arguments.pairs:
        lines += ["", "Memory of a process with one stream, without HTTP:", "", *memory(arguments.pairs)]
    if arguments.write:
        write_results("serve", EXPLANATION, lines, ("fastapi", "uvicorn", "sqlalchemy"))


def cpu_seconds(pid):
    """Return the time that a process has spent on the processor."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


EXPLANATION = f"""# Load on driftline serve

Rows with {N_COLUMNS} columns and two classes are predicted by the default model, and labelled right after their answer,
from a second process on loopback. What was answered is on disk (SQLite, `synchronous=FULL`). Latencies are of
single requests, of predictions and labels alike. The server's processor time depends less than the rest on what else
the machine does.
"""

if __name__ == "__main__":
    main()
