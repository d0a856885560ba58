"""The drift heat map: how far the mean of each feature in each class moved over time."""

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
from driftline.types import Labels, Matrix, Vector
from driftline.utils.times import format_time

MAX_ROWS = 25
"""Rows of the heat map, each a feature in a class."""
MAX_WINDOWS, MIN_WINDOWS = 64, 8
MIN_FILLED_SHARE = 0.5
"""Share of the cells that must have enough values; windows are made longer until they have."""
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
class MeanShifts:
    """Distances of feature means in windows from their means over the whole stream, for each class.

    Attributes
    ----------
    names
        Feature and class of each row of the heat map, the strongest drift first.
    windows
        The windows, which are the columns of the heat map.
    means : ndarray of shape (n_names, n_windows)
        Mean in each window, in the units of the feature.
    overall : ndarray of shape (n_names,)
        Mean over the whole stream.
    shifts : ndarray of shape (n_names, n_windows)
        Difference of the two in standard deviations; NaN where there are too few values.
    """

    names: list[tuple[str, str]]
    windows: list[WindowStats]
    means: Matrix
    overall: Vector
    shifts: Matrix


def mean_shifts(timeline: Timeline) -> MeanShifts | None:
    """Return how far feature means moved; None if they are not tracked, or none moved."""
    pairs = timeline.moving_columns(MAX_ROWS)
    if not pairs:
        return None
    labels, columns = np.array(pairs).T
    windows = _windows(timeline, labels, columns)
    means = timeline.means(windows)[:, labels, columns].T
    known = timeline.column_sums(windows)[1][:, labels, columns].T
    overall = timeline.means(timeline.windows(1))[0, labels, columns]
    with np.errstate(invalid="ignore", divide="ignore"):
        shifts = (means - overall[:, np.newaxis]) / timeline.deviations()[labels, columns][:, np.newaxis]
    return MeanShifts(
        [(visible_text(timeline.columns[column]), visible_text(timeline.classes[label])) for label, column in pairs],
        windows,
        means,
        overall,
        np.where((known >= MIN_VALUES) & np.isfinite(shifts), shifts, np.nan),
    )


def _windows(timeline: Timeline, labels: Labels, columns: Labels) -> list[WindowStats]:
    """Return the shortest windows with which enough cells have enough values."""
    most = MAX_WINDOWS
    while True:
        windows = timeline.windows(most)
        known = timeline.column_sums(windows)[1][:, labels, columns]
        if most <= MIN_WINDOWS or np.mean(known >= MIN_VALUES) >= MIN_FILLED_SHARE:
            return windows
        most //= 2


def drift_chart(drift: MeanShifts) -> Chart:
    """Return the drift heat map."""
    n = len(drift.names)
    wide_ticks, narrow_ticks = (_ticks(drift.names, length) for length in (WIDE_NAME_LENGTH, NARROW_NAME_LENGTH))
    feature, label = drift.names[0]
    return Chart(
        "drift",
        f"Heat map of the means of {n} pairs of feature and class over the rows of the stream. The strongest drift is "
        f"that of {feature} in class {label}.",
        110 + 22 * n,
        _cells(drift),
        chart_layout(
            x_range=[0, window_ends(drift.windows)[-1]],
            y_range=[n - 0.5, -0.5],
            yaxis={"tickvals": list(range(n)), "ticktext": wide_ticks, "showgrid": False},
            hovermode="closest",
            barmode="overlay",
            margin={"l": _tick_pixels(drift.names, WIDE_NAME_LENGTH, 7.6), "t": 50},
        ),
        narrow={
            "xaxis": {"nticks": 3},
            "yaxis": {"ticktext": narrow_ticks, "tickfont": {"size": 11}},
            "margin": {"l": _tick_pixels(drift.names, NARROW_NAME_LENGTH, 6.6)},
        },
    )


def _cells(drift: MeanShifts) -> list[Json]:
    """Return the cells as bars, because the small bundle of Plotly has no heat maps; unknown ones are left out.

    There is a trace for each line, so that the name of a feature is written only once.
    """
    limit, ends = _colour_limit(drift.shifts), window_ends(drift.windows)
    colours = {"cmin": -limit, "cmax": limit, "colorscale": [[k / 4, f"--drift{k + 1}"] for k in range(5)]}
    times = [format_time(window.end_time) for window in drift.windows]
    traces: list[Json] = []
    for k, names in enumerate(drift.names):
        known = np.flatnonzero(np.isfinite(drift.shifts[k])).tolist()
        overall = float(drift.overall[k])
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "base": [ends[t] - drift.windows[t].n_rows for t in known],
                "x": [drift.windows[t].n_rows for t in known],
                "y": [k] * len(known),
                "width": 0.94,
                "marker": colours
                | {"color": drift.shifts[k, known].round(2).tolist(), "line": {"width": 0}}
                | ({"colorbar": COLOUR_BAR, "showscale": True} if not k else {"showscale": False}),
                "customdata": [[format_pair(drift.means[k, t], overall)[0], *([times[t]] * any(times))] for t in known],
                "hovertemplate": _hover_text(names, overall, has_times=any(times)),
            }
        )
    return traces


def _hover_text(names: tuple[str, str], overall: float, *, has_times: bool) -> str:
    """Return the text that is shown when the mouse points at a cell of a line."""
    feature, label = map(escape_for_plotly, names)
    rows = "after row %{base:,}, up to row %{x:,}" + (", until %{customdata[1]}" if has_times else "")
    return (
        f"<b>{feature}</b> in class {label}<br>{rows}<br>mean %{{customdata[0]}}, overall {overall:,.6g}<br>"
        "%{marker.color} standard deviations<extra></extra>"
    )


def _tick(names: tuple[str, str], max_length: int) -> str:
    feature, label = names
    return f"{truncate(feature, max_length)} · {truncate(label, max_length // 2)}"


def _ticks(names: list[tuple[str, str]], max_length: int) -> list[str]:
    return [escape_for_plotly(_tick(each, max_length)) for each in names]


def _tick_pixels(names: list[tuple[str, str]], max_length: int, width: float) -> int:
    """Return the width of the longest tick, given the width of a character in pixels."""
    return 12 + round(width * max(len(_tick(each, max_length)) for each in names))


def _colour_limit(shifts: Matrix) -> float:
    """Return the shift at which the colour scale ends: the 99th percentile, robust to outliers."""
    sizes = np.abs(shifts[np.isfinite(shifts)])
    return max(float(np.quantile(sizes, 0.99)), 0.1) if sizes.size else 1.0
