"""The chart of the error over time, with its limits, its bounds and the alarms."""

from collections.abc import Sequence
from math import isnan

import numpy as np

from driftline.evaluation import WindowStats
from driftline.guarantees import Alarm, AlarmKind, ErrorInterval, error_interval
from driftline.report.analysis import Analysis, ReportEntry
from driftline.report.change_markers import change_markers
from driftline.report.chart_elements import (
    LABEL_MARGIN_PIXELS,
    MAX_POINTS,
    Chart,
    Json,
    Line,
    chart_layout,
    chart_windows,
    escape_for_plotly,
    line_traces,
    percent_format,
    rounded,
    row_ranges,
    value_range,
    window_centres,
    window_means,
)
from driftline.report.formatting import format_count, format_percent, join_words, truncate
from driftline.report.guarantee_text import moved_columns
from driftline.report.line_labels import end_labels
from driftline.types import Vector

MIN_BOUND_GAP = 0.01
"""How much higher the bound per row is than the bound on average, somewhere, if it is drawn."""
MAX_NAMED_ALARMS = 5
"""Alarms whose rows are in the text alternative of the chart, at most."""


def error_chart(analysis: Analysis) -> Chart:
    """Return the chart of errors, their limits and bounds over time, with changes and alarms."""
    entry = analysis.first
    windows = chart_windows(entry.timeline)
    lines = error_lines(entry)
    limits = window_limits(windows, entry.summary.interval_delta)
    top = axis_top(lines, limits)
    traces = line_traces(lines, window_centres(windows), row_ranges(windows), "%{y:.1%}")
    if limits:
        between = [f"between {format_percent(each.low)} and {format_percent(each.high)}" for each in limits]
        traces[-1] |= {"customdata": between, "hovertemplate": "%{y:.1%}, %{customdata}"}
        traces.insert(1, _band(limits, windows))
    if entry.summary.alarms:
        traces.append(_alarm_marks(entry.summary.alarms))
    return Chart(
        "error",
        _alternative(analysis, lines, limits),
        380,
        traces,
        chart_layout(
            x_range=[0, entry.timeline.n_rows],
            y_range=[0, top],
            yaxis={"tickformat": percent_format(top)},
            margin={"r": LABEL_MARGIN_PIXELS},
            **change_markers(analysis.changes),
        ),
        end_labels(lines, top),
    )


def error_lines(entry: ReportEntry) -> list[Line]:
    """Return the lines of the chart from the back to the front: bounds, expected error and error, where known.

    If labels were chosen by cost, there is only the error: bounds and expected error are not about such labels.
    """
    windows = chart_windows(entry.timeline)
    error = Line("error", "error", window_means(windows, "mistakes"), width=2.5)
    if entry.summary.cost_without is not None:
        return [error]
    expected = Line("expected error", "expected", window_means(windows, "expected_mistakes"), width=1.5)
    return [*bound_lines(entry), *([] if np.isnan(expected.values).all() else [expected]), error]


def bound_lines(entry: ReportEntry) -> list[Line]:
    """Return the bounds on the next step over time: two, one, or none if they say nothing of the labels predicted.

    The bound per row is drawn if it is above the bound on average: that of the published method is not. Bounds that
    held and are hardly better than guessing say nothing.
    """
    summary, windows = entry.summary, chart_windows(entry.timeline)
    if summary.mean_bound is None or summary.cost_without is not None:
        return []
    if summary.bounds_held is not False and not summary.bound_is_informative:
        return []
    bounds, rates = (window_means(windows, name) for name in ("bounds", "rate_bounds"))
    if (bounds <= rates + MIN_BOUND_GAP).all():
        return [Line("bound", "bound", rates)]
    return [
        Line("bound per row", "row-bound", bounds, width=1.5, dash="dot"),
        Line("bound on average", "bound", rates),
    ]


def window_limits(windows: Sequence[WindowStats], delta: float | None) -> list[ErrorInterval]:
    """Return the limits of the error in each window of a chart; none without a delta.

    The mean of the probabilities of a mistake over the rows of a window lies between its limits with probability
    1 - delta/60, wherever the window ends. A chart has at most 60 windows, so with probability 1 - delta this is true
    in all of them at once. The stream may be anything; only the length of the windows must not depend on it.
    """
    if delta is None:
        return []
    return [error_interval(window.n_rows, round(window.mistakes), delta / MAX_POINTS) for window in windows]


def axis_top(lines: Sequence[Line], limits: Sequence[ErrorInterval]) -> float:
    """Return the end of the axis, above all lines and limits."""
    ends = [each.high for each in limits]
    return 1.08 * max([0.01, *(float(np.nanmax(line.values)) for line in lines), *ends])


def limits_band(
    limits: Sequence[ErrorInterval], windows: Sequence[WindowStats]
) -> tuple[list[float], list[float], list[float]]:
    """Return rows, lower and upper limits of the area between the limits; a single window has all of its rows."""
    x, low, high = window_centres(windows), [each.low for each in limits], [each.high for each in limits]
    return (x, low, high) if len(windows) > 1 else ([0.0, float(windows[0].n_rows)], low * 2, high * 2)


def _band(limits: Sequence[ErrorInterval], windows: Sequence[WindowStats]) -> Json:
    """Return the area between the limits."""
    x, low, high = limits_band(limits, windows)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "limits of the error",
        "x": rounded(x + x[::-1]),
        "y": rounded(high + low[::-1]),
        "fill": "toself",
        "fillcolor": "--error",
        "opacity": 0.15,
        "line": {"width": 0, "color": "--error"},
        "hoverinfo": "skip",
    }


def _alarm_marks(alarms: Sequence[Alarm]) -> Json:
    """Return a triangle at the row of each alarm, on the axis."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "alarm",
        "x": [alarm.raised_at for alarm in alarms],
        "y": [0.0] * len(alarms),
        "cliponaxis": False,
        "marker": {"symbol": "triangle-up", "size": 13, "color": "--ink", "line": {"width": 1, "color": "--page"}},
        "customdata": ["<br>".join(_alarm_lines(alarm)) for alarm in alarms],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _alarm_lines(alarm: Alarm) -> list[str]:
    """Return the lines of the text that is shown when the mouse points at an alarm."""
    reason = {
        AlarmKind.RISE: "the error had risen",
        AlarmKind.TOLERATED: f"the error exceeded the tolerated {format_percent(alarm.level)}",
    }[alarm.kind]
    return [
        f"<b>alarm at row {alarm.raised_at:,}</b>: {reason}",
        f"error since about row {alarm.since:,}: {format_percent(alarm.error)}",
        *([] if isnan(alarm.error_before) else [f"error before: {format_percent(alarm.error_before)}"]),
        *(f"moved: {escape_for_plotly(truncate(column, 40))}" for column in moved_columns(alarm)),
    ]


def _alternative(analysis: Analysis, lines: Sequence[Line], limits: Sequence[ErrorInterval]) -> str:
    """Return the text alternative of the chart."""
    summary = analysis.first.summary
    shown = [f"{line.name} {value_range(line.values)}" for line in reversed(lines)]
    if limits:
        edges: Vector = np.array([[each.low, each.high] for each in limits])
        shown.append(f"limits of the error {value_range(edges)}")
    text = f"Line chart over the rows of the stream: {'; '.join(shown)}. "
    text += f"{format_count(len(analysis.changes), 'change')} marked."
    return f"{text} {_alarms_alternative(summary.alarms)}" if summary.alarms else text


def _alarms_alternative(alarms: Sequence[Alarm]) -> str:
    rows = [f"{alarm.raised_at:,}" for alarm in alarms[:MAX_NAMED_ALARMS]]
    if len(alarms) > MAX_NAMED_ALARMS:
        rows.append(f"{len(alarms) - MAX_NAMED_ALARMS:,} more")
    return f"{format_count(len(alarms), 'alarm')} marked, at {'row' if len(rows) == 1 else 'rows'} {join_words(rows)}."
