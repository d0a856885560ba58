"""Services for tests, and programs that use them."""

from contextlib import contextmanager

import numpy as np

from driftline.serve.service import Service
from driftline.serve.settings import ServerSettings

LINEAR = {"features": "linear"}
PATIENCE_SECONDS = 60.0


@contextmanager
def running_service(folder, **options):
    """Start a service; it is closed at the end of the block."""
    service = Service(ServerSettings(folder, **options))
    service.start()
    try:
        yield service
    finally:
        service.close()


def do(worker, method, *arguments, **options):
    """Let a worker do something, and return the answer when it is on disk."""
    task = worker.submit(lambda each, future: getattr(each, method)(*arguments, future, **options))
    return task.result(PATIENCE_SECONDS)


def random_operations(rng, n, n_columns=3):
    """Yield (method, arguments) of operations in any order: late, repeated, wrong and unknown labels included."""
    asked, n_rows = [], 0
    for _ in range(n):
        kind, size = rng.choice(["ask", "label", "learn"], p=[0.45, 0.4, 0.15]), int(rng.integers(1, 4))
        ids = [f"row {n_rows + t}" for t in range(size)]
        X = rng.normal(size=(size, n_columns)).round(3)
        labels = np.where(X[:, 0] + rng.normal(size=size) > 0, "yes", "no").tolist()
        if kind == "ask":
            n_rows += size
            asked += ids
            yield "ask", (ids, X.tolist())
        elif kind == "learn":
            n_rows += size
            yield "learn", (ids, X.tolist(), labels)
        elif asked:
            chosen = rng.choice([*asked[-20:], "unknown"], size, replace=False) if len(asked) > size else asked[:1]
            yield "label", ([(str(each), label) for each, label in zip(chosen, labels, strict=False)],)
