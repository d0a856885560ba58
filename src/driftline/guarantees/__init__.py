"""Guarantees that hold on any stream: the error with an interval.

Nothing here knows how labels are predicted. The only assumption is that each prediction was made before its label was
known.
"""

from driftline.guarantees.error_interval import ErrorInterval, error_interval
from driftline.guarantees.error_intervals import ErrorIntervals

__all__ = ["ErrorInterval", "ErrorIntervals", "error_interval"]
