"""An alarm for when the error has risen, with a small probability of ever being raised wrongly."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftline.core.schema import MOST_COUNTED, ArraySpec, Schema, whole_numbers
from driftline.core.state import ArrayState
from driftline.errors import ConfigError, DataError
from driftline.kernels.alarm import (
    ARMED_AT,
    N_COUNTS,
    N_RATES,
    N_TESTS,
    NOT_RAISED,
    RAISED,
    RAISED_AT,
    RISE,
    ROWS,
    SINCE,
    TOLERATED,
    WRONG,
    WRONG_SINCE,
    AlarmTarget,
    add_rows,
)
from driftline.types import Labels, State
from driftline.utils.validation import real_number

SMALLEST_DELTA = 1e-300
"""Below it, evidence that is large enough for an alarm could not be represented."""
SINCE_VERSION = 3
"""Version of the format of model files that introduced these arrays."""
SURPRISE = 3.0
"""Surprise from which on a column counts as moving, in an alarm."""
MAX_MOVED = 5
"""Number of columns that are named with an alarm."""


class AlarmKind(StrEnum):
    """Why an alarm is raised."""

    TOLERATED = "tolerated"
    """The error exceeds the tolerated level."""
    RISE = "rise"
    """The error exceeds what it was before by more than the allowed rise."""


KINDS = {TOLERATED: AlarmKind.TOLERATED, RISE: AlarmKind.RISE}


@dataclass(frozen=True, slots=True)
class Alarm:
    """A raised alarm. Rows are numbered from 0, in the order in which the `ErrorAlarm` got their labels.

    Attributes
    ----------
    kind : AlarmKind
        Why it is raised.
    raised_at : int
        The row at which it was raised.
    since : int
        The row since which the error has about been higher: an estimate, which may be some rows early or late.
    n_rows, n_wrong : int
        Number of rows from ``since`` until now, and of mistakes among them.
    level : float
        The level that the error exceeds: the tolerated one; or an upper limit of the lowest mean error before, plus
        the allowed rise.
    error_before : float
        Share of mistakes from the arming until ``since``; NaN if there are no rows between.
    moved : tuple of (label, column, surprise)
        The columns whose means move in a class, if the classifier knows that, the most surprising first.
    """

    kind: AlarmKind
    raised_at: int
    since: int
    n_rows: int
    n_wrong: int
    level: float
    error_before: float
    moved: tuple[tuple[Any, str, float], ...] = ()

    @property
    def error(self) -> float:
        """Share of mistakes among the rows from ``since`` until now.

        At first it tends to be too high, because the alarm is raised when there are many mistakes. It improves while
        the alarm stays raised.
        """
        return self.n_wrong / self.n_rows

    @property
    def rise(self) -> float:
        """How much higher the error is than before; NaN if there are no rows before."""
        return self.error - self.error_before

    def with_moved(self, drift: NDArray[np.void]) -> "Alarm":
        """Return the alarm with the columns that move.

        Parameters
        ----------
        drift : structured ndarray
            What `AMRC.drift` returns: columns of classes, the most surprising first.

        Returns
        -------
        Alarm
            The same alarm, with at most five columns in ``moved``.
        """
        return replace(self, moved=moving_columns(drift))

    def to_dict(self) -> dict[str, Any]:
        """Return the alarm by name, ready for JSON.

        Returns
        -------
        dict
            Numbers, texts, and None for an error that is not known; ``moved`` is a list of dicts.
        """
        errors = {name: getattr(self, name) for name in ("error", "error_before", "rise", "level")}
        return {
            "kind": str(self.kind),
            "raised_at": self.raised_at,
            "since": self.since,
            **{name: None if math.isnan(value) else value for name, value in errors.items()},
            "moved": [dict(zip(("label", "column", "surprise"), each, strict=True)) for each in self.moved],
        }


def moving_columns(drift: NDArray[np.void]) -> tuple[tuple[Any, str, float], ...]:
    """Return label, column and surprise of at most five columns that move.

    Parameters
    ----------
    drift : structured ndarray
        What `AMRC.drift` returned.

    Returns
    -------
    tuple of tuples
        The columns that move, the most surprising first.
    """
    moving = drift[drift["surprise"] > SURPRISE][:MAX_MOVED]
    columns = (moving[name].tolist() for name in ("label", "feature", "surprise"))
    return tuple(zip(*columns, strict=True))


class ErrorAlarm(ArrayState):
    """Raises an alarm when the error has risen, after any number of rows.

    There are two tests; at least one must be chosen. `tolerated` tests whether the error exceeds a fixed level, `rise`
    whether it exceeds what it was by more than some points. What it was is the lowest mean error since the arming. The
    change may come at any time.

    An alarm stays raised, and counts rows and mistakes, until `acknowledge` is called. That arms it again: from the
    next row on it knows nothing of the rows before, and has again a probability of `delta` of a false alarm.

    Parameters
    ----------
    tolerated : float, optional
        The tolerated level of the error, from 0 up and below 1.
    rise : float, optional
        How much higher than the lowest mean error so far the error may be, from 0 up and below 1: 0.05 is five points.
    delta : float, default=0.05
        Probability of a false alarm, over an unlimited number of rows after an arming. If both tests are chosen, each
        one has half of it.

    Notes
    -----
    Let r_t be the probability, given all that happened before, that the prediction at step t is wrong.

    - If r_t ≤ `tolerated` at every step, the alarm `tolerated` is ever raised with probability at most delta.
    - Let R_t be the lowest mean error so far: the smallest of the means of r over the first 64, 128, 192, … rows since
      the arming. If r_t ≤ R_t + `rise` at every step, the alarm `rise` is ever raised with probability at most
      delta. The proof: U_t, the smallest of the upper limits of these means, is ever below R_t with probability
      at most delta/2. The other delta/2 is for the test whether r_t ≤ U_t + `rise` at every step. The limits are narrow
      only after some thousand rows; a rise that comes before, or that exceeds `rise` by little, is found late or
      not at all. Where the tolerated level is known, `tolerated` is quicker.

    Nothing else is assumed of the stream. The tests and their proof are in ``driftline.kernels.alarm``. Rises that
    change the error by few points, or that come late, take longer to find: a row that comes late has a smaller weight
    as a possible start, because the probability of a false alarm is shared out over an unlimited number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(3)
    >>> mistakes = rng.random(4000) < np.where(np.arange(4000) < 3000, 0.05, 0.15)
    >>> watch = ErrorAlarm(tolerated=0.05, delta=0.05)
    >>> watch.update(mistakes[:3000]) is None
    True
    >>> alarm = watch.update(mistakes[3000:])
    >>> alarm.kind.value, alarm.since, alarm.raised_at
    ('tolerated', 3004, 3175)
    >>> round(alarm.error, 2), round(alarm.rise, 2)
    (0.16, 0.1)
    >>> watch.acknowledge()
    >>> watch.alarm is None
    True
    """

    def __init__(self, tolerated: float | None = None, rise: float | None = None, delta: float = 0.05) -> None:
        if tolerated is None and rise is None:
            raise ConfigError("an alarm needs a level to compare with; pass tolerated, rise, or both")
        delta = real_number("delta", delta, above=SMALLEST_DELTA, below=1.0)
        share = delta if tolerated is None or rise is None else delta / 2.0
        self._tolerated = 1.0 if tolerated is None else _level("tolerated", tolerated)
        allowed_rise = math.inf if rise is None else _level("rise", rise)
        self._target = AlarmTarget(allowed_rise, (1.0 / share, 2.0 / share), math.log(2.0 / share))
        self._counts = np.zeros(N_COUNTS, np.int64)
        self._arm()

    def _arm(self) -> None:
        """Forget all evidence, and begin with the next row."""
        counts = np.zeros(N_COUNTS, np.int64)
        counts[[ROWS, ARMED_AT]], counts[RAISED] = self._counts[ROWS], NOT_RAISED
        self._counts = counts
        self._n_tested = np.zeros(N_TESTS, np.int64)
        self._levels = np.array([self._tolerated, 1.0])
        self._evidence = np.zeros((N_TESTS, 2, N_RATES))
        self._starts = np.zeros((N_TESTS, 2, N_RATES), np.int64)

    def update(self, mistakes: NDArray[Any]) -> Alarm | None:
        """Add rows in order.

        Parameters
        ----------
        mistakes : ndarray of bool or int
            For each row 1 if the predicted label was wrong, else 0.

        Returns
        -------
        Alarm or None
            The alarm that these rows raised; None if they raised none, also if it was raised before.
        """
        was_raised = self._is_raised
        self.count(_mistakes(mistakes))
        return None if was_raised else self.alarm

    def count(self, mistakes: Labels) -> None:
        """Add rows in order, as `update` does, without checking them.

        Parameters
        ----------
        mistakes : ndarray of int64
            As in `update`.
        """
        add_rows(mistakes, self._counts, self._n_tested, self._levels, self._evidence, self._starts, self._target)

    @property
    def target(self) -> AlarmTarget:
        """What the tests compare with."""
        return self._target

    @property
    def _is_raised(self) -> bool:
        return bool(self._counts[RAISED] != NOT_RAISED)

    @property
    def alarm(self) -> Alarm | None:
        """The raised alarm, with the rows and mistakes until now; None if it is not raised."""
        if not self._is_raised:
            return None
        counts = self._counts.tolist()
        n_before = counts[SINCE] - counts[ARMED_AT]
        return Alarm(
            kind=KINDS[counts[RAISED]],
            raised_at=counts[RAISED_AT],
            since=counts[SINCE],
            n_rows=counts[ROWS] - counts[SINCE],
            n_wrong=counts[WRONG_SINCE],
            level=float(self._levels[counts[RAISED]]),
            error_before=counts[WRONG] / n_before if n_before else math.nan,
        )

    def acknowledge(self) -> None:
        """Arm the alarm again, from the next row on; no-op if it is not raised."""
        if self._is_raised:
            self._arm()

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        lowest = np.zeros(N_COUNTS)
        lowest[RAISED] = NOT_RAISED
        highest = np.full(N_COUNTS, MOST_COUNTED)
        highest[RAISED] = RISE
        levels = np.array([[self._tolerated, 0.0], [self._tolerated, 1.0]])
        meaning = "are possible numbers of rows and mistakes"
        counts = ArraySpec((N_COUNTS,), np.int64, lowest, highest, condition=_is_possible, meaning=meaning)
        specs = {
            "counts": counts,
            "n_tested": whole_numbers((N_TESTS,)),
            "levels": ArraySpec((N_TESTS,), low=levels[0], high=levels[1]),
            "evidence": ArraySpec((N_TESTS, 2, N_RATES), low=0.0),
            "starts": whole_numbers((N_TESTS, 2, N_RATES)),
        }
        return {name: replace(spec, since=SINCE_VERSION) for name, spec in specs.items()}

    def restore(self, state: State) -> None:
        """Continue from what ``state`` returned; stay armed anew with files of versions 1 and 2, which have no alarm.

        Parameters
        ----------
        state : dict
            The arrays by name; empty for such files.
        """
        if state:
            super().restore(state)


def _level(name: str, value: float) -> float:
    return real_number(name, value, above=0.0, below=1.0, or_lowest=True)


def _is_possible(counts: NDArray[Any]) -> bool:
    """Return whether rows and mistakes are consistent."""
    rows, armed_at, wrong, raised, raised_at, since, wrong_since = counts.tolist()
    if raised == NOT_RAISED:
        return bool(armed_at <= rows and wrong <= rows - armed_at)
    return bool(armed_at <= since <= raised_at < rows and wrong <= since - armed_at and wrong_since <= rows - since)


def _mistakes(values: NDArray[Any]) -> Labels:
    """Return mistakes as an array of 0 and 1; raise DataError if they are anything else."""
    array = np.asarray(values)
    if array.ndim != 1 or not np.all((array == 0) | (array == 1)):
        raise DataError(
            "mistakes must be a one-dimensional array with 1 or True where the prediction was wrong, and 0 or False "
            f"elsewhere; got {values!s:.200}"
        )
    return array.astype(np.int64, copy=False)
