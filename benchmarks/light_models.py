"""What light models cost in accuracy: errors of AMRC(memory="light") beside AMRC() on published and generated streams.

    python benchmarks/light_models.py [--write]

`--write` writes the table to results/light_models.md.
"""

import argparse

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import accuracy
from driftline import AMRC
from driftline.errors import DriftlineError
from driftline.fleet import AMRCFleet
from generators import CHOICE, VALIDATION, generator_streams
from peers import Rows
from provenance import write_results

N_ROWS, SEED = 10_000, 0
MODELS = {
    "AMRC()": {},
    "light": {"memory": "light"},
    "light, linear": {"memory": "light", "features": "linear"},
    "light, Fourier": {"memory": "light", "features": "fourier"},
}
KINDS = {"published": [task.name for task in accuracy.TASKS], "used for choices": CHOICE, "left out": VALIDATION}
console = Console(width=120)

EXPLANATION = f"""# What light models cost in accuracy

Errors in % of the deterministic rule; each row is predicted before it is learned. The first {N_ROWS:,} rows of each
stream, seed {SEED}; nominal columns as in accuracy.py on published streams, and as columns of 0 and 1 on generated
ones. *light* has linear features and small trees, *light, Fourier* linear features and 24 random directions. The plan
of light models was chosen on the published streams and on some of those *used for choices* (agrawal, random_tree, sea,
hyperplane, rbf_drift, sine); those *left out* had no part in it.
"""


def rows_of(name):
    """Return the rows and labels of a stream; None if it is a published one that is not there."""
    if name in generator_streams():
        X, y, nominal = generator_streams()[name](N_ROWS, SEED)
        return Rows(X, y, tuple(nominal)).onehot, np.unique(y, return_inverse=True)[1]
    task = next(task for task in accuracy.TASKS if task.name == name)
    try:
        X, y = accuracy.rows_of(accuracy.Task(name, limit=N_ROWS), task.nominal)
    except DriftlineError:
        return None
    return X, np.unique(y, return_inverse=True)[1]


def errors_on(X, y):
    """Return the error of each model in %."""
    return [
        100.0 * np.mean(AMRC(random_state=SEED, **given).prequential(X, y).predicted != y) for given in MODELS.values()
    ]


def main():
    """Run all models and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write results/light_models.md")
    arguments = parser.parse_args()
    columns = ["stream", "KiB", *MODELS]
    table, lines = Table(title="errors in %"), [f"| {' | '.join(each)} |" for each in (columns, ["---"] * len(columns))]
    for column in columns:
        table.add_column(column, justify="right")
    for kind, names in KINDS.items():
        results = []
        for name in track(names, kind, console=console):
            rows = rows_of(name)
            if rows is None:
                continue
            X, y = rows
            size = AMRCFleet(X.shape[1], np.unique(y)).n_bytes_per_key / 1024
            results.append(errors_on(X, y))
            cells = [name, f"{size:,.0f}", *(f"{error:.1f}" for error in results[-1])]
            table.add_row(*cells)
            lines.append(f"| {' | '.join(cells)} |")
        if results:
            cells = [f"*mean, {kind}*", "", *(f"{error:.1f}" for error in np.mean(results, axis=0))]
            table.add_row(*cells)
            lines.append(f"| {' | '.join(cells)} |")
    console.print(table)
    if arguments.write:
        write_results("light_models", EXPLANATION, lines, ["river"])


if __name__ == "__main__":
    main()
