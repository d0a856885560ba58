"""Prequential evaluation: predict each row, record it, then learn its label."""

from driftline.evaluation.change_scores import ShiftKind
from driftline.evaluation.change_sizes import SearchedChanges
from driftline.evaluation.changes import Change, Shift
from driftline.evaluation.comparison import Comparison, compare
from driftline.evaluation.delay import TimeDelay
from driftline.evaluation.prequential import Evaluation, evaluate
from driftline.evaluation.records import read_records
from driftline.evaluation.summary import Summary
from driftline.evaluation.timeline import Timeline
from driftline.evaluation.tuning import ScaleChoice, choose_scale
from driftline.evaluation.window_stats import WindowStats

__all__ = [
    "Change",
    "Comparison",
    "Evaluation",
    "ScaleChoice",
    "SearchedChanges",
    "Shift",
    "ShiftKind",
    "Summary",
    "TimeDelay",
    "Timeline",
    "WindowStats",
    "choose_scale",
    "compare",
    "evaluate",
    "read_records",
]
