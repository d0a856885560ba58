"""Entries of a report with random predictions, so that no classifier has to run."""

from dataclasses import replace

import numpy as np

from driftline.evaluation import Timeline
from driftline.evaluation.class_figures import class_summary
from driftline.evaluation.guarantee_record import StatedRows
from driftline.evaluation.summary import RunningTotals
from driftline.guarantees import error_interval
from driftline.report import ReportEntry
from driftline.types import Block, Predictions, Status
from helpers.predictions import predictions_with_bounds

BLOCK = 4096


def entry(
    n=600,
    *,
    name="amrc",
    stream="sensors",
    labels=("ham", "spam"),
    columns=("heat", "wind", "rain"),
    change_at=None,
    error=0.2,
    has_bound=True,
    n_void=0,
    start_time=None,
    window=100,
    late=False,
    n_skipped=0,
    n_unlearned=0,
    finished=True,
    seed=0,
    answered=None,
    error_level=0.05,
    alarms=(),
    bound_gap=0.1,
    row_bound_gap=None,
    positive=None,
    missing_from=None,
    has_costs=False,
):
    """Return an entry whose timeline and summary come from the same random predictions.

    At `change_at`, if it is given, the first column moves by three standard deviations. Nothing is said of any row
    unless `answered`, the share of rows that are answered, is given. Bounds are about `bound_gap` above the error,
    and bounds per row `row_bound_gap` above them. There are figures by class only with a `positive` class. From the row
    `missing_from` on, nine of ten values of the second column are missing. A wrong prediction costs 1, and a plain one
    would have cost 2.
    """
    rng = np.random.default_rng(seed)
    timeline, totals, stated = Timeline(list(columns)), RunningTotals(window), []
    for first in range(0, n, BLOCK):
        rows = np.arange(first, min(first + BLOCK, n))
        places = rng.integers(len(labels), size=len(rows))
        values = rng.normal(size=(len(rows), len(columns)))
        if change_at is not None:
            values[rows >= change_at, 0] += 3.0
        if missing_from is not None:
            values[(rows >= missing_from) & (rows % 10 > 0), 1] = np.nan
        times = np.full(len(rows), np.nan) if start_time is None else start_time + 3600.0 * rows
        block = Block(values, np.array(labels, dtype=object)[places], times)
        predictions = _predictions(rng, block, labels, places, error, has_bound, bound_gap)
        if row_bound_gap is not None:
            predictions = replace(predictions, bounds=predictions.charges + row_bound_gap)
        predictions.statuses[rows < n_void] = Status.EMPTY
        stated.append(_stated(rng, len(rows), len(labels), answered))
        costs = np.outer(predictions.predicted != block.labels, [1.0, 2.0]) if has_costs else None
        timeline.add(block, predictions, stated[-1], np.array([*labels, None], dtype=object)[:-1], costs)
        totals.add(block.labels, predictions)
    totals.seconds = n / 1000.0
    summary = totals.summary(
        stream, type(timeline).__name__, 0.05, n_unlearned=n_unlearned, n_skipped=n_skipped, bounds_are_late=late
    )
    (total,) = timeline.windows(1)
    if positive is not None:
        by_class = class_summary(timeline.measured(total, positive), timeline.classes)
        summary = replace(summary, **by_class, positive=positive)
    if has_costs:
        summary = replace(summary, cost=total.cost, cost_without=total.cost_without)
    if answered is not None:
        figures = _figures(StatedRows.concatenate(stated), timeline, error_level)
        summary = replace(summary, **figures, alarms=tuple(alarms), n_alarms=len(alarms))
    return ReportEntry(name, summary, timeline, finished)


def _stated(rng, n, n_classes, answered):
    rows = StatedRows.nothing(n)
    if answered is None:
        return rows
    return replace(
        rows,
        is_stated=np.ones(n, bool),
        is_answered=rng.random(n) < answered,
        set_sizes=rng.integers(n_classes + 1, size=n),
        is_covered=rng.random(n) < 0.9,
    )


def _figures(stated, timeline, error_level):
    """Return the figures of a summary about what was said of all rows."""
    (total,) = timeline.windows(1)
    interval = error_interval(total.n_rows, int(total.mistakes))
    return {
        "error_interval": (interval.low, interval.high),
        "interval_delta": interval.delta,
        "error_level": error_level,
        "answered": stated.is_answered.mean(),
        "answered_error": total.answered_error,
        "n_tried": 0,
        "coverage_level": 0.9,
        "set_coverage": stated.is_covered.mean(),
        "set_size": stated.set_sizes.mean(),
    }


def _predictions(rng, block, labels, places, error, has_bound, bound_gap):
    n = len(places)
    is_wrong = rng.random(n) < error
    predicted = np.array(labels, dtype=object)[(places + is_wrong) % len(labels)]
    predictions = Predictions.without_bounds(predicted, block.labels, np.zeros(n), np.zeros(n))
    if has_bound:
        label_probabilities = 1.0 - error - 0.1 * rng.random(n)
        bounds, charges = (error + least + 0.1 * rng.random(n) for least in (2 * bound_gap, bound_gap))
        predictions = predictions_with_bounds(predicted, label_probabilities, bounds, charges=charges)
        others = (1.0 - label_probabilities) / max(len(labels) - 1, 1)
        h = np.repeat(others[:, np.newaxis], len(labels), axis=1)
        h[np.arange(n), places] = label_probabilities
        predictions = replace(predictions, probabilities=h)
    return predictions


def series(chart, axis="y"):
    """Return the values of the lines of a chart by name; a chart of two panels has the axes "y" and "y2"."""
    return {
        trace["name"]: np.array(trace["y"], float)
        for trace in chart.data
        if "name" in trace and trace.get("yaxis", "y") == axis
    }


def rows_of(windows):
    """Return the number of rows of each window."""
    return np.array([window.n_rows for window in windows])
