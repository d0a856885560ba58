"""Errors and bounds of the default AMRC on the published streams: several seeds, one configuration for all.

    python benchmarks/accuracy.py [NAME ...] [--write]

Each row is predicted, then learned. The members of version 0.1 are run beside those of today, because the order of
sums in the kernels, and with it the last tenth of an error, differs between processors. `--write` writes the table,
with the command and the versions, to results/accuracy.md.
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.progress import Progress

from driftline import AMRC
from driftline.errors import DriftlineError
from driftline.streams import load
from provenance import write_results

SEEDS = range(3)
SHORT_ROWS, SHORT_SEEDS = 2000, range(12)  # on a stream of 1,148 rows, seeds differ by as much as a point
DELTA = 0.05
WINDOW_ROWS = 500
CHUNK_ROWS = 1000


@dataclass(frozen=True)
class Task:
    """A stream, and the number of rows to use."""

    name: str
    limit: int | None = None
    nominal: str = "codes"


TASKS = (
    Task("weather"),
    Task("elec2"),
    Task("elec2_full"),
    Task("airlines", limit=30_000, nominal="onehot"),
    Task("german"),
    Task("chess"),
    Task("usenet1"),
    Task("usenet2"),
    Task("email"),
    Task("smartgrid", limit=10_000),
    Task("shuttle", limit=10_000),
    Task("poker", limit=10_000),
    Task("covtype", limit=10_000),
)
LONG_TASKS = (
    Task("shuttle"),
    Task("airlines", limit=100_000, nominal="onehot"),
)


class FirstAMRC(AMRC):
    """An AMRC with the members of version 0.1."""

    _plan_version = 1


def rows_of(task, nominal):
    """Return the rows and labels of a task."""
    rows, labels, n = [], [], 0
    for block in load(task.name, nominal=nominal).blocks():
        rows.append(block.rows)
        labels.append(block.labels)
        n += len(block.rows)
        if task.limit is not None and n >= task.limit:
            break
    return np.concatenate(rows)[: task.limit], np.concatenate(labels)[: task.limit]


@dataclass(frozen=True)
class Result:
    """The figures of one run, in %."""

    error: float
    expected: float
    bound: float
    rate: float
    covered: float
    crossed: bool
    rows_per_second: float


def run(X, y, seed, advance, new_model=AMRC):
    """Predict, then learn, row by row; return the figures."""
    model, parts, seconds = new_model(random_state=seed), [], 0.0
    for start in range(0, len(X), CHUNK_ROWS):
        part = slice(start, start + CHUNK_ROWS)
        begin = time.process_time()
        parts.append(model.prequential(X[part], y[part], classes=np.unique(y) if start == 0 else None))
        seconds += time.process_time() - begin
        advance(len(X[part]))
    wrong = np.concatenate([part.predicted for part in parts]) != y
    expected = 1.0 - np.concatenate([part.label_probabilities for part in parts])
    bounds = np.concatenate([part.bounds for part in parts])
    charges = np.concatenate([part.total_charges for part in parts])
    whole = len(y) // WINDOW_ROWS * WINDOW_ROWS
    windows = np.mean((bounds - expected)[:whole].reshape(-1, WINDOW_ROWS), axis=1)
    allowed = np.cumsum(charges) + np.sqrt(2.0 * np.arange(1, len(y) + 1) * np.log(1.0 / DELTA))
    return Result(
        error=100 * wrong.mean(),
        expected=100 * expected.mean(),
        bound=100 * bounds.mean(),
        rate=100 * charges.mean(),
        covered=100 * float(np.mean(windows >= 0.0)),
        crossed=bool(np.any(np.cumsum(expected) > allowed)),
        rows_per_second=len(y) / seconds,
    )


def measure(tasks, console):
    """Run all tasks with a progress bar; return the entries of the table."""
    table = []
    with Progress(console=console, transient=True) as progress:
        for task in tasks:
            try:
                X, y = rows_of(task, task.nominal)
            except DriftlineError as error:
                console.print(f"{task.name} left out: {error}")
                continue
            seeds = SHORT_SEEDS if len(X) <= SHORT_ROWS else SEEDS
            bar = progress.add_task(task.name, total=2 * len(X) * len(seeds))
            results, first = (
                [run(X, y, seed, lambda n, bar=bar: progress.advance(bar, n), kind) for seed in seeds]
                for kind in (AMRC, FirstAMRC)
            )
            table.append((task.name, len(X), results, first))
            console.print(line(table[-1]))
    return table


def line(entry):
    """Return a line of the table, in Markdown."""
    name, n_rows, results, first = entry
    errors, first_errors = (np.array([result.error for result in each]) for each in (results, first))
    figures = [
        f"{errors.mean():.1f} ± {errors.std():.1f}",
        f"{first_errors.mean():.1f} ± {first_errors.std():.1f}",
        f"{errors.mean() - first_errors.mean():+.2f}",
        *(
            f"{np.mean([getattr(result, field) for result in results]):.1f}"
            for field in ("expected", "rate", "bound", "covered")
        ),
        "crossed" if any(result.crossed for result in results) else "never",
        f"{np.median([result.rows_per_second for result in results]):,.0f}",
    ]
    return f"| {name} | {n_rows:,} | " + " | ".join(figures) + " |"


FIGURES = "error | plan of 0.1 | difference | randomised | rate bound | bound | windows | mistakes | rows/s"
HEADER = f"| stream | rows | {FIGURES} |\n|---|---{'|---' * (1 + FIGURES.count('|'))}|"


def main():
    """Run the benchmark, print the table, and write it if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="streams; all by default")
    parser.add_argument("--write", action="store_true", help="write results/accuracy.md")
    arguments = parser.parse_args()
    console = Console(width=160)
    console.print(HEADER)
    tasks = [task for task in (*TASKS, *LONG_TASKS) if not arguments.names or task.name in arguments.names]
    table = measure(tasks, console)
    if arguments.write:
        write_results("accuracy", EXPLANATION, [HEADER, *map(line, table)])


EXPLANATION = """# The default AMRC on published streams

Errors in %, mean and standard deviation over seeds 0, 1, 2, on streams of up to 2,000 rows over seeds 0 to 11; each row
is predicted before it is learned, and one configuration is used for all streams. *plan of 0.1* is the error with the
members of version 0.1, in the same run. *randomised* is the expected error of the randomised rule, to which the bounds
apply; *rate bound* is the mean of the bound that should hold on average, and *bound* the mean of the bound that should
hold at 95 % of the steps; *windows* is the share of windows of 500 rows in which the mean of *bound* is at least the
error of the randomised rule; *mistakes* tells whether the accumulated mistakes ever exceeded their bound (δ = 0.05),
which is computed from the sum of the rate bounds. *rows/s* are rows per second of CPU time, compilation left out.
"""

if __name__ == "__main__":
    main()
