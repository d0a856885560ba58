"""Errors and bounds of the default AMRC on the published streams: three seeds each, one configuration for all.

    python benchmarks/accuracy.py [NAME ...] [--forest] [--write]

Each row is predicted, then learned. `--forest` also runs River's adaptive random forest on the streams for which its
error is the target; `--write` writes the table, with the command and the versions, to results/accuracy.md.
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

SEEDS = (0, 1, 2)
DELTA = 0.05
WINDOW_ROWS = 500
CHUNK_ROWS = 1000
FOREST = "River's forest"


@dataclass(frozen=True)
class Task:
    """A stream, the number of rows to use, and the largest allowed error in %; None for the error of River's forest."""

    name: str
    limit: int | None = None
    target: float | None = None
    nominal: str = "codes"


TASKS = (
    Task("weather", target=20.5),
    Task("elec2", target=30.0),
    Task("elec2_full", target=10.4),
    Task("airlines", limit=30_000, nominal="onehot"),
    Task("german", target=25.5),
    Task("chess", target=20.5),
    Task("usenet1", target=22.6),
    Task("usenet2", target=20.8),
    Task("email", target=19.1),
    Task("smartgrid", limit=10_000, target=15.0),
    Task("shuttle", limit=10_000, target=1.5),
    Task("poker", limit=10_000),
    Task("covtype", limit=10_000),
)


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
        begin = time.perf_counter()
        parts.append(model.prequential(X[part], y[part], classes=np.unique(y) if start == 0 else None))
        seconds += time.perf_counter() - begin
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


def forest_error(task, advance):
    """Return the error in % of River's adaptive random forest, at its defaults.

    If there are nominal columns: the smaller of two errors, with their values as names and as numbers.
    """
    X, y = rows_of(task, "codes")
    columns = load(task.name).columns
    encoded = set(load(task.name, nominal="onehot").columns) - set(columns)
    nominal = {column.rsplit("=", 1)[0] for column in encoded}
    as_numbers = [dict(zip(columns, x, strict=True)) for x in X.tolist()]
    as_names = [{name: str(value) if name in nominal else value for name, value in row.items()} for row in as_numbers]
    return min(_forest_error(rows, y, advance) for rows in ([as_numbers, as_names] if nominal else [as_numbers]))


def _forest_error(rows, y, advance):
    from river.forest import ARFClassifier  # noqa: PLC0415  # an extra

    model, mistakes = ARFClassifier(seed=0), 0
    for row, label in zip(rows, y.tolist(), strict=True):
        mistakes += model.predict_one(row) != label
        model.learn_one(row, label)
        advance(1)
    return 100 * mistakes / len(y)


def measure(tasks, with_forest, console):
    """Run all tasks with a progress bar; return the entries of the table."""
    table = []
    with Progress(console=console, transient=True) as progress:
        for task in tasks:
            try:
                X, y = rows_of(task, task.nominal)
            except DriftlineError as error:
                console.print(f"{task.name} left out: {error}")
                continue
            bar = progress.add_task(task.name, total=len(X) * len(SEEDS))
            results = [run(X, y, seed, lambda n, bar=bar: progress.advance(bar, n)) for seed in SEEDS]
            limit, kind = task.target, "at most"
            if limit is None and with_forest:
                bar = progress.add_task(f"{task.name}, {FOREST}", total=len(X))
                limit, kind = forest_error(task, lambda n, bar=bar: progress.advance(bar, n)), FOREST
            table.append((task.name, len(X), results, limit, kind))
            console.print(line(table[-1]))
    return table


def line(entry):
    """Return a line of the table, in Markdown."""
    name, n_rows, results, limit, kind = entry
    error = np.mean([result.error for result in results])
    wanted = "" if limit is None else f"{limit:.1f} ({kind})"
    holds = "" if limit is None else ("yes" if round(error, 1) <= round(limit, 1) else "**no**")
    figures = [
        f"{error:.1f} ± {np.std([result.error for result in results]):.1f}",
        wanted,
        holds,
        *(
            f"{np.mean([getattr(result, field) for result in results]):.1f}"
            for field in ("expected", "rate", "bound", "covered")
        ),
        "crossed" if any(result.crossed for result in results) else "never",
        f"{np.median([result.rows_per_second for result in results]):,.0f}",
    ]
    return f"| {name} | {n_rows:,} | " + " | ".join(figures) + " |"


HEADER = """| stream | rows | error | wanted | holds | randomised | rate bound | bound | windows | mistakes | rows/s |
|---|---|---|---|---|---|---|---|---|---|---|"""


def main():
    """Run the benchmark, print the table, and write it if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="streams; all by default")
    parser.add_argument("--forest", action="store_true", help="run River's forest where its error is the target")
    parser.add_argument("--write", action="store_true", help="write results/accuracy.md")
    arguments = parser.parse_args()
    console = Console(width=160)
    console.print(HEADER)
    tasks = [task for task in TASKS if not arguments.names or task.name in arguments.names]
    table = measure(tasks, arguments.forest, console)
    if arguments.write:
        write_results("accuracy", EXPLANATION, [HEADER, *map(line, table)], ["river"] if arguments.forest else [])


EXPLANATION = """# The default AMRC on published streams

Errors in %, mean and standard deviation over seeds 0, 1, 2; each row is predicted before it is learned, and one
configuration is used for all streams. *randomised* is the expected error of the randomised rule, to which the bounds
apply; *rate bound* is the mean of the bound that should hold on average, and *bound* the mean of the bound that should
hold at 95 % of the steps; *windows* is the share of windows of 500 rows in which the mean of *bound* is at least the
error of the randomised rule; *mistakes* tells whether the accumulated mistakes ever exceeded their bound (δ = 0.05),
which is computed from the sum of the rate bounds.
"""

if __name__ == "__main__":
    main()
