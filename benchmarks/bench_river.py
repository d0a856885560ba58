"""Time that River's interface adds to the estimator: the same rows through both, one at a time, in the same run.

`make bench` prints a table. Processor time is measured, because the machine may do other work. The ways are measured
in turn, and each figure is the median of the rounds.
"""

import time
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import driftline
from bench_default import gaussian_classes
from driftline.adapters.river import AMRC

N_ROWS, N_WARM_UP_ROWS, N_ROUNDS = 1500, 300, 9
GOAL = 1.15
console = Console(width=120)


def native_seconds(X, y):
    """Return the seconds per row to predict and learn rows one at a time, as arrays."""
    model = driftline.AMRC().partial_fit(X[:N_WARM_UP_ROWS], y[:N_WARM_UP_ROWS])
    start = time.process_time()
    for t in range(N_WARM_UP_ROWS, len(X)):
        model.predict_proba(X[t : t + 1])
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    return (time.process_time() - start) / (len(X) - N_WARM_UP_ROWS)


def adapted_seconds(rows, labels):
    """Return the same for rows as dictionaries, with River's interface."""
    model = AMRC()
    for x, label in zip(rows[:N_WARM_UP_ROWS], labels, strict=False):
        model.learn_one(x, label)
    start = time.process_time()
    for x, label in zip(rows[N_WARM_UP_ROWS:], labels[N_WARM_UP_ROWS:], strict=True):
        model.predict_proba_one(x)
        model.learn_one(x, label)
    return (time.process_time() - start) / (len(rows) - N_WARM_UP_ROWS)


def block_seconds(X, y):
    """Return the same for rows in one block, with `prequential`."""
    model = driftline.AMRC().partial_fit(X[:N_WARM_UP_ROWS], y[:N_WARM_UP_ROWS])
    start = time.process_time()
    model.prequential(X[N_WARM_UP_ROWS:], y[N_WARM_UP_ROWS:])
    return (time.process_time() - start) / (len(X) - N_WARM_UP_ROWS)


def measure(n_columns):
    """Return for each round the seconds per row: natively, with River's interface, and in a block."""
    X, y = gaussian_classes(N_ROWS, 2, n_columns)
    names = [f"x{j:03d}" for j in range(n_columns)]
    rows, labels = [dict(zip(names, x, strict=True)) for x in X.tolist()], np.array(["no", "yes"])[y].tolist()
    measured = [(native_seconds(X, y), adapted_seconds(rows, labels), block_seconds(X, y)) for _ in range(N_ROUNDS + 1)]
    return measured[1:]  # the first round includes compiling


def main():
    """Run the benchmark and print the table."""
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
