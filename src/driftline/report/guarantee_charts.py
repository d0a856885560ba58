"""The charts of what was answered, and of the sets of labels, over time."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np

from driftline.evaluation import WindowStats
from driftline.evaluation.summary_table import format_level
from driftline.report.analysis import Analysis, ReportEntry
from driftline.report.chart_elements import Chart, Line, chart_windows, classifier_line, percent_format
from driftline.report.panels import Panel, panel_chart
from driftline.types import Vector

HEADROOM = 1.15
"""How much longer an axis is than the largest value on it."""
MIN_ANSWERS = 8
"""The share of wrong answers is not shown for fewer answers: it would be noise."""

Figure = Callable[[WindowStats], float | None]
EntryLines = list[tuple[ReportEntry, Line]]


def guaranteed_entries(analysis: Analysis) -> list[ReportEntry]:
    """Return the classifiers of which there is something to show: those for which something was said of a row."""
    return [entry for entry in analysis.entries if entry.summary.answered is not None]


def answers_chart(analysis: Analysis) -> Chart:
    """Return the chart of the share of rows answered, and of the share of wrong answers."""
    entries = guaranteed_entries(analysis)
    shares = _classifier_lines(analysis, lambda window: window.answered_share)
    errors = _lines_so_far(analysis, lambda window: window.answered_error if window.answered >= MIN_ANSWERS else None)
    levels = _level_lines([entry.summary.error_level for entry in entries], "allowed")
    top = _top([*_only_lines(errors), *levels])
    several = len(entries) > 1
    panels = [
        Panel("Share of rows answered", shares, ".1%", "answered", (0.0, 1.04), ".0%", has_names=several),
        Panel("Share of wrong answers", errors, ".1%", "wrong", (0.0, top), percent_format(top), levels),
    ]
    return panel_chart("answers", analysis, panels)


def sets_chart(analysis: Analysis) -> Chart:
    """Return the chart of the mean size of sets, and of the share of sets that contain the true label."""
    entries = guaranteed_entries(analysis)
    sizes = _classifier_lines(analysis, lambda window: window.set_size)
    covered = _lines_so_far(analysis, lambda window: window.set_coverage)
    levels = _level_lines([entry.summary.coverage_level for entry in entries], "asked for")
    lowest = min(float(np.nanmin(line.values)) for line in [*_only_lines(covered), *levels])
    bottom = max(0.0, 1.0 - HEADROOM * (1.0 - lowest))
    ends = bottom, 1.0 + 0.04 * (1.0 - bottom)
    most, several = _top(_only_lines(sizes)), len(entries) > 1
    title, tick_format = "Share of sets that contain the true label", percent_format(1.0 - bottom)
    panels = [
        Panel("Labels in a set, on average", sizes, ".2f", "labels", (0.0, most), ".1~f", has_names=several),
        Panel(title, covered, ".1%", "contain it", ends, tick_format, levels),
    ]
    return panel_chart("sets", analysis, panels)


def _lines_so_far(analysis: Analysis, figure: Figure) -> EntryLines:
    """Return a figure of all rows up to the end of each window; for a single classifier that of each window, too.

    Lines without any value are left out.
    """
    lines = _classifier_lines(analysis, figure, sums=accumulate)
    if len(lines) == 1:
        ((entry, so_far),) = lines
        each = Line("each point", "c3", _values(chart_windows(entry.timeline), figure), width=1.5)
        lines = [(entry, replace(so_far, name="all so far")), (entry, each)]
    return [(entry, line) for entry, line in lines if np.isfinite(line.values).any()]


def _classifier_lines(
    analysis: Analysis, figure: Figure, sums: Callable[[list[WindowStats]], Iterable[WindowStats]] = iter
) -> EntryLines:
    """Return a figure of each window, or of sums of windows, for each classifier."""
    shown = guaranteed_entries(analysis)
    return [
        (entry, classifier_line(k, entry.name, _values(sums(chart_windows(entry.timeline)), figure)))
        for k, entry in enumerate(analysis.entries)
        if entry in shown
    ]


def _values(windows: Iterable[WindowStats], figure: Figure) -> Vector:
    """Return a figure of each window, NaN where there is none."""
    return np.array([np.nan if (value := figure(window)) is None else value for window in windows])


def _level_lines(levels: Sequence[Any], verb: str) -> list[Line]:
    """Return the different levels; one that differs between labels is not a line, and left out."""
    numbers = dict.fromkeys(level for level in levels if not isinstance(level, dict))
    return [Line(f"{format_level(level)} {verb}", "level", np.array([level]), 1.5, "dash") for level in numbers]


def _only_lines(lines: EntryLines) -> list[Line]:
    return [line for _, line in lines]


def _top(lines: Sequence[Line]) -> float:
    """Return the end of an axis."""
    return HEADROOM * max([0.01, *(float(np.nanmax(line.values)) for line in lines)])
