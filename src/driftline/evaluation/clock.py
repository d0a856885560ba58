"""Conversion of the times of a stream to the time unit of a classifier."""

from dataclasses import dataclass

import numpy as np

from driftline.errors import DataError
from driftline.types import Vector


@dataclass(slots=True)
class Clock:
    """Converts the times of a stream to those of a classifier, which expects increments of about one.

    With a unit, times are divided by it. Without one, each increment is divided by the mean increment so far: rows at
    regular intervals are one apart, and no row depends on later rows.

    Attributes
    ----------
    unit
        The unit; None for the mean increment.
    latest, now
        Time of the last row, in the stream and in the classifier; NaN and 0 before the first row.
    n_increments, total
        Number of positive increments, and their sum.

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
        """Return the times of rows for the classifier; all NaN for a stream without times."""
        if np.isnan(times).all():
            return times
        increments = np.diff(times, prepend=times[0] if np.isnan(self.latest) else self.latest)
        if not np.all(increments >= 0.0):
            raise DataError("times must be given for all rows or none, and must not decrease; sort the rows by time")
        self.latest = float(times[-1])
        if self.unit is not None:
            return times / self.unit
        counts = self.n_increments + np.cumsum(increments > 0.0)
        totals = np.cumsum([self.total, *increments])[1:]
        steps = increments * counts / np.where(totals > 0.0, totals, 1.0)
        clocked: Vector = np.cumsum([self.now, *steps])[1:]
        self.n_increments, self.total, self.now = int(counts[-1]), float(totals[-1]), float(clocked[-1])
        return clocked
