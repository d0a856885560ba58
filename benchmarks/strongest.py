"""Errors of AMRC and of the strongest classifiers for streams in CapyMOA, River and scikit-learn.

    python benchmarks/strongest.py [--quick] [--models NAME ...] [--only STREAM ...] [--again] [--write]

Runs of a classifier on a stream that are in results/strongest.json are not repeated, unless `--again` is given; the
predictions are kept in results/.strongest/. `--quick` uses fewer rows. `--write` writes the tables made from
results/strongest.json, of all runs so far, to results/strongest.md.
"""

import argparse
import json
import platform
import subprocess
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

import accuracy
from driftline.errors import DriftlineError
from driftline.registry import describe
from driftline.utils.atomic_write import replacing
from generators import CHOICE, VALIDATION
from peers import published_nominal, read_rows, run
from provenance import write_results
from strongest_tables import tables

STORE = Path(__file__).parent / "results" / "strongest.json"
PREDICTIONS = Path(__file__).parent / "results" / ".strongest"
MODELS = {
    "amrc": "AMRC",
    "capymoa-arf": "ARF (CapyMOA, 100)",
    "capymoa-srp": "SRP (CapyMOA, 100)",
    "capymoa-lb": "leveraging bagging (CapyMOA, 100)",
    "capymoa-sgbt": "SGBT (CapyMOA, 100)",
    "river-arf": "ARF (River, 10)",
    "river-srp": "SRP (River, 10)",
    "river-hat": "HAT (River)",
    "river-lr": "logistic regression (River)",
    "sklearn-sgd": "SGD (scikit-learn)",
    "no-change": "no change",
    "majority": "majority",
}
REAL = tuple(task.name for task in accuracy.TASKS)
STREAMS = (*REAL, *CHOICE, *VALIDATION)
CODED = ("agrawal", "random_tree", "stagger", "agrawal_gradual", "deep_tree")
"""Generated streams with nominal columns that have more than two values."""
ROWS, QUICK_ROWS = 100_000, 20_000
QUICK_REAL_ROWS = 10_000
WAYS = ("names", "numbers")
ROWS_OF = {"smartgrid": 10_000}  # later rows repeat these with the consumers permuted


class Store:
    """The results of all runs so far, in a file that is replaced after each run."""

    def __init__(self, path=STORE):
        self.path = path
        self.cells = self._read()

    def _read(self):
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def add(self, cell):
        """Add the result of a run to those in the file, which other processes may have changed."""
        self.cells = self._read() | {key_of(cell): cell}
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(cell)}" for key, cell in sorted(self.cells.items()))
        with replacing(self.path) as file:
            file.write(f"{{\n{lines}\n}}\n".encode())

    def best(self, stream, limit, model):
        """Return the result on so many rows of a stream, or on all if it has fewer; None if there is no run.

        Of two ways to give nominal columns, it is the one with the smaller error.
        """
        cells = [self.find(stream, limit, model, way) for way in WAYS]
        return min(filter(None, cells), key=lambda cell: cell["error"], default=None)

    def find(self, stream, limit, model, way):
        """Return the result with nominal columns given in one way; None if there is no run."""
        wanted = {"stream": stream, "model": model, "nominal": way}.items()
        for cell in self.cells.values():
            if wanted <= cell.items() and (cell["rows"] == limit or (cell["whole"] and cell["rows"] < limit)):
                return cell
        return None


def key_of(cell):
    """Return the key of a result."""
    return f"{cell['stream']}/{cell['rows']}/{cell['model']}/{cell['nominal']}"


def n_rows_of(stream, quick):
    """Return the number of rows that are wanted of a stream."""
    wanted = ROWS_OF.get(stream, ROWS)
    return min(wanted, QUICK_REAL_ROWS if stream in REAL else QUICK_ROWS) if quick else wanted


def ways_of(stream, model, limit, store):
    """Return in which ways nominal columns are given to a classifier: as "names", as "numbers", or as each in turn.

    AMRC gets them as in accuracy.py on published streams, and as names on generated ones. If any of them has more than
    two values, the others get both on short streams, and on long ones the way with the smaller error on the short form.
    """
    if model in ("no-change", "majority") or not (stream in CODED or (stream in REAL and published_nominal(stream))):
        return WAYS[:1]
    if model == "amrc":
        given = {task.name: task.nominal for task in accuracy.TASKS}.get(stream, "onehot")
        return WAYS[:1] if given == "onehot" else WAYS[1:]
    short = n_rows_of(stream, quick=True)
    if limit > short and all(store.find(stream, short, model, way) for way in WAYS):
        return (store.best(stream, short, model)["nominal"],)
    return WAYS


def versions_of(model):
    """Return the versions of the packages that a classifier needs, and of Java."""
    package = {"scikit-learn": "scikit-learn"}.get(describe(model).family, describe(model).package or "driftline")
    versions = {"python": platform.python_version(), "numpy": version("numpy"), package: version(package)}
    if package == "capymoa":
        said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
        versions["java"] = said.split('"')[1]
    return versions


def measure(models, streams, quick, again, console):
    """Run the classifiers on the streams, except for those with a result; return the store with all results."""
    store = Store()
    with Progress(console=console, transient=True) as progress:
        for stream in streams:
            try:
                limit = n_rows_of(stream, quick)
                runs = [(model, way) for model in models for way in ways_of(stream, model, limit, store)]
                runs = [each for each in runs if again or store.find(stream, limit, *each) is None]
                rows = read_rows(stream, limit) if runs else None
            except DriftlineError as error:
                console.print(f"{stream} left out: {error}")
                continue
            for model, way in runs:
                bar = progress.add_task(f"{stream}, {model}", total=len(rows.X))
                done = run(model, rows, way == "names", lambda n, bar=bar: progress.advance(bar, n))
                progress.remove_task(bar)
                cell = {"stream": stream, "rows": len(rows.X), "model": model, "nominal": way}
                cell |= {"whole": len(rows.X) < limit} | figures(done, rows)
                cell |= {"date": str(date.today()), "with": versions_of(model)}
                store.add(cell)
                keep(cell, done)
                console.print(f"{key_of(cell)}: {cell['error']:.2f} %, {cell['seconds']:.0f} s")
    return store


def figures(done, rows):
    """Return the error in %, the time, and the size of a run."""
    error = 100 * float(np.mean(done.predicted != rows.y))
    return {"error": round(error, 3), "seconds": round(done.seconds, 1), "megabytes": round(done.n_bytes / 1e6, 2)}


def keep(cell, done):
    """Write the predictions of a run to a file."""
    PREDICTIONS.mkdir(exist_ok=True)
    name = key_of(cell).replace("/", "-")
    np.savez_compressed(PREDICTIONS / f"{name}.npz", predicted=done.predicted.astype(np.uint8))


def main():
    """Run what has no result yet, and write the tables if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rows: 20,000 generated, 10,000 of published ones")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS, help="classifiers; all by default")
    parser.add_argument("--only", nargs="+", choices=STREAMS, default=STREAMS, help="streams; all by default")
    parser.add_argument("--again", action="store_true", help="repeat runs that have results")
    parser.add_argument("--write", action="store_true", help="write results/strongest.md")
    arguments = parser.parse_args()
    store = measure(arguments.models, arguments.only, arguments.quick, arguments.again, Console(width=160))
    if arguments.write:
        write_results("strongest", EXPLANATION, tables(store, MODELS, REAL, n_rows_of))


EXPLANATION = """# AMRC beside the strongest classifiers for streams

Prequential errors in %: each row is predicted, then learned. The smallest error of a line is in bold; – where there is
no run. Published streams are those of accuracy.py. Generated streams are described in generators.py: *used for choices*
are those with which the configuration of AMRC was chosen, *left out of all choices* those that had no part in it, with
four small files of River and scikit-learn. Changes happen at fractions of the number of rows, so that the same name at
two lengths means two different streams. One seed each.

Classifiers have the defaults of their libraries, in brackets the number of trees or of boosting steps: adaptive random
forest (ARF), streaming random patches (SRP), leveraging bagging, streaming gradient-boosted trees (SGBT), Hoeffding
adaptive tree (HAT); logistic regression after a StandardScaler; scikit-learn's SGDClassifier with log loss on columns
standardised by their running moments; *no change* predicts the previous label, *majority* the most frequent one.
Nominal columns are given to trees as such and to the other classifiers as one column of 0 and 1 for each value, or as
numbers: to AMRC as in accuracy.py on published streams and as columns of 0 and 1 on generated ones, to the others
whichever gives the smaller error on the short form of the stream. CapyMOA's classifiers run inside Java.

*p* is the p-value of Wilcoxon's signed-rank test between AMRC and the classifier, with Holm's correction, over the
streams on which both were run; *better : equal : worse* counts streams by errors rounded to 0.1. *rows/s* are rows per
second of CPU time, and *MB* the size of the model after the last row (the pickled model; for CapyMOA what Java has in
use more than before the first run, which may include leftovers of the run before and was measured on a few small
streams only), both medians over the streams; the machine was also doing other work, so they show only orders of
magnitude.
"""


if __name__ == "__main__":
    main()
