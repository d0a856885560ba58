"""Speed of the baselines: a step at the paper's dimensions, on one core.

A step predicts a row and learns its label. Rows are passed in blocks, as `evaluate` does, and one at a time. The
reference is a step of scikit-learn's SGDClassifier in the same run.
"""

import time
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from driftline import baselines
from driftline.experiments import read_spec
from driftline.registry import describe

N_COLUMNS = 100
N_ROWS = 2000
REPEATS = 5
PAPER_MS = {describe(method.model).maker: method.summary for method in read_spec("table3").methods}
"""Table 3 of the paper: milliseconds per step, mean over its streams."""
GOAL_MS = 0.3


def stream(n_classes):
    """Return rows with random labels, so that a method makes many mistakes and has the most work."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(N_ROWS, N_COLUMNS)), rng.integers(0, n_classes, N_ROWS)


def in_blocks(model, X, y):
    """Return milliseconds per step for rows in blocks, with a full budget."""
    model.partial_fit(X, y, classes=np.unique(y))
    return median(milliseconds(lambda: model.prequential(X, y)) for _ in range(REPEATS)) / N_ROWS


def by_rows(model, X, y, n=300):
    """Return milliseconds per step for one row at a time."""
    model.partial_fit(X, y, classes=np.unique(y))

    def steps():
        for t in range(n):
            model.predict(X[t : t + 1])
            model.partial_fit(X[t : t + 1], y[t : t + 1])

    return median(milliseconds(steps) for _ in range(REPEATS)) / n


def milliseconds(work):
    """Return the time of a call in milliseconds."""
    start = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - start)


def main():
    """Run the benchmark and print the table."""
    table = Table(title=f"a step, budget 100, {N_COLUMNS} columns, one core: milliseconds")
    for name in ("method", "in blocks", "ten classes", "by rows", "by rows, × SGDClassifier", "paper", "goal"):
        table.add_column(name, justify="left" if name == "method" else "right")
    X, y = stream(2)
    X10, y10 = stream(10)
    reference = by_rows(SGDClassifier(), X, y)
    for name in baselines.__all__:
        new = getattr(baselines, name)
        single = by_rows(new(), X, y)
        table.add_row(
            name,
            f"{in_blocks(new(), X, y):.4f}",
            f"{in_blocks(new(), X10, y10):.4f}",
            f"{single:.3f}",
            f"{single / reference:.2f}",
            f"{PAPER_MS[name]:.1f}" if name in PAPER_MS else "",
            f"< {GOAL_MS}",
        )
    table.add_row("SGDClassifier", "", "", f"{reference:.3f}", "1.00", "", "", style="dim")
    Console(width=120).print(table)


if __name__ == "__main__":
    with threadpool_limits(1):  # one core for all methods
        main()
