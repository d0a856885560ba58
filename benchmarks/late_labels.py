"""Errors with labels that arrive late: AMRC, its two weighting schemes alone, and River's classifiers.

    python benchmarks/late_labels.py [STREAM ...] [--write]

The first 5,000 rows of each stream. `--write` writes the table to results/late_labels.md.
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
from provenance import write_results

LIMIT = 5_000
DELAYS = (0, 20, 100, 500)
ROTATING = "rotating"
STREAMS = (
    *("weather", "elec2_full", "airlines", "german", "chess", "usenet1", "usenet2", "email", "smartgrid", "poker"),
    ROTATING,
)


def single_scheme(place):
    """Patch the learner so that it uses only one of the two weighting schemes."""

    def mix_members_only(probabilities, labels, weights, h, counted_share):
        if weights.size == 2:  # the shares of the schemes: there are more than two members
            weights[:] = 0.0
            weights[place] = 1.0
        else:
            mix_and_reweigh(probabilities, labels, weights, h, counted_share)

    return patch("driftline.ensemble.learner.mix_and_reweigh", mix_members_only)


MODELS = {
    "AMRC": ("amrc", nullcontext),
    "weighted by predictions then": ("amrc", lambda: single_scheme(0)),
    "weighted by predictions now": ("amrc", lambda: single_scheme(1)),
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
    """Run all models on all streams; return the lines of the table."""
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
                bound = f"{100 * figures[0].expected_error:.1f} | {100 * figures[0].mean_bound:.1f}"
                lines.append(f"| {name} | {delay} | {' | '.join(cells)} | {bound} |")
                console.print(lines[-1])
    return lines


def main():
    """Run the benchmark, print the table, and write it if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="STREAM", help=f"of {', '.join(STREAMS)}; all by default")
    parser.add_argument("--write", action="store_true", help="write results/late_labels.md")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(STREAMS):
        parser.error(f"expected some of {', '.join(STREAMS)}; got {', '.join(sorted(unknown))}")
    lines = measure(arguments.names or STREAMS, Console(width=200))
    columns = ["stream", "rows late", *MODELS, "AMRC's randomised rule", "its mean bound"]
    if arguments.write:
        write_results(
            "late_labels", EXPLANATION, [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns), *lines], ["river"]
        )


EXPLANATION = f"""# Labels that arrive late

Error in % on the first {LIMIT:,} rows of each stream. *rows late* is the number of rows that are predicted between a
row and the arrival of its label; seed 0. *rotating* is RotatingGaussians(angular_rate=0.01). AMRC has two schemes for
the weights of its members: by their predictions when the row was predicted, and by their predictions when its label
arrives. It mixes both; the next two columns show each scheme alone. All models have their default parameters; River's
logistic regression gets scaled columns.
"""

if __name__ == "__main__":
    main()
