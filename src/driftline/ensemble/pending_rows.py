"""Rows that were predicted and whose labels have not arrived yet."""

import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from driftline.core.schema import ROUNDING, ArraySpec, Length, Schema, whole_numbers
from driftline.core.state import copy_with
from driftline.ensemble.row_keys import ids_as_bytes, ids_from_bytes, keys_of
from driftline.errors import DataError
from driftline.guarantees.settings import Guarantees
from driftline.guarantees.statement_arrays import joined, separated, statement_schema
from driftline.kernels.statements import RowStatements
from driftline.types import LARGEST_VALUE, LabelArray, Matrix, State, Vector
from driftline.utils.validation import MAX_ID_LENGTH

MAX_PENDING_ROWS = 100_000
"""Largest number of pending rows; if there are more, the oldest are given up."""
ARRAYS = ("x", "z", "member_probabilities", "scheme_probabilities", "probabilities", "label_rules")
"""Names of the arrays of a pending row."""


@dataclass(frozen=True, slots=True, eq=False)
class PendingRow:
    """A row that was predicted and whose label has not arrived, with its predictions.

    Attributes
    ----------
    x, z : ndarray
        The row, raw and prepared.
    member_probabilities : ndarray of shape (n_members, n_classes)
        The prediction of each member.
    scheme_probabilities : ndarray of shape (2, n_classes)
        The predictions of the mixture with the weights of each of the two weighting schemes.
    probabilities : ndarray of shape (n_classes,)
        The prediction of the ensemble.
    label_rules : ndarray of shape (n_label_rules, n_classes)
        What the members that know the last labels keep of the row; nothing if there are no such members.
    said : RowStatements or None
        What was said of the row; None if no class was known, or if it was observed before there were guarantees.
    id : int, float, str or None
        The id by which the row is found; None if it is found by its values.
    time : float
        When the row was observed; NaN if unknown.
    n_labels : int
        Number of labels that had been learned when the row was observed.
    """

    x: Vector
    z: Vector
    member_probabilities: Matrix
    scheme_probabilities: Matrix
    probabilities: Vector
    label_rules: Matrix
    said: RowStatements | None = None
    id: Any = None
    time: float = np.nan
    n_labels: int = 0

    @property
    def has_prediction(self) -> bool:
        """Whether a class was known when the row was observed; otherwise all probabilities are 0."""
        return bool(self.probabilities.any())


@dataclass(frozen=True, slots=True)
class Matches:
    """The pending rows that belong to a batch of labelled rows.

    Attributes
    ----------
    rows : list
        The pending row of each labelled row; None for a row that was not observed.
    places : set of int
        Places of the pending rows that were found or that expire.
    n_expired : int
        Number of pending rows that expire.
    """

    rows: list[PendingRow | None]
    places: set[int]
    n_expired: int

    def parts(self) -> Iterator[tuple[slice, PendingRow | None]]:
        """Return the batch in parts, with their pending rows.

        An observed row is a part of its own; consecutive rows that were not observed are one part.
        """
        if not any(self.rows):
            yield slice(None), None
            return
        for observed, run in groupby(enumerate(self.rows), key=lambda entry: entry[1] is not None):
            entries = list(run)
            if observed:
                yield from ((slice(t, t + 1), row) for t, row in entries)
            else:
                yield slice(entries[0][0], entries[-1][0] + 1), None

    def observed_values(self, X: Matrix) -> Matrix:
        """Return the labelled rows with the values that they had when they were observed."""
        if any(self.rows):
            X = X.copy()
            for t, row in enumerate(self.rows):
                if row is not None:
                    X[t] = row.x
        return X


class PendingRows:
    """The pending rows, which are found by their ids if they have any, and otherwise by their values.

    Rows are also found if they were rounded to single precision between observation and label, or are no longer so:
    values that are equal in double precision are searched for first, then values that are equal after rounding if one
    of the two rows is a row of single-precision numbers. Among equal rows, the oldest is found first.

    Parameters
    ----------
    n_columns : int
        Number of columns of the raw rows.
    n_members : int
        Number of members that predict.
    guarantees : Guarantees
        The levels at which something is said of the rows.
    expire_after_labels : int
        Number of labels after whose learning a row is given up.
    expire_after_time : float or None
        Time after which a row is given up; None for no limit.
    n_label_rules : int, default=0
        Number of vectors that the members that know the last labels keep of a row.
    """

    def __init__(
        self,
        n_columns: int,
        n_members: int,
        guarantees: Guarantees,
        expire_after_labels: int,
        expire_after_time: float | None,
        n_label_rules: int = 0,
    ) -> None:
        self._n_columns, self._n_members, self._n_classes = n_columns, n_members, 0
        self._n_label_rules = n_label_rules
        self._guarantees = guarantees
        self._expire_after_labels = expire_after_labels
        self._expire_after_time = np.inf if expire_after_time is None else expire_after_time
        self.n_expired = 0
        self._clear()

    def _clear(self) -> None:
        self._rows: OrderedDict[int, PendingRow] = OrderedDict()
        self._keys: dict[int, tuple[bytes, bytes]] = {}
        self._by_id: dict[Any, int] = {}
        self._by_values: dict[bytes, list[int]] = {}
        self._by_rounded_values: dict[bytes, list[int]] = {}
        self._n_added = self.n_labels = 0
        self._first_time = np.nan
        """Time of the first label, which is also that of rows that were observed before any time was known."""

    def __len__(self) -> int:
        return len(self._rows)

    def copy(self) -> "PendingRows":
        """Return an independent copy; rows are shared, because they do not change."""
        return copy_with(
            self,
            _rows=self._rows.copy(),
            _keys=self._keys.copy(),
            _by_id=self._by_id.copy(),
            _by_values={key: places[:] for key, places in self._by_values.items()},
            _by_rounded_values={key: places[:] for key, places in self._by_rounded_values.items()},
        )

    def blank(self) -> "PendingRows":
        """Return new pending rows with the same settings, columns and classes, and no row."""
        new = copy_with(self, n_expired=0)
        new._clear()
        return new

    # Adding -------------------------------------------------------------------------------------------

    def check_ids(self, ids: LabelArray | None) -> None:
        """Raise DataError if an id occurs twice, or belongs to a row that is pending."""
        seen: set[Any] = set()
        for row, each in enumerate([] if ids is None else ids.tolist()):
            if each in seen or each in self._by_id:
                where = "an earlier row of this call" if each in seen else "a row that is still waiting for its label"
                raise DataError(f"id {each!r} of row {row} belongs to {where}; give each row an id of its own")
            seen.add(each)

    def add(self, rows: Sequence[PendingRow]) -> None:
        """Add rows, whose ids must be new; above the limit, the oldest rows are given up."""
        exact, rounded = keys_of(np.array([row.x for row in rows]))
        for row, keys in zip(rows, zip(exact, rounded, strict=True), strict=True):
            if len(self._rows) == MAX_PENDING_ROWS:
                self._remove(next(iter(self._rows)))
                self.n_expired += 1
            # Times never decrease, so that the oldest rows are the first to expire.
            time = float(np.fmax(row.time, self._rows[next(reversed(self._rows))].time)) if self._rows else row.time
            self._insert(replace(row, time=time, n_labels=self.n_labels), keys)

    def _insert(self, row: PendingRow, keys: tuple[bytes, bytes]) -> None:
        place, (exact, rounded) = self._n_added, keys
        self._n_added += 1
        self._rows[place] = row
        if row.id is not None:
            self._by_id[row.id] = place
            return
        self._keys[place] = keys
        self._by_values.setdefault(exact, []).append(place)
        if exact != rounded:
            self._by_rounded_values.setdefault(rounded, []).append(place)

    # Finding and removing -----------------------------------------------------------------------------

    def is_waiting(self, row_id: Any) -> bool:
        """Return whether a row with this id is pending and would be found by the next label."""
        return self.waiting_row(row_id) is not None

    def waiting_row(self, row_id: Any) -> PendingRow | None:
        """Return the row with this id that is pending and would be found by the next label; None if there is none."""
        place = self._by_id.get(row_id)
        return None if place is None or self._is_expired(place, 0, np.array([np.nan])) else self._rows[place]

    def match(self, X: Matrix, ids: LabelArray | None, times: Vector) -> Matches:
        """Return the pending rows of a batch of labelled rows, and those that expire meanwhile; changes nothing.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
            The labelled rows.
        ids : ndarray or None
            Their ids; None to find rows by their values.
        times : ndarray of shape (n_rows,)
            Their times, NaN if unknown.
        """
        found: list[PendingRow | None] = [None] * len(X)
        places: set[int] = set()
        if not self._rows:
            return Matches(found, places, 0)
        n_expired = 0
        keys = keys_of(X) if ids is None else ids.tolist()
        oldest = iter(self._rows)
        front = next(oldest, None)
        for t in range(len(X) + 1):
            while front is not None and (front in places or self._is_expired(front, t, times)):
                n_expired += front not in places
                places.add(front)
                front = next(oldest, None)
            if front is None or t == len(X):
                break
            place = self._by_id.get(keys[t]) if ids is not None else self._place(keys[0][t], keys[1][t], places)
            if place is not None and place not in places:
                places.add(place)
                found[t] = self._widened(self._rows[place])
        return Matches(found, places, n_expired)

    def _is_expired(self, place: int, t: int, times: Vector) -> bool:
        """Return whether a row has expired before the label of row t of a batch is learned."""
        row = self._rows[place]
        elapsed = times[min(t, len(times) - 1)] - self._time(row, times[0])
        return self.n_labels + t - row.n_labels >= self._expire_after_labels or elapsed > self._expire_after_time

    def _time(self, row: PendingRow, next_time: float = np.nan) -> float:
        """Return when a row was observed; `next_time` is the time of the next label."""
        first_time = next_time if math.isnan(self._first_time) else self._first_time
        return first_time if math.isnan(row.time) else row.time

    def _place(self, exact: bytes, rounded: bytes, gone: set[int]) -> int | None:
        """Return the place of the oldest row with the same values that is not in `gone`; None if there is none."""
        similar = self._by_values.get(rounded, ()) if exact != rounded else self._by_rounded_values.get(exact, ())
        for places in (self._by_values.get(exact, ()), similar):
            for place in places:
                if place not in gone:
                    return place
        return None

    def remove(self, matches: Matches, times: Vector) -> None:
        """Remove rows whose labels have been learned and rows that have expired, and count the labels."""
        for place in matches.places:
            self._remove(place)
        self.n_expired += matches.n_expired
        self.n_labels += len(matches.rows)
        if math.isnan(self._first_time):
            self._first_time = float(times[0])

    def give_up(self, ids: list[Any] | None) -> None:
        """Remove the rows with these ids, or all; other ids are ignored."""
        places = list(self._rows)
        if ids is not None:
            places = [self._by_id[each] for each in dict.fromkeys(ids) if each in self._by_id]
        for place in places:
            self._remove(place)
            self.n_expired += 1

    def _remove(self, place: int) -> None:
        row = self._rows.pop(place)
        if row.id is not None:
            del self._by_id[row.id]
            return
        exact, rounded = self._keys.pop(place)
        for index, key in ((self._by_values, exact), (self._by_rounded_values, rounded)):
            places = index.get(key, [])
            if place in places:
                places.remove(place)
                if not places:
                    del index[key]

    # Classes and columns that are added -----------------------------------------------------------------

    def add_classes(self, n: int) -> None:
        """Add n classes, which have probability 0 in all pending rows."""
        self._n_classes += n

    def add_columns(self, n: int) -> None:
        """Add n columns to all pending rows: missing in the raw row, 0 in the prepared one."""
        self._n_columns += n

    def _widened(self, row: PendingRow) -> PendingRow:
        """Return a row with all columns and classes."""
        if len(row.x) == self._n_columns and len(row.probabilities) == self._n_classes:
            return row
        arrays: dict[str, Any] = {name: self._padded(name, getattr(row, name)) for name in ARRAYS}
        return replace(row, **arrays)

    def _padded(self, name: str, array: Vector) -> Vector:
        """Return an array of pending rows with all columns or classes: those that were added later are filled."""
        length = self._n_columns if name in ("x", "z") else self._n_classes
        n_added = length - array.shape[-1]
        added = np.full((*array.shape[:-1], n_added), np.nan if name == "x" else 0.0)
        return np.concatenate([array, added], axis=-1) if n_added else array

    # State --------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Return the arrays that `restore` needs, with one entry for each row; none if no row is pending."""
        if not self._rows:
            return {}
        rows = list(self._rows.values())
        return {name: self._stacked(name, rows) for name in self._saved_arrays} | {
            "ids": ids_as_bytes([row.id for row in rows]),
            "times": np.array([self._time(row) for row in rows]),
            "ages": np.array([self.n_labels - row.n_labels for row in rows]),
            **joined([row.said for row in rows], self._n_classes, self._guarantees)._asdict(),
        }

    @property
    def _saved_arrays(self) -> tuple[str, ...]:
        """Names of the arrays that are saved: without members that know the last labels, all but the last."""
        return ARRAYS if self._n_label_rules else ARRAYS[:-1]

    def _stacked(self, name: str, rows: list[PendingRow]) -> Vector:
        """Return one of the arrays of all rows as one array; rows of the same shape are padded together."""
        runs = groupby(map(attrgetter(name), rows), key=attrgetter("shape"))
        return np.concatenate([self._padded(name, np.array(list(run))) for _, run in runs])

    def schema(self) -> Schema:
        """Return what each array must be in a file; a file without pending rows has none of them."""
        n, c = Length("rows", MAX_PENDING_ROWS, at_least=1), self._n_classes
        schema = {
            "x": ArraySpec((n, self._n_columns), low=-LARGEST_VALUE, high=LARGEST_VALUE, allows_nan=True),
            "z": ArraySpec((n, self._n_columns), low=-LARGEST_VALUE, high=LARGEST_VALUE),
            "member_probabilities": _predictions((n, self._n_members, c)),
            "scheme_probabilities": _predictions((n, 2, c)),
            "probabilities": _predictions((n, c)),
            "label_rules": _predictions((n, self._n_label_rules, c)),
            "ids": ArraySpec((n, Length("bytes", MAX_ID_LENGTH, at_least=1)), np.uint8, since=3),
            "times": ArraySpec((n,), allows_nan=True, since=3),
            "ages": replace(whole_numbers((n,)), since=3),
            **statement_schema(n, c, self._guarantees),
        }
        if not self._n_label_rules:
            del schema["label_rules"]
        return {name: replace(spec, is_optional=True) for name, spec in schema.items()}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned; older model files have no ids, times and ages, or no statements."""
        self._clear()
        if not state:
            return
        n = len(state["x"])
        arrays = [state[name].astype(np.float64) for name in self._saved_arrays]
        if not self._n_label_rules:
            arrays.append(np.zeros((n, 0, self._n_classes)))
        ids = ids_from_bytes(state["ids"]) if "ids" in state else [None] * n
        times = state["times"].astype(np.float64).tolist() if "times" in state else [np.nan] * n
        ages = state["ages"].tolist() if "ages" in state else [0] * n
        said = separated(state) if "decisions" in state else [None] * n
        keys = zip(*keys_of(arrays[0]), strict=True)
        rows = ([array.copy() for array in entries] for entries in zip(*arrays, strict=True))
        for row, row_keys, *rest in zip(rows, keys, said, ids, times, [-age for age in ages], strict=True):
            self._insert(PendingRow(*row, *rest), row_keys)


def _predictions(shape: tuple[int | Length, ...]) -> ArraySpec:
    """Return the description of probabilities, which are all 0 if no class was known when a row was observed."""

    def are_predictions(array: Vector) -> bool:
        totals = array.sum(axis=-1)
        return bool(np.all((np.abs(totals - 1.0) <= ROUNDING) | (totals == 0.0)))

    return ArraySpec(shape, low=0.0, high=1.0, condition=are_predictions, meaning="sum to 1 or are 0")
