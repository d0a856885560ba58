"""Evaluation: predict, record, then learn, with bounds beside errors."""

from driftline.evaluation.changes import Change, Shift, find_changes
from driftline.evaluation.comparison import Comparison, compare
from driftline.evaluation.course import Course, Stretch
from driftline.evaluation.delay import TimeDelay
from driftline.evaluation.prequential import Evaluation, evaluate
from driftline.evaluation.records import read_records
from driftline.evaluation.summary import Summary, Window
from driftline.evaluation.tuning import ScaleChoice, choose_scale

__all__ = [
    "Change",
    "Comparison",
    "Course",
    "Evaluation",
    "ScaleChoice",
    "Shift",
    "Stretch",
    "Summary",
    "TimeDelay",
    "Window",
    "choose_scale",
    "compare",
    "evaluate",
    "find_changes",
    "read_records",
]
