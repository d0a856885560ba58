"""Rows of a fleet whose labels come later, and the keys that wait for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from driftline.core.state import independent_copy
from driftline.ensemble.learner import EnsembleLearner
from driftline.ensemble.pending_rows import PendingRows
from driftline.errors import DataError
from driftline.fleet.device_streams import AnyStreams
from driftline.types import Matrix

UNKNOWN_TIME, ONE_STEP = np.array([np.nan]), np.ones(1)


class LateLabels:
    """Rows that were observed, and what single models do with them.

    A key that waits for labels learns as a model of its own does, one row after the other: its bytes are copied into a
    learner, and back if nothing failed.

    Parameters
    ----------
    learner : EnsembleLearner
        A learner that has learned nothing.
    streams : Streams or DeviceStreams
        The streams of the fleet.
    """

    def __init__(self, learner: EnsembleLearner, streams: AnyStreams) -> None:
        self._learner = independent_copy(learner)
        self._blank = learner.pending.blank()
        self._streams = streams
        self._pending: dict[Any, PendingRows] = {}

    @property
    def is_anyone_waiting(self) -> bool:
        """Whether there may be rows without labels, of any key."""
        return bool(self._pending)

    def is_waiting(self, key: Any) -> bool:
        """Return whether a key has rows without labels."""
        return key in self._pending and len(self._pending[key]) > 0

    def pending(self, key: Any) -> PendingRows:
        """Return the rows of a key without labels, which the caller does not change."""
        return self._pending.get(key, self._blank)

    def put(self, key: Any, pending: PendingRows) -> None:
        """Replace the rows of a key without labels."""
        if len(pending) or pending.n_expired:
            self._pending[key] = pending
        else:
            self._pending.pop(key, None)

    def remove(self, key: Any) -> None:
        """Forget the rows of a key."""
        self._pending.pop(key, None)

    def give_up(self, key: Any, row_ids: list[Any] | None) -> None:
        """Remove rows of a key that wait for labels, by their ids; with None, all of them."""
        pending = self.pending(key).copy()
        pending.give_up(row_ids)
        self.put(key, pending)

    def check_new_ids(self, keys: list[Any], row_ids: list[Any]) -> None:
        """Raise DataError if a row has the id of another one of its key that waits, or of the same call."""
        seen: set[tuple[Any, Any]] = set()
        for row, pair in enumerate(zip(keys, row_ids, strict=True)):
            if pair in seen or self.pending(pair[0]).is_waiting(pair[1]):
                raise DataError(
                    f"key {pair[0]!r} already waits for the label of a row with the id {pair[1]!r} of row {row}; give "
                    "each row of a key an id of its own"
                )
            seen.add(pair)

    def observe(self, key: Any, slot: int, x: Matrix, row_id: Any) -> None:
        """Let the model of a key predict a row whose label comes later."""
        with self._loaded(key, slot) as learner:
            learner.observe(x, np.array([row_id], dtype=object), UNKNOWN_TIME)

    def learn(self, key: Any, slot: int, x: Matrix, position: int, row_id: Any = None) -> None:
        """Let the model of a key learn a row; with an id, one that waits for its label, whatever x is."""
        with self._loaded(key, slot) as learner:
            ids = None if row_id is None else np.array([row_id], dtype=object)
            learner.learn(x, np.array([position]), ONE_STEP, ids)

    @contextmanager
    def _loaded(self, key: Any, slot: int) -> Iterator[EnsembleLearner]:
        """Yield a learner with the state of a key, which becomes that of the learner if the block ends well."""
        learner, memory = self._learner, self._streams.memory
        memory.load(learner, self._streams.stream(slot))
        learner.pending = self.pending(key).copy()
        yield learner
        self._streams.put([slot], memory.stored(learner))
        self.put(key, learner.pending)
