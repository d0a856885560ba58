"""Guarantees that people can act on, for any classifier.

Answers that are right often enough, sets that contain the label often enough, the error with an interval that may be
looked at any time, an alarm when the error rises, and a confidence for each row. Nothing here knows how labels are
predicted. The only assumption is that each prediction was made before its label was known.
"""

from driftline.guarantees.alarm import Alarm, AlarmKind, ErrorAlarm
from driftline.guarantees.error_interval import ErrorInterval, error_interval
from driftline.guarantees.error_intervals import ErrorIntervals
from driftline.guarantees.guaranteed_classifier import GuaranteedPredictions
from driftline.guarantees.guarded import Guarded
from driftline.guarantees.settings import Guarantees

__all__ = [
    "Alarm",
    "AlarmKind",
    "ErrorAlarm",
    "ErrorInterval",
    "ErrorIntervals",
    "GuaranteedPredictions",
    "Guarantees",
    "Guarded",
    "error_interval",
]
