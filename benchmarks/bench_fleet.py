"""Speed of fleets: rows of many keys in one call, beside a Python loop over separate models, and how it grows.

    python benchmarks/bench_fleet.py [--most 100000] [--write]
    python benchmarks/bench_fleet.py --device cuda [--write]

All models are light, with 8 columns and two classes. In each round the loop and the fleet learn the same rows, one of
each key, in turn; speeds are by the clock, because a fleet uses all cores, and each ratio is the median of the rounds.
`--write` writes the tables to results/fleet.md. `--device cuda` measures fleets on a GPU instead, for
results/fleet_gpu.md.
"""

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table

import fleet_on_gpu
from driftline import AMRC
from driftline.fleet import AMRCFleet
from provenance import write_results

N_COLUMNS, CLASSES = 8, [0, 1]
N_KEYS, N_MODELS, N_ROUNDS, N_WARM_UP = 10_000, 1000, 5, 20
GOAL = 3.0
console = Console(width=120)

EXPLANATION = """# Fleets

Light models with 8 columns and two classes; each learns one row in a call, and has learned {n_warm_up} before. *loop*
is a Python loop over {n_models:,} separate models, `partial_fit` of one row each; *asked* is the same with `predict`
before it. *fleet* is `AMRCFleet.step` with {n_keys:,} keys, which returns predictions, decisions, sets and bounds. Rows
per second by the clock, medians of {n_rounds} rounds in turn, on {n_cores} cores; the goal for the ratio of the fleet
to the loop is {goal}.
"""


def rows_of(rng, n):
    """Return rows and labels."""
    X = rng.normal(size=(n, N_COLUMNS))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


def separate_models(rng, features):
    """Return models that have learned some rows."""
    models = []
    for _ in range(N_MODELS):
        X, y = rows_of(rng, N_WARM_UP)
        models.append(AMRC(memory="light", features=features).partial_fit(X, y, CLASSES))
    return models


def warm_fleet(rng, features, n_keys):
    """Return a fleet whose models have learned some rows."""
    fleet = AMRCFleet(N_COLUMNS, CLASSES, features=features, start="blank")
    keys = np.arange(n_keys)
    for start in range(0, n_keys, N_KEYS):  # many rows of few keys at once: the rows need memory, too
        part = np.repeat(keys[start : start + N_KEYS], N_WARM_UP)
        fleet.step(*rows_of(rng, len(part)), part)
    return fleet


def loop_speed(models, rng, asks):
    """Return the rows per second that a loop over models learns, and predicts before that if it asks."""
    X, y = rows_of(rng, len(models))
    start = time.perf_counter()
    for t, model in enumerate(models):
        if asks:
            model.predict(X[t : t + 1])
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    return len(models) / (time.perf_counter() - start)


def fleet_speed(fleet, rng):
    """Return the rows per second of a call with a row of each key."""
    X, y = rows_of(rng, len(fleet))
    keys = np.arange(len(fleet))
    start = time.perf_counter()
    fleet.step(X, y, keys)
    return len(fleet) / (time.perf_counter() - start)


def compare(features):
    """Return a line of the table: speeds of the loop, the loop that asks and the fleet, and their ratios."""
    rng = np.random.default_rng(0)
    models, fleet = separate_models(rng, features), warm_fleet(rng, features, N_KEYS)
    rounds = [
        (loop_speed(models, rng, asks=False), loop_speed(models, rng, asks=True), fleet_speed(fleet, rng))
        for _ in range(N_ROUNDS + 1)
    ][1:]
    loop, asked, of_fleet = (median(each) for each in zip(*rounds, strict=True))
    ratios = [median(each[2] / each[k] for each in rounds) for k in (0, 1)]
    figures = (f"{loop:,.0f}", f"{asked:,.0f}", f"{of_fleet:,.0f}", f"{ratios[0]:.1f} ×", f"{ratios[1]:.1f} ×")
    return (features, f"{fleet.n_bytes_per_key / 1024:.1f}", *figures)


def growth(n_keys):
    """Return a line of the table: time of a row and memory of a key in a fleet of that size."""
    rng = np.random.default_rng(0)
    warm_fleet(rng, "auto", 1)  # what all fleets share is in memory
    before = resident_bytes()
    fleet = warm_fleet(rng, "auto", n_keys)
    per_key = (resident_bytes() - before) / n_keys
    micros = [1e6 / fleet_speed(fleet, rng) for _ in range(max(N_ROUNDS, N_KEYS // n_keys))]  # small ones take little
    return f"{n_keys:,}", f"{median(micros):.1f}", f"{per_key / 1024:.0f}"


def resident_bytes():
    """Return the memory of this process that is in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def shown(title, columns, lines):
    """Print a table; return it as lines of Markdown."""
    table = Table(title=title)
    for column in columns:
        table.add_column(column, justify="right")
    for line in lines:
        table.add_row(*line)
    console.print(table)
    return [
        "",
        "| " + " | ".join(columns) + " |",
        "|---" * len(columns) + "|",
        *("| " + " | ".join(x) + " |" for x in lines),
    ]


def main():
    """Run the benchmark and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=10_000, help="keys of the largest fleet (default: 10000)")
    parser.add_argument("--write", action="store_true", help="write results/fleet.md, or fleet_gpu.md")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where models are (default: cpu)")
    arguments = parser.parse_args()
    if arguments.device == "cuda":
        explanation, lines, sentences = fleet_on_gpu.results()
        text = shown("a row of each key in a call", fleet_on_gpu.COLUMNS, lines)
        for sentence in sentences:
            console.print(sentence)
            text += ["", sentence]
        if arguments.write:
            write_results("fleet_gpu", explanation, text, ["cupy-cuda13x"])
        return
    columns = ("features", "KiB of a key", "loop", "asked", "fleet", "to the loop", "to asked")
    text = shown(f"{N_KEYS:,} keys, rows/s", columns, [compare(features) for features in ("linear", "auto")])
    sizes = [n for n in (100, 1000, 10_000, 100_000) if n <= arguments.most]
    # Each in a process of its own: memory that a fleet before it has freed would not be counted.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as processes:
        lines = list(processes.map(growth, sizes))
    text += shown("auto, growing", ("keys", "µs of a row", "KiB of a key in memory"), lines)
    if arguments.write:
        settings = {"n_warm_up": N_WARM_UP, "n_models": N_MODELS, "n_keys": N_KEYS, "n_rounds": N_ROUNDS, "goal": GOAL}
        write_results("fleet", EXPLANATION.format(**settings, n_cores=os.cpu_count()), text)


if __name__ == "__main__":
    main()
