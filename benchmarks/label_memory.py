"""Errors with and without label memory, beside repeating the last label and predicting the most frequent one.

    python benchmarks/label_memory.py [--write]

The first 10,000 rows of each published stream, and 5,000 rows of synthetic streams and of River's generators, of which
nothing but the labels, or little else, can be predicted. `--write` writes the table to results/label_memory.md.
"""

import argparse
from dataclasses import replace

import numpy as np
from rich.console import Console
from rich.progress import track

from accuracy import TASKS, rows_of
from driftline import AMRC
from driftline.errors import DriftlineError
from driftline.evaluation import evaluate
from driftline.streams import ArrayStream
from generators import CHOICE, generator_streams
from provenance import write_results

LIMIT, SYNTHETIC_ROWS = 10_000, 5000
ALLOWED = 0.5
"""Points that the error with label memory may be above the smaller one of the two floors."""


def runs(stays, n_classes=2):
    """Return a function that draws labels which repeat the one before with probability `stays`."""
    return lambda rng, n: np.cumsum(np.where(rng.random(n) < stays, 0, rng.integers(1, n_classes, n))) % n_classes


def coin(share):
    """Return a function that draws independent labels, of which this share is 1."""
    return lambda rng, n: (rng.random(n) < share).astype(int)


def in_turn(first, second):
    """Return a function that draws labels of one kind, and of another kind from the middle on."""
    return lambda rng, n: np.concatenate([first(rng, n // 2), second(rng, n - n // 2)])


LABELS = {
    "runs of 33": runs(0.97),
    "runs of 10, five classes": runs(0.9, 5),
    "alternating": runs(0.0),
    "cycles of three": lambda rng, n: (np.arange(n) + (rng.random(n) < 0.1)) % 3,
    "2 % of one class": coin(0.02),
    "30 % of one class": coin(0.3),
    "coin of 45 %": coin(0.45),
    "coin of 48 %": coin(0.48),
    "coin of 50 %": coin(0.5),
    "20 %, then 80 %": in_turn(coin(0.2), coin(0.8)),
    "runs of 20, then a coin of 40 %": in_turn(runs(0.95), coin(0.4)),
}


def published():
    """Return the rows and labels of all published streams that are on this computer."""
    found = {}
    for task in TASKS:
        try:
            found[task.name] = rows_of(replace(task, limit=min(task.limit or LIMIT, LIMIT)), task.nominal)
        except DriftlineError as missing:
            Console().print(f"{task.name} left out: {missing}")
    return found


def synthetic():
    """Return the rows and labels of synthetic streams, whose columns tell nothing or little about the label."""
    found = {}
    for seed, (name, labels) in enumerate(LABELS.items()):
        for shift in (0.0, 0.5):
            rng = np.random.default_rng(seed)
            y = labels(rng, SYNTHETIC_ROWS)
            rows = rng.normal(size=(SYNTHETIC_ROWS, 3)) + shift * y[:, None]
            found[f"{name}{', informative columns' if shift else ''}"] = rows, y
    return found | {name: generator_streams()[name](SYNTHETIC_ROWS, 0)[:2] for name in CHOICE}


def errors(X, y):
    """Return the errors in % without and with label memory, of the last label, and of the most frequent one."""
    stream = ArrayStream(X, y)
    summaries = [
        evaluate(AMRC(label_memory=is_on), stream, classes=np.unique(y), progress=False).summary
        for is_on in (False, True)
    ]
    floors = summaries[1].last_label_error, summaries[1].majority_so_far_error
    return [100 * error for error in (*(summary.error for summary in summaries), *floors)]


def line(name, n_rows, figures):
    """Return a line of the table, in Markdown."""
    above = figures[1] - min(figures[2:])
    holds = "" if n_rows < SYNTHETIC_ROWS else ("yes" if above <= ALLOWED else f"**no** ({above:+.1f})")
    return f"| {name} | {n_rows:,} | " + " | ".join(f"{figure:.1f}" for figure in figures) + f" | {holds} |"


HEADER = """| stream | rows | without | with label memory | last label | most frequent label | at most 0.5 above both |
|---|---|---|---|---|---|---|"""


def main():
    """Run the benchmark, print the table, and write it if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write results/label_memory.md")
    arguments = parser.parse_args()
    streams = published() | synthetic()
    lines = [HEADER]
    for name in track(streams, "streams"):
        X, y = streams[name]
        lines.append(line(name, len(y), errors(X, y)))
    Console(width=160).print("\n".join(lines))
    if arguments.write:
        write_results("label_memory", EXPLANATION, lines, ["river"])


EXPLANATION = """# Labels that come in runs

Errors in % of `AMRC()` and of `AMRC(label_memory=True)`, seed 0; each row is predicted before it is learned. *last
label* repeats the last label, *most frequent label* predicts the class that was the most frequent so far. The last
column is about streams of 5,000 rows or more.
"""

if __name__ == "__main__":
    main()
