"""What River's interface costs beside the estimator: the same rows through both, one at a time, in the same run.

`make bench` prints a table. It counts the time of the processor, because machines are busy; rounds alternate, and each
figure is their median.
"""

import time
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import driftline
from bench_default import made_up
from driftline.adapters.river import AMRC

N_ROWS, N_WARM, ROUNDS = 1500, 300, 9
GOAL = 1.15
console = Console(width=120)


def native_seconds(X, y):
    """Predict and learn one row at a time, as arrays; return the seconds for each row."""
    model = driftline.AMRC().partial_fit(X[:N_WARM], y[:N_WARM])
    begun = time.process_time()
    for t in range(N_WARM, len(X)):
        model.predict_proba(X[t : t + 1])
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    return (time.process_time() - begun) / (len(X) - N_WARM)


def adapted_seconds(rows, labels):
    """Do the same with dictionaries, through River's interface."""
    model = AMRC()
    for x, label in zip(rows[:N_WARM], labels, strict=False):
        model.learn_one(x, label)
    begun = time.process_time()
    for x, label in zip(rows[N_WARM:], labels[N_WARM:], strict=True):
        model.predict_proba_one(x)
        model.learn_one(x, label)
    return (time.process_time() - begun) / (len(rows) - N_WARM)


def block_seconds(X, y):
    """Let the estimator predict and learn the rows of a block itself."""
    model = driftline.AMRC().partial_fit(X[:N_WARM], y[:N_WARM])
    begun = time.process_time()
    model.prequential(X[N_WARM:], y[N_WARM:])
    return (time.process_time() - begun) / (len(X) - N_WARM)


def measure(n_columns):
    """Return the rounds: seconds of a row natively, through River's interface, and in a block."""
    X, y = made_up(N_ROWS, 2, n_columns)
    names = [f"x{j:03d}" for j in range(n_columns)]
    rows, labels = [dict(zip(names, x, strict=True)) for x in X.tolist()], np.array(["no", "yes"])[y].tolist()
    measured = [(native_seconds(X, y), adapted_seconds(rows, labels), block_seconds(X, y)) for _ in range(ROUNDS + 1)]
    return measured[1:]  # the first compiled


def main():
    """Measure and print it."""
    table = Table(title="driftline benchmarks: River's interface")
    for name in ("AMRC through River's interface", "measured", "reference", "ratio", "goal"):
        table.add_column(name, justify="left" if name.startswith("AMRC") else "right")
    with threadpool_limits(1):
        for n_columns in (8, 50):
            rounds = measure(n_columns)
            native, adapted, block = (1e6 * median(column) for column in zip(*rounds, strict=True))
            over_native = median(a / n for n, a, _ in rounds)
            over_block = median(a / b for _, a, b in rounds)
            what, took = f"{n_columns} features", f"{adapted:.0f} µs/row"
            goal = f"≤ {GOAL} ×" if n_columns == 8 else ""
            table.add_row(what, took, f"native, a row at a time, {native:.0f} µs/row", f"{over_native:.3f} ×", goal)
            table.add_row("", "", f"native, in blocks, {block:.0f} µs/row", f"{over_block:.2f} ×", "")
    console.print(table)


if __name__ == "__main__":
    main()
