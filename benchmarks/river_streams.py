"""Errors and times of AMRC and River's classifiers on River's streams, by River's evaluation.

    python benchmarks/river_streams.py [NAME ...] [--write]

`--write` writes the tables, with the command and the versions, to results/river_streams.md.
"""

import argparse
import itertools
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.progress import Progress
from river import (
    base,
    datasets,
    dummy,
    ensemble,
    evaluate,
    forest,
    linear_model,
    metrics,
    multiclass,
    preprocessing,
    tree,
)
from river.datasets import synth

import driftline
from driftline.adapters.river import AMRC
from provenance import write_results

SEEDS = (0, 1, 2)
DELTA = 0.05


def logistic(n_classes):
    """Return logistic regression on scaled columns; with more than two classes, one for each class."""
    one = linear_model.LogisticRegression()
    return preprocessing.StandardScaler() | (one if n_classes == 2 else multiclass.OneVsRestClassifier(one))


MODELS = {
    "AMRC": lambda seed, n_classes: AMRC(seed=seed),
    "ARF": lambda seed, n_classes: forest.ARFClassifier(seed=seed),
    "SRP": lambda seed, n_classes: ensemble.SRPClassifier(seed=seed),
    "HAT": lambda seed, n_classes: tree.HoeffdingAdaptiveTreeClassifier(seed=seed),
    "logistic regression": lambda seed, n_classes: logistic(n_classes),
    "no change": lambda seed, n_classes: dummy.NoChangeClassifier(),
}
STREAMS = {
    "Phishing": datasets.Phishing,
    "Bananas": datasets.Bananas,
    "ImageSegments": datasets.ImageSegments,
    "Shuttle, its first 10,000 rows": lambda: datasets.Shuttle().take(10_000),
    "synth.SEA, changes at 2,500": lambda: synth.ConceptDriftStream(
        synth.SEA(seed=42), synth.SEA(variant=3, seed=42), seed=42, position=2500, width=50
    ).take(5000),
    "synth.RandomRBFDrift": lambda: synth.RandomRBFDrift(
        seed_model=42,
        seed_sample=42,
        n_classes=4,
        n_features=8,
        n_centroids=20,
        n_drift_centroids=20,
        change_speed=0.005,
    ).take(5000),
}


@dataclass(frozen=True)
class Run:
    """The result of River's evaluation: the error in %, and the time per row in µs."""

    error: float
    microseconds: float


def run(model: base.Classifier, rows: list) -> Run:
    """Predict, then learn, row by row; return the error and the time."""
    states = evaluate.iter_progressive_val_score(rows, model, metrics.Accuracy(), step=len(rows), measure_time=True)
    *_, last = states
    return Run(100 * (1 - last["Accuracy"].get()), 1e6 * last["Time"].total_seconds() / len(rows))


def bounds(rows, seed):
    """Return the error of AMRC's randomised rule and its mean bounds in %, its mistakes, and the bound on them.

    The native estimator makes the same predictions as AMRC for River, and returns its bounds for each row.
    """
    names = sorted(rows[0][0])
    X = np.array([[x[name] for name in names] for x, _ in rows], dtype=float)
    labels = {label: place for place, label in enumerate(dict.fromkeys(y for _, y in rows))}
    y = np.array([labels[label] for _, label in rows])
    model = driftline.AMRC(random_state=seed)
    predictions = model.prequential(X, y)
    expected = 1.0 - predictions.label_probabilities
    figures = (100 * part.mean() for part in (expected, predictions.total_charges, predictions.bounds))
    return *figures, expected.sum(), model.mistake_bound(DELTA)


def mean_and_deviation(values):
    """Return the mean and the standard deviation as text."""
    return f"{np.mean(values):.1f}" + (f" ± {np.std(values):.1f}" if np.std(values) >= 0.05 else "")


def multiple(ratio):
    """Return a ratio as text."""
    return f"{ratio:.2f} ×" if ratio >= 0.005 else "< 0.01 ×"


def measure(names, console):
    """Run all models on all streams; return the lines of three tables."""
    errors, times, claims = [], [], []
    with Progress(console=console, transient=True) as progress:
        for name in names:
            rows = list(STREAMS[name]())
            n_classes = len({y for _, y in rows})
            run(AMRC(), rows[:300])  # compiles
            bar = progress.add_task(name, total=len(SEEDS) * len(MODELS))
            runs = {model: [] for model in MODELS}
            for seed, (model, make) in itertools.product(SEEDS, MODELS.items()):  # in turn: the machine's speed varies
                runs[model].append(run(make(seed, n_classes), rows))
                progress.advance(bar)
            own = np.array([each.microseconds for each in runs["AMRC"]])
            figures = {model: np.array([each.microseconds for each in of]) for model, of in runs.items()}
            error = {model: mean_and_deviation([each.error for each in of]) for model, of in runs.items()}
            errors.append(f"| {name} | {len(rows):,} | {n_classes} | " + " | ".join(error.values()) + " |")
            ratios = [multiple(np.median(of / own)) for model, of in figures.items() if model != "AMRC"]
            times.append(f"| {name} | {np.median(own):,.0f} µs | " + " | ".join(ratios) + " |")
            claimed = np.mean([bounds(rows, seed) for seed in SEEDS], axis=0)
            claims.append(
                f"| {name} | {' | '.join(f'{figure:.1f}' for figure in claimed[:3])} "
                f"| {claimed[3]:,.0f} | {claimed[4]:,.0f} |"
            )
            for line in (errors[-1], times[-1], claims[-1]):
                console.print(line)
    return errors, times, claims


def table(title, columns, lines):
    """Return a table in Markdown."""
    return [title, "", f"| {' | '.join(columns)} |", "|" + "---|" * len(columns), *lines, ""]


def main():
    """Run the benchmark, print the tables, and write them if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="beginnings of the names of streams; all by default")
    parser.add_argument("--write", action="store_true", help="write results/river_streams.md")
    arguments = parser.parse_args()
    names = [name for name in STREAMS if not arguments.names or name.startswith(tuple(arguments.names))]
    errors, times, claims = measure(names, Console(width=200))
    others = [model for model in MODELS if model != "AMRC"]
    rule = ["error of the randomised rule", "rate bound", "bound", "its mistakes", f"at most (δ = {DELTA})"]
    lines = [
        *table("Error in %:", ["stream", "rows", "classes", *MODELS], errors),
        *table("Time per row of AMRC, and of the others as multiples of it:", ["stream", "AMRC", *others], times),
        *table("The bounds of AMRC in %, and its mistakes with their bound:", ["stream", *rule], claims),
    ]
    if arguments.write:
        write_results("river_streams", EXPLANATION, lines[:-1], ["river"])


EXPLANATION = """# AMRC and River's classifiers on River's streams

Measured with River's own evaluation, `iter_progressive_val_score`, which also measures the time: predict a row, then
learn it. The streams are all classification streams that come with River's package, and two synthetic ones of River
with drift; streams that River downloads are not included. Models have their default parameters: adaptive random forest
(ARF) and streaming random patches (SRP), ten trees each; Hoeffding adaptive tree (HAT); logistic regression after a
StandardScaler, one for each class if there are more than two; *no change* predicts the previous label. Mean and
standard deviation over seeds 0, 1, 2 of the models; the rows are always the same. Times are medians of the three runs.
Their ratios compare runs one after the other on a machine that was also doing other work: they show only orders of
magnitude. *randomised rule*, *rate bound* and *bound* are means over all rows.
"""

if __name__ == "__main__":
    main()
