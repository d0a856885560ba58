"""Guarantees that hold on any stream: the error with an interval, and an alarm when the error rises.

Nothing here knows how labels are predicted. The only assumption is that each prediction was made before its label was
known.
"""

from driftline.guarantees.alarm import Alarm, AlarmKind, ErrorAlarm
from driftline.guarantees.error_interval import ErrorInterval, error_interval
from driftline.guarantees.error_intervals import ErrorIntervals

__all__ = ["Alarm", "AlarmKind", "ErrorAlarm", "ErrorInterval", "ErrorIntervals", "error_interval"]
