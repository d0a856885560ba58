"""How often the calibrated bound holds on synthetic streams, for which the true error is known.

    python benchmarks/calibration.py [--steps N] [--write]

The true error probability of the randomised rule is computed before every second step from the known distribution.
"""

import argparse

import numpy as np
from rich.console import Console
from rich.progress import track

from driftline import AMRC
from driftline.streams import AbruptDrift, DriftingFeatures, GaussianClasses, MovingClass, RotatingGaussians
from provenance import write_results

SEEDS = (0, 1, 2)
N_SKIPPED_STEPS = 200
N_POINTS_PER_CLASS = 256
OVERLAPPING = GaussianClasses([[0.0, 0.0], [1.0, 0.0]])
STREAMS = {
    **{f"rotating, ω = {rate}": RotatingGaussians(angular_rate=rate) for rate in (0.01, 0.03, 0.1, 0.2, 0.3)},
    "rotating, four classes": RotatingGaussians(n_classes=4),
    **{f"one class moves, ω = {rate}": MovingClass(angular_rate=rate) for rate in (0.01, 0.05, 0.1)},
    "features at different rates": DriftingFeatures(),
    "three classes at different rates": DriftingFeatures(n_classes=3),
    "still, far apart": GaussianClasses.on_circle(2),
    "still, overlapping": OVERLAPPING,
    "classes change places": AbruptDrift([OVERLAPPING, GaussianClasses([[1.0, 0.0], [0.0, 0.0]])], at=[1000]),
}


def errors_and_bounds(stream, order, n_steps, seed):
    """Return the true error, the calibrated bound and the model bound before every second step."""
    X, y = stream.sample(n_steps, seed=seed)
    model = AMRC(order=order, random_state=seed)
    truth, calibrated, claimed = [], [], []
    for t, _ in enumerate(model.steps(X, y, classes=range(stream.n_classes))):
        if t + 1 >= N_SKIPPED_STEPS and t % 2 and t + 1 < n_steps:
            truth.append(stream.rule_error(t + 2, model.predict_proba, n_points=N_POINTS_PER_CLASS, seed=t).value)
            calibrated.append(model.calibrated_bound_)
            claimed.append(model.model_bound_)
    return np.array(truth), np.array(calibrated), np.array(claimed)


def main():
    """Run the benchmark, print the table, and write it if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--write", action="store_true", help="write results/calibration.md")
    arguments = parser.parse_args()
    lines = [
        "| stream | order | true error | calibrated bound | holds, by seed | mean gap | model bound | holds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (name, stream), order in track([(item, order) for item in STREAMS.items() for order in (0, 1)], "streams"):
        runs = [errors_and_bounds(stream, order, arguments.steps, seed) for seed in SEEDS]
        holds = ", ".join(f"{100 * np.mean(bound >= truth):.1f}" for truth, bound, _ in runs)
        truth, bound, claimed = (np.concatenate(parts) for parts in zip(*runs, strict=True))
        figures = [truth.mean(), bound.mean(), holds, (bound - truth).mean(), claimed.mean(), np.mean(claimed >= truth)]
        cells = [figure if isinstance(figure, str) else f"{100 * figure:.1f}" for figure in figures]
        lines.append(f"| {name} | {order} | " + " | ".join(cells) + " |")
        Console(width=200).print(lines[-1])
    if arguments.write:
        write_results("calibration", EXPLANATION, lines)


EXPLANATION = """# The bounds, where the true error is known

In %, over the steps after the first 200, for seeds 0, 1 and 2. *true error* is that of the randomised rule.
"""

if __name__ == "__main__":
    main()
