"""The chart of costs over time, beside those of the plain predictions."""

import numpy as np

from driftline.report.analysis import Analysis, ReportEntry
from driftline.report.chart_elements import Chart, Line, chart_windows
from driftline.report.panels import Panel, panel_chart


def cost_chart(analysis: Analysis) -> Chart:
    """Return the chart of the mean cost of a row over time, and of the total up to each row."""
    entry = analysis.first
    windows = chart_windows(entry.timeline)
    sums = {
        "chosen by cost": np.array([window.cost for window in windows]),
        "plain": np.array([window.cost_without for window in windows]),
    }
    known = {name: values for name, values in sums.items() if not np.isnan(values).all()}
    rows = np.array([window.n_rows for window in windows])
    means = _lines(entry, {name: values / rows for name, values in known.items()})
    totals = _lines(entry, {name: np.cumsum(values) for name, values in known.items()})
    panels = [
        Panel("Mean cost of a row", means, ",.3g", "a row", _ends(means), ",.3~g"),
        Panel("Total cost so far", totals, ",.4g", "in total", _ends(totals), ",.3~s"),
    ]
    return panel_chart("cost", analysis, panels)


def _lines(entry: ReportEntry, values: dict[str, np.ndarray]) -> list[tuple[ReportEntry, Line]]:
    """Return the lines of what the predictions and the plain ones cost, the former in front."""
    named = {"chosen by cost": ("error", 2.5), "plain": ("c1", 1.5)}
    return [(entry, Line(name, named[name][0], each, named[name][1])) for name, each in values.items()]


def _ends(lines: list[tuple[ReportEntry, Line]]) -> tuple[float, float]:
    """Return the ends of an axis."""
    values = np.concatenate([line.values for _, line in lines])
    return min(0.0, float(np.nanmin(values))), 1.08 * max(float(np.nanmax(values)), 1e-9)
