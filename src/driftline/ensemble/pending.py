"""Rows that were predicted, and whose labels have not come yet."""

from collections import Counter, deque
from dataclasses import dataclass, replace

import numpy as np

from driftline.types import Matrix, State, Vector

MOST = 100_000
"""How many rows wait at most; the oldest are given up then."""


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A row as it was when it was predicted.

    Attributes
    ----------
    x, z : ndarray
        The row, raw and prepared.
    said : ndarray of shape (n_members, n_classes)
        What each member said.
    ways : ndarray of shape (2, n_classes)
        What the mixture would have said with either way of weighing members.
    h : ndarray of shape (n_classes,)
        What it said.
    """

    x: Vector
    z: Vector
    said: Matrix
    ways: Matrix
    h: Vector


class Pending:
    """Rows that wait, found again by their values: the one that came first, if several are the same."""

    def __init__(self) -> None:
        self._rows: dict[int, Waiting] = {}
        self._places: dict[bytes, deque[int]] = {}
        self._n_added = 0

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, waiting: Waiting) -> None:
        """Let a row wait."""
        if len(self._rows) == MOST:
            self.take(next(iter(self._rows.values())).x)  # the oldest, and the first of those like it
        self._rows[self._n_added] = waiting
        self._places.setdefault(_key(waiting.x), deque()).append(self._n_added)
        self._n_added += 1

    def find(self, X: Matrix) -> list[Waiting | None]:
        """Return the row that waits for each row of X, or None; up to the one after which none would wait."""
        found: list[Waiting | None] = []
        n_alike: Counter[bytes] = Counter()
        n_left = len(self._rows)
        for x in X:
            if n_left == 0:
                break
            key = _key(x)
            places = self._places.get(key, ())
            waits = n_alike[key] < len(places)
            found.append(self._rows[places[n_alike[key]]] if waits else None)
            n_alike[key] += waits
            n_left -= waits
        return found

    def take(self, x: Vector) -> None:
        """Let a row wait no longer, which must be there."""
        key = _key(x)
        places = self._places[key]
        del self._rows[places.popleft()]
        if not places:
            del self._places[key]

    def add_class(self) -> None:
        """Let nobody have expected a class that joins."""
        grown = ((0, 0), (0, 1))
        self._rows = {
            place: replace(row, said=np.pad(row.said, grown), ways=np.pad(row.ways, grown), h=np.pad(row.h, (0, 1)))
            for place, row in self._rows.items()
        }

    def add_columns(self, n: int) -> None:
        """Let rows that wait have missing values in columns that are new."""
        waiting = list(self._rows.values())
        self._rows, self._places = {}, {}
        for row in waiting:
            self.add(replace(row, x=np.pad(row.x, (0, n), constant_values=np.nan), z=np.pad(row.z, (0, n))))

    def state(self) -> State:
        """Return the arrays that a continuation needs."""
        if not self._rows:
            return {}
        return {name: np.array([getattr(row, name) for row in self._rows.values()]) for name in Waiting.__slots__}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        self._rows, self._places = {}, {}
        columns = [state[name].astype(np.float64) for name in Waiting.__slots__] if state else []
        for entries in zip(*columns, strict=True):
            self.add(Waiting(*entries))


def _key(x: Vector) -> bytes:
    """Return what rows with the same values have in common, whatever the sign of a 0 or the bits of a NaN."""
    return np.where(np.isnan(x), np.nan, x + 0.0).tobytes()
