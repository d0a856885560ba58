"""Time of rows that are predicted and learned one at a time: as a ratio to their share of a block, and beside River.

`make bench` prints two tables: AMRC for arrays, and for dictionaries with River's interface; and AMRC beside River's
classifiers in the same loop over dictionaries. Processor time is measured, because the machine may do other work. The
ways are measured in turn, and each figure is the median of the rounds.
"""

import time
from statistics import median

from rich.console import Console
from rich.table import Table
from river import compose, forest, linear_model, preprocessing, tree
from threadpoolctl import threadpool_limits

import driftline
from bench_default import gaussian_classes
from driftline.adapters.river import AMRC

N_ROWS, N_WARM_UP_ROWS, N_ROUNDS = 1500, 300, 9
GOAL, RIVER_GOAL = 1.3, 1.5
console = Console(width=120)


def native_seconds(X, y, features, ask):
    """Return the seconds per row to predict and learn rows one at a time, as arrays."""
    model = driftline.AMRC(features=features).partial_fit(X[:N_WARM_UP_ROWS], y[:N_WARM_UP_ROWS])
    predict = getattr(model, ask)
    start = time.process_time()
    for t in range(N_WARM_UP_ROWS, len(X)):
        predict(X[t : t + 1])
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    return (time.process_time() - start) / (len(X) - N_WARM_UP_ROWS)


def adapted_seconds(rows, labels, model, ask="predict_one"):
    """Return the same for rows as dictionaries, with River's interface."""
    for x, label in zip(rows[:N_WARM_UP_ROWS], labels, strict=False):
        model.learn_one(x, label)
    predict = getattr(model, ask)
    start = time.process_time()
    for x, label in zip(rows[N_WARM_UP_ROWS:], labels[N_WARM_UP_ROWS:], strict=True):
        predict(x)
        model.learn_one(x, label)
    return (time.process_time() - start) / (len(rows) - N_WARM_UP_ROWS)


def block_seconds(X, y, features):
    """Return the same for rows in one block, which are predicted before they are learned too."""
    model = driftline.AMRC(features=features).partial_fit(X[:N_WARM_UP_ROWS], y[:N_WARM_UP_ROWS])
    start = time.process_time()
    model.partial_fit(X[N_WARM_UP_ROWS:], y[N_WARM_UP_ROWS:])
    return (time.process_time() - start) / (len(X) - N_WARM_UP_ROWS)


def as_dictionaries(X, y):
    """Return rows and labels as River has them."""
    names = [f"x{j:03d}" for j in range(X.shape[1])]
    return [dict(zip(names, x, strict=True)) for x in X.tolist()], (y == 1).tolist()


OTHERS = {
    "AMRC()": AMRC,
    'AMRC(features="linear")': lambda: AMRC(features="linear"),
    "River: adaptive random forest, 10 trees": lambda: forest.ARFClassifier(seed=0),
    "River: Hoeffding adaptive tree": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0),
    "River: StandardScaler | LogisticRegression": lambda: compose.Pipeline(
        preprocessing.StandardScaler(), linear_model.LogisticRegression()
    ),
}


def beside_river():
    """Return for each classifier the seconds per row in each round."""
    X, y = gaussian_classes(N_ROWS, 2)
    rows, labels = as_dictionaries(X, y)
    rounds = [{name: adapted_seconds(rows, labels, new()) for name, new in OTHERS.items()} for _ in range(N_ROUNDS)]
    return {name: [each[name] for each in rounds] for name in OTHERS}


def measure(features, n_columns=8):
    """Return for each round the seconds per row: in a block, then one at a time in each of four ways."""
    X, y = gaussian_classes(N_ROWS, 2, n_columns)
    rows, labels = as_dictionaries(X, y)
    measured = [
        (
            block_seconds(X, y, features),
            native_seconds(X, y, features, "predict"),
            native_seconds(X, y, features, "predict_proba"),
            adapted_seconds(rows, labels, AMRC(features=features), "predict_one"),
            adapted_seconds(rows, labels, AMRC(features=features), "predict_proba_one"),
        )
        for _ in range(N_ROUNDS + 1)
    ]
    return measured[1:]  # the first round includes compiling


def main():
    """Run the benchmark and print the table."""
    table = Table(title="driftline benchmarks: one row at a time, 8 columns, two classes")
    for name in ("a row at a time", "measured", "its share of a block", "ratio", "goal"):
        table.add_column(name, justify="left" if name.startswith("a row") else "right")
    ways = {
        "predict, partial_fit": GOAL,
        "predict_proba, partial_fit": GOAL,
        "River: predict_one, learn_one": RIVER_GOAL,
        "River: predict_proba_one, learn_one": RIVER_GOAL,
    }
    with threadpool_limits(1):
        for features, title in (("auto", "Fourier features"), ("linear", "linear features")):
            rounds = measure(features)
            block = 1e6 * median(each[0] for each in rounds)
            for k, (way, goal) in enumerate(ways.items(), start=1):
                took, ratio = 1e6 * median(each[k] for each in rounds), median(each[k] / each[0] for each in rounds)
                what = f"{title}: {way}"
                table.add_row(what, f"{took:.0f} µs/row", f"{block:.0f} µs/row", f"{ratio:.2f} ×", f"≤ {goal} ×")
    console.print(table)
    table = Table(title="predict_one and learn_one, in the same loop over dictionaries with 8 columns")
    table.add_column("classifier")
    for name in ("rows/s", "time, AMRC() = 1"):
        table.add_column(name, justify="right")
    with threadpool_limits(1):
        seconds = beside_river()
    for name, each in seconds.items():
        ratio = median(one / own for one, own in zip(each, seconds["AMRC()"], strict=True))
        table.add_row(name, f"{1 / median(each):,.0f}", f"{ratio:.2f}")
    console.print(table)


if __name__ == "__main__":
    main()
