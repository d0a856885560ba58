"""What a new key of a fleet gains from the other keys: errors by the number of labels that a key has had.

    python benchmarks/new_keys.py [--write]

Keys of generated streams have rules that differ more or less from a common one; on the published stream airlines, a key
is an airport. Each row is predicted, then learned, by a fleet whose keys begin with the common model ("pooled"), by one
whose keys begin with nothing ("blank"), and by one light model for all rows. `--write` writes results/new_keys.md.
"""

import argparse
from itertools import pairwise

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from driftline import AMRC
from driftline.errors import DriftlineError
from driftline.fleet import AMRCFleet
from driftline.streams import load
from provenance import write_results

AGES = (0, 10, 50, 200, 1000, 2000)
"""Limits of the numbers of labels that a key has had."""
N_COLUMNS, N_OLD_KEYS, N_OLD_ROWS, N_NEW_KEYS, N_NEW_ROWS, NOISE = 8, 200, 200, 30, 2000, 0.05
DIFFERENCES = (0.0, 0.3, 1.0, 3.0)
SEEDS = range(3)
CALL_ROWS = 100
AIRLINES_ROWS, AIRPORT = 60_000, "airport_from"
console = Console(width=120)

EXPLANATION = f"""# What a new key gains from the others

Errors in % of the rows of keys that have had so many labels; light models. *pooled*: the keys of a fleet begin with
what the common model has learned; *blank*: they begin with nothing; *one model*: one light model learns the rows of all
keys. Generated keys have linear rules in {N_COLUMNS} columns, whose weights are those of a common rule plus so many
times an independent one (*difference*), and {NOISE:.0%} wrong labels; {N_NEW_KEYS} keys begin after {N_OLD_KEYS} others
have had {N_OLD_ROWS} labels each; mean of {len(SEEDS)} seeds. *airlines*: {AIRLINES_ROWS:,} rows, the airport of
departure is the key, the other columns are codes and numbers.
"""


def generated(difference, seed):
    """Return rows, labels and keys: first those of old keys, then those of new ones, in turn."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=N_COLUMNS)
    weights = common + difference * rng.normal(size=(N_OLD_KEYS + N_NEW_KEYS, N_COLUMNS))
    old = np.tile(np.arange(N_OLD_KEYS), N_OLD_ROWS)
    new = np.tile(np.arange(N_OLD_KEYS, N_OLD_KEYS + N_NEW_KEYS), N_NEW_ROWS)
    keys = np.concatenate([old, new])
    X = rng.normal(size=(len(keys), N_COLUMNS))
    y = (np.sum(weights[keys] * X, axis=1) > 0) ^ (rng.random(len(keys)) < NOISE)
    return X, y.astype(int), keys


def airlines():
    """Return rows, labels and keys of the first flights; None if the stream is not there."""
    try:
        stream = load("airlines")
    except DriftlineError:
        return None
    position, rows, labels, n = list(stream.columns).index(AIRPORT), [], [], 0
    for block in stream.blocks():
        rows.append(block.rows)
        labels.append(block.labels)
        n += len(block.rows)
        if n >= AIRLINES_ROWS:
            break
    X, y = np.concatenate(rows)[:AIRLINES_ROWS], np.concatenate(labels)[:AIRLINES_ROWS]
    keys = X[:, position].astype(int)
    return np.delete(X, position, axis=1), np.unique(y, return_inverse=True)[1], keys


def ages_of(keys):
    """Return how many rows of the same key come before each row."""
    ages, seen = np.empty(len(keys), int), {}
    for t, key in enumerate(keys.tolist()):
        ages[t] = seen.get(key, 0)
        seen[key] = ages[t] + 1
    return ages


def mistakes(X, y, keys, start):
    """Return whether each row is predicted wrongly by a fleet, or by one model if `start` is None."""
    if start is None:
        return AMRC(memory="light").prequential(X, y, classes=[0, 1]).predicted != y
    fleet = AMRCFleet(X.shape[1], [0, 1], start=start)
    parts = [slice(t, t + CALL_ROWS) for t in range(0, len(X), CALL_ROWS)]
    return np.concatenate([fleet.step(X[part], y[part], keys[part]).labels != y[part] for part in parts])


def errors_by_age(X, y, keys, chosen):
    """Return the errors in % of the chosen rows, with a row for each start and a column for each range of ages."""
    ages = ages_of(keys)
    groups = [chosen & (ages >= low) & (ages < high) for low, high in pairwise(AGES)]
    wrong = (mistakes(X, y, keys, start) for start in ("pooled", "blank", None))
    return np.array([[100.0 * np.mean(each[group]) for group in groups] for each in wrong])


def main():
    """Run all streams and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write results/new_keys.md")
    arguments = parser.parse_args()
    results = {}
    for difference in track(DIFFERENCES, "generated", console=console):
        runs = [generated(difference, seed) for seed in SEEDS]
        errors = [errors_by_age(X, y, keys, keys >= N_OLD_KEYS) for X, y, keys in runs]
        results[f"difference {difference:g}"] = np.mean(errors, axis=0)
    real = airlines()
    if real is not None:
        results["airlines"] = errors_by_age(*real, np.ones(len(real[0]), bool))
    columns = ["keys", "model", *(f"labels {low} to {high - 1}" for low, high in pairwise(AGES))]
    table = Table(title="errors in % by the labels that a key has had")
    for column in columns:
        table.add_column(column, justify="right")
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    for name, errors in results.items():
        for model, row in zip(("pooled", "blank", "one model"), errors, strict=True):
            cells = [name, model, *(f"{error:.1f}" for error in row)]
            table.add_row(*cells)
            lines.append("| " + " | ".join(cells) + " |")
    console.print(table)
    if arguments.write:
        write_results("new_keys", EXPLANATION, lines)


if __name__ == "__main__":
    main()
