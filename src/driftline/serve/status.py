"""What the server says about a stream as a whole."""

import math
import time
from collections.abc import Sequence
from typing import Any

from driftline.guarantees import Alarm
from driftline.guarantees.error_interval import ErrorInterval
from driftline.serve.stream_state import StreamState

MAX_POINTS = 32
"""Number of windows in the short course of the error."""


def status_of(state: StreamState, names: Sequence[str], *, is_paused: bool) -> dict[str, Any]:
    """Return the status of a stream as JSON values; `names` are those of its columns."""
    total = state.figures.total
    status: dict[str, Any] = {
        "state": state_word(state, is_paused=is_paused),
        "labelled": total.n_rows,
        "open": len(state.open_rows),
        "oldest_open_seconds": _age(state),
        "operations": state.n_operations,
        "classes": dict(total.classes),
        "errors": state.figures.errors(MAX_POINTS),
        "has_shadow": state.shadow_parameters is not None,
        "error": None,
        "recent_error": None,
        "answers": None,
        "sets": None,
        "mistakes": None,
        "alarm": None,
    }
    model = state.model
    if model is None:
        return status
    status["error"] = interval_to_json(model.error_interval())
    status["recent_error"] = interval_to_json(model.error_interval(last=1000))
    level = model._tracker.guarantees.errors[0]
    status["answers"] = {
        "allowed": level if isinstance(level, float) else dict(level),
        "share": total.n_answered / total.n_asked if total.n_asked else None,
        "error": interval_to_json(model.answered_error()),
    }
    status["sets"] = {
        "coverage_asked": model._tracker.guarantees.coverages[0],
        "coverage": total.n_covered / total.n_asked if total.n_asked else None,
        "mean_size": total.n_labels / total.n_asked if total.n_asked else None,
    }
    status["mistakes"] = {"count": total.n_wrong, "bound": model.mistake_bound()}
    alarm = state.alarm
    status["alarm"] = None if alarm is None else alarm_to_json(alarm, state, names)
    return status


def state_word(state: StreamState, *, is_paused: bool) -> str:
    """Return "paused", "waiting" for the first label, "guarantee violated", "alarm" or "healthy"."""
    if is_paused:
        return "paused"
    model = state.model
    if model is None:
        return "waiting"
    level = model._tracker.guarantees.errors[0]
    allowed = level if isinstance(level, float) else max(level.values())
    if model.answered_error().low > allowed:
        return "guarantee violated"
    return "healthy" if state.alarm is None else "alarm"


def interval_to_json(interval: ErrorInterval) -> dict[str, Any]:
    """Return an error with its limits as JSON values."""
    error = interval.n_wrong / interval.n_rows if interval.n_rows else None
    return {
        "rows": interval.n_rows,
        "wrong": interval.n_wrong,
        "error": error,
        "low": interval.low,
        "high": interval.high,
    }


def _age(state: StreamState) -> float | None:
    oldest = next(iter(state.open_rows.values()), None)
    return None if oldest is None else max(time.time() - oldest.time, 0.0)


def alarm_to_json(alarm: Alarm, state: StreamState, names: Sequence[str]) -> dict[str, Any]:
    """Return an alarm of the model as JSON values, with the names of the columns.

    Its rows are numbered as the stream got their labels: a model that was promoted or uploaded may have learned fewer
    or more rows than the stream.
    """
    n_before = 0 if state.model is None else state.figures.total.n_rows - state.model.error_interval().n_rows
    moved = [
        {"label": label, "column": names[int(column[1:])] if names else column, "surprise": surprise}
        for label, column, surprise in alarm.moved
    ]
    before = None if math.isnan(alarm.error_before) else alarm.error_before
    return {
        "kind": str(alarm.kind),
        "raised_at": n_before + alarm.raised_at,
        "since": n_before + alarm.since,
        "n_rows": alarm.n_rows,
        "n_wrong": alarm.n_wrong,
        "level": alarm.level,
        "error_before": before,
        "moved": moved,
    }
