"""Charts of two panels above each other over the same rows: what one gets, and whether a promise was kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from driftline.evaluation import WindowStats
from driftline.report.analysis import Analysis, ReportEntry
from driftline.report.chart_elements import (
    LABEL_MARGIN_PIXELS,
    Chart,
    Json,
    Line,
    chart_layout,
    chart_windows,
    line_traces,
    row_ranges,
    value_range,
    window_centres,
)
from driftline.report.line_labels import MIN_LABEL_GAP, end_labels

HEIGHT, HEIGHT_OF_ONE = 420, 230
"""Height of a chart in pixels, with two panels and with one."""
DOMAINS = (0.57, 1.0), (0.0, 0.43)
"""Where each panel is, as shares of the height from the bottom."""


def usual_windows(entry: ReportEntry) -> list[WindowStats]:
    """Return the windows that the points of most charts are means over."""
    return chart_windows(entry.timeline)


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """A panel of a chart.

    Attributes
    ----------
    title
        What it shows.
    lines
        Its lines, each with the classifier that it belongs to.
    number_format, noun
        Format of its values, and what they are, for the hover text.
    axis_range, tick_format
        Ends of its axis, and the format of the numbers there.
    levels
        What was promised: lines with one value, drawn over all rows.
    has_names
        Whether its lines are named, beside their ends or in a legend.
    windows
        Returns the windows that the points of a classifier are means over.
    """

    title: str
    lines: list[tuple[ReportEntry, Line]]
    number_format: str
    noun: str
    axis_range: tuple[float, float]
    tick_format: str
    levels: list[Line] = field(default_factory=list)
    has_names: bool = True
    windows: Callable[[ReportEntry], list[WindowStats]] = usual_windows


Placed = tuple[Panel, str, tuple[float, float]]
"""A panel, the name of its axis, and its domain."""


def panel_chart(name: str, analysis: Analysis, panels: Sequence[Panel]) -> Chart:
    """Return a chart of one or two panels.

    Parameters
    ----------
    name : str
        Suffix of the id of its element.
    analysis : Analysis
        The classifiers of the report.
    panels : sequence of Panel
        The panels, the upper one first; those without lines are left out.

    Returns
    -------
    Chart
        The chart.
    """
    shown = [panel for panel in panels if panel.lines]
    domains = DOMAINS if len(shown) > 1 else [(0.0, 1.0)]
    axes = ["y", "y2"][: len(shown)]
    placed = list(zip(shown, axes, domains, strict=True))
    return Chart(
        name,
        f"Line charts over the rows of the stream: {'; '.join(_alternative(panel) for panel in shown)}.",
        HEIGHT if len(shown) > 1 else HEIGHT_OF_ONE,
        _traces(placed),
        chart_layout(
            x_range=[0, max(entry.timeline.n_rows for entry in analysis.entries)],
            y_range=shown[0].axis_range,
            xaxis={"anchor": axes[-1]},
            margin={"r": LABEL_MARGIN_PIXELS},
            hoversubplots="axis",
            shapes=[_level_shape(level, axis) for panel, axis, _ in placed for level in panel.levels],
            annotations=[_title(panel.title, domain[1]) for panel, _, domain in placed],
            **{axis.replace("y", "yaxis"): _axis(panel, domain) for panel, axis, domain in placed},
        ),
        [label for panel, axis, domain in placed for label in _labels(panel, axis, domain)],
    )


def _axis(panel: Panel, domain: tuple[float, float]) -> Json:
    """Return the axis of values of a panel."""
    axis: Json = chart_layout(x_range=[0, 1], y_range=panel.axis_range)["yaxis"]
    return axis | {"domain": list(domain), "tickformat": panel.tick_format, "nticks": 4, "fixedrange": True}


def _traces(placed: Sequence[Placed]) -> list[Json]:
    """Return the lines, the first classifier in front, after an invisible one whose hover text is the range of rows.

    A classifier with a line in both panels is in the legend once.
    """
    ranges: list[Json] = []
    traces: list[Json] = []
    in_legend: set[str] = set()
    for panel, axis, _ in placed:
        for entry, line in panel.lines:
            windows = panel.windows(entry)
            template = f"%{{y:{panel.number_format}}} {panel.noun}"
            own = line_traces([line], window_centres(windows), row_ranges(windows), template)
            ranges = ranges or own[:1]
            traces.append(own[1] | {"yaxis": axis, "showlegend": panel.has_names and line.name not in in_legend})
            in_legend |= {line.name}
    return [*ranges, *({"zorder": -k} | trace for k, trace in enumerate(traces))]


def _level_shape(level: Line, axis: str) -> Json:
    """Return a dashed line over all rows."""
    height = float(level.values[0])
    line = {"color": f"--{level.colour}", "width": level.width, "dash": level.dash}
    ends = {"xref": "paper", "x0": 0, "x1": 1, "yref": axis, "y0": height, "y1": height}
    return {"type": "line", "layer": "above", "line": line, **ends}


def _title(text: str, height: float) -> Json:
    """Return the title of a panel, above its left end."""
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": height, "yref": "paper", "yanchor": "bottom"}
    return {"text": text, "font": {"color": "--quiet"}, "showarrow": False, "yshift": 2, **place}


def _labels(panel: Panel, axis: str, domain: tuple[float, float]) -> list[Json]:
    """Return the names of lines and levels beside their ends."""
    bottom, top = panel.axis_range
    named = [*(line for _, line in panel.lines if panel.has_names), *panel.levels]
    gap = MIN_LABEL_GAP / (domain[1] - domain[0])
    return [label | {"yref": axis} for label in end_labels(named, top, bottom=bottom, gap=gap)] if named else []


def _alternative(panel: Panel) -> str:
    """Return what a panel shows in words."""
    values = [f"{line.name} {value_range(line.values, panel.number_format)}" for _, line in panel.lines]
    return f"{panel.title}: {', '.join([*values, *(level.name for level in panel.levels)])}"
