"""Charts of the columns that moved: their values over time, and their distributions before and after the change."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftline.evaluation import Change, ShiftKind, Timeline
from driftline.evaluation.change_series import MIN_VALUES
from driftline.evaluation.distribution import Distribution
from driftline.report.analysis import Analysis
from driftline.report.change_markers import change_markers
from driftline.report.chart_elements import (
    Chart,
    Json,
    chart_layout,
    rounded,
    row_ranges,
    window_centres,
    windows_with,
)
from driftline.report.formatting import format_count, format_pair, join_words, truncate, visible_text
from driftline.types import Flags, Vector

MAX_COLUMNS = 6
"""Columns that are shown, those of the strongest changes."""
MAX_NAMED_CLASSES = 3
N_BARS = 24
"""Bars of a histogram."""
MAX_SINGLE_VALUES = 12
"""A column with at most so many different values has a pair of bars for each."""
OUTER_SHARE = 0.01
"""Share of the values at either end that a histogram leaves out."""
LOG_RATIO = 50.0
"""A column whose values are positive and differ by more than this factor has a logarithmic axis."""
QUARTILES = np.array([0.25, 0.5, 0.75])
ENDS = np.array([OUTER_SHARE, 1.0 - OUTER_SHARE])
BEFORE, AFTER = "bound", "error"
"""The colours."""
KINDS = (ShiftKind.LOCATION, ShiftKind.SPREAD, ShiftKind.SHARE)
HEIGHT = 230


@dataclass(frozen=True, slots=True, eq=False)
class MovedColumn:
    """A column that moved at a change.

    Attributes
    ----------
    column
        Its position.
    labels
        Positions of the classes in which it moved.
    number, change
        The strongest change at which it moved, and its number in the table of changes.
    """

    column: int
    labels: list[int]
    number: int
    change: Change


def moved_columns(analysis: Analysis) -> list[MovedColumn]:
    """Return the columns that moved, those of the strongest changes first."""
    timeline = analysis.first.timeline
    moves: dict[str, tuple[int, Change]] = {}
    labels: dict[str, list[int]] = {}
    for number, change in sorted(enumerate(analysis.changes, 1), key=lambda each: -each[1].strength):
        for shift in change.shifts:
            if shift.kind in KINDS and shift.feature is not None:
                moves.setdefault(shift.feature, (number, change))
                labels.setdefault(shift.feature, []).append(timeline.classes.index(shift.label))
    return [MovedColumn(timeline.columns.index(name), sorted(set(labels[name])), *move) for name, move in moves.items()]


def distribution_charts(analysis: Analysis) -> list[Chart]:
    """Return two charts for each column that moved most: over time, and before and after its strongest change."""
    charts = []
    for k, moved in enumerate(moved_columns(analysis)[:MAX_COLUMNS]):
        before, after = _sides(analysis.first.timeline, moved)
        if before is not None and after is not None:
            is_log = _needs_log_axis(before, after)
            over_time = _over_time_chart(f"values-{k}", analysis, moved, is_log=is_log)
            charts += [
                over_time,
                _before_after_chart(f"distribution-{k}", analysis, moved, before, after, is_log=is_log),
            ]
    return charts


def _sides(timeline: Timeline, moved: MovedColumn) -> list[Distribution | None]:
    """Return the distributions before and after the change, among the rows that the change was found in."""
    row, n = moved.change.row, moved.change.n_rows
    parts = [(row - n, row), (row, min(row + n, timeline.n_rows))]
    return timeline.distributions(moved.column, moved.labels, parts)


def _needs_log_axis(before: Distribution, after: Distribution) -> bool:
    low, high = (before + after).quantiles(ENDS)
    return not (before.is_discrete and after.is_discrete) and low > 0.0 and high > LOG_RATIO * low


def _title(timeline: Timeline, moved: MovedColumn) -> str:
    """Return the name of the column, with the classes in which it moved unless it did in all."""
    name = truncate(visible_text(timeline.columns[moved.column]), 40)
    n = len(moved.labels)
    if n == len(timeline.classes):
        return name
    if n > MAX_NAMED_CLASSES:
        return f"{name} in {n} classes"
    labels = [truncate(visible_text(timeline.classes[c]), 25) for c in moved.labels]
    return f"{name} in {'class' if n == 1 else 'classes'} {join_words(labels)}"


# Over time --------------------------------------------------------------------------------------------


def _over_time_chart(name: str, analysis: Analysis, moved: MovedColumn, *, is_log: bool) -> Chart:
    """Return the chart of the median and the middle half of the values; of the mean, where there are few values."""
    timeline = analysis.first.timeline
    n_rows = sum(timeline.support[timeline.classes[c]] for c in moved.labels)
    windows = windows_with(timeline, n_rows)
    found = timeline.distributions(
        moved.column, moved.labels, [(each.first, each.first + each.n_rows) for each in windows]
    )
    known = [each if each is not None and each.total >= MIN_VALUES else None for each in found]
    is_discrete = all(each is None or each.is_discrete for each in known)
    low, middle, high = np.array([_middle(each, is_discrete=is_discrete) for each in known]).T
    x = np.array(window_centres(windows))
    noun = "mean" if is_discrete else "median"
    shown = np.concatenate([low, middle, high])
    y_axis, ends = _value_axis(shown[np.isfinite(shown)], is_log=is_log)
    title = _title(timeline, moved)
    return Chart(
        name,
        f"Line chart of the {noun} of {title} over the rows of the stream, with its changes.",
        HEIGHT,
        [*([] if is_discrete else [_band(x, low, high)]), _line(x, middle, row_ranges(windows), noun)],
        chart_layout(
            x_range=[0, timeline.n_rows],
            y_range=ends,
            yaxis=y_axis,
            margin={"l": 60, "t": 20},
            **change_markers(analysis.changes),
        ),
        narrow={"margin": {"l": 60}},
        title=f"{title}: {noun if is_discrete else 'median and middle half'}",
        is_half=True,
    )


def _middle(values: Distribution | None, *, is_discrete: bool) -> Vector:
    """Return the quartiles of values, or three times their mean; NaN if there are too few."""
    if values is None:
        return np.full(3, np.nan)
    return np.full(3, values.mean) if is_discrete else values.quantiles(QUARTILES)


def _value_axis(values: Vector, *, is_log: bool) -> tuple[Json, list[float]]:
    """Return an axis of values, and its ends, which on a logarithmic axis are exponents."""
    if is_log:
        low, high = np.log10(values[values > 0.0].min()), np.log10(values.max())
        axis: Json = {"type": "log", "tickformat": ",.6~g", "dtick": 1 if high - low > 1.5 else "D2"}
    else:
        low, high, axis = values.min(), values.max(), {"tickformat": ",.4~g"}
    gap = 0.06 * (high - low) or 0.5
    return axis | {"nticks": 5}, [float(low - gap), float(high + gap)]


def _band(x: Vector, low: Vector, high: Vector) -> Json:
    known: Flags = np.isfinite(low)
    x, low, high = x[known], low[known], high[known]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": rounded(np.concatenate([x, x[::-1]])),
        "y": rounded(np.concatenate([high, low[::-1]])),
        "fill": "toself",
        "fillcolor": "--bound",
        "opacity": 0.18,
        "line": {"width": 0, "color": "--bound"},
        "hoverinfo": "skip",
    }


def _line(x: Vector, values: Vector, ranges: Sequence[str], noun: str) -> Json:
    known: Flags = np.isfinite(values)
    return {
        "type": "scatter",
        "mode": "lines" if known.sum() > 1 else "markers",
        "x": rounded(x[known]),
        "y": rounded(values[known]),
        "line": {"color": "--bound", "width": 2},
        "marker": {"color": "--bound", "size": 6},
        "customdata": [text for text, is_known in zip(ranges, known.tolist(), strict=True) if is_known],
        "hovertemplate": f"{noun} %{{y:,.4~g}}, %{{customdata}}<extra></extra>",
    }


# Before and after -------------------------------------------------------------------------------------


def _before_after_chart(
    name: str, analysis: Analysis, moved: MovedColumn, before: Distribution, after: Distribution, *, is_log: bool
) -> Chart:
    title = _title(analysis.first.timeline, moved)
    sides = {"before": (before, BEFORE), "after": (after, AFTER)}
    both = before + after
    if both.is_discrete and len(both.values) <= MAX_SINGLE_VALUES:
        traces, top = _value_bars(sides, both.values)
        x_axis: Json = {"type": "category", "tickprefix": "", "tickformat": ""}
        x_ends = [-0.5, len(both.values) - 0.5]
    else:
        traces, top = _histograms(sides, _edges(both, is_log=is_log))
        x_axis, x_ends = _value_axis(_edges(both, is_log=is_log), is_log=is_log)
        x_axis |= {"tickprefix": ""}
    rows = format_count(moved.change.n_rows, "row")
    medians = format_pair(*(float(side.quantiles(QUARTILES)[1]) for side in (before, after)))
    return Chart(
        name,
        f"Distribution of {title} before and after row {moved.change.row:,}; the medians are {' and '.join(medians)}.",
        HEIGHT,
        traces,
        chart_layout(
            x_range=x_ends,
            y_range=[0, 1.08 * top],
            xaxis=x_axis | {"hoverformat": ",.4~g"},
            yaxis={"tickformat": ".0%" if top > 0.05 else ".1%", "nticks": 4},
            margin={"t": 26},
            hovermode="x unified",
            showlegend=True,
        ),
        title=f"Change {moved.number}: {rows} before and after row {moved.change.row:,}",
        is_half=True,
    )


def _edges(both: Distribution, *, is_log: bool) -> Vector:
    """Return the ends of the bars of a histogram."""
    low, high = both.quantiles(ENDS).tolist()
    if not high > low:
        low, high = low - 0.5, high + 0.5
    if both.is_discrete:
        step = float(np.diff(both.values).min())
        n_bars = max(round((high - low) / step) + 1, 1)
        width = step * -(-n_bars // N_BARS)
        return np.asarray(low - step / 2.0 + width * np.arange(N_BARS + 1))
    return np.geomspace(low, high, N_BARS + 1) if is_log else np.linspace(low, high, N_BARS + 1)


def _histograms(sides: dict[str, tuple[Distribution, str]], edges: Vector) -> tuple[list[Json], float]:
    """Return outlines of histograms, filled, and their largest height."""
    fills, outlines, heights = [], [], []
    for name, (values, colour) in sides.items():
        shares = values.shares(edges)
        heights.append(float(shares.max()))
        x, y = np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(shares, 2), [0.0]])
        shape: Json = {
            "type": "scatter",
            "mode": "lines",
            "fill": "toself",
            "fillcolor": f"--{colour}",
            "opacity": 0.25,
        }
        hidden = {"line": {"width": 0, "color": f"--{colour}"}, "hoverinfo": "skip", "showlegend": False}
        fills.append(shape | hidden | {"x": rounded(x), "y": rounded(y)})
        outlines.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": rounded(edges),
                "y": rounded(np.append(shares, shares[-1])),
                "line": {"color": f"--{colour}", "width": 2, "shape": "hv"},
                "hovertemplate": "%{y:.1%}",
            }
        )
    return [*fills, *outlines], max(*heights, 1e-9)


def _value_bars(sides: dict[str, tuple[Distribution, str]], all_values: Vector) -> tuple[list[Json], float]:
    """Return a bar for each value and side, and the largest height."""
    traces, heights = [], []
    for name, (values, colour) in sides.items():
        shares = np.zeros(len(all_values))
        shares[np.searchsorted(all_values, values.values)] = values.numbers / values.total
        heights.append(float(shares.max()))
        traces.append(
            {
                "type": "bar",
                "name": name,
                "x": [f"{value:,.6g}" for value in all_values.tolist()],
                "y": rounded(shares),
                "marker": {"color": f"--{colour}"},
                "hovertemplate": "%{y:.1%}",
            }
        )
    return traces, max(heights)
