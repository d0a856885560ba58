"""The charts of a report, but for the map of drift."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from driftline.core.bounds import MistakeLedger
from driftline.evaluation import Course, Stretch
from driftline.evaluation.summary import ROUNDING
from driftline.report.drawing import (
    Chart,
    Json,
    Line,
    apart,
    between,
    change_marks,
    end_label,
    end_labels,
    ends_of,
    json_ready,
    layout,
    line_traces,
    means_of,
    middles_of,
    points_of,
    spans_of,
    sums_until,
)
from driftline.report.entry import Entry
from driftline.report.findings import Findings
from driftline.report.wording import counted, percent, said
from driftline.types import Matrix, Vector

MOST_CLASSES = 8
"""With more, the seven most frequent and all others."""
N_COLOURS = 8
MOST_SUMS = 256
"""Points of the accumulated mistakes."""
LABEL_MARGIN = 150
"""Pixels beside a chart, for the names of its lines."""
SMALLEST_DOT = 0.005
"""Share of the rows that a dot stands for at least: errors of fewer are chance."""
LARGEST_DOT = 30
"""Its diameter, in pixels."""
CLASS_LABEL_GAP = 0.075
"""Of the height: how far the names of two classes must be apart."""


def error_chart(found: Findings) -> Chart:
    """Draw errors and bounds over time."""
    course = found.first.course
    windows = points_of(course)
    error, expected, rates, bounds = (means_of(windows, name) for name in ("mistakes", "expected", "rates", "bounds"))
    lines = [
        Line("bound, each row", "step", bounds, width=1.5, dash="dot"),
        Line("bound, on average", "bound", rates),
        Line("error if drawn", "drawn", expected, width=1.5),
        Line("error", "error", error, width=2.5),
    ]
    if np.allclose(bounds, rates):
        lines[:2] = [Line("bound", "bound", rates)]
    lines = [line for line in lines if not np.isnan(line.values).all()]
    top = 1.08 * max(*(float(np.nanmax(line.values)) for line in lines), 0.01)
    drawn = layout(
        x_range=[0, course.n_rows],
        y_range=[0, top],
        yaxis={"tickformat": ".0%" if top > 0.05 else ".1%"},
        margin={"r": LABEL_MARGIN},
        **change_marks(found.changes),
    )
    return Chart(
        "error",
        "Line chart over the rows of the stream: "
        + "; ".join(f"{line.name} {between(line.values)}" for line in reversed(lines))
        + f". {counted(len(found.changes), 'moment')} of change marked.",
        380,
        line_traces(lines, middles_of(windows), spans_of(windows), "%{y:.1%}"),
        drawn,
        end_labels(lines, top),
    )


def mistakes_chart(entry: Entry) -> Chart:
    """Draw accumulated mistakes and their bound."""
    windows, delta = entry.course.windows(MOST_SUMS), entry.summary.delta
    ends = ends_of(windows)
    sums = {
        name: np.cumsum([getattr(window, name) for window in windows]) for name in ("mistakes", "expected", "charges")
    }
    has_bound = entry.summary.mistake_bound is not None
    bound = [
        MistakeLedger(n_steps=end, total_bound=charges).mistakes(delta) if has_bound else np.nan
        for end, charges in zip(ends, sums["charges"].tolist(), strict=True)
    ]
    lines = [
        Line("bound", "bound", np.array(bound)),
        Line("mistakes if drawn", "drawn", sums["expected"], width=1.5),
        Line("mistakes", "error", sums["mistakes"], width=2.5),
    ]
    lines = [line for line in lines if not np.isnan(line.values).all()]
    top = 1.05 * max(*(float(np.nanmax(line.values)) for line in lines), 1.0)
    return Chart(
        "mistakes",
        "Line chart of sums over the rows of the stream; at the end "
        + ", ".join(f"{line.name} {line.values[-1]:,.0f}" for line in reversed(lines))
        + ".",
        340,
        line_traces(lines, ends, sums_until(windows), "%{y:,.0f}"),
        layout(
            x_range=[0, entry.course.n_rows],
            y_range=[0, top],
            yaxis={"tickformat": ",.1~f"},
            margin={"r": LABEL_MARGIN},
        ),
        end_labels(lines, top),
    )


def class_chart(entry: Entry) -> Chart:
    """Draw the shares of the classes over time, the most frequent at the bottom."""
    course = entry.course
    windows = points_of(course)
    at, spans, lines = middles_of(windows), spans_of(windows), _share_lines(course, windows)
    if len(windows) == 1:  # an area needs two points
        at, spans = [0.0, float(course.n_rows)], spans * 2
        lines = [replace(line, values=np.repeat(line.values, 2)) for line in lines]
    traces = line_traces(lines, at, spans, "%{y:.1%}")
    for line, trace in zip(lines, traces[1:], strict=True):
        trace.update(stackgroup="classes", fillcolor=f"--{line.colour}", line={"width": 0.5, "color": "--page"})
    last = np.array([line.values[-1] for line in lines])
    places = apart(np.cumsum(last) - last / 2, CLASS_LABEL_GAP).tolist()
    overall = [f"{percent(float(line.values[-1]))} {line.name}" for line in _share_lines(course, course.windows(1))]
    return Chart(
        "classes",
        "Stacked areas, the share of each class over the rows of the stream; over all of it "
        + f"{', '.join(overall)}.",
        320,
        traces,
        layout(
            x_range=[0, course.n_rows],
            y_range=[0, 1],
            yaxis={"tickformat": ".0%"},
            margin={"r": LABEL_MARGIN},
        ),
        [end_label(line.name, line.colour, place) for line, place in zip(lines, places, strict=True)],
    )


def _share_lines(course: Course, windows: Sequence[Stretch]) -> list[Line]:
    """Return the shares of the most frequent classes of the stream, and of all others together."""
    counts = course.class_counts(windows)
    order = np.argsort(-course.class_counts(course.windows(1))[0], kind="stable").tolist()
    named = order if len(order) <= MOST_CLASSES else order[: MOST_CLASSES - 1]
    series = [(f"class {said(course.classes[place])}", counts[:, place]) for place in named]
    if len(named) < len(order):
        others = counts[:, order[len(named) :]].sum(axis=1)
        series.append((f"the {len(order) - len(named)} other classes", others))
    rows = counts.sum(axis=1)
    return [Line(name, f"c{k}", values / rows) for k, (name, values) in enumerate(series, 1)]


def comparison_chart(found: Findings) -> Chart:
    """Draw the errors of all classifiers over time, the first on top."""
    lines, traces = [], []
    for k, entry in enumerate(found.entries):
        windows = points_of(entry.course)
        colour, dash = (
            (f"c{1 + (k - 1) % (N_COLOURS - 1)}", "solid" if k < N_COLOURS else "dash") if k else ("error", "solid")
        )
        line = Line(entry.name, colour, means_of(windows, "mistakes"), 1.5 if k else 2.5, dash)
        own = line_traces([line], middles_of(windows), spans_of(windows), "%{y:.1%}")
        traces += own if not k else own[1:]
        lines.append(line)
    top = 1.08 * max(*(float(line.values.max()) for line in lines), 0.01)
    return Chart(
        "comparison",
        "Line chart of the errors of all classifiers over the rows of the stream: "
        + "; ".join(f"{line.name} {between(line.values)}" for line in lines)
        + ".",
        360,
        [traces[0], *traces[:0:-1]],
        layout(
            x_range=[0, max(entry.course.n_rows for entry in found.entries)],
            y_range=[0, top],
            yaxis={"tickformat": ".0%" if top > 0.05 else ".1%"},
            margin={"r": LABEL_MARGIN},
            legend={"traceorder": "reversed"},
        ),
        end_labels(lines, top),
    )


def calibration_chart(entry: Entry) -> Chart | None:
    """Draw the mean error of steps against their mean bound; there is none without a bound."""
    groups = grouped(entry.course.bins)
    if not groups.size:
        return None
    steps, mistakes, sums = groups
    bounds, errors = sums / steps, mistakes / steps
    top = 1.1 * max(float(bounds.max()), float(errors.max()), 0.01)
    axis = {"tickformat": ".0%" if top > 0.05 else ".1%", "nticks": 6, "showgrid": True, "gridcolor": "--grid"}
    titles = [{"text": text, "font": {"color": "--quiet"}} for text in ("bound", "error")]
    above = float(steps[errors > bounds + ROUNDING].sum() / steps.sum())
    return Chart(
        "calibration",
        "Scatter plot of the mean error against the mean bound of rows with similar bounds; "
        f"{percent(above)} of the rows are in groups that erred more than their bound.",
        440,
        [_dots(steps, bounds, errors)],
        layout(
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


def _dots(steps: Vector, bounds: Vector, errors: Vector) -> Json:
    """Return a dot for each group of steps, of an area that tells how many there are."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": json_ready(bounds),
        "y": json_ready(errors),
        "marker": {
            "color": "--bound",
            "opacity": 0.75,
            "size": json_ready(steps),
            "sizemode": "area",
            "sizeref": float(steps.max()) / LARGEST_DOT**2,
            "sizemin": 2.5,
            "line": {"width": 1, "color": "--page"},
        },
        "customdata": [counted(n, "row") for n in steps.tolist()],
        "hovertemplate": "%{customdata}<br>bound %{x:.1%}<br>error %{y:.1%}<extra></extra>",
    }


def _diagonal(top: float) -> Json:
    """Return the line on which error and bound are equal, and what it means to be on either side."""
    line = {"color": "--mark", "width": 1.5, "dash": "dash"}
    side = {"showarrow": False, "font": {"color": "--quiet"}, "xref": "paper", "yref": "paper"}
    return {
        "shapes": [{"type": "line", "x0": 0, "y0": 0, "x1": top, "y1": top, "layer": "below", "line": line}],
        "annotations": [
            side | {"text": "erred more than it said", "x": 0.03, "y": 0.97, "xanchor": "left", "yanchor": "top"},
            side | {"text": "erred less: safe", "x": 0.97, "y": 0.03, "xanchor": "right", "yanchor": "bottom"},
        ],
    }


def grouped(bins: Matrix) -> Matrix:
    """Return bins of bounds joined with their neighbours until each has enough rows: rows, mistakes, sums of bounds."""
    groups: list[Vector] = []
    open_group, least = np.zeros(len(bins)), SMALLEST_DOT * bins[0].sum()
    for column in bins.T:
        open_group = open_group + column
        if open_group[0] >= least and open_group[0] > 0:
            groups.append(open_group)
            open_group = np.zeros(len(bins))
    if groups:
        groups[-1] = groups[-1] + open_group
    return np.array(groups).reshape(-1, len(bins)).T
