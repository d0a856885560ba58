"""The drift heat map: how far the mean of each feature in each class moved over time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftline.evaluation import Timeline, WindowStats
from driftline.evaluation.change_series import MIN_VALUES
from driftline.report.chart_elements import (
    Chart,
    Json,
    chart_layout,
    escape_for_plotly,
    window_ends,
)
from driftline.report.formatting import format_pair, truncate, visible_text
from driftline.types import Vector
from driftline.utils.times import format_time

MAX_ROWS = 25
"""Rows of the heat map, each a feature in a class."""
MAX_WINDOWS, MIN_WINDOWS = 64, 8
MIN_FILLED_SHARE = 0.5
"""Share of the cells of a line that must have enough values; its windows are made longer until they have."""
WIDE_NAME_LENGTH, NARROW_NAME_LENGTH = 26, 13
"""Characters shown of a feature's name on a wide and on a narrow screen."""
COLOUR_BAR: Json = {
    "orientation": "h",
    "x": 0,
    "xanchor": "left",
    "y": 1,
    "yanchor": "bottom",
    "len": 240,
    "lenmode": "pixels",
    "thickness": 8,
    "outlinewidth": 0,
    "nticks": 5,
    "ticks": "",
    "tickfont": {"color": "--quiet", "size": 11},
    "title": {"text": "standard deviations", "side": "top", "font": {"color": "--quiet", "size": 11}},
}


@dataclass(frozen=True, slots=True, eq=False)
class MeanShift:
    """Distances of the mean of a feature in a class, in windows of the stream, from its mean over the whole stream.

    Attributes
    ----------
    feature, label
        Names of the feature and of the class.
    windows
        The windows, which are the cells of a line of the heat map.
    means : ndarray of shape (n_windows,)
        Mean in each window, in the units of the feature.
    overall : float
        Mean over the whole stream.
    shifts : ndarray of shape (n_windows,)
        Difference of the two in standard deviations; NaN where there are too few values.
    """

    feature: str
    label: str
    windows: list[WindowStats]
    means: Vector
    overall: float
    shifts: Vector


def mean_shifts(timeline: Timeline) -> list[MeanShift]:
    """Return how far feature means moved, the strongest drift first; nothing if they are not tracked, or none moved."""
    return [_mean_shift(timeline, label, column) for label, column in timeline.moving_columns(MAX_ROWS)]


def _mean_shift(timeline: Timeline, label: int, column: int) -> MeanShift:
    windows = _windows(timeline, label, column)
    means = timeline.means(windows)[:, label, column]
    known = timeline.column_sums(windows)[1][:, label, column]
    overall = float(timeline.means(timeline.windows(1))[0, label, column])
    with np.errstate(invalid="ignore", divide="ignore"):
        shifts = (means - overall) / timeline.deviations()[label, column]
    return MeanShift(
        visible_text(timeline.columns[column]),
        visible_text(timeline.classes[label]),
        windows,
        means,
        overall,
        np.where((known >= MIN_VALUES) & np.isfinite(shifts), shifts, np.nan),
    )


def _windows(timeline: Timeline, label: int, column: int) -> list[WindowStats]:
    """Return the shortest windows with which enough cells have enough values: a rare class needs long ones."""
    most = MAX_WINDOWS
    while True:
        windows = timeline.windows(most)
        known = timeline.column_sums(windows)[1][:, label, column]
        if most <= MIN_WINDOWS or np.mean(known >= MIN_VALUES) >= MIN_FILLED_SHARE:
            return windows
        most //= 2


def drift_chart(lines: Sequence[MeanShift]) -> Chart:
    """Return the drift heat map."""
    n, first = len(lines), lines[0]
    wide_ticks, narrow_ticks = (_ticks(lines, length) for length in (WIDE_NAME_LENGTH, NARROW_NAME_LENGTH))
    return Chart(
        "drift",
        f"Heat map of the means of {n} pairs of feature and class over the rows of the stream. The strongest drift is "
        f"that of {first.feature} in class {first.label}.",
        110 + 22 * n,
        _cells(lines),
        chart_layout(
            x_range=[0, window_ends(first.windows)[-1]],
            y_range=[n - 0.5, -0.5],
            yaxis={"tickvals": list(range(n)), "ticktext": wide_ticks, "showgrid": False},
            hovermode="closest",
            barmode="overlay",
            margin={"l": _tick_pixels(lines, WIDE_NAME_LENGTH, 7.6), "t": 50},
        ),
        narrow={
            "xaxis": {"nticks": 3},
            "yaxis": {"ticktext": narrow_ticks, "tickfont": {"size": 11}},
            "margin": {"l": _tick_pixels(lines, NARROW_NAME_LENGTH, 6.6)},
        },
    )


def _cells(lines: Sequence[MeanShift]) -> list[Json]:
    """Return the cells as bars, because the small bundle of Plotly has no heat maps; unknown ones are left out.

    There is a trace for each line, so that the name of a feature is written only once. A line without cells has none.
    """
    limit = _colour_limit(np.concatenate([line.shifts for line in lines]))
    colours = {"cmin": -limit, "cmax": limit, "colorscale": [[k / 4, f"--drift{k + 1}"] for k in range(5)]}
    traces: list[Json] = []
    for k, line in enumerate(lines):
        known = np.flatnonzero(np.isfinite(line.shifts)).tolist()
        if not known:
            continue
        ends, times = window_ends(line.windows), [format_time(window.end_time) for window in line.windows]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "base": [ends[t] - line.windows[t].n_rows for t in known],
                "x": [line.windows[t].n_rows for t in known],
                "y": [k] * len(known),
                "width": 0.94,
                "marker": colours
                | {"color": line.shifts[known].round(2).tolist(), "line": {"width": 0}}
                | ({"showscale": False} if traces else {"colorbar": COLOUR_BAR, "showscale": True}),
                "customdata": [
                    [format_pair(line.means[t], line.overall)[0], *([times[t]] * any(times))] for t in known
                ],
                "hovertemplate": _hover_text(line, has_times=any(times)),
            }
        )
    return traces


def _hover_text(line: MeanShift, *, has_times: bool) -> str:
    """Return the text that is shown when the mouse points at a cell of a line."""
    feature, label = map(escape_for_plotly, (line.feature, line.label))
    rows = "after row %{base:,}, up to row %{x:,}" + (", until %{customdata[1]}" if has_times else "")
    return (
        f"<b>{feature}</b> in class {label}<br>{rows}<br>mean %{{customdata[0]}}, overall {line.overall:,.6g}<br>"
        "%{marker.color} standard deviations<extra></extra>"
    )


def _tick(line: MeanShift, max_length: int) -> str:
    return f"{truncate(line.feature, max_length)} · {truncate(line.label, max_length // 2)}"


def _ticks(lines: Sequence[MeanShift], max_length: int) -> list[str]:
    return [escape_for_plotly(_tick(line, max_length)) for line in lines]


def _tick_pixels(lines: Sequence[MeanShift], max_length: int, width: float) -> int:
    """Return the width of the longest tick, given the width of a character in pixels."""
    return 12 + round(width * max(len(_tick(line, max_length)) for line in lines))


def _colour_limit(shifts: Vector) -> float:
    """Return the shift at which the colour scale ends: the 99th percentile, robust to outliers."""
    sizes = np.abs(shifts[np.isfinite(shifts)])
    return max(float(np.quantile(sizes, 0.99)), 0.1) if sizes.size else 1.0
