"""The charts of mistakes, classes, comparison and calibration of a report."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from driftline.core.bounds import ROUNDING, MistakeBound
from driftline.evaluation import Timeline, WindowStats
from driftline.evaluation.metrics import METRICS
from driftline.report.analysis import Analysis, ReportEntry
from driftline.report.chart_elements import (
    LABEL_MARGIN_PIXELS,
    Chart,
    Json,
    Line,
    chart_layout,
    chart_windows,
    classifier_line,
    line_traces,
    percent_format,
    rounded,
    row_ranges,
    total_ranges,
    value_range,
    window_centres,
    window_ends,
    windows_with,
)
from driftline.report.formatting import format_count, format_percent, visible_text
from driftline.report.line_labels import end_label, end_labels, spread_out
from driftline.types import Matrix, Vector

MAX_CLASSES = 8
"""If there are more, the seven most frequent are shown, and the others together."""
MAX_TOTALS = 256
"""Points of the chart of total mistakes, at most."""
MIN_GROUP_SHARE = 0.005
"""Share of all rows that a dot of the calibration chart stands for, at least: smaller groups are too noisy."""
MAX_DOT_PIXELS = 30
"""Diameter of the largest dot."""
MIN_CLASS_LABEL_GAP = 0.075
"""Distance between the names of two classes, as a share of the chart's height."""


def mistakes_chart(entry: ReportEntry) -> Chart:
    """Return the chart of total mistakes and their bound."""
    windows, delta = entry.timeline.windows(MAX_TOTALS), entry.summary.delta
    ends = window_ends(windows)
    totals = {
        name: np.cumsum([getattr(window, name) for window in windows])
        for name in ("mistakes", "expected_mistakes", "charges")
    }
    has_bound = entry.summary.mistake_bound is not None
    rows = zip(ends, totals["charges"].tolist(), totals["expected_mistakes"].tolist(), strict=True)
    bound = [
        MistakeBound(n_steps=end, total_bound=charges, total_loss=expected).mistakes(delta) if has_bound else np.nan
        for end, charges, expected in rows
    ]
    lines = [
        Line("bound", "bound", np.array(bound)),
        Line("expected mistakes", "expected", totals["expected_mistakes"], width=1.5),
        Line("mistakes", "error", totals["mistakes"], width=2.5),
    ]
    if entry.summary.cost_without is not None:  # bound and expected mistakes are not about labels chosen by cost
        lines = lines[-1:]
    lines = [line for line in lines if not np.isnan(line.values).all()]
    top = 1.05 * max(*(float(np.nanmax(line.values)) for line in lines), 1.0)
    return Chart(
        "mistakes",
        "Line chart of totals over the rows of the stream; at the end: "
        + ", ".join(f"{line.name} {line.values[-1]:,.0f}" for line in reversed(lines))
        + ".",
        340,
        line_traces(lines, ends, total_ranges(windows), "%{y:,.0f}"),
        chart_layout(
            x_range=[0, entry.timeline.n_rows],
            y_range=[0, top],
            yaxis={"tickformat": ",.1~f"},
            margin={"r": LABEL_MARGIN_PIXELS},
        ),
        end_labels(lines, top),
    )


def class_chart(entry: ReportEntry) -> Chart:
    """Return the chart of class shares over time, with the most frequent class at the bottom."""
    timeline = entry.timeline
    windows = chart_windows(timeline)
    x, ranges, lines = window_centres(windows), row_ranges(windows), _share_lines(timeline, windows)
    if len(windows) == 1:  # an area needs two points
        x, ranges = [0.0, float(timeline.n_rows)], ranges * 2
        lines = [replace(line, values=np.repeat(line.values, 2)) for line in lines]
    traces = line_traces(lines, x, ranges, "%{y:.1%}")
    for line, trace in zip(lines, traces[1:], strict=True):
        trace.update(stackgroup="classes", fillcolor=f"--{line.colour}", line={"width": 0.5, "color": "--page"})
    last = np.array([line.values[-1] for line in lines])
    heights = spread_out(np.cumsum(last) - last / 2, MIN_CLASS_LABEL_GAP).tolist()
    overall = [
        f"{format_percent(float(line.values[-1]))} {line.name}" for line in _share_lines(timeline, timeline.windows(1))
    ]
    return Chart(
        "classes",
        f"Stacked area chart of class shares over the rows of the stream; overall: {', '.join(overall)}.",
        320,
        traces,
        chart_layout(
            x_range=[0, timeline.n_rows],
            y_range=[0, 1],
            yaxis={"tickformat": ".0%"},
            margin={"r": LABEL_MARGIN_PIXELS},
        ),
        [end_label(line.name, line.colour, height) for line, height in zip(lines, heights, strict=True)],
    )


def _share_lines(timeline: Timeline, windows: Sequence[WindowStats]) -> list[Line]:
    """Return the shares of the most frequent classes in each window, and that of all other classes together."""
    counts = timeline.class_counts(windows)
    order = np.argsort(-timeline.class_counts(timeline.windows(1))[0], kind="stable").tolist()
    named = order if len(order) <= MAX_CLASSES else order[: MAX_CLASSES - 1]
    series = [(f"class {visible_text(timeline.classes[k])}", counts[:, k]) for k in named]
    if len(named) < len(order):
        others = counts[:, order[len(named) :]].sum(axis=1)
        series.append((f"the {len(order) - len(named)} other classes", others))
    rows = counts.sum(axis=1)
    return [Line(name, f"c{k}", values / rows) for k, (name, values) in enumerate(series, 1)]


def comparison_windows(analysis: Analysis, entry: ReportEntry) -> list[WindowStats]:
    """Return the windows over which classifiers are compared, long enough for the classes that the measure is about."""
    timeline, positive = entry.timeline, analysis.first.summary.positive
    support = np.array([*timeline.support.values()])
    place = timeline.classes.index(positive) if positive in timeline.classes else None
    needed = METRICS[analysis.by].needed_classes(place, support)
    return windows_with(timeline, int(support[needed].min())) if needed else chart_windows(timeline)


def comparison_chart(analysis: Analysis) -> Chart | None:
    """Return the chart of the measure of all classifiers over time, the first in front; None if it is never known."""
    metric = METRICS[analysis.by]
    lines: list[Line] = []
    traces: list[Json] = []
    number_format = ".1%" if metric.is_share else ".3f"
    for k, entry in enumerate(analysis.entries):
        windows = comparison_windows(analysis, entry)
        values = entry.timeline.measure(analysis.by, windows, analysis.first.summary.positive)
        if np.isfinite(values).any():
            line = classifier_line(k, entry.name, values)
            own = line_traces([line], window_centres(windows), row_ranges(windows), f"%{{y:{number_format}}}")
            traces += own if not lines else own[1:]
            lines.append(line)
    if not lines:
        return None
    top = 1.08 * max(*(float(np.nanmax(line.values)) for line in lines), 0.01)
    bottom = min(0.0, *(1.08 * float(np.nanmin(line.values)) for line in lines))
    return Chart(
        "comparison",
        f"Line chart of the {metric.name} of the classifiers over the rows of the stream: "
        + "; ".join(f"{line.name} {value_range(line.values, number_format)}" for line in lines)
        + ".",
        360,
        [traces[0], *traces[:0:-1]],
        chart_layout(
            x_range=[0, max(entry.timeline.n_rows for entry in analysis.entries)],
            y_range=[bottom, top],
            yaxis={"tickformat": percent_format(top) if metric.is_share else ".2~f"},
            margin={"r": LABEL_MARGIN_PIXELS},
            legend={"traceorder": "reversed"},
        ),
        end_labels(lines, top, bottom=bottom),
    )


def calibration_chart(entry: ReportEntry) -> Chart | None:
    """Return the chart of expected errors against bounds; None for a classifier without bounds."""
    groups = merge_bins(entry.timeline.calibration_bins)
    if not groups.size:
        return None
    rows, mistakes, bound_sums = groups
    bounds, errors = bound_sums / rows, mistakes / rows
    top = 1.1 * max(float(bounds.max()), float(errors.max()), 0.01)
    axis = {"tickformat": percent_format(top), "nticks": 6, "showgrid": True, "gridcolor": "--grid"}
    titles = [{"text": text, "font": {"color": "--quiet", "size": 13}} for text in ("bound", "expected error")]
    above = float(rows[errors > bounds + ROUNDING].sum() / rows.sum())
    return Chart(
        "calibration",
        "Scatter plot of the mean expected error against the mean bound of rows with similar bounds; "
        f"{format_percent(above)} of the rows are in groups with an expected error above their bound.",
        440,
        [_dots(rows, bounds, errors)],
        chart_layout(
            x_range=[min(0.0, 1.1 * float(bounds.min())), top],
            y_range=[0, top],
            hovermode="closest",
            xaxis=axis | {"title": titles[0], "tickprefix": ""},
            yaxis=axis | {"title": titles[1]},
            margin={"l": 64, "b": 52},
            **_diagonal(top),
        ),
        narrow={"margin": {"l": 64}},
        is_square=True,
    )


def _dots(rows: Vector, bounds: Vector, errors: Vector) -> Json:
    """Return a dot for each group of rows, with an area proportional to the number of rows."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": rounded(bounds),
        "y": rounded(errors),
        "marker": {
            "color": "--bound",
            "opacity": 0.75,
            "size": rounded(rows),
            "sizemode": "area",
            "sizeref": float(rows.max()) / MAX_DOT_PIXELS**2,
            "sizemin": 2.5,
            "line": {"width": 1, "color": "--page"},
        },
        "customdata": [format_count(n, "row") for n in rows.tolist()],
        "hovertemplate": "%{customdata}<br>bound %{x:.1%}<br>expected error %{y:.1%}<extra></extra>",
    }


def _diagonal(top: float) -> Json:
    """Return the line on which error and bound are equal, with a note on either side."""
    line = {"color": "--mark", "width": 1.5, "dash": "dash"}
    side = {"showarrow": False, "font": {"color": "--quiet"}, "xref": "paper", "yref": "paper"}
    return {
        "shapes": [{"type": "line", "x0": 0, "y0": 0, "x1": top, "y1": top, "layer": "below", "line": line}],
        "annotations": [
            side | {"text": "error above the bound", "x": 0.03, "y": 0.97, "xanchor": "left", "yanchor": "top"},
            side | {"text": "error below the bound", "x": 0.97, "y": 0.03, "xanchor": "right", "yanchor": "bottom"},
        ],
    }


def merge_bins(bins: Matrix) -> Matrix:
    """Merge neighbouring bins until each has enough rows.

    The rows of the result are those of `bins`: numbers of rows, sums of expected mistakes, sums of bounds.
    """
    groups: list[Vector] = []
    group, min_rows = np.zeros(len(bins)), MIN_GROUP_SHARE * bins[0].sum()
    for column in bins.T:
        group = group + column
        if group[0] >= min_rows and group[0] > 0:
            groups.append(group)
            group = np.zeros(len(bins))
    if groups:
        groups[-1] = groups[-1] + group
    return np.array(groups).reshape(-1, len(bins)).T
