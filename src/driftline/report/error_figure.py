"""The chart of the error over time as a figure of matplotlib, for scripts and notebooks."""

from typing import Any

from driftline.report.analysis import ReportEntry, analyse
from driftline.report.chart_elements import chart_windows, window_centres
from driftline.report.error_chart import axis_top, error_lines, limits_band, window_limits
from driftline.report.formatting import truncate
from driftline.utils.extras import import_matplotlib
from driftline.utils.terminal import visible

COLOURS = {"error": "#d55e00", "expected": "#cc79a7", "bound": "#0072b2", "row-bound": "#56b4e9"}
"""Colours of the lines, by the names that the page has for them."""
STYLES = {"solid": "-", "dot": ":"}


def draw_error(entry: ReportEntry) -> Any:
    """Draw the error of an evaluation over time, with its limits and bounds, and with changes and alarms.

    Parameters
    ----------
    entry : ReportEntry
        The evaluation.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; its numbers are those of the chart of the error in the page of a report.

    Examples
    --------
    >>> from driftline.evaluation import evaluate
    >>> from driftline.registry import create
    >>> from driftline.streams import ArrayStream, RotatingGaussians
    >>> stream = ArrayStream(*RotatingGaussians().sample(400, seed=0))
    >>> run = evaluate(create("majority"), stream, progress=False)
    >>> figure = draw_error(ReportEntry("majority", run.summary, run.timeline, run.finished))
    >>> figure.axes[0].get_title(loc="left")
    'majority on arrays'
    """
    matplotlib = import_matplotlib()
    from matplotlib import pyplot  # noqa: PLC0415  # an extra, and it chooses a backend

    figure, axes = pyplot.subplots(figsize=(8.0, 3.4), layout="constrained")
    _draw_lines(axes, entry)
    _draw_marks(axes, entry)
    axes.set_title(
        visible(f"{entry.name} on {truncate(entry.summary.stream, 60)}"), loc="left", pad=18, parse_math=False
    )
    axes.set_xlabel("row")
    axes.xaxis.set_major_formatter(matplotlib.ticker.StrMethodFormatter("{x:,.0f}"))
    axes.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1.0))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    if matplotlib.get_backend().endswith("inline"):
        pyplot.close(figure)  # a notebook shows what a cell returns, and would show an open figure once more
    return figure


def _draw_lines(axes: Any, entry: ReportEntry) -> None:
    """Draw the error, the bounds, and the area between the limits."""
    windows = chart_windows(entry.timeline)
    lines, limits = error_lines(entry), window_limits(windows, entry.summary.interval_delta)
    if limits:
        axes.fill_between(
            *limits_band(limits, windows), color=COLOURS["error"], alpha=0.15, linewidth=0, label="limits of the error"
        )
    for line in lines:
        colour, style = COLOURS[line.colour], STYLES[line.dash]
        marker = "o" if len(windows) == 1 else None
        axes.plot(
            window_centres(windows), line.values, color=colour, linestyle=style, linewidth=line.width, label=line.name,
            marker=marker,
        )  # fmt: skip
    axes.set_xlim(0, entry.timeline.n_rows)
    axes.set_ylim(0, axis_top(lines, limits))


def _draw_marks(axes: Any, entry: ReportEntry) -> None:
    """Draw a vertical line for each change, with its number in the report, and a triangle for each alarm."""
    for number, change in enumerate(analyse([entry]).changes, 1):
        axes.axvline(change.row, color="0.6", linestyle=":", linewidth=1.0, zorder=0)
        axes.annotate(
            str(number), (change.row, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 1),
            textcoords="offset points", ha="center", va="bottom", fontsize="small", color="0.4",
        )  # fmt: skip
    alarms = [alarm.raised_at for alarm in entry.summary.alarms]
    if alarms:
        axes.plot(alarms, [0.0] * len(alarms), "^", color="black", markersize=9, clip_on=False, label="alarm")
