"""Speed and memory of the default AMRC, learning included, on one core.

The stream has 8 columns and two classes, like the stream weather; its rows are random. The time of a row depends on how
many members have a weight that is not negligible; on this stream several are about equally good. The plan of version
0.1, in which all members learn at every label, is measured in the same run.
"""

import copy
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import accuracy
from accuracy import FirstAMRC
from driftline import AMRC
from driftline.ensemble import default_plan
from driftline.errors import DriftlineError
from driftline.kernels.descent import ROWS_PER_STEP, STEPS_PER_LABEL

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from helpers.spaces import learn_in_space, learn_in_tree_space  # parts of an ensemble that learn alone

console = Console(width=120)
N_ROWS = 4000
N_FIRST = 1000
"""Rows that are learned before the time is taken."""
REPEATS = 5


def gaussian_classes(n_rows, n_classes, n_columns=8, seed=0):
    """Return rows and labels of overlapping Gaussian classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    return rng.normal(size=(n_classes, n_columns))[y] + rng.normal(size=(n_rows, n_columns)), y


def elec2_rows():
    """Return rows and labels of the stream elec2_full; None if it is not on this computer."""
    try:
        return accuracy.rows_of(accuracy.Task("elec2_full", limit=N_FIRST + N_ROWS), "codes")
    except DriftlineError:
        return None


def seconds_per_row(n_classes=2, n_rows=N_ROWS, kind=AMRC, rows=None, **parameters):
    """Return the seconds per row, the smallest of several measurements."""
    X, y = gaussian_classes(n_rows + N_FIRST, n_classes) if rows is None else rows
    least = np.inf
    for _ in range(REPEATS):
        model = kind(**parameters).partial_fit(X[:N_FIRST], y[:N_FIRST], classes=np.unique(y))
        start = time.perf_counter()
        model.partial_fit(X[N_FIRST:], y[N_FIRST:])
        least = min(least, (time.perf_counter() - start) / n_rows)
    return least


def arithmetic_limit(n_features, n_classes):
    """Return the time of the products for a row alone: all scores of the drawn rows, and half as many gradients."""
    A = np.random.default_rng(0).normal(size=(2048, n_features)).astype(np.float32)
    x = np.ones(n_features, np.float32)
    least = np.inf
    for _ in range(50):
        start = time.perf_counter()
        A @ x
        least = min(least, (time.perf_counter() - start) / len(A))
    return STEPS_PER_LABEL * ROWS_PER_STEP * n_classes * 1.5 * least


def limit_of(n_classes, n_columns=8, n_components=200):
    """Return the arithmetic limit for all members of the default plan but those of trees, at every label."""
    total = 0.0
    for space in default_plan(uses_fourier=True, has_trees=False, order=1).spaces:
        n_features = 1 + n_columns + (2 * n_components if space.scale else 0)
        total += len(space.members) * arithmetic_limit(n_features, n_classes)
    return total


def profile():
    """Return the microseconds per row of each part: the features, the members of each space, and the rest."""
    X, y = gaussian_classes(N_ROWS, 2)
    model = AMRC().partial_fit(X[:100], y[:100], classes=[0, 1])
    learner, elapsed, spent = copy.deepcopy(model)._learner, np.ones(N_ROWS), {}
    *others, trees = learner.spaces
    start = time.perf_counter()
    Z = learner._columns.update(X)
    features = [space.represent(X, Z) for space in others]
    spent["features"] = time.perf_counter() - start
    start = time.perf_counter()
    features.append(learn_in_tree_space(trees, X, y))
    spent["trees"] = time.perf_counter() - start
    for space, Psi in zip(learner.spaces, features, strict=True):
        start = time.perf_counter()
        learn_in_space(space, Psi, y, elapsed)
        spent[f"{space.n_members} members, {space.plan.name}, at every label"] = time.perf_counter() - start
    start = time.perf_counter()
    model.partial_fit(X, y)
    spent["all, with members that rest"] = time.perf_counter() - start
    return {name: 1e6 * seconds / N_ROWS for name, seconds in spent.items()}


def peak_memory(n_rows):
    """Return the peak memory in MB of a process that learns `n_rows` rows."""
    code = (
        "import resource, numpy as np\n"
        "from bench_default import gaussian_classes\n"
        "from driftline import AMRC\n"
        f"model, n = AMRC(), {n_rows}\n"
        "for k in range(0, n, 5000):\n"
        "    model.partial_fit(*gaussian_classes(min(5000, n - k), 2, seed=k))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    here = sys.path[0]
    result = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=True)
    return int(result.stdout) / 1024


def with_real_rows(rows):
    """Return the lines of the table about elec2_full; none if it is not on this computer."""
    if rows is None:
        console.print("elec2_full left out: set DRIFTLINE_DATA to the folder of the published streams")
        return []
    both = [seconds_per_row(rows=rows, kind=kind) for kind in (AMRC, FirstAMRC)]
    linear = [seconds_per_row(rows=rows, kind=kind, features="linear") for kind in (AMRC, FirstAMRC)]
    return [
        ("elec2_full", both[0], "plan of 0.1 (at most 0.83)", both[1]),
        ("elec2_full, linear features", linear[0], "plan of 0.1 (at most 0.6)", linear[1]),
    ]


def main():
    """Run the benchmark and print the tables."""
    table = Table(title="The default AMRC, learning included")
    for name in ("what", "measured", "reference", "ratio"):
        table.add_column(name, justify="left" if name == "what" else "right")
    with threadpool_limits(1):
        two, ten = seconds_per_row(), seconds_per_row(n_classes=10)
        linear = seconds_per_row(features="linear")
        first, first_linear = seconds_per_row(kind=FirstAMRC), seconds_per_row(kind=FirstAMRC, features="linear")
        long = seconds_per_row(n_rows=30_000)
        limit = limit_of(2)
    rows = [
        ("8 columns, two classes, random rows", two, "plan of 0.1 (at most 0.83)", first),
        *with_real_rows(elec2_rows()),
        ("random rows", two, "products alone", limit),
        ("the same, over 30,000 rows", long, "over 4,000 rows", two),
        ("the same, ten classes", ten, "two classes (at most 3.5)", two),
        ("linear features, two classes", linear, "plan of 0.1 (at most 0.6)", first_linear),
    ]
    for what, measured, name, reference in rows:
        ratio = f"{measured / reference:.2f} ×"
        table.add_row(what, f"{1 / measured:,.0f} rows/s", f"{name} {1 / reference:,.0f} rows/s", ratio)
    short, long_stream = peak_memory(20_000), peak_memory(100_000)
    table.add_row(
        "peak memory, 100,000 rows",
        f"{long_stream:.0f} MB",
        f"20,000 rows {short:.0f} MB",
        f"{long_stream / short:.2f} ×",
    )
    console.print(table)
    parts = Table("where the time goes", "µs/row", title="A profile, two classes, 400 Fourier features")
    with threadpool_limits(1):
        for name, microseconds in profile().items():
            parts.add_row(name, f"{microseconds:.0f}")
    console.print(parts)


if __name__ == "__main__":
    main()
