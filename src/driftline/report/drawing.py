"""Charts as data: what Plotly draws, with colours that the page names and its script looks up."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import accumulate
from typing import Any

import numpy as np

from driftline.evaluation import Change, Course, Stretch
from driftline.report.wording import counted, moment, shortened
from driftline.types import Vector

Json = dict[str, Any]

LEAST_ROWS, LEAST_POINTS, MOST_POINTS = 100, 20, 60
"""A point is the mean over 100 rows or more, so that chance hardly shows, if there are 20 points then; 60 at most."""
LABEL_GAP = 0.065
"""Of the height: how far the labels of two lines must be apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """What is drawn in one place of the page.

    Attributes
    ----------
    name
        Its place.
    alt
        What it shows, for those who do not see it.
    height
        In pixels.
    data, layout
        As Plotly has them. Where they name a colour, it is a custom property of the page, "--…".
    labels
        Annotations at the ends of lines; where there is no room for them, a legend is shown.
    narrow
        What the layout is on a narrow screen.
    is_square
        Whether it is as high as it is wide.
    """

    name: str
    alt: str
    height: int
    data: list[Json]
    layout: Json
    labels: list[Json] = field(default_factory=list)
    narrow: Json = field(default_factory=dict)
    is_square: bool = False

    def to_dict(self) -> Json:
        """Return what the script of the page needs."""
        return {
            "name": self.name,
            "data": self.data,
            "layout": self.layout | {"height": self.height},
            "labels": self.labels,
            "narrow": self.narrow,
            "isSquare": self.is_square,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line of a chart: its name, its colour, and a value for each window; NaN where there is none."""

    name: str
    colour: str
    values: Vector
    width: float = 2.0
    dash: str = "solid"


def points_of(course: Course) -> list[Stretch]:
    """Return windows long enough that their means say something, and few enough to draw."""
    return course.windows(int(np.clip(course.n_rows // LEAST_ROWS, LEAST_POINTS, MOST_POINTS)))


def ends_of(windows: Sequence[Stretch]) -> list[int]:
    """Return how many rows there are up to the end of each window."""
    return list(accumulate(window.n_rows for window in windows))


def middles_of(windows: Sequence[Stretch]) -> list[float]:
    """Return where windows are drawn."""
    return [end - window.n_rows / 2 for end, window in zip(ends_of(windows), windows, strict=True)]


def spans_of(windows: Sequence[Stretch]) -> list[str]:
    """Say which rows windows have, and until when."""
    return [
        f"rows {end - window.n_rows + 1:,}–{end:,}{_until(window)}"
        for end, window in zip(ends_of(windows), windows, strict=True)
    ]


def sums_until(windows: Sequence[Stretch]) -> list[str]:
    """Say up to which row sums over windows and all before them are, and until when."""
    return [f"sums up to row {end:,}{_until(window)}" for end, window in zip(ends_of(windows), windows, strict=True)]


def _until(window: Stretch) -> str:
    time = moment(window.end_time)
    return time and f", until {time}"


def means_of(windows: Sequence[Stretch], name: str) -> Vector:
    """Return the means over windows of what they hold sums of."""
    return np.array([getattr(window, name) / window.n_rows for window in windows])


def json_ready(values: Any) -> Any:
    """Return an array as lists, with None for what is no number, and no more digits than can be seen."""
    if isinstance(values, np.ndarray):
        return json_ready(values.tolist())
    if isinstance(values, list):
        return [json_ready(value) for value in values]
    if isinstance(values, float):
        return float(f"{values:.6g}") if np.isfinite(values) else None
    return values


def plain(text: str) -> str:
    """Return a text that Plotly, which knows some tags and takes what is between dollars for TeX, shows as it is."""
    return escape(text, quote=False).replace("$", "&#36;")


def layout(*, x_range: Sequence[float], y_range: Sequence[float], **more: Any) -> Json:
    """Return what the layouts of all charts have in common, and what this one adds."""
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
    for key, value in more.items():
        base[key] = base[key] | value if isinstance(value, dict) and key in base else value
    return base


def line_traces(lines: Sequence[Line], at: Sequence[float], spans: Sequence[str], value: str) -> list[Json]:
    """Return lines, and one that is not seen and says, where one points, which rows these are."""
    where = {
        "type": "scatter",
        "mode": "lines",
        "x": json_ready(list(at)),
        "y": [0.0] * len(at),
        "line": {"width": 0, "color": "--page"},
        "customdata": list(spans),
        "hovertemplate": "%{customdata}<extra></extra>",
        "showlegend": False,
    }
    return [where] + [
        {
            "type": "scatter",
            "mode": "lines" if len(at) > 1 else "markers",
            "name": plain(shortened(line.name, 40)),
            "x": json_ready(list(at)),
            "y": json_ready(line.values),
            "line": {"color": f"--{line.colour}", "width": line.width, "dash": line.dash},
            "marker": {"color": f"--{line.colour}"},
            "hovertemplate": value,
        }
        for line in lines
    ]


def end_labels(lines: Sequence[Line], top: float) -> list[Json]:
    """Return the names of lines beside their ends, apart from each other."""
    last = np.array([line.values[np.isfinite(line.values)][-1] for line in lines])
    places = apart(last / top, LABEL_GAP) * top
    return [end_label(line.name, line.colour, place) for line, place in zip(lines, places.tolist(), strict=True)]


def end_label(name: str, colour: str, place: float) -> Json:
    """Return a name beside the end of a line or an area."""
    return {
        "text": plain(shortened(name, 20)),
        "font": {"color": f"--{colour}-text"},
        "x": 1.0,
        "xref": "paper",
        "xanchor": "left",
        "xshift": 8,
        "y": place,
        "yanchor": "middle",
        "align": "left",
        "showarrow": False,
    }


def apart(places: Vector, gap: float) -> Vector:
    """Return places between 0 and 1 moved apart, in their order, as little as is simple.

    Examples
    --------
    >>> apart(np.array([0.5, 0.52, 0.1]), 0.1)
    array([0.5, 0.6, 0.1])
    """
    order = np.argsort(places, kind="stable")
    moved = places[order].astype(np.float64)
    for k in range(1, len(moved)):
        moved[k] = max(moved[k], moved[k - 1] + gap)
    ceiling = 1.0
    for k in range(len(moved) - 1, -1, -1):
        moved[k] = min(moved[k], ceiling)
        ceiling = moved[k] - gap
    result = np.empty_like(moved)
    result[order] = moved
    return result


def change_marks(changes: Sequence[Change]) -> Json:
    """Return the moments of change as vertical lines with the numbers that they have in the table."""
    shapes = [
        {
            "type": "line",
            "x0": change.row,
            "x1": change.row,
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "line": {"color": "--mark", "width": 1, "dash": "dot"},
        }
        for change in changes
    ]
    numbers = [
        {
            "text": str(k),
            "x": change.row,
            "yref": "paper",
            "y": 1,
            "yanchor": "bottom",
            "showarrow": False,
            "font": {"color": "--quiet", "size": 12},
        }
        for k, change in enumerate(changes, 1)
    ]
    return {"shapes": shapes, "annotations": numbers}


def between(values: Vector, number: str = ".1%") -> str:
    """Say between which values a line lies.

    Examples
    --------
    >>> between(np.array([0.1, np.nan, 0.25]))
    'between 10.0% and 25.0%'
    """
    return f"between {np.nanmin(values):{number}} and {np.nanmax(values):{number}}"


def each_point(windows: Sequence[Stretch]) -> str:
    """Say what a point stands for."""
    fewer = ", the last over fewer" if windows[-1].n_rows < windows[0].n_rows else ""
    return f"Each point is the mean over {counted(windows[0].n_rows, 'row')}{fewer}."
