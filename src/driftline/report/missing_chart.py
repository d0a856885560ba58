"""The chart of the share of missing values of each column over time."""

import numpy as np

from driftline.report.analysis import Analysis
from driftline.report.change_markers import change_markers
from driftline.report.chart_elements import (
    LABEL_MARGIN_PIXELS,
    Chart,
    Line,
    chart_layout,
    chart_windows,
    line_traces,
    percent_format,
    row_ranges,
    value_range,
    window_centres,
)
from driftline.report.formatting import visible_text
from driftline.report.line_labels import end_labels

MAX_LINES = 7
"""Columns with a line of their own: those that are missing most often in some window. Others are shown as one mean."""


def missing_chart(analysis: Analysis) -> Chart | None:
    """Return the chart of missing values; None if no value is missing, or columns are not summed."""
    timeline = analysis.first.timeline
    windows = chart_windows(timeline)
    shares = timeline.missing_shares(windows)
    order = [j for j in np.argsort(-shares.max(axis=0, initial=0.0), kind="stable").tolist() if shares[:, j].any()]
    if not order:
        return None
    named, others = order[:MAX_LINES], order[MAX_LINES:]
    lines = [Line(visible_text(timeline.columns[j]), f"c{k}", shares[:, j]) for k, j in enumerate(named, 1)]
    if others:
        name = f"mean of {len(others)} others" if len(others) > 1 else visible_text(timeline.columns[others[0]])
        lines.append(Line(name, f"c{len(lines) + 1}", shares[:, others].mean(axis=1), 1.5))
    top = min(1.08 * max(float(max(line.values.max() for line in lines)), 0.01), 1.04)
    return Chart(
        "missing",
        "Line chart of the share of missing values over the rows of the stream: "
        + "; ".join(f"{line.name} {value_range(line.values)}" for line in lines)
        + ".",
        320,
        line_traces(lines, window_centres(windows), row_ranges(windows), "%{y:.1%}"),
        chart_layout(
            x_range=[0, timeline.n_rows],
            y_range=[0, top],
            yaxis={"tickformat": percent_format(top)},
            margin={"r": LABEL_MARGIN_PIXELS},
            **change_markers(analysis.changes),
        ),
        end_labels(lines, top),
    )
