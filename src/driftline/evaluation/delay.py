"""When labels arrive, and the rows that wait for them."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from driftline.errors import ConfigError, DataError
from driftline.types import Block, Indices, LabelArray, Vector


@dataclass(frozen=True, slots=True)
class TimeDelay:
    """A delay of labels in time, in the unit of the stream's timestamps.

    A label is learned before the first row whose time is that of its arrival or later.

    Attributes
    ----------
    amount : float or sequence of float
        The delay, the same for all rows or one for each.

    Examples
    --------
    >>> arrival = TimeDelay(3600.0)  # an hour, where times are in seconds
    """

    amount: float | Sequence[float]


class LabelSchedule(Protocol):
    """When labels arrive, on a scale of rows or of time."""

    def due(self, row: int, time: float) -> float:
        """Return when the label of a row arrives."""

    def now(self, row: int, time: float) -> float:
        """Return the current position on the scale, just before a row is predicted."""

    def check(self, first: int, times: Vector) -> None:
        """Raise DataError if the arrival of some labels is not defined; `first` is the position of the first row."""


class RowSchedule:
    """Labels arrive after their row and `delay` more rows were predicted."""

    def __init__(self, delay: int | Indices) -> None:
        self._delay = delay

    def due(self, row: int, time: float) -> float:
        """Return when the label of a row arrives."""
        return row + float(_of_row(self._delay, row))

    def now(self, row: int, time: float) -> float:
        """Return the current position on the scale, just before a row is predicted."""
        return row - 1.0

    def check(self, first: int, times: Vector) -> None:
        """Raise DataError for rows that have no delay."""
        _check_length(self._delay, first + len(times))


class TimeSchedule:
    """Labels arrive some time after their row."""

    def __init__(self, amount: float | Vector) -> None:
        self._amount = amount

    def due(self, row: int, time: float) -> float:
        """Return when the label of a row arrives."""
        return time + float(_of_row(self._amount, row))

    def now(self, row: int, time: float) -> float:
        """Return the current position on the scale, just before a row is predicted."""
        return time

    def check(self, first: int, times: Vector) -> None:
        """Raise DataError for rows that have no time or no delay."""
        if np.isnan(times).any():
            raise DataError("delay=TimeDelay(…) needs a stream with timestamps, and this one has none")
        _check_length(self._amount, first + len(times))


def _of_row(delays: Any, row: int) -> Any:
    return delays if np.ndim(delays) == 0 else delays[row]


def _check_length(delays: Any, n_rows: int) -> None:
    if np.ndim(delays) == 1 and n_rows > len(delays):
        raise DataError(f"delay has {len(delays)} values and the stream more rows; give one for each row, or a limit")


def label_schedule(delay: int | Sequence[int] | TimeDelay) -> LabelSchedule:
    """Return the schedule that `delay` describes.

    Parameters
    ----------
    delay : int, sequence of int or TimeDelay
        Rows, the same for all labels or one for each; or time.

    Returns
    -------
    LabelSchedule
        When labels arrive.
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
class PendingLabels:
    """Rows whose labels have not arrived yet, ordered by when they will."""

    heap: list[tuple[float, int, Vector, Any, float]] = field(default_factory=list)
    """Tuples of arrival, row, values, label and time. Rows are unique, so that no values are ever compared."""
    latest: float = -np.inf
    """Time of the latest row learned."""
    asked: int = 0
    """Number of rows predicted since the classifier last learned."""
    has_waited: bool = False
    """Whether a row was ever predicted while the label of an earlier one was missing."""

    def __len__(self) -> int:
        return len(self.heap)

    def push(self, due: float, row: int, block: Block) -> None:
        """Add a block of one row, whose label arrives at `due`."""
        heapq.heappush(self.heap, (due, row, block.rows[0].copy(), block.labels[0], float(block.times[0])))

    def pop_due(self, now: float) -> Block | None:
        """Remove and return the rows whose labels have arrived, in the order of arrival; their ids are their positions.

        Times never decrease: a row that is older than one already learned gets the time of that one.
        """
        arrived = []
        while self.heap and self.heap[0][0] <= now:
            arrived.append(heapq.heappop(self.heap))
        if not arrived:
            return None
        times = np.maximum.accumulate([self.latest, *(entry[4] for entry in arrived)])[1:]
        self.latest = times[-1]
        labels: LabelArray = np.array([entry[3] for entry in arrived])
        ids = np.array([entry[1] for entry in arrived])
        return Block(np.array([entry[2] for entry in arrived]), labels, times, ids)
