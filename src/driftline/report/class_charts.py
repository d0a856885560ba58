"""Charts of how well classes are found: recall and precision over time, ROC and precision-recall curves."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from driftline.evaluation import WindowStats
from driftline.evaluation.ranking_figures import RankingCurve, ranking_curve
from driftline.report.analysis import Analysis, ReportEntry
from driftline.report.chart_elements import (
    Chart,
    Json,
    Line,
    chart_layout,
    classifier_line,
    escape_for_plotly,
    rounded,
    windows_with,
)
from driftline.report.formatting import format_percent, truncate, visible_text
from driftline.report.line_labels import end_label
from driftline.report.panels import Panel, panel_chart
from driftline.types import Indices, Vector

MIN_STEP = 0.008
"""A point of a curve that is closer to the one before it is left out."""
MAX_CLASSES = 7
"""Without a positive class, the curves of so many of the most frequent classes are drawn."""
AXIS_RANGE = 0.0, 1.04
NO_VALUES = np.empty(0)


def found_chart(analysis: Analysis) -> Chart:
    """Return the chart of recall and precision of the positive class over time, for each classifier."""
    positive, several = analysis.first.summary.positive, len(analysis.entries) > 1
    windows = partial(positive_windows, positive=positive)
    panels = []
    for measure in ("recall", "precision"):
        values = [entry.timeline.measure(measure, windows(entry), positive) for entry in analysis.entries]
        lines = [
            (entry, classifier_line(k, entry.name, each))
            for k, (entry, each) in enumerate(zip(analysis.entries, values, strict=True))
            if np.isfinite(each).any()
        ]
        title = f"{measure.capitalize()} of {truncate(visible_text(positive), 30)}"
        panels.append(
            Panel(
                escape_for_plotly(title), lines, ".1%", measure, AXIS_RANGE, ".0%", has_names=several, windows=windows
            )
        )
    return panel_chart("found", analysis, panels)


def positive_windows(entry: ReportEntry, positive: Any) -> list[WindowStats]:
    """Return windows of a classifier that have enough rows of the positive class."""
    return windows_with(entry.timeline, entry.timeline.support.get(positive, 0))


@dataclass(frozen=True, slots=True, eq=False)
class ClassCurve:
    """The curves of a class, and the point at which its predictions are.

    Attributes
    ----------
    line : Line
        Name and colour.
    curve : RankingCurve or None
        None if the classifier gives no probabilities.
    false_positive_rate, recall, precision : float
        Of the predictions that were given out; NaN where undefined.
    share : float
        Share of the rows that are of the class.
    """

    line: Line
    curve: RankingCurve | None
    false_positive_rate: float
    recall: float
    precision: float
    share: float


def class_curves(analysis: Analysis) -> list[ClassCurve]:
    """Return the curves of the positive class for each classifier; without one, those of each class for the first."""
    first, positive = analysis.first, analysis.first.summary.positive
    if positive is not None:
        found = [
            _class_curve(entry, positive, classifier_line(k, entry.name, NO_VALUES))
            for k, entry in enumerate(analysis.entries)
        ]
    else:
        support = first.timeline.support
        labels = sorted(support, key=lambda label: -support[label])[:MAX_CLASSES]
        found = [
            _class_curve(first, label, Line(visible_text(label), f"c{k}", NO_VALUES))
            for k, label in enumerate(labels, 1)
        ]
    shown = [each for each in found if each is not None]
    return shown if any(each.curve is not None for each in shown) else []


def _class_curve(entry: ReportEntry, label: Any, line: Line) -> ClassCurve | None:
    """Return the curves of a class; None if all rows are of this class, or none."""
    timeline = entry.timeline
    counts = timeline.measured(timeline.windows(1)[0]).counts
    n = timeline.support.get(label, 0)
    if not 0 < n < timeline.n_rows:
        return None
    k = timeline.classes.index(label)
    hits, predicted = int(counts.hits[k]), int(counts.predicted[k])
    return ClassCurve(
        line,
        ranking_curve(counts.scores[0, k], counts.scores[1, k]) if counts.scores.shape[2] else None,
        (predicted - hits) / (timeline.n_rows - n),
        hits / n,
        hits / predicted if predicted else np.nan,
        n / timeline.n_rows,
    )


def roc_chart(curves: list[ClassCurve]) -> Chart:
    """Return the chart of recall against the false positive rate."""
    traces = []
    for each in curves:
        if each.curve is not None:
            x, y, at = (np.concatenate([[0.0], part]) for part in (*each.curve[1:3], each.curve.thresholds))
            traces.append(_curve_trace(each.line, x, y, at, "false positive rate", "recall", "linear"))
    dots = [_dot(each.line, each.false_positive_rate, each.recall, "false positive rate", "recall") for each in curves]
    diagonal = {"type": "line", "x0": 0, "y0": 0, "x1": 1, "y1": 1}
    return _curve_chart("roc", "ROC curve", "false positive rate", "recall", curves, [*traces, *dots], [diagonal])


def precision_chart(curves: list[ClassCurve]) -> Chart:
    """Return the chart of precision against recall."""
    traces = [
        _curve_trace(
            each.line, each.curve.recalls, each.curve.precisions, each.curve.thresholds, "recall", "precision", "vh"
        )
        for each in curves
        if each.curve is not None
    ]
    dots = [_dot(each.line, each.recall, each.precision, "recall", "precision") for each in curves]
    share = [{"type": "line", "x0": 0, "x1": 1, "y0": curves[0].share, "y1": curves[0].share}]
    has_one_class = len({each.share for each in curves}) == 1
    title = "Precision–recall curve"
    return _curve_chart(
        "precision", title, "recall", "precision", curves, [*traces, *dots], share if has_one_class else []
    )


def _curve_trace(line: Line, x: Vector, y: Vector, thresholds: Vector, x_name: str, y_name: str, shape: str) -> Json:
    kept = _kept(x, y)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": escape_for_plotly(truncate(line.name, 40)),
        "x": rounded(x[kept]),
        "y": rounded(y[kept]),
        "line": {"color": f"--{line.colour}", "width": max(line.width, 2.0), "dash": line.dash, "shape": shape},
        "customdata": [format_percent(threshold) for threshold in thresholds[kept].tolist()],
        "hovertemplate": f"{x_name} %{{x:.1%}}<br>{y_name} %{{y:.1%}}<br>from a probability of %{{customdata}}",
    }


def _kept(x: Vector, y: Vector) -> Indices:
    """Return the points of a curve that are not close to the one kept before; the first and the last are kept."""
    kept = [0]
    for k in range(1, len(x)):
        if abs(x[k] - x[kept[-1]]) + abs(y[k] - y[kept[-1]]) >= MIN_STEP or k == len(x) - 1:
            kept.append(k)
    return np.array(kept)


def _dot(line: Line, x: float, y: float, x_name: str, y_name: str) -> Json:
    """Return the point of the predictions that were given out."""
    name = escape_for_plotly(truncate(line.name, 40))
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "showlegend": False,
        "x": rounded([x]),
        "y": rounded([y]),
        "cliponaxis": False,
        "marker": {"color": f"--{line.colour}", "size": 11, "line": {"width": 2, "color": "--page"}},
        "hovertemplate": f"predictions of {name}<br>{x_name} %{{x:.1%}}<br>{y_name} %{{y:.1%}}<extra></extra>",
    }


def _curve_chart(
    name: str, title: str, x_name: str, y_name: str, curves: list[ClassCurve], traces: list[Json], chance: list[Json]
) -> Chart:
    """Return a chart of curves, with the line of guesses by chance."""
    line = {"color": "--mark", "width": 1.5, "dash": "dash"}
    axis = {"tickformat": ".0%", "nticks": 6, "tickprefix": "", "showgrid": True, "gridcolor": "--grid"}
    titles = [{"text": text, "font": {"color": "--quiet", "size": 13}, "standoff": 8} for text in (x_name, y_name)]
    several = len(curves) > 1
    given = "; ".join(f"{each.line.name}: recall {format_percent(each.recall)}" for each in curves)
    return Chart(
        name,
        f"{title}, {y_name} against {x_name}; the predictions of {given}.",
        360 if several else 340,
        traces,
        chart_layout(
            x_range=[0, 1.0],
            y_range=AXIS_RANGE,
            hovermode="closest",
            xaxis=axis | {"title": titles[0], "hoverformat": ".1%"},
            yaxis=axis | {"title": titles[1]},
            margin={"l": 64, "r": 20, "t": 12, "b": 52},
            shapes=[shape | {"layer": "below", "line": line} for shape in chance],
        ),
        [end_label(each.line.name, each.line.colour, 0.0) for each in curves] if several else [],
        narrow={"margin": {"l": 60, "r": 20}, "legend": {"y": -0.2}},
        title=title,
        is_half=True,
    )
