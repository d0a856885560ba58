"""Read models in threads while another thread teaches them classes and columns: python predict_in_threads.py N_ROUNDS.

All results must be those of a model that learned the same rows alone, after some number of rows, and that number must
never fall. Exits with an error message if one is not.
"""

import pickle
import sys
import threading

import numpy as np

from driftline import AMRC, DataError, PaperAMRC
from driftline.baselines import DWM, AdaRaker

N_ROWS, N_THREADS = 36, 4
ROWS_PER_CLASS, ROWS_PER_COLUMN = 4, 11
MODELS = {
    "AMRC": lambda: AMRC(n_components=5),
    "PaperAMRC": lambda: PaperAMRC(features="linear", scaling="running", n_iterations=20, n_subgradients=10),
    "DWM": lambda: DWM(period=5),
    "AdaRaker": lambda: AdaRaker(n_components=5),
}
READS = {
    "predict": lambda model, X: model.predict(X),
    "predict_proba": lambda model, X: model.predict_proba(X),
    "assess": lambda model, X: model.assess(X, np.zeros(len(X), int)).predicted,
    "classes_": lambda model, _: model.classes_,
    "error_bound_": lambda model, _: np.array(model.error_bound_),
    "mistake_bound": lambda model, _: np.array(model.mistake_bound()),
    "members_": lambda model, _: model.members_,
    "drift": lambda model, _: model.drift(),
    "n_steps_": lambda model, _: np.array(model.n_steps_),
    "pickle": lambda model, X: pickle.loads(pickle.dumps(model)).predict(X),
}


def stream():
    """Return rows and labels in which a new class joins every few rows."""
    rng = np.random.default_rng(0)
    y = np.minimum(rng.integers(0, 100, N_ROWS), np.arange(N_ROWS) // ROWS_PER_CLASS)
    return 3 * rng.normal(size=(100, 9))[y] + rng.normal(size=(N_ROWS, 9)), y


def n_columns_of(model, n_rows):
    """Return the number of columns of a model after some rows; only `AMRC` can be given more than at first."""
    return 3 + n_rows // ROWS_PER_COLUMN if isinstance(model, AMRC) else 3


def learn_one_by_one(model):
    """Teach the stream row by row; yield the number of rows after every row, and after columns were added."""
    X, y = stream()
    for t in range(N_ROWS):
        n_columns = n_columns_of(model, t)
        if t and n_columns > model.n_features_in_:
            model.add_columns(n_columns - model.n_features_in_)
            yield t
        model.partial_fit(X[t : t + 1, :n_columns], y[t : t + 1])
        yield t + 1


def read(model, name, X):
    """Return the type, shape and bytes of the result of a read; None if the columns of X are no longer the model's."""
    try:
        result = READS[name](model, X)
    except DataError:
        return None
    if name == "predict_proba" and not np.allclose(result.sum(axis=1), 1.0):
        raise AssertionError("probabilities do not sum to 1")
    return result.dtype.str, result.shape, result.tobytes()


class Reader(threading.Thread):
    """Reads a model until it is told to stop, and compares each result with those that are possible."""

    def __init__(self, model, expected, first_read):
        super().__init__(daemon=True)  # so that a failure does not wait for them
        self.model, self.expected, self.first_read = model, expected, first_read
        self.stops, self.n_reads, self.problem = threading.Event(), 0, None

    def run(self):
        """Read until told to stop, or until a result is wrong."""
        X, names, reached = stream()[0][:5], list(self.expected), 0
        try:
            while not self.stops.is_set():
                name = names[(self.first_read + self.n_reads) % len(names)]
                result = read(self.model, name, X[:, : self.model.n_features_in_])
                self.n_reads += 1
                if result is None:
                    continue
                states = [state for state, value in enumerate(self.expected[name]) if value == result]
                if not states or states[-1] < reached:
                    raise AssertionError(f"{name} is not that of any state from {reached} on, but of {states}")
                reached = next(state for state in states if state >= reached)
        except Exception as error:
            self.problem = error


def possible_results(make):
    """Return the results of each read in each state of a model that learns alone."""
    twin = make()
    available = [name for name in READS if hasattr(type(twin), name) or name == "pickle"]
    expected = {name: [] for name in available}
    for _ in learn_one_by_one(twin):
        for name in available:
            expected[name].append(read(twin, name, stream()[0][:5, : twin.n_features_in_]))
    return expected


def check(name, make, expected):
    """Learn in this thread while others read; return the number of reads."""
    model = make()
    learning = learn_one_by_one(model)
    next(learning)  # before that there is no class, and predicting is an error
    readers = [Reader(model, expected, first_read) for first_read in range(N_THREADS)]
    for reader in readers:
        reader.start()
    for _ in learning:
        pass
    for reader in readers:
        reader.stops.set()
        reader.join()
        if reader.problem is not None:
            sys.exit(f"{name}: {reader.problem!r}")
    return sum(reader.n_reads for reader in readers)


def main(n_rounds):
    sys.setswitchinterval(1e-6)
    n_reads = 0
    for name, make in MODELS.items():
        expected = possible_results(make)
        for _ in range(n_rounds):
            n_reads += check(name, make, expected)
    sys.stdout.write(f"{n_reads}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
