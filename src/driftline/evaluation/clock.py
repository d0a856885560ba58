"""The time that a classifier counts in."""

from dataclasses import dataclass

import numpy as np

from driftline.errors import DataError
from driftline.types import Vector


@dataclass(slots=True)
class Clock:
    """Turns the times of a stream into those of a classifier, whose usual increment should be around one.

    With a unit, by dividing by it. Without one, each increment is divided by the mean of those so far: rows that
    come at regular intervals are one apart, and no later row has a say.

    Attributes
    ----------
    unit
        The unit, if there is one.
    latest, now
        The stream's time and the classifier's at the latest row; NaN before the first.
    n_increments, total
        How many increments above zero there were, and their sum.

    Examples
    --------
    >>> import numpy as np
    >>> Clock(unit=None).read(np.array([3600.0, 7200.0, 14400.0, 14400.0]))
    array([0.        , 1.        , 2.33333333, 2.33333333])
    """

    unit: float | None
    latest: float = np.nan
    now: float = 0.0
    n_increments: int = 0
    total: float = 0.0

    def read(self, times: Vector) -> Vector:
        """Return the classifier's times of some rows; NaN throughout for a stream without times."""
        if np.isnan(times).all():
            return times
        increments = np.diff(times, prepend=times[0] if np.isnan(self.latest) else self.latest)
        if not np.all(increments >= 0.0):
            raise DataError(
                "times must be there for all rows or none, and must not run backwards; sort the rows by time"
            )
        self.latest = float(times[-1])
        if self.unit is not None:
            return times / self.unit
        counts = self.n_increments + np.cumsum(increments > 0.0)
        totals = np.cumsum([self.total, *increments])[1:]
        steps = increments * counts / np.where(totals > 0.0, totals, 1.0)
        clocked: Vector = np.cumsum([self.now, *steps])[1:]
        self.n_increments, self.total, self.now = int(counts[-1]), float(totals[-1]), float(clocked[-1])
        return clocked
