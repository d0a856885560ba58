"""Evaluation: predict, record, then learn, with bounds beside errors."""

from driftline.evaluation.delay import TimeDelay
from driftline.evaluation.prequential import Evaluation, evaluate
from driftline.evaluation.records import read_records
from driftline.evaluation.summary import Summary, Window

__all__ = ["Evaluation", "Summary", "TimeDelay", "Window", "evaluate", "read_records"]
