"""False alarms, and how soon a rise of the error is found: driftline's alarm beside River's drift detectors.

    python benchmarks/alarms.py [--streams N] [--steps N] [--river-streams N] [--write | --draw]

`--write` writes results/alarms.md and docs/pictures/alarms.svg; `--draw` draws the picture from the results there are.
"""

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter
from rich.console import Console
from rich.progress import track
from river.drift import ADWIN, KSWIN, PageHinkley
from river.drift.binary import DDM

from driftline.experiments.figure_drawing import COLOURS, MARKERS, SETTINGS
from driftline.guarantees import ErrorAlarm
from provenance import RESULTS, write_results

DELTA = 0.05
CHANGES = ((0.05, 0.15), (0.10, 0.13))
"""Errors before and after the change."""
CHANGE_POINTS = (1_000, 2_000, 10_000, 50_000)
DRAWN = 10_000
"""The change point of the picture."""
N_ROWS_AFTER = {0.15: 3_000, 0.13: 20_000}
"""Rows after the change, by the error then; a change that is not found in them counts as found at the end."""
DRIFTLINE = {
    "driftline, tolerated level": lambda error: ErrorAlarm(tolerated=error, delta=DELTA),
    "driftline, rise of 1 point": lambda error: ErrorAlarm(rise=0.01, delta=DELTA),
}
RIVER = {"ADWIN": ADWIN, "DDM": DDM, "KSWIN": lambda: KSWIN(seed=0), "Page-Hinkley": lambda: PageHinkley(mode="up")}
SLOW, SLOW_FACTOR, SLOW_CHANGE_POINTS = "KSWIN", 20, CHANGE_POINTS[:3]
"""The detector that takes most of the time is run on fewer streams, and with fewer change points."""
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "alarms.svg"


def driftline_alarms(new_alarm, mistakes, change):
    """Return the rows of the alarms, each acknowledged at once, up to the first one after the change."""
    rows, begin = [], 0
    while not rows or rows[-1] < change:
        alarm = new_alarm().update(mistakes[begin:])
        if alarm is None:
            break
        rows.append(begin + alarm.raised_at)
        begin = rows[-1] + 1
    return rows


def river_alarms(new_detector, mistakes, change):
    """Return the same for a detector of River, which begins anew by itself."""
    rows, detector = [], new_detector()
    for t, mistake in enumerate(mistakes.tolist()):
        detector.update(mistake)
        if detector.drift_detected:
            rows.append(t)
            if t >= change:
                break
    return rows


def mistakes_of(seed, n_before, before, n_after=0, after=0.0):
    """Return the mistakes of a stream whose error changes once, or not at all."""
    rng = np.random.default_rng([seed, n_before, int(1000 * before)])
    return rng.random(n_before + n_after) < np.repeat([before, after], [n_before, n_after])


def false_alarms(find, n_streams, n_steps, error):
    """Return the number of false alarms of each stream without a change."""
    return np.array([len(find(mistakes_of(seed, n_steps, error), n_steps)) for seed in range(n_streams)])


def delays(find, n_streams, change, before, after):
    """Return the number of rows from the change to the first alarm after it, for each stream."""
    n_after, found = N_ROWS_AFTER[after], []
    for seed in range(n_streams):
        rows = find(mistakes_of(seed, change, before, n_after, after), change)
        found.append(rows[-1] - change + 1 if rows and rows[-1] >= change else n_after)
    return np.array(found)


def methods(before, arguments):
    """Return for each method how to find its alarms, its number of streams, and its change points."""
    n_river = arguments.river_streams
    for name, make in DRIFTLINE.items():
        yield (
            name,
            lambda m, change, make=make: driftline_alarms(lambda: make(before), m, change),
            arguments.streams,
            CHANGE_POINTS,
        )
    for name, make in RIVER.items():
        n = n_river // SLOW_FACTOR if name == SLOW else n_river
        points = SLOW_CHANGE_POINTS if name == SLOW else CHANGE_POINTS
        yield name, lambda m, change, make=make: river_alarms(make, m, change), n, points


def measure(arguments):
    """Return the lines of the table."""
    lines = [HEADER, "|---" * (5 + len(CHANGE_POINTS)) + "|"]
    for before, after in CHANGES:
        for name, find, n_streams, change_points in track(list(methods(before, arguments)), f"{before} to {after}"):
            n_null = max(n_streams // 10, 1) if name == SLOW else n_streams
            n_false = false_alarms(find, n_null, arguments.steps, before)
            medians = {T: np.median(delays(find, n_streams, T, before, after)) for T in change_points}
            cells = [f"{medians[T]:,.0f}" if T in medians else "" for T in CHANGE_POINTS]
            share, rate = 100.0 * np.mean(n_false > 0), 1e5 * n_false.sum() / (n_null * arguments.steps)
            rise, numbers = f"{100 * before:.0f} → {100 * after:.0f}", f"{n_null:,} / {n_streams:,}"
            lines.append(f"| {rise} | {name} | {numbers} | {share:.1f} | {rate:.3g} | {' | '.join(cells)} |")
            Console(width=200).print(lines[-1])
    return lines


def draw(lines):
    """Draw delay against false alarms from the lines of the table, a panel for each change."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "→" in line]
    column = 5 + CHANGE_POINTS.index(DRAWN)
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(9.2, 4.6), layout="constrained", facecolor="white")
        for panel, rise in zip(figure.subplots(1, 2), dict.fromkeys(row[0] for row in rows), strict=True):
            for i, row in enumerate(row for row in rows if row[0] == rise):
                n_streams, rate = int(row[2].split("/")[0].replace(",", "")), float(row[4])
                fill = COLOURS[i] if rate else "white"
                style = {"color": COLOURS[i], "markerfacecolor": fill, "linestyle": "none", "markersize": 9}
                panel.plot(
                    rate or 0.5 / n_streams,
                    float(row[column].replace(",", "")),
                    marker=MARKERS[i],
                    label=row[1],
                    **style,
                )
            panel.axvline(DELTA, color="0.6", linestyle=":", linewidth=1.2)
            panel.set(xscale="log", yscale="log", xlabel="false alarms in 100,000 rows without a rise")
            panel.set(
                title=f"the error rises from {rise.replace('→', 'to')} %", ylabel="rows until it is found, median"
            )
            panel.yaxis.set_minor_formatter(StrMethodFormatter("{x:,.0f}"))
            panel.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            panel.tick_params(axis="y", which="both", labelsize=8)
        figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=3)
        figure.savefig(PICTURE, metadata={"Date": None})


def main():
    """Run the benchmark, print the table, and write it and the picture if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=1_000, help="number of streams for driftline")
    parser.add_argument("--steps", type=int, default=100_000, help="rows of a stream without a rise")
    parser.add_argument(
        "--river-streams", type=int, default=100, help="number of streams for River; a twentieth for KSWIN"
    )
    parser.add_argument("--write", action="store_true", help="write results/alarms.md and docs/pictures/alarms.svg")
    parser.add_argument("--draw", action="store_true", help="draw the picture from results/alarms.md, and end")
    arguments = parser.parse_args()
    if arguments.draw:
        draw((RESULTS / "alarms.md").read_text(encoding="utf-8").splitlines())
        return
    lines = measure(arguments)
    if arguments.write:
        explanation = EXPLANATION.format(n_steps=arguments.steps, n_after=list(N_ROWS_AFTER.values()))
        write_results("alarms", explanation, lines, ("river",))
        draw(lines)


HEADER = (
    "| error, % | method | streams without / with a rise | with a false alarm, % | false alarms in 100,000 rows | "
    + " | ".join(f"delay, rise at {T:,}" for T in CHANGE_POINTS)
    + " |"
)
EXPLANATION = """# Alarms: how soon, and how often in vain

Each row is a mistake with a probability that changes once. *Delay*: rows from the change to the first alarm after it,
the median over the streams; earlier alarms are acknowledged at once. A change that is not found counts as found at the
end of the stream, {n_after[0]:,} or {n_after[1]:,} rows after it. *False alarms*: on streams of {n_steps:,} rows
without a change. driftline's alarms have δ = 5 %: at most 5 % of the streams may have one. *Tolerated level* is the
error before the change, so that a stream without a change lies exactly on it, the hardest case; no detector of River is
told this level. *Rise of 1 point*: more than one point above the lowest mean error so far. The detectors are River's,
as they are set by default, Page-Hinkley for rises only. They have fewer streams because they are slower to run; KSWIN
still fewer, and no change at 50,000.

The picture is of a rise at row 10,000; symbols at 3,000 and 20,000 rows are of methods that did not find it. The dotted
line is a false alarm in 5 % of the streams. Open symbols: there was no false alarm; they are drawn where half an alarm
in all these streams would be.

![Delay against false alarms](../../docs/pictures/alarms.svg)
"""

if __name__ == "__main__":
    main()
