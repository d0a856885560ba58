"""Charts of the columns that moved: their values over time, and their distributions before and after the change."""

from collections.abc import Sequence

import numpy as np

from driftline.evaluation import Distribution
from driftline.evaluation.change_series import MIN_VALUES
from driftline.report.analysis import Analysis
from driftline.report.before_after_charts import HEIGHT, before_after_chart, needs_log_axis, value_axis
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
from driftline.report.moved_columns import MovedColumn, categories_beside, moved_columns
from driftline.types import Flags, Vector

MAX_COLUMNS = 6
"""Columns that are shown, those of the strongest changes."""
QUARTILES = np.array([0.25, 0.5, 0.75])


def distribution_charts(analysis: Analysis) -> list[Chart]:
    """Return two charts for each column that moved most: over time, and before and after its strongest change."""
    timeline, charts = analysis.first.timeline, []
    for k, moved in enumerate(moved_columns(analysis)[:MAX_COLUMNS]):
        before, after = moved.sides(timeline, moved.column)
        if before is not None and after is not None:
            is_log = needs_log_axis(before + after)
            charts.append(_over_time_chart(f"values-{k}", analysis, moved, is_log=is_log))
            charts.append(before_after_chart(f"distribution-{k}", timeline, moved, before, after))
    return charts


def _over_time_chart(name: str, analysis: Analysis, moved: MovedColumn, *, is_log: bool) -> Chart:
    """Return the chart of the median and the middle half of the values; of the mean, where there are few values."""
    timeline = analysis.first.timeline
    n_rows = sum(timeline.support[timeline.classes[c]] for c in moved.labels)
    windows = windows_with(timeline, n_rows)
    found = timeline.distributions(
        moved.column, moved.labels, [(each.first, each.first + each.n_rows) for each in windows]
    )
    totals = [0.0 if each is None else each.total for each in found]
    least = min(MIN_VALUES, max(totals))
    known = [each if total >= least else None for each, total in zip(found, totals, strict=True)]
    is_discrete = all(each is None or each.is_discrete for each in known)
    low, middle, high = np.array([_middle(each, is_discrete=is_discrete) for each in known]).T
    x = np.array(window_centres(windows))
    is_category = bool(is_discrete and categories_beside(timeline, moved.column))
    noun = "share" if is_category else "mean" if is_discrete else "median"
    shown = np.concatenate([low, middle, high])
    y_axis, ends = value_axis(shown[np.isfinite(shown)], is_log=is_log)
    title = moved.title(timeline)
    return Chart(
        name,
        f"Line chart of the {noun} of {title} over the rows of the stream, with its changes.",
        HEIGHT,
        [
            *([] if is_discrete else [_band(x, low, high)]),
            _line(x, middle, row_ranges(windows), noun, ".1%" if is_category else ",.4~g"),
        ],
        chart_layout(
            x_range=[0, timeline.n_rows],
            y_range=ends,
            yaxis=y_axis | ({"tickformat": ".0%"} if is_category else {}),
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


def _line(x: Vector, values: Vector, ranges: Sequence[str], noun: str, number_format: str) -> Json:
    known: Flags = np.isfinite(values)
    return {
        "type": "scatter",
        "mode": "lines" if known.sum() > 1 else "markers",
        "x": rounded(x[known]),
        "y": rounded(values[known]),
        "line": {"color": "--bound", "width": 2},
        "marker": {"color": "--bound", "size": 6},
        "customdata": [text for text, is_known in zip(ranges, known.tolist(), strict=True) if is_known],
        "hovertemplate": f"{noun} %{{y:{number_format}}}, %{{customdata}}<extra></extra>",
    }
