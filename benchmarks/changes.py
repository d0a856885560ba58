"""How often changes are reported where there are none, and which changes are found.

    python benchmarks/changes.py [--streams N] [--processes N] [--checkpoint FILE] [--write]

All streams have four columns and two classes. A change is found if one is reported near its row. There are fewer
streams of the kinds about which less is promised.
"""

import argparse
import json
import os
from functools import partial
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from rich.progress import track

from change_streams import LEFT_OUT, NOT_SEEN_TO_RETURN, WITH_CHANGE, WITHOUT_CHANGE
from driftline.evaluation.change_watch import ChangeWatch
from driftline.evaluation.timeline import Timeline
from driftline.types import Block, Predictions
from provenance import write_results

NEAR = 0.1
"""A change counts as found if it is reported within this share of the rows."""
MANY = ("autoregression 0.9", "season of", "weeks of")
"""Kinds without change whose names begin like this; of the others of them, a fifth of the streams is made."""


def timeline_of(X, y, watch=None):
    """Return the timeline of a stream, and the changes that were found while its rows came in."""
    timeline, found = Timeline([f"x{j}" for j in range(X.shape[1])]), []
    step = len(X) if watch is None else 500
    for first in range(0, len(X), step):
        rows, labels = X[first : first + step], y[first : first + step]
        zeros = np.zeros(len(rows))
        timeline.add(
            Block(rows, labels, np.full(len(rows), np.nan)), Predictions.without_bounds(zeros, labels, zeros, zeros)
        )
        found += [] if watch is None else watch.new_changes(timeline)
    return timeline, found


def false_alarms(make, n, seeds):
    """Return the number of streams in which a change is reported at the end."""
    streams = (make(n, np.random.default_rng(seed)) for seed in seeds)
    return sum(bool(timeline_of(X, y)[0].changes()) for X, y in streams)


def reports(make, n, seed):
    """Return whether a change is reported at the end, and whether one is during the run."""
    timeline, found = timeline_of(*make(n, np.random.default_rng(seed)), ChangeWatch())
    return bool(timeline.changes()), bool(found)


def is_near(change, at, n):
    """Return whether a change was reported near its row."""
    return abs(change.row - at * n) <= NEAR * n


def finds(make, n, at, seed):
    """Return whether the change is found at the end, and after how many rows during the run; None if it is not."""
    timeline, found = timeline_of(*make(n, np.random.default_rng(seed)), ChangeWatch())
    is_found = any(is_near(change, at, n) for change in timeline.changes())
    return is_found, next((change.found_at - at * n for change in found if is_near(change, at, n)), None)


def share(count, n_streams):
    """Return a share as text."""
    return f"{100 * count / n_streams:.1f} %"


def without_change(make, n_streams, workers):
    """Return the cells of a stream without change."""
    seeds = range(n_streams)
    long = workers(delayed(false_alarms)(make, 20_000, [seed]) for seed in seeds)
    both = workers(delayed(reports)(make, 10_000, seed) for seed in seeds)
    return [str(n_streams), *(share(sum(counts), n_streams) for counts in (long, *zip(*both, strict=True)))]


def with_change(make, at, n_streams, workers):
    """Return the cells of a stream with a change."""
    found, rows = zip(*workers(delayed(finds)(make, 10_000, at, seed) for seed in range(n_streams)), strict=True)
    rows = [each for each in rows if each is not None]
    median = f"{np.median(rows):,.0f}" if rows else "–"
    return [str(n_streams), share(sum(found), n_streams), share(len(rows), n_streams), median]


def measurements(n_streams, workers):
    """Return for each stream a function that measures it."""
    few = max(n_streams // 5, 1)
    return {
        **{
            name: partial(without_change, make, n_streams if name.startswith(MANY) else few, workers)
            for name, make in WITHOUT_CHANGE.items()
        },
        **{name: partial(without_change, make, n_streams, workers) for name, make in LEFT_OUT.items()},
        **{name: partial(without_change, make, few, workers) for name, make in NOT_SEEN_TO_RETURN.items()},
        **{
            name: partial(with_change, make, 0.2 if "fifth" in name else 0.5, few, workers)
            for name, make in WITH_CHANGE.items()
        },
    }


def results(n_streams, workers, checkpoint):
    """Return the cells of each stream; those in the checkpoint are not measured again."""
    done = json.loads(checkpoint.read_text()) if checkpoint is not None and checkpoint.exists() else {}
    for name, measure in track(measurements(n_streams, workers).items(), "streams"):
        if name not in done:
            done[name] = measure()
            print(f"| {name} | {' | '.join(done[name])} |", flush=True)
        if checkpoint is not None:
            checkpoint.write_text(json.dumps(done))
    return done


def table(kinds, cells, *heads):
    """Return the lines of a table of some kinds of streams."""
    lines = [f"| {name} | {' | '.join(cells[name])} |" for name in kinds]
    return [f"| {' | '.join(heads)} |", f"|---{'|--:' * (len(heads) - 1)}|", *lines, ""]


def page(cells):
    """Return the lines of the page."""
    heads = ("20,000 rows, at the end", "10,000 rows, at the end", "10,000 rows, during the run")
    return [
        "## Streams without change",
        "",
        "Share of streams in which any change is reported. The constants of the search were chosen with other streams "
        "of these kinds and of some like them.",
        "",
        *table(WITHOUT_CHANGE, cells, "stream", "streams", *heads),
        "## Streams of kinds that were left out when the constants were chosen",
        "",
        *table(LEFT_OUT, cells, "stream", "streams", *heads),
        "## Swings that were hardly seen to return",
        "",
        "The first search during a run is made after 4,000 rows, which are at most 1.6 cycles of these swings.",
        "",
        *table(NOT_SEEN_TO_RETURN, cells, "stream", "streams", *heads),
        "## Streams of 10,000 rows with one change",
        "",
        "Share of streams in which the change is found, at the end and during the run, and the median number of rows "
        "from the change to the report.",
        "",
        *table(WITH_CHANGE, cells, "change", "streams", "at the end", "during the run", "rows until then"),
    ]


def main():
    """Run the benchmark, and print or write its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=200, help="streams of the kinds that are usual")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="processes that measure at once")
    parser.add_argument("--checkpoint", type=Path, help="keep what was measured here, and go on from there")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/changes.md")
    arguments = parser.parse_args()
    with Parallel(arguments.processes) as workers:
        cells = results(arguments.streams, workers, arguments.checkpoint)
    if arguments.write:
        explanation = (
            "# Changes found in streams\n\nChanges reported by `Timeline.changes` at the end of a stream, and by "
            "`evaluate(on_change=…)` during the run. All streams have four columns and two classes. Those with a "
            "change have it in one column, or in the classes, halfway unless stated, and it counts as found if a "
            "change is reported within a tenth of the stream. "
        )
        write_results("changes", explanation, page(cells), ["scipy"])


if __name__ == "__main__":
    main()
