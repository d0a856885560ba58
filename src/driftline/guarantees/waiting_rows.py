"""What was said of rows whose labels have not arrived, by ids."""

from collections import OrderedDict
from typing import Any

from driftline.errors import DataError
from driftline.guarantees.statement_arrays import row_of
from driftline.kernels.statements import RowStatements

MAX_WAITING = 100_000
"""Largest number of rows that wait for their labels; if there are more, the oldest are given up."""


class WaitingRows:
    """Keeps what was said of rows until their labels arrive, or too many other labels have arrived.

    Parameters
    ----------
    expire_after_labels : int
        Number of labels after which a row is given up.

    Attributes
    ----------
    n_expired : int
        Number of rows that were given up.
    """

    def __init__(self, expire_after_labels: int) -> None:
        self._expire_after_labels = expire_after_labels
        self._rows: OrderedDict[Any, tuple[int, RowStatements]] = OrderedDict()
        self._n_labels = self.n_expired = 0

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, ids: list[Any], said: RowStatements) -> None:
        """Keep what was said of rows; raise DataError if an id occurs twice, or belongs to a row that waits."""
        if len(set(ids)) < len(ids) or not self._rows.keys().isdisjoint(ids):
            raise DataError("ids must be different from each other and from those that wait for their labels")
        for t, each in enumerate(ids):
            self._rows[each] = self._n_labels, row_of(said, t)
        while len(self._rows) > MAX_WAITING:
            self._give_up_oldest()

    def take(self, each: Any) -> RowStatements | None:
        """Remove and return what was said of a row; None if no row with this id waits."""
        return self._rows.pop(each, (0, None))[1]

    def count_labels(self, n: int) -> None:
        """Count labels that have arrived, and give up the rows that have waited for too many."""
        self._n_labels += n
        while self._rows:
            n_before = next(iter(self._rows.values()))[0]
            if self._n_labels - n_before < self._expire_after_labels:
                break
            self._give_up_oldest()

    def _give_up_oldest(self) -> None:
        self._rows.popitem(last=False)
        self.n_expired += 1
