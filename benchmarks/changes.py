"""How often changes are reported where there are none, and which changes are found.

    python benchmarks/changes.py [--streams N] [--write]

All streams have four columns and two classes. A change is found if one is reported near its row. Searches during a run
take longer, so that they are made in a tenth of the streams.
"""

import argparse

import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.signal import lfilter

from driftline.evaluation.change_watch import ChangeWatch
from driftline.evaluation.timeline import Timeline
from driftline.types import Block, Predictions
from provenance import write_results

D = 4
NEAR = 0.1
"""A change counts as found if it is reported within this share of the rows."""


def labels_of(n, rng, share=0.5):
    """Return labels of two classes."""
    return (rng.random(n) < share).astype(np.int64)


def independent(n, rng):
    """Independent normal values."""
    return rng.normal(size=(n, D)), labels_of(n, rng)


def rare_class(n, rng):
    """Heavy-tailed values, 3 % of the rows in one class, missing values and rare categories."""
    X = rng.standard_t(2, size=(n, D))
    X[rng.random(n) < 0.1, 1] = np.nan
    X[:, 2] = rng.random(n) < 0.02
    return X, labels_of(n, rng, 0.03)


def autoregressive(correlation, share=0.5):
    """Return a function that makes values with this correlation between neighbouring rows."""

    def make(n, rng):
        noise = rng.normal(size=(n + 2000, D)) * np.sqrt(1.0 - correlation**2)
        return lfilter([1.0], [1.0, -correlation], noise, axis=0)[2000:], labels_of(n, rng, share)

    return make


def correlated_labels(n, rng):
    """Labels that follow an autoregression."""
    return rng.normal(size=(n, D)), (autoregressive(0.95)(n, rng)[0][:, 0] > 0).astype(np.int64)


def season(cycles, noise):
    """Return a function that makes waves of so many cycles in the stream, with noise."""

    def make(n, rng):
        t = np.arange(n)[:, np.newaxis] / n
        return np.sin(2.0 * np.pi * (cycles * t + rng.random(D))) + noise * rng.normal(size=(n, D)), labels_of(n, rng)

    return make


def weeks(cycles):
    """Return a function that makes columns that are high in 2 of 7 parts of each cycle."""

    def make(n, rng):
        phase = (cycles * np.arange(n)[:, np.newaxis] / n + rng.random(D)) % 1.0
        return (phase < 2.0 / 7.0) + 0.5 * rng.normal(size=(n, D)), labels_of(n, rng)

    return make


WITHOUT_CHANGE = {
    "independent, normal": independent,
    "independent, 3 % in one class, heavy tails, missing": rare_class,
    "autoregression 0.9": autoregressive(0.9),
    "autoregression 0.95": autoregressive(0.95),
    "autoregression 0.99": autoregressive(0.99),
    "autoregression 0.99, 3 % in one class": autoregressive(0.99, 0.03),
    "autoregression 0.999": autoregressive(0.999),
    "labels by autoregression 0.95": correlated_labels,
    **{f"season of {m} cycles, noise {s:g}": season(m, s) for m in (2, 3, 6, 20) for s in (0.0, 0.5)},
    **{f"weeks of {m} cycles": weeks(m) for m in (8, 50)},
}


def shifted(size, at=0.5, lasting=0):
    """Return a function that shifts a column by so many standard deviations, abruptly or over some rows."""

    def make(n, rng):
        X, y = independent(n, rng)
        X[:, 0] += size * np.clip((np.arange(n) - at * n) / max(lasting, 1) + 0.5, 0.0, 1.0)
        return X, y

    return make


def spread(factor):
    """Return a function that multiplies the standard deviation of a column."""

    def make(n, rng):
        X, y = independent(n, rng)
        X[n // 2 :, 0] *= factor
        return X, y

    return make


def missing(share):
    """Return a function that removes values of a column."""

    def make(n, rng):
        X, y = independent(n, rng)
        X[n // 2 :, 0][rng.random(n - n // 2) < share] = np.nan
        return X, y

    return make


def category(share):
    """Return a function that makes a category appear."""

    def make(n, rng):
        X, y = independent(n, rng)
        X[:, 0] = (rng.random(n) < share) & (np.arange(n) >= n // 2)
        return X, y

    return make


def amounts(share):
    """Return a function that makes the log-normal amounts of a rare class fall from a median of 247 to 8."""

    def make(n, rng):
        X, y = rng.lognormal(3.0, 1.5, (n, D)), labels_of(n, rng, share)
        medians = np.where(np.arange(n) < n // 2, 247.0, 8.0)
        X[:, 0] = np.where(y == 1, medians * rng.lognormal(0.0, 1.5, n), X[:, 0])
        return X, y

    return make


def class_share(low, high):
    """Return a function that changes the share of a class."""

    def make(n, rng):
        return rng.normal(size=(n, D)), (rng.random(n) < np.where(np.arange(n) < n // 2, low, high)).astype(np.int64)

    return make


def shift_of_correlated(size):
    """Return a function that shifts a column of an autoregression."""

    def make(n, rng):
        X, y = autoregressive(0.99)(n, rng)
        X[n // 2 :, 0] += size
        return X, y

    return make


WITH_CHANGE = {
    **{f"shift by {size:g} deviations": shifted(size) for size in (0.15, 0.2, 0.25, 0.3, 0.5)},
    **{f"shift by {size:g} after a fifth": shifted(size, 0.2) for size in (0.3, 0.5)},
    **{f"shift by {size:g} over 2,000 rows": shifted(size, lasting=2000) for size in (0.3, 0.5, 1.0)},
    **{f"deviation × {factor:g}": spread(factor) for factor in (1.2, 1.3, 3.0)},
    **{f"{100 * share:g} % missing": missing(share) for share in (0.01, 0.03, 0.9)},
    **{f"a new category, {100 * share:g} %": category(share) for share in (0.02, 0.05)},
    **{f"amounts 247 → 8 in a class of {100 * share:g} %": amounts(share) for share in (0.01, 0.02, 0.05)},
    "share of a class 3 → 6 %": class_share(0.03, 0.06),
    "share of a class 50 → 60 %": class_share(0.5, 0.6),
    **{f"autoregression 0.99, shift by {size:g}": shift_of_correlated(size) for size in (1.0, 2.0, 3.0)},
}


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


def false_alarms(make, n, n_streams):
    """Return the number of streams in which a change is reported at the end."""
    streams = (make(n, np.random.default_rng(seed)) for seed in range(n_streams))
    return sum(bool(timeline_of(X, y)[0].changes()) for X, y in streams)


def online_false_alarms(make, n_streams):
    """Return the number of streams of 10,000 rows in which a change is reported during the run."""
    streams = (make(10_000, np.random.default_rng(seed)) for seed in range(n_streams))
    return sum(bool(timeline_of(X, y, ChangeWatch())[1]) for X, y in streams)


def is_near(change, at, n):
    """Return whether a change was reported near its row."""
    return abs(change.row - at * n) <= NEAR * n


def power(make, n, n_streams, at):
    """Return the number of streams in which the change is found at the end."""
    streams = (make(n, np.random.default_rng(seed)) for seed in range(n_streams))
    return sum(any(is_near(change, at, n) for change in timeline_of(X, y)[0].changes()) for X, y in streams)


def delays(make, n, n_streams, at):
    """Return the numbers of rows from the change to the report during the run, for streams in which it was found."""
    rows = []
    for seed in range(n_streams):
        found = timeline_of(*make(n, np.random.default_rng(seed)), ChangeWatch())[1]
        rows += [change.found_at - at * n for change in found if is_near(change, at, n)][:1]
    return rows


def share(count, n_streams):
    """Return a share as text."""
    return f"{100 * count / n_streams:.1f} %"


def results(n_streams):
    """Return the lines of both tables."""
    n_online = max(n_streams // 10, 1)
    lines = [
        "## Streams without change",
        "",
        f"Share of streams in which any change is reported: at the end, and during the run ({n_online} streams).",
        "",
        "| stream | 5,000 rows, at the end | 20,000 rows, at the end | 10,000 rows, during the run |",
        "|---|--:|--:|--:|",
    ]
    for name, make in track(WITHOUT_CHANGE.items(), "without change"):
        cells = [share(false_alarms(make, n, n_streams), n_streams) for n in (5000, 20_000)]
        lines.append(f"| {name} | {' | '.join(cells)} | {share(online_false_alarms(make, n_online), n_online)} |")
    lines += [
        "",
        "## Streams of 10,000 rows with one change",
        "",
        f"Share of streams in which the change is found: at the end, and during the run ({n_online} streams), and the "
        "median number of rows from the change to the report.",
        "",
        "| change | at the end | during the run | rows until then |",
        "|---|--:|--:|--:|",
    ]
    for name, make in track(WITH_CHANGE.items(), "with a change"):
        at = 0.2 if "fifth" in name else 0.5
        found, rows = power(make, 10_000, n_streams, at), delays(make, 10_000, n_online, at)
        delay = f"{np.median(rows):,.0f}" if rows else "–"
        lines.append(f"| {name} | {share(found, n_streams)} | {share(len(rows), n_online)} | {delay} |")
    return lines


def main():
    """Run the benchmark, and print or write its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=200, help="streams of each kind")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/changes.md")
    arguments = parser.parse_args()
    lines = results(arguments.streams)
    if arguments.write:
        explanation = (
            "# Changes found in streams\n\nChanges reported by `Timeline.changes` at the end of a stream, and by "
            f"`evaluate(on_change=…)` during the run, in {arguments.streams} streams of each kind. All have four "
            "columns and two classes. Those with a change have it in one column, or in the classes, halfway unless "
            "stated, and it counts as found if a change is reported within a tenth of the stream. "
        )
        write_results("changes", explanation, lines, ["scipy"])
    Console(width=120, markup=False).print("\n".join(lines))


if __name__ == "__main__":
    main()
