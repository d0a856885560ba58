"""Entries of a report with random predictions, so that no classifier has to run."""

import numpy as np

from driftline.evaluation import Timeline
from driftline.evaluation.summary import RunningTotals
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
):
    """Return an entry whose timeline and summary come from the same random predictions.

    At `change_at`, if it is given, the first column moves by three standard deviations.
    """
    rng = np.random.default_rng(seed)
    timeline, totals = Timeline(list(columns)), RunningTotals(window)
    for first in range(0, n, BLOCK):
        rows = np.arange(first, min(first + BLOCK, n))
        places = rng.integers(len(labels), size=len(rows))
        values = rng.normal(size=(len(rows), len(columns)))
        if change_at is not None:
            values[rows >= change_at, 0] += 3.0
        times = np.full(len(rows), np.nan) if start_time is None else start_time + 3600.0 * rows
        block = Block(values, np.array(labels, dtype=object)[places], times)
        predictions = _predictions(rng, block, labels, places, error, has_bound)
        predictions.statuses[rows < n_void] = Status.EMPTY
        timeline.add(block, predictions)
        totals.add(block.labels, predictions)
    totals.seconds = n / 1000.0
    summary = totals.summary(
        stream, type(timeline).__name__, 0.05, n_unlearned=n_unlearned, n_skipped=n_skipped, bounds_are_late=late
    )
    return ReportEntry(name, summary, timeline, finished)


def _predictions(rng, block, labels, places, error, has_bound):
    n = len(places)
    is_wrong = rng.random(n) < error
    predicted = np.array(labels, dtype=object)[(places + is_wrong) % len(labels)]
    predictions = Predictions.without_bounds(predicted, block.labels, np.zeros(n), np.zeros(n))
    if has_bound:
        label_probabilities = 1.0 - error - 0.1 * rng.random(n)
        bounds, charges = (error + least + 0.1 * rng.random(n) for least in (0.2, 0.1))
        predictions = predictions_with_bounds(predicted, label_probabilities, bounds, charges=charges)
    return predictions
