"""AMRCFleet: many streams of one shape, advanced together."""

import copy
import os
import threading
from collections.abc import Mapping
from itertools import chain, repeat
from typing import Any, Self

import numpy as np

from driftline.core.class_list import ClassList
from driftline.core.state import independent_copy
from driftline.ensemble.estimator import AMRC
from driftline.errors import CheckpointError, ConfigError, DataError
from driftline.fleet.device_streams import AnyStreams, DeviceStreams
from driftline.fleet.files import opened_fleet, write_fleet
from driftline.fleet.header import arguments_from, column_names_from, header_of
from driftline.fleet.inputs import is_key, names_of_columns, names_of_model, positions_of, read_keyed_rows, read_keys
from driftline.fleet.late_labels import LateLabels
from driftline.fleet.layout import StreamMemory
from driftline.fleet.predictions import FleetPredictions
from driftline.fleet.shared_start import SharedStart, check_fits
from driftline.fleet.status import status_table
from driftline.fleet.stream_bytes import shape_digest, stream_from_bytes, stream_to_bytes
from driftline.fleet.streams import Streams, n_cores
from driftline.guarantees.settings import Guarantees
from driftline.guarantees.statement_arrays import blank_statements
from driftline.kernels.fleet import learn_streams, predict_streams
from driftline.kernels.statements import RowStatements
from driftline.types import Flags, Indices, LabelArray, Labels, Matrix
from driftline.utils.interrupts import defer_interrupt
from driftline.utils.validation import flag, one_of, read_ids, read_labels, whole_number

NO_SLOT = -1
"""In place of the slot of a key that has no model yet."""
KEYS_PER_COPY = 4096
"""The streams of so many keys are copied at once."""


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
    features, n_components, order, scaling, coverage, guarantees, expire_after_labels, random_state
        As in `AMRC`, for all models.
    n_threads : int, optional
        Number of threads; by default as many as there are cores.
    device : {"cpu", "cuda"}, default="cpu"
        Where the models are, and learn and predict. "cuda" is an NVIDIA GPU, for tens of thousands of keys and more
        with one row or few in each call; it needs the extra ``driftline[gpu]``. Its results are those of the cores up
        to rounding errors.

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
        expire_after_labels: int = 100_000,
        random_state: int = 0,
        n_threads: int | None = None,
        device: str = "cpu",
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
            "expire_after_labels": expire_after_labels,
            "random_state": random_state,
            "memory": "light",
        }
        if features not in ("auto", "linear", "fourier"):
            raise ConfigError(f"features of a fleet must be 'auto', 'linear' or 'fourier'; got {features!r}")
        whole_number("random_state", random_state, at_least=0)  # a fleet that is loaded draws the same numbers again
        self._model = AMRC._new(whole_number("n_columns", n_columns, at_least=1), labels, parameters)
        self._classes = ClassList(labels)
        self._memory = StreamMemory(self._model._learner)
        threads = n_cores() if n_threads is None else whole_number("n_threads", n_threads, at_least=1)
        one_of("device", device, ("cpu", "cuda"))
        self._streams: AnyStreams = Streams(self._memory, threads) if device == "cpu" else DeviceStreams(self._memory)
        self._slots: dict[Any, int] = {}
        self._start = SharedStart(start, self._model, self._streams)
        self._late = LateLabels(self._model._learner, self._streams)
        self._shape = shape_digest(self._model._plain_parameters(), self._classes, self._memory)
        if isinstance(start, AMRC):
            self._keep_names(names_of_model(start))
        self._lock = threading.RLock()

    def __reduce__(self) -> Any:
        """Raise TypeError: a fleet, which may be on a GPU, is not copied or pickled."""
        raise TypeError("a fleet cannot be copied or pickled; use save(path) and AMRCFleet.load(path)")

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
        """Return whether a key has a model.

        Parameters
        ----------
        key : number or text
            A key.

        Returns
        -------
        bool
            Whether it has one.
        """
        try:
            return not isinstance(key, bool | np.bool_) and key in self._slots
        except TypeError:  # a list, for example
            return False

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
        rows, known = read_keyed_rows(X, keys, self._model.n_features_in_)
        positions = positions_of(read_labels(y, len(rows)), self._classes)
        with self._lock, defer_interrupt():
            self._keep_names(self._checked_names(X))
            slots = self._slots_of(known)
            if self._late.is_anyone_waiting and any(map(self._late.is_waiting, known)):
                result = self._learn_one_by_one(known, slots, rows, positions)
            else:
                result = self._run(learn_streams, slots, rows, positions)
            self._learn_common(rows, positions)
            return result

    def _learn_common(self, rows: Matrix, positions: Labels) -> None:
        """Let the common model learn some of the rows that were learned, if new keys begin with it."""
        sampled = self._start.sample(len(rows))
        if len(sampled):
            common = np.full(len(sampled), self._start.slot)
            self._run(learn_streams, common, rows[sampled], positions[sampled])

    def _learn_one_by_one(self, keys: list[Any], slots: Indices, rows: Matrix, positions: Labels) -> FleetPredictions:
        """Predict and learn rows as `step`, where some keys wait for labels of earlier rows."""
        parts = []
        for t, key in enumerate(keys):
            row = slice(t, t + 1)
            if self._late.is_waiting(key):
                parts.append(self._run(predict_streams, slots[row], rows[row]))
                self._late.learn(key, int(slots[t]), rows[row], int(positions[t]))
            else:
                parts.append(self._run(learn_streams, slots[row], rows[row], positions[row]))
        return FleetPredictions.concatenate(parts)

    # Late labels ------------------------------------------------------------------------------------------

    def observe(self, X: Any, keys: Any, ids: Any) -> FleetPredictions:
        """Predict rows whose labels come later, and keep the predictions until `label` brings them.

        Each row costs about a millisecond instead of tens of microseconds, and so do all rows of a key as long as rows
        of it wait, because they are learned one by one, as by a model of its own.

        Parameters
        ----------
        X, keys
            As in `step`.
        ids : array-like of shape (n_samples,)
            Numbers or texts by which `label` finds the rows; those of the rows of a key that wait must differ.

        Returns
        -------
        FleetPredictions
            What was said of each row, in the order of X.
        """
        rows, known = read_keyed_rows(X, keys, self._model.n_features_in_)
        row_ids = list(read_ids(ids, len(rows)).tolist())
        with self._lock, defer_interrupt():
            self._late.check_new_ids(known, row_ids)
            self._keep_names(self._checked_names(X))
            slots, parts = self._slots_of(known), []
            for t, (key, row_id) in enumerate(zip(known, row_ids, strict=True)):
                row = slice(t, t + 1)
                parts.append(self._run(predict_streams, slots[row], rows[row]))
                self._late.observe(key, int(slots[t]), rows[row], row_id)
            return FleetPredictions.concatenate(parts)

    def label(self, keys: Any, ids: Any, y: Any) -> Flags:
        """Learn the labels of rows that were observed.

        Parameters
        ----------
        keys, ids : array-like of shape (n_samples,)
            The keys and ids of the rows, as in `observe`.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        ndarray of bool, of shape (n_samples,)
            Whether each label was learned; not if no such row waits, because it was not observed, is labelled already,
            or was given up.
        """
        labels = read_labels(y)
        positions, known = positions_of(labels, self._classes), read_keys(keys, len(labels))
        row_ids = read_ids(ids, len(labels)).tolist()
        learned = np.zeros(len(labels), np.bool_)
        rows = np.empty((len(labels), self._model.n_features_in_))
        with self._lock, defer_interrupt():
            for t, (key, row_id) in enumerate(zip(known, row_ids, strict=True)):
                waiting = self._late.pending(key).waiting_row(row_id)
                if waiting is not None:
                    learned[t], rows[t] = True, waiting.x
                    self._late.learn(key, self._slots[key], rows[t : t + 1], int(positions[t]), row_id)
            self._learn_common(rows[learned], positions[learned])
        return learned

    def give_up(self, key: Any, ids: Any = None) -> Self:
        """Stop waiting for the labels of observed rows of a key; other ids are ignored.

        Parameters
        ----------
        key : number or text
            A key that has a model.
        ids : array-like, optional
            The ids of the rows; by default all rows of the key that wait.

        Returns
        -------
        AMRCFleet
            The fleet itself.
        """
        row_ids = None if ids is None else read_ids(ids, None).tolist()
        with self._lock, defer_interrupt():
            self._slot(key)
            self._late.give_up(key, row_ids)
        return self

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
        rows, known = read_keyed_rows(X, keys, self._model.n_features_in_)
        with self._lock:
            self._checked_names(X)
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
            model._learner.pending = self._late.pending(key).copy()
        return model

    def acknowledge_alarm(self, keys: Any) -> Self:
        """Arm the raised alarms of some keys again, from their next rows on; nothing changes where none is raised.

        Parameters
        ----------
        keys : array-like
            Keys that have a model.

        Returns
        -------
        AMRCFleet
            The fleet itself.
        """
        known = read_keys(keys)
        with self._lock, defer_interrupt():
            models = {key: self.model(key) for key in known}  # all, before anything changes
            for key, model in models.items():
                if model.alarm_ is not None:
                    model.acknowledge_alarm()
                    self.put(key, model)
        return self

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
        known = read_keys([key])
        with self._lock, defer_interrupt():
            check_fits(model, self._model)
            if model._last_time is not None or model._learner.row_weights is not None:
                raise ConfigError("the model has learned rows with timestamps or weights, which fleets do not have")
            learner = independent_copy(model._learner)
            self._keep_names(names_of_model(model))
            (slot,) = self._slots_of(known)
            self._streams.put([slot], self._memory.stored(learner))
            self._late.put(known[0], learner.pending)
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
            self._late.remove(key)
        return self

    def status(self, keys: Any = None) -> "np.ndarray[Any, np.dtype[np.void]]":
        """Return how well the models of some keys do.

        Parameters
        ----------
        keys : array-like, optional
            Keys that have a model; by default all of them.

        Returns
        -------
        structured ndarray
            A row for each key: `key`; `n_rows` and `n_wrong`, how many labels it learned and how many of its
            predictions were wrong; their quotient `error` with its limits `low` and `high`, which hold at all times at
            once; `n_answered` and `n_wrong_answers` at the first level of `guarantees`; `has_alarm`, whether its error
            has risen; and `n_waiting`, its rows without labels.

        Examples
        --------
        >>> from driftline.fleet import AMRCFleet
        >>> fleet = AMRCFleet(n_columns=1, classes=["no", "yes"], features="linear")
        >>> said = fleet.step([[0.0], [1.0], [0.2]], ["no", "yes", "no"], keys=["a", "b", "a"])
        >>> fleet.status()[["key", "n_rows"]].tolist()
        [('a', 2), ('b', 1)]
        """
        with self._lock:
            known = self.keys if keys is None else read_keys(keys)
            parts = (known[k : k + KEYS_PER_COPY] for k in range(0, max(len(known), 1), KEYS_PER_COPY))
            return np.concatenate([self._status(part) for part in parts])

    def _status(self, keys: list[Any]) -> "np.ndarray[Any, np.dtype[np.void]]":
        """Return the same for so few keys that there is memory for copies of their streams."""
        streams = self._streams.gather([self._slot(key) for key in keys])
        n_waiting = np.array([len(self._late.pending(key)) for key in keys], np.int64)
        return status_table(keys, streams, n_waiting, self._memory, self._model._learner.tracker)

    # State ------------------------------------------------------------------------------------------------

    def key_state(self, key: Any) -> bytes:
        """Return the state of a key as bytes, for a store of your own.

        Parameters
        ----------
        key : number or text
            A key that has a model.

        Returns
        -------
        bytes
            About `n_bytes_per_key` bytes, with a version and a checksum. They can be used by fleets with the same
            parameters, columns and classes.
        """
        with self._lock:
            return stream_to_bytes(self._streams.stream(self._slot(key)), self._late.pending(key), self._shape)

    def set_key_state(self, key: Any, data: bytes, *, trusted: bool = False) -> Self:
        """Let a key go on from what `key_state` returned; everything is checked before it is used.

        Parameters
        ----------
        key : number or text
            The key; its model is replaced if it has one.
        data : bytes
            What `key_state` returned.
        trusted : bool, default=False
            Whether only your own program could have written the bytes. Then version, shape and checksum are checked,
            but not every value, which takes longer than learning a hundred rows.

        Returns
        -------
        AMRCFleet
            The fleet itself.
        """
        known = read_keys([key])
        with self._lock, defer_interrupt():
            stream, pending = stream_from_bytes(
                data, self._model._learner, self._memory, self._shape, trusted=flag("trusted", trusted)
            )
            (slot,) = self._slots_of(known)
            self._streams.put([slot], stream)
            self._late.put(known[0], pending)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fleet to one file, atomically.

        Parameters
        ----------
        path : path-like
            The file. An existing file is replaced only when the new one is complete.
        """
        with self._lock:
            common = stream_to_bytes(self._streams.stream(self._start.slot), self._late.pending(None), self._shape)
            pools, n_keys = self._start.learns, len(self) + 1
            header = header_of(self._model, self._classes, pools=pools, n_keys=n_keys)
            write_fleet(path, header, chain([(None, common)], ((key, self.key_state(key)) for key in self._slots)))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        n_threads: int | None = None,
        device: str = "cpu",
        trusted: bool = False,
    ) -> "AMRCFleet":
        """Read a fleet that `save` wrote; it continues as if it had never stopped.

        Unless it is trusted, everything in the file is checked before it is used, so that files from strangers can be
        loaded.

        Parameters
        ----------
        path : path-like
            A file written by `save`.
        n_threads, device
            As in the constructor; the fleet may have been on another device.
        trusted : bool, default=False
            Whether only your own program could have written the file. Then, as in `set_key_state`, the check of every
            value, a few milliseconds for each key, is left out.

        Returns
        -------
        AMRCFleet
            The fleet.
        """
        flag("trusted", trusted)
        with opened_fleet(path) as file:
            fleet = cls._from_header(file.header, n_threads=n_threads, device=device)
            for k, (key, state) in enumerate(file.states()):
                if k == 0:  # that of the common model
                    blank, memory = fleet._model._learner, fleet._memory
                    stream, _ = stream_from_bytes(state, blank, memory, fleet._shape, trusted=trusted)
                    fleet._streams.put([fleet._start.slot], stream)
                elif is_key(key) and key not in fleet:
                    fleet.set_key_state(key, state, trusted=trusted)
                else:
                    raise CheckpointError(f"it is damaged: {str(key)[:50]!r} is no key, or one that came before")
        return fleet

    @classmethod
    def _from_header(cls, header: Mapping[str, Any], **where: Any) -> "AMRCFleet":
        """Return a fleet without keys from the header of a file; raise CheckpointError if it is not that of a fleet."""
        try:
            fleet = cls(**arguments_from(header), **where)
            fleet._keep_names(column_names_from(header, fleet._model.n_features_in_))
            return fleet
        except CheckpointError:
            raise
        except (KeyError, TypeError, ValueError) as error:  # ConfigError and DataError are ValueErrors
            raise CheckpointError("its header is not that of a fleet: ", str(error)) from error

    # Parts ------------------------------------------------------------------------------------------------

    def _checked_names(self, X: Any) -> list[str] | None:
        """Return the names of the columns of rows, if they have some; raise DataError if those of the fleet differ."""
        given, known = names_of_columns(X), names_of_model(self._model)
        if given is not None and known is not None and given != known:
            raise DataError(f"X has the columns {given}, and the fleet {known}; pass the same ones in the same order")
        return given

    def _keep_names(self, names: list[str] | None) -> None:
        """Let the columns of the fleet have names from now on, unless they have some."""
        if names is not None and names_of_model(self._model) is None:
            self._model.feature_names_in_ = np.array(names, dtype=object)

    def _slot(self, key: Any) -> int:
        if key not in self:
            raise DataError(f"the fleet has no key {key!r}; it has {len(self._slots)} keys, which `keys` lists")
        return self._slots[key]

    def _slots_of(self, keys: list[Any]) -> Indices:
        """Return the slot of each key; a key without a model gets one."""
        slots = np.fromiter(map(self._slots.get, keys, repeat(NO_SLOT)), np.int64, len(keys))
        is_new = slots == NO_SLOT
        if is_new.any():
            stream, new = self._start.new_stream(), [key for key in dict.fromkeys(keys) if key not in self._slots]
            taken = self._streams.take(len(new))
            self._streams.put(taken, stream)
            self._slots.update(zip(new, taken, strict=True))
            slots[is_new] = [self._slots[keys[t]] for t in np.flatnonzero(is_new)]
        return slots

    def _run(
        self, kernel: Any, slots: Indices, *given: Any, error: Any = None, coverage: float | None = None
    ) -> FleetPredictions:
        """Run a kernel with arrays that have a row for each slot; return what it set, in the order of the rows."""
        n, c = len(slots), len(self._classes.labels)
        guarantees = self._model._learner.tracker.guarantees
        order: Any = slice(None)
        back: Any = slice(None)
        if (slots[1:] < slots[:-1]).any():
            order, back = np.argsort(slots, kind="stable"), np.empty(n, np.int64)
            back[order] = np.arange(n)
        h, bounds, said = np.empty((n, c)), np.empty(n), blank_statements(n, c, guarantees)
        ordered = (np.ascontiguousarray(array[order]) for array in given)
        self._streams.run(kernel, slots[order], *ordered, h, bounds, *said)
        of_rows: list[Any] = [array[back] for array in said]
        classes, levels = self._classes.labels, {"error": error, "coverage": coverage}
        return FleetPredictions.of_statements(
            RowStatements(*of_rows), h[back], bounds[back], classes, guarantees, **levels
        )
