"""The command ``driftline demo``: AMRC on the paper's synthetic stream, for which the true error is known."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from driftline.core.bounded_classifier import BoundedClassifier, draw_labels
from driftline.ensemble import AMRC
from driftline.guarantees import Guarantees
from driftline.guarantees.tracker import GuaranteeTracker
from driftline.streams import RotatingGaussians
from driftline.types import Vector

DELTA = 0.05
ALLOWED_ERROR = 0.01
"""Share of wrong answers that is allowed among the steps answered."""
N_WINDOWS = 10
N_POINTS_PER_CLASS = 96
"""Number of instances of each class for estimating a true error: the standard error is below 0.01."""
DEFAULT = "AMRC()"
MODELS: dict[str, Callable[[], BoundedClassifier]] = {
    DEFAULT: AMRC,
    "as published": partial(AMRC.paper, features="linear", scaling="none"),
}


@dataclass(frozen=True, slots=True, eq=False)
class DemoResult:
    """Mistakes, true errors and bounds of a model at each step of the stream."""

    expected_mistakes: Vector
    """Probability 1 - h_t(y_t|x_t) of a mistake of the randomised rule."""
    mistakes: Vector
    """1 if the deterministic rule was wrong, else 0."""
    true_errors: Vector
    """Error probability R(h_t) of the randomised rule, from the known distribution."""
    bounds: Vector
    """Bound on this error probability."""
    tracker: GuaranteeTracker
    """The guarantees of the deterministic rule."""
    drawn_mistakes: int
    mistake_bound: float
    seconds: float

    @property
    def coverage(self) -> float:
        """Fraction of steps at which the bound was at least the true error."""
        return float(np.mean(self.bounds >= self.true_errors))

    @property
    def gap(self) -> float:
        """Mean difference of the bound and the true error."""
        return float(np.mean(self.bounds - self.true_errors))


def run_model(
    model: BoundedClassifier, n_steps: int, seed: int, report: Callable[[], None] = lambda: None
) -> DemoResult:
    """Run a model over the stream; `report` is called after each step."""
    stream = RotatingGaussians()
    X, y = stream.sample(n_steps, seed=seed)
    iterator = model.steps(X, y, classes=[0, 1])
    steps, truth, seconds = [], np.empty(n_steps), 0.0
    for t in range(n_steps):
        truth[t] = stream.rule_error(t + 1, model.predict_proba, n_points=N_POINTS_PER_CLASS).value
        start = time.perf_counter()
        steps.append(next(iterator))
        seconds += time.perf_counter() - start
        report()
    h = np.array([step.probabilities for step in steps])
    labels = draw_labels(h, np.random.default_rng(seed))
    tracker = GuaranteeTracker(Guarantees(errors=ALLOWED_ERROR))
    tracker.add_classes(2)
    tracker.state_then_learn(h, np.array([step.prediction for step in steps]), y)
    return DemoResult(
        expected_mistakes=np.array([step.expected_mistake for step in steps]),
        mistakes=np.array([float(step.mistake) for step in steps]),
        true_errors=truth,
        bounds=np.array([step.bound for step in steps]),
        tracker=tracker,
        drawn_mistakes=int(np.sum(labels != y)),
        mistake_bound=model.mistake_bound(DELTA),
        seconds=seconds,
    )


def run_demo(console: Console, n_steps: int, seed: int) -> None:
    """Run the models with a progress bar, and print their errors and bounds."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    results = {}
    with Progress(*columns, console=console, transient=True) as progress:
        for name, new_model in MODELS.items():
            compiling = progress.add_task(f"{name}: compiling (first time only)", total=None)
            run_model(new_model(), n_steps=2, seed=seed)  # compiles, so that the measured times do not include it
            progress.remove_task(compiling)
            task = progress.add_task(name, total=n_steps)
            results[name] = run_model(new_model(), n_steps, seed, partial(progress.advance, task))
    console.print(_summary_table(results, n_steps))
    console.print(_timeline_table(results[DEFAULT]))


def _summary_table(results: dict[str, DemoResult], n_steps: int) -> Table:
    table = Table(title=f"Two Gaussian classes that move on a circle, {n_steps:,} steps")
    table.add_column("")
    for name in results:
        table.add_column(name, justify="right")
    lines: dict[str, Callable[[DemoResult], str]] = {
        "error of the deterministic rule": lambda result: f"{result.mistakes.mean():.1%}",
        "its limits, whenever you look": _limits_text,
        f"answered, {ALLOWED_ERROR:.0%} of it may be wrong": lambda result: f"{_answered(result)[0]:.1%}",
        "wrong among the answered": lambda result: f"{_answered(result)[1]:.1%}",
        "error of the randomised rule": lambda result: f"{result.expected_mistakes.mean():.1%}",
        "mean bound on it": lambda result: f"{result.bounds.mean():.1%}",
        "steps at which the bound holds": lambda result: f"{result.coverage:.1%}",
        "mistakes of the randomised rule": lambda result: f"{result.drawn_mistakes:,}",
        f"bound on them at δ = {DELTA}": lambda result: f"{result.mistake_bound:,.0f}",
        "milliseconds per step": lambda result: f"{1e3 * result.seconds / n_steps:.2f}",
    }
    for line, cell in lines.items():
        table.add_row(line, *map(cell, results.values()))
    return table


def _limits_text(result: DemoResult) -> str:
    interval = result.tracker.intervals.overall(DELTA)
    return f"{interval.low:.1%} to {interval.high:.1%}"


def _answered(result: DemoResult) -> tuple[float, float]:
    """Return the share of steps answered, and the error among them."""
    counts = result.tracker.rows.answer_counts()
    return counts.n_answered / result.mistakes.size, counts.n_wrong / max(counts.n_answered, 1)


def _timeline_table(result: DemoResult) -> Table:
    table = Table(title=f"{DEFAULT} over time, means over steps (randomised rule)")
    for name in ("steps", "mistakes", "true error", "bound"):
        table.add_column(name, justify="right")
    edges = np.linspace(0, result.bounds.size, N_WINDOWS + 1).astype(int).tolist()
    for low, high in pairwise(edges):
        means = (series[low:high].mean() for series in (result.expected_mistakes, result.true_errors, result.bounds))
        table.add_row(f"{low + 1:,}–{high:,}", *(f"{mean:.1%}" for mean in means))
    return table
