"""Prequential evaluation: predict each row, record it, then learn its label."""

from driftline.evaluation.change_scores import ShiftKind
from driftline.evaluation.change_sizes import SearchedChanges
from driftline.evaluation.changes import Change, Shift
from driftline.evaluation.class_figures import ClassFigures, Confusion
from driftline.evaluation.comparison import Comparison, compare
from driftline.evaluation.delay import TimeDelay
from driftline.evaluation.distribution import Distribution
from driftline.evaluation.prequential import evaluate
from driftline.evaluation.records import read_records
from driftline.evaluation.result import Evaluation
from driftline.evaluation.summary import Summary
from driftline.evaluation.timeline import Timeline
from driftline.evaluation.tuning import ScaleChoice, choose_scale
from driftline.evaluation.verdict import Verdict
from driftline.evaluation.window_stats import WindowStats

__all__ = [
    "Change",
    "ClassFigures",
    "Comparison",
    "Confusion",
    "Distribution",
    "Evaluation",
    "ScaleChoice",
    "SearchedChanges",
    "Shift",
    "ShiftKind",
    "Summary",
    "TimeDelay",
    "Timeline",
    "Verdict",
    "WindowStats",
    "choose_scale",
    "compare",
    "evaluate",
    "read_records",
]
