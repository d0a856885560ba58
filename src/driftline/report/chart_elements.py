"""Elements that the charts share: the JSON that Plotly draws, with colours given as CSS properties of the page."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import accumulate
from typing import Any

import numpy as np

from driftline.evaluation import Timeline, WindowStats
from driftline.report.formatting import format_count, truncate
from driftline.types import Vector
from driftline.utils.times import format_time

Json = dict[str, Any]

MIN_ROWS_PER_POINT, MIN_POINTS, MAX_POINTS = 100, 20, 60
"""A line chart has at most one point per 100 rows, so that noise averages out, but up to 20 if the stream is short.

No line chart has more than 60.
"""
MIN_CLASS_ROWS_PER_POINT, MIN_CLASS_POINTS = 25, 8
"""The points of a figure about the rows of a class are means over 25 of its rows, but there are at least 8 points."""
LABEL_MARGIN_PIXELS = 150
"""Space to the right of a chart for the names of its lines."""
DOT_PIXELS = 6
"""Diameter of the dot of a value without neighbours."""
N_COLOURS = 8
"""Classifiers up to this number have colours of their own; the others have dashed lines."""


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """A chart of the page.

    Attributes
    ----------
    name
        Suffix of the id of its element, "chart-…".
    alt
        Text alternative for screen readers.
    height
        Height in pixels.
    data, layout
        Traces and layout for Plotly. Colours are custom properties of the page's CSS, "--…".
    labels
        Annotations at the ends of lines; a narrow screen shows a legend instead.
    narrow
        Changes to the layout on a narrow screen.
    is_square
        Whether it is as high as it is wide.
    title
        Its heading, if it is one of several charts of a section.
    is_half
        Whether two fit beside each other.
    """

    name: str
    alt: str
    height: int
    data: list[Json]
    layout: Json
    labels: list[Json] = field(default_factory=list)
    narrow: Json = field(default_factory=dict)
    is_square: bool = False
    title: str = ""
    is_half: bool = False

    def to_dict(self) -> Json:
        """Return the chart as the page's script reads it."""
        return {
            "name": self.name,
            "data": self.data,
            "layout": self.layout | {"height": self.height},
            "labels": self.labels,
            "narrow": self.narrow,
            "isSquare": self.is_square,
            "isHalf": self.is_half,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line of a chart: name, colour, and one value per window, NaN where there is none."""

    name: str
    colour: str
    values: Vector
    width: float = 2.0
    dash: str = "solid"


def classifier_line(k: int, name: str, values: Vector) -> Line:
    """Return the line of the k-th classifier of a report, from 0; that of the first one is thicker."""
    if not k:
        return Line(name, "error", values, width=2.5)
    return Line(name, f"c{1 + (k - 1) % (N_COLOURS - 1)}", values, 1.5, "solid" if k < N_COLOURS else "dash")


def chart_windows(timeline: Timeline) -> list[WindowStats]:
    """Return the windows that the points of a line chart are means over.

    A last one of less than half as many rows as the others would be noise, and is merged with the one before it.
    """
    return _without_short_end(
        timeline.windows(int(np.clip(timeline.n_rows // MIN_ROWS_PER_POINT, MIN_POINTS, MAX_POINTS)))
    )


def windows_with(timeline: Timeline, n_rows: int) -> list[WindowStats]:
    """Return windows for a figure that only some rows of the stream say something about, given their number.

    They are those of `chart_windows` if these have enough of such rows, and longer otherwise.
    """
    usual = chart_windows(timeline)
    n_points = max(n_rows // MIN_CLASS_ROWS_PER_POINT, MIN_CLASS_POINTS)
    return usual if n_points >= len(usual) else _without_short_end(timeline.windows(n_points))


def _without_short_end(windows: list[WindowStats]) -> list[WindowStats]:
    if len(windows) > 1 and 2 * windows[-1].n_rows < windows[0].n_rows:
        return [*windows[:-2], windows[-2] + windows[-1]]
    return windows


def window_ends(windows: Sequence[WindowStats]) -> list[int]:
    """Return the number of rows up to the end of each window."""
    return list(accumulate(window.n_rows for window in windows))


def window_centres(windows: Sequence[WindowStats]) -> list[float]:
    """Return the position of the middle of each window, in rows."""
    return [end - window.n_rows / 2 for end, window in zip(window_ends(windows), windows, strict=True)]


def row_ranges(windows: Sequence[WindowStats]) -> list[str]:
    """Return the first and last row of each window, and its end time, as text."""
    return [
        f"rows {end - window.n_rows + 1:,}–{end:,}{_until(window)}"
        for end, window in zip(window_ends(windows), windows, strict=True)
    ]


def total_ranges(windows: Sequence[WindowStats]) -> list[str]:
    """Return the last row of each window, and its end time, as text for totals up to there."""
    return [
        f"totals up to row {end:,}{_until(window)}" for end, window in zip(window_ends(windows), windows, strict=True)
    ]


def _until(window: WindowStats) -> str:
    time = format_time(window.end_time)
    return time and f", until {time}"


def window_means(windows: Sequence[WindowStats], name: str) -> Vector:
    """Return the mean per row of one of the sums of each window."""
    return np.array([getattr(window, name) / window.n_rows for window in windows])


def percent_format(top: float) -> str:
    """Return the format of the shares on an axis that ends at `top`."""
    return ".0%" if top > 0.05 else ".1%"


def rounded(values: Any) -> Any:
    """Return an array as lists for JSON, rounded to six digits, with None for NaN and infinity."""
    if isinstance(values, np.ndarray):
        return rounded(values.tolist())
    if isinstance(values, list):
        return [rounded(value) for value in values]
    if isinstance(values, float):
        return float(f"{values:.6g}") if np.isfinite(values) else None
    return values


def escape_for_plotly(text: str) -> str:
    """Escape a text for Plotly, which interprets some HTML tags, and text between dollar signs as TeX."""
    return escape(text, quote=False).replace("$", "&#36;")


def chart_layout(*, x_range: Sequence[float], y_range: Sequence[float], **options: Any) -> Json:
    """Return the layout that all charts share, updated with options; options that are dicts are merged."""
    axis = {"zeroline": False, "ticks": "", "automargin": False, "tickfont": {"color": "--quiet"}}
    base: Json = {
        "paper_bgcolor": "--page",
        "plot_bgcolor": "--page",
        "font": {
            "family": "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', sans-serif",
            "size": 13,
            "color": "--ink",
        },
        "margin": {"l": 48, "r": 16, "t": 26, "b": 32},
        "hoverlabel": {"bgcolor": "--raised", "bordercolor": "--line", "font": {"color": "--ink", "size": 13}},
        "hovermode": "x unified",
        "showlegend": False,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
        "xaxis": {
            **axis,
            "range": list(x_range),
            "tickformat": ",.1~f",
            "tickprefix": "row ",
            "showtickprefix": "first",
            "nticks": 7,
            "showgrid": False,
            "showline": True,
            "linecolor": "--line",
            "hoverformat": ",.0f",
        },
        "yaxis": {**axis, "range": list(y_range), "gridcolor": "--grid", "nticks": 6},
    }
    for key, value in options.items():
        base[key] = base[key] | value if isinstance(value, dict) and key in base else value
    return base


def line_traces(lines: Sequence[Line], x: Sequence[float], ranges: Sequence[str], template: str) -> list[Json]:
    """Return traces of lines, after an invisible one whose hover text is the range of rows."""
    range_trace = {
        "type": "scatter",
        "mode": "lines",
        "x": rounded(list(x)),
        "y": [0.0] * len(x),
        "line": {"width": 0, "color": "--page"},
        "customdata": list(ranges),
        "hovertemplate": "%{customdata}<extra></extra>",
        "showlegend": False,
    }
    return [range_trace] + [
        {
            "type": "scatter",
            "name": escape_for_plotly(truncate(line.name, 40)),
            "x": rounded(list(x)),
            "y": rounded(line.values),
            "line": {"color": f"--{line.colour}", "width": line.width, "dash": line.dash},
            "hovertemplate": template,
            **_dots(line),
        }
        for line in lines
    ]


def _dots(line: Line) -> Json:
    """Return the dots of a line: for values without neighbours, which no line leads to."""
    is_known = np.concatenate([[False], np.isfinite(line.values), [False]])
    is_alone = is_known[1:-1] & ~is_known[:-2] & ~is_known[2:]
    if not is_alone.any():
        return {"mode": "lines"}
    return {
        "mode": "lines+markers",
        "marker": {"color": f"--{line.colour}", "size": np.where(is_alone, DOT_PIXELS, 0).tolist()},
    }


def value_range(values: Vector, number_format: str = ".1%") -> str:
    """Return the smallest and the largest of some values as text.

    Examples
    --------
    >>> value_range(np.array([0.1, np.nan, 0.25])), value_range(np.array([0.9, 1.35]), ".2f")
    ('between 10.0% and 25.0%', 'between 0.90 and 1.35')
    """
    return f"between {np.nanmin(values):{number_format}} and {np.nanmax(values):{number_format}}"


def point_text(windows: Sequence[WindowStats]) -> str:
    """Return a sentence that says how many rows a point of a chart is the mean over."""
    first, last = windows[0].n_rows, windows[-1].n_rows
    other = "" if last == first else f", the last over {'fewer' if last < first else 'more'}"
    return f"Each point is the mean over {format_count(first, 'row')}{other}."
