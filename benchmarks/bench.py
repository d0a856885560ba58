"""Speed and memory of the paper's configuration, as ratios against references in the same run.

`make bench` prints a table. Times are medians over steps, on one core.
"""

import os
import resource
import subprocess
import sys
import time
from statistics import median

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from threadpoolctl import threadpool_limits

from driftline import AMRC
from transcription import NumpyOptimiser, NumpyTracker

N_COMPONENTS = 200  # 400 features; two classes make m = 800
WARM_UP_STEPS, TIMED_STEPS = 280, 20  # after the warm-up, the 100 subgradients are in use
console = Console(width=120)


def swinging_stream(n_steps, n_classes, seed=0):
    """Return Gaussian classes on a circle that rotates back and forth; with two classes, the paper's stream."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_steps)
    angle = np.pi * np.cos(0.1 * np.arange(1, n_steps + 1)) / 2 + 2 * np.pi * y / n_classes
    return 4 * np.column_stack([np.cos(angle), np.sin(angle)]) + np.sqrt(2) * rng.normal(size=(n_steps, 2)), y


def paper_model(n_classes, scale, X, y, **changes):
    """Return a model and the iterator of its steps."""
    model = AMRC.paper(scale=scale, n_components=N_COMPONENTS, **changes)
    return model, model.steps(X, y, classes=np.arange(n_classes))


def timed(function, *arguments):
    """Return the result of a call, and its time in milliseconds."""
    start = time.perf_counter()
    result = function(*arguments)
    return result, 1e3 * (time.perf_counter() - start)


def against_transcription(scale):
    """Compare AMRC with Alg. 3 and 4 in NumPy on the same stream, one after the other.

    Each algorithm of the transcription gets the same input as its counterpart, because a rounding error in an
    uncertainty set can lead the iterations to another result.
    """
    n_steps = WARM_UP_STEPS + TIMED_STEPS
    X, y = swinging_stream(n_steps, 2)
    model, steps = paper_model(2, scale, X, y)
    own, made = [], []
    for t in range(n_steps):
        psi = model._learner._represent(X[t : t + 1])[0]
        own.append(timed(next, steps)[1])
        made.append((psi, model.uncertainty_, model._learner.solution.rule.weights.ravel()))
    tracker = NumpyTracker(2, 2 * N_COMPONENTS, order=1)
    optimiser = NumpyOptimiser(2, 2 * N_COMPONENTS)
    times, difference = [], np.zeros(2)
    progress = track(made, f"transcription, scale {scale:g}", console=console, transient=True)
    for label, (psi, uncertainty, weights) in zip(y.tolist(), progress, strict=True):
        mean, width = uncertainty.mean.ravel(), uncertainty.width.ravel()
        (tau, lam), alg3 = timed(tracker.update, psi, label)
        (mu, *_), alg4 = timed(optimiser.solve, psi, mean, width)
        sets = max(np.abs(mean - tau).max(), np.abs(width - lam).max())
        difference = np.maximum(difference, [sets, np.abs(weights - mu).max()])
        times.append((alg3, alg4))
    assert len(optimiser.F) == optimiser.n_subgradients, "the warm-up was too short to collect all subgradients"
    return median(own[-TIMED_STEPS:]), *np.median(times[-TIMED_STEPS:], axis=0), *difference


def step_time(n_classes, scale):
    """Return the median time of a step in milliseconds."""
    n_steps = WARM_UP_STEPS + 5 * TIMED_STEPS
    X, y = swinging_stream(n_steps, n_classes)
    _, steps = paper_model(n_classes, scale, X, y)
    return median([timed(next, steps)[1] for _ in range(n_steps)][WARM_UP_STEPS:])


def peak_megabytes(n_steps):
    """Return the peak memory of a process that learns `n_steps` rows; few iterations, which need no extra memory."""
    code = f"import bench; print(bench.run_for_memory({n_steps}))"
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=os.path.dirname(__file__)
    )
    return float(result.stdout)


def run_for_memory(n_steps, block=1000):
    """Learn a long stream in blocks; return the peak memory of this process in megabytes."""
    model = AMRC.paper(scale=4.0, n_components=N_COMPONENTS, n_iterations=20)
    for start in range(0, n_steps, block):
        X, y = swinging_stream(block, 2, seed=start)
        model.partial_fit(X, y, classes=[0, 1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes on Linux


def import_seconds(statement):
    """Return the time of an import in a new process, in seconds: the smallest of five."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout for _ in range(5)]
    return min(map(float, runs))


def main():
    """Run the benchmark and print the table."""
    table = Table(title="driftline benchmarks: paper's configuration, m = 800, N = 100, K = 2000, order 1, one core")
    for name in ("what", "measured", "reference", "ratio", "goal"):
        table.add_column(name, justify="left" if name == "what" else "right")
    for scale in (1.0, 4.0):
        own, alg3, alg4, of_sets, of_iterates = against_transcription(scale)
        reference = f"Alg. 3 {alg3:.1f} + Alg. 4 {alg4:.1f} ms"
        name = f"step, 2 classes, Fourier scale {scale:g}"
        table.add_row(name, f"{own:.2f} ms", reference, f"{(alg3 + alg4) / own:.1f} × faster", "≥ 40")
        table.add_row("  of which Alg. 4 alone", "", f"{alg4:.1f} ms", f"{alg4 / own:.1f} × faster", "")
        table.add_row("  difference of uncertainty sets", f"{of_sets:.0e}", "", "", "≤ 1e-9")
        table.add_row("  difference of iterates", f"{of_iterates:.0e}", "", "", "≤ 1e-9")
    for scale in (1.0, 4.0):
        two, ten = step_time(2, scale), step_time(10, scale)
        table.add_row(
            f"step, 10 classes, Fourier scale {scale:g}",
            f"{ten:.2f} ms",
            f"2 classes {two:.2f} ms",
            f"{ten / two:.1f} ×",
            "≤ 8",
        )
    short, long = peak_megabytes(1_000), peak_megabytes(100_000)
    table.add_row(
        "peak memory, 100,000 steps", f"{long:.0f} MB", f"1,000 steps {short:.0f} MB", f"{long / short:.3f} ×", "flat"
    )
    estimator, library = import_seconds("from driftline import AMRC"), import_seconds("import sklearn.base")
    table.add_row("import driftline", f"{import_seconds('import driftline'):.3f} s", "", "", "< 1 s")
    table.add_row(
        "from driftline import AMRC",
        f"{estimator:.2f} s",
        f"sklearn.base {library:.2f} s",
        f"{estimator / library:.2f} ×",
        "< 1 s",
    )
    console.print(table)


if __name__ == "__main__":
    with threadpool_limits(1):  # one core for all methods
        main()
