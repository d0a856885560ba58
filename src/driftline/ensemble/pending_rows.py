"""Rows that were predicted and whose labels have not arrived yet."""

from collections import Counter, deque
from dataclasses import dataclass, replace

import numpy as np

from driftline.core.schema import ArraySpec, Length, Schema, probabilities
from driftline.types import LARGEST_VALUE, Matrix, State, Vector

MAX_PENDING_ROWS = 100_000
"""Largest number of pending rows; if there are more, the oldest are removed."""


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
        The prediction of the mixture.
    """

    x: Vector
    z: Vector
    member_probabilities: Matrix
    scheme_probabilities: Matrix
    probabilities: Vector


class PendingRows:
    """The pending rows, which are found by their values; among equal rows, the oldest is found first."""

    def __init__(self) -> None:
        self._rows: dict[int, PendingRow] = {}
        self._places: dict[bytes, deque[int]] = {}
        self._n_added = 0

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: PendingRow) -> None:
        """Add a row; at the limit, the oldest is removed first."""
        if len(self._rows) == MAX_PENDING_ROWS:
            self.remove(next(iter(self._rows.values())).x)
        self._rows[self._n_added] = row
        self._places.setdefault(_key(row.x), deque()).append(self._n_added)
        self._n_added += 1

    def find(self, X: Matrix) -> list[PendingRow | None]:
        """Return the pending row with the values of each row of X, or None.

        The list ends when no pending rows are left, and can therefore be shorter than X.
        """
        found: list[PendingRow | None] = []
        n_alike: Counter[bytes] = Counter()
        n_left = len(self._rows)
        for x in X:
            if n_left == 0:
                break
            key = _key(x)
            places = self._places.get(key, ())
            is_pending = n_alike[key] < len(places)
            found.append(self._rows[places[n_alike[key]]] if is_pending else None)
            n_alike[key] += is_pending
            n_left -= is_pending
        return found

    def remove(self, x: Vector) -> None:
        """Remove the first pending row with these values, which must exist."""
        key = _key(x)
        places = self._places[key]
        del self._rows[places.popleft()]
        if not places:
            del self._places[key]

    def add_class(self) -> None:
        """Add the class with probability 0 to all pending rows."""
        grown = ((0, 0), (0, 1))
        self._rows = {
            place: replace(
                row,
                member_probabilities=np.pad(row.member_probabilities, grown),
                scheme_probabilities=np.pad(row.scheme_probabilities, grown),
                probabilities=np.pad(row.probabilities, (0, 1)),
            )
            for place, row in self._rows.items()
        }

    def add_columns(self, n: int) -> None:
        """Add n columns to all pending rows: missing in the raw row, 0 in the prepared one."""
        pending = list(self._rows.values())
        self._rows, self._places = {}, {}
        for row in pending:
            self.add(replace(row, x=np.pad(row.x, (0, n), constant_values=np.nan), z=np.pad(row.z, (0, n))))

    def state(self) -> State:
        """Return the arrays that `restore` needs; none if no row is pending."""
        if not self._rows:
            return {}
        return {name: np.array([getattr(row, name) for row in self._rows.values()]) for name in PendingRow.__slots__}

    def schema(self, n_columns: int, n_members: int, n_classes: int) -> Schema:
        """Return what each array must be in a file; a file without pending rows has none of them."""
        n = Length("rows", MAX_PENDING_ROWS, at_least=1)
        schema = {
            "x": ArraySpec((n, n_columns), low=-LARGEST_VALUE, high=LARGEST_VALUE, allows_nan=True),
            "z": ArraySpec((n, n_columns), low=-LARGEST_VALUE, high=LARGEST_VALUE),
            "member_probabilities": probabilities((n, n_members, n_classes)),
            "scheme_probabilities": probabilities((n, 2, n_classes)),
            "probabilities": probabilities((n, n_classes)),
        }
        return {name: replace(spec, is_optional=True) for name, spec in schema.items()}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        self._rows, self._places = {}, {}
        columns = [state[name].astype(np.float64) for name in PendingRow.__slots__] if state else []
        for entries in zip(*columns, strict=True):
            self.add(PendingRow(*entries))


def _key(x: Vector) -> bytes:
    """Return bytes that are equal for rows of equal values, regardless of the sign of a 0 and the bits of a NaN."""
    return np.where(np.isnan(x), np.nan, x + 0.0).tobytes()
