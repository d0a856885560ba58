"""Errors of AMRC after columns change their unit or level, in windows of 500 rows.

    python benchmarks/units.py [--write]

Two classes that are easy to separate, 5 columns, which all change after 2,500 of 5,000 rows; mean of three seeds.
`--write` writes the table to results/units.md.
"""

import argparse

import numpy as np

from driftline import AMRC
from provenance import write_results

N_ROWS = 5_000
WINDOW_ROWS = 500
SEEDS = (0, 1, 2)
CHANGES = {
    "none": (1.0, 0.0),
    "× 1000": (1e3, 0.0),
    "÷ 1000": (1e-3, 0.0),
    "+ 50 deviations": (1.0, 50.0),
    "× 1000, and far away": (1e3, 1e5),
    "÷ 1000, and far away": (1e-3, 20.0),
    "wild values": (1.0, 0.0),
}
"""Factor and offset of each change."""


def sample(change, n_rows=N_ROWS, at=N_ROWS // 2, seed=0):
    """Return rows whose columns change after `at` rows, and labels; "wild values" are five rows of up to ±1e9."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, 5))
    X[:, :2] += np.where(y == 1, 1.5, -1.5)[:, None]
    factor, offset = CHANGES[change]
    X[at:] = factor * X[at:] + offset
    if change == "wild values":
        X[at : at + 5] = rng.uniform(-1e9, 1e9, (5, 5))
    return X, y


def mistakes(model, X, y):
    """Return whether each row is predicted wrongly, before it is learned."""
    return model.prequential(X, y, classes=[0, 1]).predicted != y


def errors_by_window(model, X, y):
    """Return the error in % in each window of 500 rows."""
    return 100.0 * mistakes(model, X, y).reshape(-1, WINDOW_ROWS).mean(axis=1)


def main():
    """Run the benchmark, print the table, and write it if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write results/units.md")
    arguments = parser.parse_args()
    last_rows = range(WINDOW_ROWS, N_ROWS + 1, WINDOW_ROWS)
    lines = [f"| change | features | {' | '.join(map(str, last_rows))} |", "|" + "---|" * (2 + len(last_rows))]
    for features in ("auto", "linear"):
        for change in CHANGES:
            runs = [errors_by_window(AMRC(features=features, random_state=s), *sample(change, seed=s)) for s in SEEDS]
            lines.append(f"| {change} | {features} | {' | '.join(f'{error:.1f}' for error in np.mean(runs, axis=0))} |")
            print(lines[-1], flush=True)
    if arguments.write:
        write_results("units", EXPLANATION, lines)


EXPLANATION = f"""# Columns that change their unit or level

Error in % in windows of {WINDOW_ROWS} rows, by the last row of the window. There are two classes that are easy to
separate, and 5 columns, of which all change after {N_ROWS // 2:,} rows; *wild values* are five rows of up to ±1e9.
Mean of {len(SEEDS)} seeds.
"""

if __name__ == "__main__":
    main()
