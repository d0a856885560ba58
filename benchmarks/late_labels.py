"""Errors with labels that come late: AMRC, the two ways of weighing its members, and River's classifiers.

    python benchmarks/late_labels.py [STREAM ...] [--write]

The first 5,000 rows of each stream. `--write` puts the table into results/late_labels.md beside this file.
"""

import argparse
from contextlib import nullcontext
from unittest.mock import patch

from rich.console import Console
from rich.progress import Progress

from driftline.errors import DriftlineError
from driftline.evaluation import evaluate
from driftline.kernels.mixing import mix_and_reweigh
from driftline.registry import create
from driftline.streams import RotatingGaussians, load
from provenance import keep

LIMIT = 5_000
DELAYS = (0, 20, 100, 500)
ROTATING = "rotating"
STREAMS = (
    *("weather", "elec2_full", "airlines", "german", "chess", "usenet1", "usenet2", "email", "smartgrid", "poker"),
    ROTATING,
)


def one_way(place):
    """Let all trust be in one of the two ways of weighing the members."""

    def mix_unless_trust(said, labels, weights, h):
        if weights.size == 2:  # there are more members than that
            weights[:] = 0.0
            weights[place] = 1.0
        else:
            mix_and_reweigh(said, labels, weights, h)

    return patch("driftline.ensemble.learner.mix_and_reweigh", mix_unless_trust)


MODELS = {
    "AMRC": ("amrc", nullcontext),
    "weighed by what was said then": ("amrc", lambda: one_way(0)),
    "by what is said now": ("amrc", lambda: one_way(1)),
    "River's ARF": ("river-arf", nullcontext),
    "River's logistic regression": ("river-lr", nullcontext),
}


def summary_of(model, stream, delay):
    """Return the summary of an evaluation."""
    name, context = MODELS[model]
    with context():
        return evaluate(
            create(name, random_state=0), stream, delay=delay, limit=LIMIT, classes=stream.classes(), progress=False
        ).summary


def measure(names, console):
    """Run everything; return the lines of the table."""
    lines = []
    with Progress(console=console, transient=True) as progress:
        for name in names:
            try:
                rotating = RotatingGaussians(angular_rate=0.01)
                stream = rotating.stream(LIMIT, seed=0) if name == ROTATING else load(name)
            except DriftlineError as reason:
                console.print(f"{name}: {reason}")
                continue
            delays = [delay for delay in DELAYS if 5 * delay < min(stream.n_rows, LIMIT)]
            bar = progress.add_task(name, total=len(delays) * len(MODELS))
            for delay in delays:
                figures = []
                for model in MODELS:
                    figures.append(summary_of(model, stream, delay))
                    progress.advance(bar)
                cells = [f"{100 * each.error:.1f}" for each in figures]
                claim = f"{100 * figures[0].expected_error:.1f} | {100 * figures[0].mean_bound:.1f}"
                lines.append(f"| {name} | {delay} | {' | '.join(cells)} | {claim} |")
                console.print(lines[-1])
    return lines


def main():
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="STREAM", help=f"of {', '.join(STREAMS)}; all by default")
    parser.add_argument("--write", action="store_true", help="write results/late_labels.md")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(STREAMS):
        parser.error(f"expected some of {', '.join(STREAMS)}; got {', '.join(sorted(unknown))}")
    lines = measure(arguments.names or STREAMS, Console(width=200))
    columns = ["stream", "rows late", *MODELS, "AMRC's randomised rule", "its mean bound"]
    if arguments.write:
        keep("late_labels", EXPLANATION, [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns), *lines], ["river"])


EXPLANATION = f"""# Labels that come late

Error in %, of the first {LIMIT:,} rows of each stream, each label being learned after so many more rows were predicted;
seed 0. *rotating* is RotatingGaussians(angular_rate=0.01). AMRC keeps two ways of weighing its members, by what they
said when a row was predicted and by what they say when its label comes, and mixes them; beside it are both alone.
Models at their defaults; River's logistic regression has scaled columns.
"""

if __name__ == "__main__":
    main()
