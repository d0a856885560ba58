"""AMRCFleet: many streams of one shape, advanced together."""

import copy
import threading
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from driftline.core.class_list import ClassList
from driftline.core.state import independent_copy
from driftline.ensemble.estimator import AMRC
from driftline.errors import ConfigError, DataError
from driftline.fleet.layout import StreamMemory
from driftline.fleet.shared_start import SharedStart, check_fits
from driftline.fleet.streams import Streams, n_cores
from driftline.guarantees.settings import Guarantees
from driftline.guarantees.statement_arrays import blank_statements
from driftline.kernels.confidence import BOUND
from driftline.kernels.fleet import learn_streams, predict_streams
from driftline.kernels.statements import ANSWERED
from driftline.types import Flags, Indices, LabelArray, Labels, Matrix, Vector
from driftline.utils.interrupts import defer_interrupt
from driftline.utils.validation import read_ids, read_labels, read_rows, whole_number


@dataclass(frozen=True, slots=True, eq=False)
class FleetPredictions:
    """What the models of a fleet say of some rows, before the labels of these rows are learned.

    Attributes
    ----------
    labels : ndarray
        The predicted labels.
    answers : MaskedArray
        The same, masked where the row should be handed over.
    probabilities : ndarray of shape (n_samples, n_classes)
        The randomised rule h(·|x).
    confidences, row_bounds : ndarray of float
        The probability that the predicted label is right, and a bound on the error of the row.
    sets : ndarray of bool, of shape (n_samples, n_classes)
        Whether each label can be right.
    error_bounds : ndarray of float
        The calibrated bound of the model of each row, its `error_bound_`.
    """

    labels: LabelArray
    answers: "np.ma.MaskedArray[Any, Any]"
    probabilities: Matrix
    confidences: Vector
    row_bounds: Vector
    sets: Flags
    error_bounds: Vector


def read_keys(keys: Any, n_rows: int) -> list[Any]:
    """Return keys as plain numbers and texts; raise DataError if they are not `n_rows` of these."""
    if isinstance(keys, np.ndarray) and keys.shape == (n_rows,) and keys.dtype.kind in "iu":
        return list(keys.tolist())  # the checks of others take as long as learning a row
    return list(read_ids(keys, n_rows).tolist())


class AMRCFleet:
    """Many models ``AMRC(memory="light")`` of one shape, one for each key, that learn and predict in one call.

    The results are those of separate models, in a fraction of the time: the arrays of all models are in a few buffers,
    and one compiled call for each buffer, on several cores, learns the rows of all keys. A key is a customer, a machine
    or a sensor: a number or a text. Its model begins with the first row that is learned for it.

    Parameters
    ----------
    n_columns : int
        Number of columns of all rows.
    classes : array-like
        The labels that can occur, for all keys.
    start : {"pooled", "blank"} or AMRC, default="pooled"
        What the model of a new key begins with. "blank" knows nothing. "pooled" has a common model learn from the rows
        of all keys, at most 64 rows of each call, and a new key begins with its knowledge: columns, members and
        trees, but no figures, alarms or guarantees, which are about the rows of the key alone. With an ``AMRC`` (of
        ``memory="light"``, and with the same columns, classes and parameters) every key begins with the knowledge of
        that model.
    features, n_components, order, scaling, coverage, guarantees, random_state
        As in `AMRC`, for all models.
    n_threads : int, optional
        Number of threads; by default as many as there are cores.

    Attributes
    ----------
    keys : list
        The keys that have a model.
    n_bytes_per_key : int
        Size of the state of a model.

    Examples
    --------
    >>> import numpy as np
    >>> from driftline.fleet import AMRCFleet
    >>> rng = np.random.default_rng(0)
    >>> fleet = AMRCFleet(n_columns=2, classes=["fine", "worn"], features="linear")
    >>> for hour in range(50):  # a row of each of three machines
    ...     X = rng.normal(size=(3, 2))
    ...     said = fleet.step(X, np.where(X[:, 0] > 0, "worn", "fine"), keys=["pump", "fan", "belt"])
    >>> fleet.predict([[2.0, 0.0], [-2.0, 0.0]], keys=["pump", "fan"])
    array(['worn', 'fine'], dtype='<U4')
    >>> fleet.model("pump").n_steps_
    50
    """

    def __init__(
        self,
        n_columns: int,
        classes: Any,
        *,
        start: Any = "pooled",
        features: str = "auto",
        n_components: int = 200,
        order: int = 1,
        scaling: str = "running",
        coverage: float = 0.95,
        guarantees: Guarantees | None = None,
        random_state: int = 0,
        n_threads: int | None = None,
    ) -> None:
        labels = np.unique(read_labels(classes, name="classes"))
        if len(labels) < 2:
            raise ConfigError(f"a fleet needs all classes when it begins, two or more; got {labels.tolist()}")
        parameters = {
            "features": features,
            "n_components": n_components,
            "order": order,
            "scaling": scaling,
            "coverage": coverage,
            "guarantees": guarantees,
            "random_state": random_state,
            "memory": "light",
        }
        if features not in ("auto", "linear", "fourier"):
            raise ConfigError(f"features of a fleet must be 'auto', 'linear' or 'fourier'; got {features!r}")
        self._model = AMRC._new(whole_number("n_columns", n_columns, at_least=1), labels, parameters)
        self._classes = ClassList(labels)
        self._memory = StreamMemory(self._model._learner)
        threads = n_cores() if n_threads is None else whole_number("n_threads", n_threads, at_least=1)
        self._streams = Streams(self._memory, threads)
        self._slots: dict[Any, int] = {}
        self._start = SharedStart(start, self._model, self._streams)
        self._lock = threading.RLock()

    @property
    def keys(self) -> list[Any]:
        """The keys that have a model, in the order of their first rows."""
        return list(self._slots)

    @property
    def classes_(self) -> LabelArray:
        """The classes, in the order of the columns of probabilities."""
        return self._classes.labels

    @property
    def n_bytes_per_key(self) -> int:
        """Size of the state of a model."""
        return self._memory.n_bytes

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._slots)

    def __contains__(self, key: Any) -> bool:
        """Return whether a key has a model."""
        return key in self._slots

    # Learning and predicting ---------------------------------------------------------------------------

    def step(self, X: Any, y: Any, keys: Any) -> FleetPredictions:
        """Predict rows, then learn them; return what was said of each row before it was learned.

        A key may have any number of rows in a call, which are learned in their order, each predicted by a model that
        has learned those before it. A key that is new gets a model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            Rows; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Labels, each one of the classes.
        keys : array-like of shape (n_samples,)
            The key of each row.

        Returns
        -------
        FleetPredictions
            One entry for each row, in the order of X.
        """
        rows, known = self._read(X, keys)
        positions = self._positions(read_labels(y, len(rows)))
        with self._lock, defer_interrupt():
            slots = self._slots_of(known)
            result = self._run(learn_streams, slots, rows, positions)
            sampled = self._start.sample(len(rows))
            if len(sampled):
                common = np.full(len(sampled), self._start.slot)
                self._run(learn_streams, common, rows[sampled], positions[sampled])
            return result

    def predict_with_guarantees(
        self, X: Any, keys: Any, *, error: Any = None, coverage: float | None = None
    ) -> FleetPredictions:
        """Return all that the models say of rows now; changes nothing.

        A key without a model is predicted by what a new model would begin with.

        Parameters
        ----------
        X, keys
            As in `step`.
        error, coverage : optional
            The levels of the answers and of the sets, as in `AMRC.predict_with_guarantees`.

        Returns
        -------
        FleetPredictions
            One entry for each row, in the order of X.
        """
        rows, known = self._read(X, keys)
        with self._lock:
            newcomer = -1 if all(map(self._slots.__contains__, known)) else self._start.newcomer()
            slots = np.fromiter((self._slots.get(key, newcomer) for key in known), np.int64, len(known))
            return self._run(predict_streams, slots, rows, error=error, coverage=coverage)

    def predict(self, X: Any, keys: Any) -> LabelArray:
        """Return the most probable label of each row; changes nothing.

        Parameters
        ----------
        X, keys
            As in `step`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        return self.predict_with_guarantees(X, keys).labels

    def predict_proba(self, X: Any, keys: Any) -> Matrix:
        """Return the probability of each class for each row; changes nothing.

        Parameters
        ----------
        X, keys
            As in `step`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, columns in the order of `classes_`.
        """
        return self.predict_with_guarantees(X, keys).probabilities

    def decide(self, X: Any, keys: Any, error: Any = None) -> "np.ma.MaskedArray[Any, Any]":
        """Return a label for each row that can be answered; the others are masked, for somebody else to decide.

        For each key, at most a share `error` of its answers is wrong in the long run, on any stream.

        Parameters
        ----------
        X, keys
            As in `step`.
        error : float or mapping, optional
            The allowed share of wrong answers, one of the levels in `guarantees`; by default the first of them.

        Returns
        -------
        MaskedArray of shape (n_samples,)
            The labels; masked where the row should be handed over.
        """
        return self.predict_with_guarantees(X, keys, error=error).answers

    # Keys -------------------------------------------------------------------------------------------------

    def model(self, key: Any) -> AMRC:
        """Return the model of a key as a model of its own, which goes on where the fleet is now.

        Parameters
        ----------
        key : number or text
            A key that has a model.

        Returns
        -------
        AMRC
            A copy: what it learns does not change the fleet.
        """
        with self._lock:
            slot = self._slot(key)
            model = copy.deepcopy(self._model)
            self._memory.load(model._learner, self._streams.stream(slot))
        return model

    def put(self, key: Any, model: AMRC) -> Self:
        """Let a key go on with a model, instead of its own if it has one.

        Parameters
        ----------
        key : number or text
            The key.
        model : AMRC
            A model with the parameters, columns and classes of the fleet; it is copied.

        Returns
        -------
        AMRCFleet
            The fleet itself.
        """
        check_fits(model, self._model)
        known = read_keys([key], 1)
        learner = independent_copy(model._learner)
        with self._lock, defer_interrupt():
            (slot,) = self._slots_of(known)
            self._memory.store(learner, self._streams.stream(slot))
        return self

    def remove(self, key: Any) -> Self:
        """Forget a key and its model.

        Parameters
        ----------
        key : number or text
            A key that has a model.

        Returns
        -------
        AMRCFleet
            The fleet itself.
        """
        with self._lock, defer_interrupt():
            self._streams.release(self._slot(key))
            del self._slots[key]
        return self

    # Parts ------------------------------------------------------------------------------------------------

    def _slot(self, key: Any) -> int:
        if key not in self._slots:
            raise DataError(f"the fleet has no key {key!r}; it has {len(self._slots)} keys, which `keys` lists")
        return self._slots[key]

    def _slots_of(self, keys: list[Any]) -> Indices:
        """Return the slot of each key; a key without a model gets one."""
        new = [key for key in dict.fromkeys(keys) if key not in self._slots]
        if new:
            stream = self._start.new_stream()
            for key, slot in zip(new, self._streams.take(len(new)), strict=True):
                self._streams.stream(slot)[:] = stream
                self._slots[key] = slot
        return np.fromiter(map(self._slots.__getitem__, keys), np.int64, len(keys))

    def _read(self, X: Any, keys: Any) -> tuple[Matrix, list[Any]]:
        """Return checked rows and keys; raise DataError if they are none of this fleet."""
        rows = read_rows(X)
        if rows.shape[1] != self._model.n_features_in_:
            raise DataError(f"X has {rows.shape[1]} columns, and the fleet {self._model.n_features_in_}")
        return rows, read_keys(keys, len(rows))

    def _positions(self, labels: LabelArray) -> Labels:
        """Return the positions of labels in the list of classes; raise DataError if one is missing there."""
        self._classes.check(labels)
        positions = np.array([self._classes.position(label) for label in labels.tolist()], np.int64)
        unknown = positions == len(self._classes.labels)
        if unknown.any():
            row = int(np.argmax(unknown))
            raise DataError(
                f"the label of row {row} is {labels.tolist()[row]!r}, and the classes of the fleet are "
                f"{self._classes.labels.tolist()}; give all classes when the fleet begins"
            )
        return positions

    def _run(
        self, kernel: Any, slots: Indices, *given: Any, error: Any = None, coverage: float | None = None
    ) -> FleetPredictions:
        """Run a kernel with arrays that have a row for each slot; return what it set, in the order of the rows."""
        n, c = len(slots), len(self._classes.labels)
        guarantees = self._model._learner.tracker.guarantees
        order = np.argsort(slots, kind="stable")
        h, bounds, said = np.empty((n, c)), np.empty(n), blank_statements(n, c, guarantees)
        self._streams.run(kernel, slots[order], *(array[order] for array in given), h, bounds, *said)
        back = np.empty(n, np.int64)
        back[order] = np.arange(n)
        labels = self._classes.labels[said.predicted[back]]
        answered = said.decisions[back, guarantees.error_position(error)] == ANSWERED
        return FleetPredictions(
            labels=labels,
            answers=np.ma.MaskedArray(labels, mask=~answered),
            probabilities=h[back],
            confidences=said.confidences[back],
            row_bounds=said.like_errors[back, BOUND],
            sets=said.sets[back, guarantees.coverage_position(coverage)],
            error_bounds=bounds[back],
        )
