"""Streams, and runs of classifiers of several libraries on them, for strongest.py.

Each run predicts a row, then learns it, and returns a `Run`. Classifiers are those of driftline's registry, at its
defaults. CapyMOA's are trained inside Java, from an ARFF file: the predictions are those of a loop over `predict` and
`train`, except that a row for which the classifier makes no prediction counts as the first class.
"""

import gc
import pickle
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import accuracy
from driftline.registry import create, describe
from driftline.streams import load
from generators import generator_streams

SEED = 0
CHUNK_ROWS = 500
LINEAR = ("river-lr", "sklearn-sgd")


@dataclass(frozen=True)
class Rows:
    """Rows and labels of a stream; `nominal` has the positions of columns whose numbers are codes without order."""

    X: np.ndarray
    y: np.ndarray
    nominal: tuple[int, ...]

    @property
    def onehot(self):
        """The rows with one column of 0 and 1 for each value of a nominal column, instead of it."""
        parts = []
        for position, column in enumerate(self.X.T):
            is_nominal = position in self.nominal
            parts.append(column[:, None] == np.unique(column) if is_nominal else column[:, None])
        return np.concatenate(parts, axis=1).astype(float)


@dataclass(frozen=True)
class Run:
    """The predictions of a run, its time on the CPU in seconds, and the size of the model after it in bytes."""

    predicted: np.ndarray
    seconds: float
    n_bytes: int


def read_rows(name, n_rows):
    """Return the first rows of a stream: a published one, or a generated one with that number of rows."""
    if name in generator_streams():
        X, y, nominal = generator_streams()[name](n_rows, SEED)
        return Rows(X, y, tuple(nominal))
    X, y = accuracy.rows_of(accuracy.Task(name, limit=n_rows), "codes")
    _, y = np.unique(y, return_inverse=True)
    return Rows(X, y, published_nominal(name))


def published_nominal(name):
    """Return the positions of the nominal columns of a published stream."""
    columns = list(load(name).columns)
    encoded = set(load(name, nominal="onehot").columns) - set(columns)
    return tuple(sorted({columns.index(column.rsplit("=", 1)[0]) for column in encoded}))


def run(model, rows, as_names, advance):
    """Run a classifier of the registry; `as_names` says whether nominal columns are given as such or as numbers.

    Trees then split them by their values, and linear classifiers and AMRC get a column of 0 and 1 for each value.
    """
    if not as_names:
        rows = Rows(rows.X, rows.y, ())
    if model.startswith("capymoa-"):
        return run_in_java(model, rows, advance)
    if model.startswith("river-") and model not in LINEAR:
        return run_in_python(create(model, nominal=rows.nominal, random_state=SEED), rows.X, rows.y, advance)
    if model == "sklearn-sgd":
        return run_sgd(rows.onehot, rows.y, advance)
    return run_in_python(create(model, random_state=SEED), rows.onehot, rows.y, advance)


def run_in_python(model, X, y, advance):
    """Run a classifier with the method `prequential`."""
    classes = np.arange(y.max() + 1)
    predicted, seconds = [], 0.0
    for start in range(0, len(X), CHUNK_ROWS):
        part = slice(start, start + CHUNK_ROWS)
        begin = time.process_time()
        predicted.append(model.prequential(X[part], y[part], classes=classes if start == 0 else None).predicted)
        seconds += time.process_time() - begin
        advance(len(X[part]))
    return Run(np.concatenate(predicted).astype(int), seconds, len(pickle.dumps(model)))


def run_sgd(X, y, advance):
    """Run the registry's "sklearn-sgd", with the columns standardised in advance by their running moments.

    The predictions are the same, and made in half the time.
    """
    classifier, classes = create("sklearn-sgd", random_state=SEED).classifier, np.arange(y.max() + 1)
    begin = time.process_time()
    before, after = running_standardised(X)
    predicted = np.zeros(len(X), dtype=int)
    for t in range(len(X)):
        if t:
            scores = classifier.coef_ @ before[t] + classifier.intercept_
            predicted[t] = scores[0] > 0 if len(scores) == 1 else np.argmax(scores)
        classifier.partial_fit(after[t : t + 1], y[t : t + 1], classes=classes)
        if t % CHUNK_ROWS == CHUNK_ROWS - 1:
            advance(CHUNK_ROWS)
    return Run(predicted, time.process_time() - begin, len(pickle.dumps(classifier)))


def running_standardised(X):
    """Return the rows standardised by the moments of the rows before each (the first is 0), and of it as well."""
    moved, n = X - X[0], np.arange(1, len(X) + 1)[:, None]
    mean = np.cumsum(moved, axis=0) / n
    variance = np.maximum(np.cumsum(moved**2, axis=0) / n - mean**2, 0.0)
    deviation = np.sqrt(np.where(variance > 1e-12 * (1 + mean**2), variance, 1.0))
    before = np.zeros_like(moved)
    before[1:] = (moved[1:] - mean[:-1]) / deviation[:-1]
    return before, (moved - mean) / deviation


def run_in_java(model, rows, advance):
    """Run a classifier of CapyMOA by its evaluation in Java."""
    import capymoa.classifier  # noqa: PLC0415  # an extra
    from capymoa.evaluation import prequential_evaluation  # noqa: PLC0415
    from capymoa.stream import ARFFStream  # noqa: PLC0415

    kind = getattr(capymoa.classifier, describe(model).kind)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.arff"
        path.write_text("\n".join(arff_lines(rows)), encoding="utf-8")
        stream = ARFFStream(str(path))
        idle_java_bytes()
        learner = kind(stream.get_schema(), random_seed=SEED)
        begin = time.process_time()
        results = prequential_evaluation(stream, learner, store_predictions=True)
        seconds = time.process_time() - begin
    advance(len(rows.X))
    predicted = np.array(results.predictions()).astype(int)
    del results
    return Run(predicted, seconds, java_bytes() - idle_java_bytes())


def arff_lines(rows):
    """Return the lines of an ARFF file; values are written so that reading them gives the same numbers."""
    kinds = [
        f"{{{','.join(f'{value:.0f}' for value in np.unique(column))}}}" if position in rows.nominal else "numeric"
        for position, column in enumerate(rows.X.T)
    ]
    yield "@relation stream"
    yield from (f"@attribute x{position} {kind}" for position, kind in enumerate(kinds))
    yield f"@attribute class {{{','.join(str(label) for label in range(rows.y.max() + 1))}}}"
    yield "@data"
    for row, label in zip(rows.X.tolist(), rows.y.tolist(), strict=True):
        cells = [f"{v:.0f}" if position in rows.nominal else repr(v) for position, v in enumerate(row)]
        yield f"{','.join(cells)},{label}"


@cache
def idle_java_bytes():
    """Return the number of bytes in use in Java before the first run; later ones may follow too soon on another."""
    return java_bytes()


def java_bytes():
    """Return the number of bytes in use in Java after collecting what is not."""
    import jpype  # noqa: PLC0415  # comes with CapyMOA

    runtime, used = jpype.java.lang.Runtime.getRuntime(), []
    for _ in range(6):  # Java learns a little later what Python no longer refers to
        gc.collect()
        jpype.java.lang.System.gc()
        used.append(int(runtime.totalMemory() - runtime.freeMemory()))
        time.sleep(0.2)
    return min(used)
