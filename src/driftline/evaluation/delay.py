"""When labels arrive: after some rows, after some time, or at once."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from driftline.errors import ConfigError, DataError
from driftline.types import Block, Indices, LabelArray, Vector


@dataclass(frozen=True, slots=True)
class TimeDelay:
    """Labels that arrive some time after their rows, in the unit of the stream's timestamps.

    A label is learned before the first row that comes at its arrival or later.

    Attributes
    ----------
    amount : float or sequence of float
        The delay, the same for all rows or one for each.

    Examples
    --------
    >>> arrival = TimeDelay(3600.0)  # an hour, where times are in seconds
    """

    amount: float | Sequence[float]


class Schedule(Protocol):
    """Turns rows into moments: when a label is due, and what moment it is when a row comes."""

    def due(self, row: int, time: float) -> float:
        """Return the moment at which the label of a row arrives."""

    def now(self, row: int, time: float) -> float:
        """Return the moment just before a row is predicted."""

    def check(self, first: int, times: Vector) -> None:
        """Refuse rows, the first of which has a position, for whose labels it cannot say when they come."""


class RowSchedule:
    """Labels that arrive after their row and `delay` more have been predicted."""

    def __init__(self, delay: int | Indices) -> None:
        self._delay = delay

    def due(self, row: int, time: float) -> float:
        """Return the moment at which the label of a row arrives."""
        return row + float(_of_row(self._delay, row))

    def now(self, row: int, time: float) -> float:
        """Return the moment just before a row is predicted."""
        return row - 1.0

    def check(self, first: int, times: Vector) -> None:
        """Refuse rows beyond the delays that were given."""
        _check_length(self._delay, first + len(times))


class TimeSchedule:
    """Labels that arrive some time after their row."""

    def __init__(self, amount: float | Vector) -> None:
        self._amount = amount

    def due(self, row: int, time: float) -> float:
        """Return the moment at which the label of a row arrives."""
        return time + float(_of_row(self._amount, row))

    def now(self, row: int, time: float) -> float:
        """Return the moment just before a row is predicted."""
        return time

    def check(self, first: int, times: Vector) -> None:
        """Refuse rows without times, and those beyond the delays that were given."""
        if np.isnan(times).any():
            raise DataError("delay=TimeDelay(…) needs a stream with timestamps, and this one has none")
        _check_length(self._amount, first + len(times))


def _of_row(delays: Any, row: int) -> Any:
    return delays if np.ndim(delays) == 0 else delays[row]


def _check_length(delays: Any, n_rows: int) -> None:
    if np.ndim(delays) == 1 and n_rows > len(delays):
        raise DataError(f"delay has {len(delays)} values and the stream more rows; give one for each row, or a limit")


def schedule(delay: int | Sequence[int] | TimeDelay) -> Schedule:
    """Return the schedule that `delay` describes.

    Parameters
    ----------
    delay : int, sequence of int or TimeDelay
        Rows, the same for all labels or one for each; or time.

    Returns
    -------
    Schedule
        When labels are due.
    """
    values = np.asarray(delay.amount if isinstance(delay, TimeDelay) else delay)
    kinds = "iuf" if isinstance(delay, TimeDelay) else "iu"
    if values.ndim > 1 or values.dtype.kind not in kinds or not np.all(values >= 0) or not np.all(np.isfinite(values)):
        raise ConfigError(
            f"delay must be a number of rows, 0 or more, or one for each row, or TimeDelay(time); got {delay!r}"
        )
    if isinstance(delay, TimeDelay):
        return TimeSchedule(values.astype(float) if values.ndim else float(values))
    return RowSchedule(values.astype(np.int64) if values.ndim else int(values))


@dataclass(slots=True)
class Pending:
    """Rows whose labels have not arrived, by the moment at which they will."""

    heap: list[tuple[float, int, Vector, Any, float]] = field(default_factory=list)
    """Each: when due, row, its values, its label, its time. Rows differ, so that what follows is never compared."""
    latest: float = -np.inf
    """Time of the latest row learned."""
    asked: int = 0
    """How many rows the classifier was asked about since it last learned."""
    has_waited: bool = False
    """Whether a row was ever predicted while the label of an earlier one was missing."""

    def __len__(self) -> int:
        return len(self.heap)

    def push(self, due: float, row: int, block: Block) -> None:
        """Put a block of one row away until its label is due."""
        heapq.heappush(self.heap, (due, row, block.rows[0].copy(), block.labels[0], float(block.times[0])))

    def pop_due(self, now: float) -> Block | None:
        """Return the rows whose labels have arrived, in the order in which they did.

        A classifier's clock does not run backwards: a row older than one that was learned has that one's time.
        """
        arrived = []
        while self.heap and self.heap[0][0] <= now:
            arrived.append(heapq.heappop(self.heap))
        if not arrived:
            return None
        times = np.maximum.accumulate([self.latest, *(entry[4] for entry in arrived)])[1:]
        self.latest = times[-1]
        labels: LabelArray = np.array([entry[3] for entry in arrived])
        return Block(np.array([entry[2] for entry in arrived]), labels, times)
