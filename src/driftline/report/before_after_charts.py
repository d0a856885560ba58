"""Charts of the distribution of a column before and after a change."""

import numpy as np

from driftline.evaluation import Distribution, Timeline
from driftline.report.chart_elements import Chart, Json, chart_layout, escape_for_plotly, rounded
from driftline.report.formatting import format_count, format_pair, truncate
from driftline.report.moved_columns import MovedColumn, categories_beside
from driftline.types import Vector

N_BARS = 24
"""Bars of a histogram."""
MAX_SINGLE_VALUES = 12
"""A column with at most so many different values, or categories, has a pair of bars for each."""
OUTER_SHARE = 0.01
"""Share of the values at either end that a histogram leaves out."""
LOG_RATIO = 50.0
"""A column whose values are positive and differ by more than this factor has a logarithmic axis."""
MEDIAN = np.array([0.5])
ENDS = np.array([OUTER_SHARE, 1.0 - OUTER_SHARE])
COLOURS = {"before": "bound", "after": "error"}
HEIGHT = 230
Sides = dict[str, Distribution]


def needs_log_axis(both: Distribution) -> bool:
    """Return whether positive values differ by a large factor."""
    low, high = both.quantiles(ENDS)
    return not both.is_discrete and low > 0.0 and high > LOG_RATIO * low


def value_axis(values: Vector, *, is_log: bool) -> tuple[Json, list[float]]:
    """Return an axis of values, and its ends, which on a logarithmic axis are exponents."""
    if is_log:
        low, high = np.log10(values[values > 0.0].min()), np.log10(values.max())
        axis: Json = {"type": "log", "tickformat": ",.6~g", "dtick": 1 if high - low > 1.5 else "D2"}
    else:
        low, high, axis = values.min(), values.max(), {"tickformat": ",.4~g"}
    gap = 0.06 * (high - low) or 0.5
    return axis | {"nticks": 5}, [float(low - gap), float(high + gap)]


def before_after_chart(
    name: str, timeline: Timeline, moved: MovedColumn, before: Distribution, after: Distribution
) -> Chart:
    """Return the chart of a column, or of all categories of the categorical column that it belongs to."""
    sides, both = {"before": before, "after": after}, before + after
    beside = categories_beside(timeline, moved.column)
    x_axis: Json = {"type": "category", "tickformat": "", "tickmode": "linear", "dtick": 1, "automargin": True}
    if beside and both.is_discrete:
        traces, n_bars = _category_bars(timeline, moved, beside)
        x_ends = [-0.5, n_bars - 0.5]
    elif both.is_discrete and len(both.values) <= MAX_SINGLE_VALUES:
        shares = {side: _value_shares(values, both.values) for side, values in sides.items()}
        traces = _bars([f"{value:,.6g}" for value in both.values.tolist()], shares)
        x_ends = [-0.5, len(both.values) - 0.5]
    else:
        edges = _edges(both)
        traces = _histograms(sides, edges)
        x_axis, x_ends = value_axis(edges, is_log=needs_log_axis(both))
    top = max(1e-9, *(max(trace["y"]) for trace in traces))
    rows = format_count(moved.change.n_rows, "row")
    medians = format_pair(*(float(side.quantiles(MEDIAN)[0]) for side in sides.values()))
    title = f"{rows} before and after row {moved.change.row:,}"
    return Chart(
        name,
        f"Distribution of {moved.title(timeline)} in the {title}; the medians are {' and '.join(medians)}.",
        HEIGHT,
        traces,
        chart_layout(
            x_range=x_ends,
            y_range=[0, 1.08 * top],
            xaxis=x_axis | {"hoverformat": ",.4~g", "tickprefix": ""},
            yaxis={"tickformat": ".0%" if top > 0.05 else ".1%", "nticks": 4},
            margin={"t": 26},
            showlegend=True,
        ),
        title=f"Change {moved.number}: {title}",
        is_half=True,
    )


def _edges(both: Distribution) -> Vector:
    """Return the ends of the bars of a histogram."""
    low, high = both.quantiles(ENDS).tolist()
    if not high > low:
        low, high = low - 0.5, high + 0.5
    if both.is_discrete:
        step = float(np.diff(both.values).min())
        n_bars = max(round((high - low) / step) + 1, 1)
        width = step * -(-n_bars // N_BARS)
        return np.asarray(low - step / 2.0 + width * np.arange(N_BARS + 1))
    return np.geomspace(low, high, N_BARS + 1) if needs_log_axis(both) else np.linspace(low, high, N_BARS + 1)


def _histograms(sides: Sides, edges: Vector) -> list[Json]:
    """Return outlines of histograms, and their areas."""
    areas, outlines = [], []
    for name, values in sides.items():
        shares, colour = values.shares(edges), f"--{COLOURS[name]}"
        x, y = np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(shares, 2), [0.0]])
        base: Json = {"type": "scatter", "mode": "lines"}
        hidden = {"line": {"width": 0, "color": colour}, "hoverinfo": "skip", "showlegend": False}
        area = {"fill": "toself", "fillcolor": colour, "opacity": 0.25, "x": rounded(x), "y": rounded(y)}
        areas.append(base | hidden | area)
        line = {"color": colour, "width": 2, "shape": "hv"}
        outline = {"x": rounded(edges), "y": rounded(np.append(shares, shares[-1])), "line": line}
        outlines.append(base | outline | {"name": name, "hovertemplate": "%{y:.1%}"})
    return [*areas, *outlines]


def _value_shares(values: Distribution, all_values: Vector) -> Vector:
    """Return the share of each of some values."""
    shares = np.zeros(len(all_values))
    shares[np.searchsorted(all_values, values.values)] = values.numbers / values.total
    return shares


def _category_bars(timeline: Timeline, moved: MovedColumn, columns: list[int]) -> tuple[list[Json], int]:
    """Return bars for the most frequent categories of a categorical column, and their number."""
    found = {j: moved.sides(timeline, j) for j in columns}
    means = {j: [0.0 if side is None else side.mean for side in sides] for j, sides in found.items()}
    occurring = [j for j in columns if any(means[j])]
    shown = sorted(occurring, key=lambda j: -sum(means[j]))[:MAX_SINGLE_VALUES]
    names = [truncate(timeline.columns[j].partition("=")[2], 16) for j in shown]
    shares = {side: np.array([means[j][k] for j in shown]) for k, side in enumerate(COLOURS)}
    return _bars(names, shares), len(shown)


def _bars(names: list[str], shares: dict[str, Vector]) -> list[Json]:
    """Return a pair of bars for each name."""
    return [
        {
            "type": "bar",
            "name": side,
            "x": [escape_for_plotly(name) for name in names],
            "y": rounded(values),
            "marker": {"color": f"--{COLOURS[side]}"},
            "hovertemplate": "%{y:.1%}",
        }
        for side, values in shares.items()
    ]
