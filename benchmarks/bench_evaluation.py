"""Speed and memory of an evaluation itself, without the classifier.

`make bench` prints a table. Each figure is the median of three runs.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table

from constant import Constant
from driftline import PaperAMRC
from driftline.evaluation import evaluate
from driftline.streams import ArrayStream, RotatingGaussians

N_ROWS = 500_000
console = Console(width=120)


def seconds(function):
    """Return the median time of three calls in seconds."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return median(times)


def plain_loop(model, X, y):
    """Predict, then learn, in a simple loop: the reference."""
    wrong = 0
    for t in range(len(X)):
        wrong += model.predict(X[t : t + 1])[0] != y[t]
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    return wrong


def loop_cost(table):
    """Measure 500,000 rows with a classifier that needs no time."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N_ROWS, 8)), rng.integers(0, 2, N_ROWS)
    stream = ArrayStream(X, y)
    reference = N_ROWS / seconds(lambda: plain_loop(Constant(), X, y))
    rates = {"constant classifier": N_ROWS / seconds(lambda: evaluate(Constant(), stream, progress=False))}
    with tempfile.TemporaryDirectory() as folder:
        runs = (Path(folder) / str(i) for i in range(3))
        rates["  with records and checkpoints"] = N_ROWS / seconds(
            lambda: evaluate(Constant(), stream, progress=False, checkpoint=next(runs))
        )
    for name, rate in rates.items():
        against = f"plain loop {reference:,.0f} rows/s"
        table.add_row(name, f"{rate:,.0f} rows/s", against, f"{rate / reference:.1f} × faster", "≥ 100,000 rows/s")


def overhead(table):
    """Compare the time of AMRC in an evaluation with that of `partial_fit`."""
    X, y = RotatingGaussians().sample(2000, seed=0)
    stream = ArrayStream(X, y)
    parameters = {"features": "linear", "scaling": "none", "n_iterations": 100}
    PaperAMRC(**parameters).partial_fit(X[:10], y[:10])
    own = seconds(lambda: PaperAMRC(**parameters).partial_fit(X, y)) / len(X)
    run = seconds(lambda: evaluate(PaperAMRC(**parameters), stream, progress=False)) / len(X)
    table.add_row(
        "AMRC, 100 iterations", f"{1e6 * run:.0f} µs/row", f"steps {1e6 * own:.0f} µs/row", f"{run / own:.2f} ×", ""
    )


def peak_megabytes(n_rows):
    """Return the peak memory of a process that evaluates a stream of `n_rows` rows, with records."""
    code = f"import bench_evaluation; print(bench_evaluation.run_for_memory({n_rows}))"
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=Path(__file__).parent
    )
    return float(result.stdout)


def run_for_memory(n_rows):
    """Evaluate a long stream; return the peak memory of this process in megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        stream = RotatingGaussians().stream(n_rows, seed=0)
        evaluate(Constant(), stream, progress=False, checkpoint=Path(folder) / "run")
    # The peak that getrusage tells is at least that of the process which started this one.
    return int(re.search(r"VmHWM:\s+([0-9]+) kB", Path("/proc/self/status").read_text())[1]) / 1024


def main():
    """Run the benchmark and print the table."""
    table = Table(title="driftline benchmarks: evaluation without the classifier")
    for name in ("what", "measured", "reference", "ratio", "goal"):
        table.add_column(name, justify="left" if name == "what" else "right")
    loop_cost(table)
    overhead(table)
    short, long = peak_megabytes(100_000), peak_megabytes(1_000_000)
    against = f"100,000 rows {short:.0f} MB"
    table.add_row("peak memory, 1,000,000 rows", f"{long:.0f} MB", against, f"{long / short:.3f} ×", "flat")
    console.print(table)


if __name__ == "__main__":
    main()
