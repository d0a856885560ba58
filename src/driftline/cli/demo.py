"""The demonstration: AMRC on the paper's synthetic stream, where the true error is known."""

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
from driftline.streams import RotatingGaussians
from driftline.types import Vector

DELTA = 0.05
N_WINDOWS = 10
N_POINTS = 96
"""Instances of each class for a true error: a standard error below 0.01, small beside the gaps shown."""
DEFAULT = "AMRC()"
MODELS: dict[str, Callable[[], BoundedClassifier]] = {
    DEFAULT: AMRC,
    "as published": partial(AMRC.paper, features="linear", scaling="none"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What a model did at each step of the stream, before it saw the label."""

    expected_mistakes: Vector
    """1 - h_t(y_t|x_t), of the randomised rule."""
    mistakes: Vector
    """1 where the deterministic rule erred."""
    true_errors: Vector
    """R(h_t), of the randomised rule, from the known distribution."""
    bounds: Vector
    """The bound on it."""
    drawn_mistakes: int
    mistake_bound: float
    seconds: float

    @property
    def holds(self) -> float:
        """Fraction of the steps at which the bound was not below the true error."""
        return float(np.mean(self.bounds >= self.true_errors))

    @property
    def gap(self) -> float:
        """Mean of the bound less the true error."""
        return float(np.mean(self.bounds - self.true_errors))


def follow(model: BoundedClassifier, n_steps: int, seed: int, report: Callable[[], None] = lambda: None) -> Run:
    """Run a model over the stream, calling `report` after each step."""
    stream = RotatingGaussians()
    X, y = stream.sample(n_steps, seed=seed)
    iterator = model.steps(X, y, classes=[0, 1])
    steps, truth, seconds = [], np.empty(n_steps), 0.0
    for t in range(n_steps):
        truth[t] = stream.rule_error(t + 1, model.predict_proba, n_points=N_POINTS).value
        start = time.perf_counter()
        steps.append(next(iterator))
        seconds += time.perf_counter() - start
        report()
    labels = draw_labels(np.array([step.probabilities for step in steps]), np.random.default_rng(seed))
    return Run(
        expected_mistakes=np.array([step.expected_mistake for step in steps]),
        mistakes=np.array([float(step.mistake) for step in steps]),
        true_errors=truth,
        bounds=np.array([step.bound for step in steps]),
        drawn_mistakes=int(np.sum(labels != y)),
        mistake_bound=model.mistake_bound(DELTA),
        seconds=seconds,
    )


def run_demo(console: Console, n_steps: int, seed: int) -> None:
    """Run the models with a progress bar and print what they did."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    runs = {}
    with Progress(*columns, console=console, transient=True) as progress:
        for name, new_model in MODELS.items():
            preparing = progress.add_task(f"{name}: compiling, the first time", total=None)
            follow(new_model(), n_steps=2, seed=seed)  # so that the times are those of the steps
            progress.remove_task(preparing)
            task = progress.add_task(name, total=n_steps)
            runs[name] = follow(new_model(), n_steps, seed, partial(progress.advance, task))
    console.print(_summary(runs, n_steps))
    console.print(_course(runs[DEFAULT]))


def _summary(runs: dict[str, Run], n_steps: int) -> Table:
    table = Table(title=f"Two Gaussian classes that swing on a circle, {n_steps:,} steps")
    table.add_column("")
    for name in runs:
        table.add_column(name, justify="right")
    lines: dict[str, Callable[[Run], str]] = {
        "error of the deterministic rule": lambda run: f"{run.mistakes.mean():.1%}",
        "error of the randomised rule": lambda run: f"{run.expected_mistakes.mean():.1%}",
        "mean bound on it": lambda run: f"{run.bounds.mean():.1%}",
        "steps at which the bound holds": lambda run: f"{run.holds:.1%}",
        "mistakes of the randomised rule": lambda run: f"{run.drawn_mistakes:,}",
        f"their bound at δ = {DELTA}": lambda run: f"{run.mistake_bound:,.0f}",
        "milliseconds a step": lambda run: f"{1e3 * run.seconds / n_steps:.2f}",
    }
    for line, cell in lines.items():
        table.add_row(line, *map(cell, runs.values()))
    return table


def _course(run: Run) -> Table:
    table = Table(title=f"{DEFAULT} over time, means over the steps (randomised rule)")
    for name in ("steps", "mistakes", "true error", "bound"):
        table.add_column(name, justify="right")
    edges = np.linspace(0, run.bounds.size, N_WINDOWS + 1).astype(int).tolist()
    for low, high in pairwise(edges):
        means = (series[low:high].mean() for series in (run.expected_mistakes, run.true_errors, run.bounds))
        table.add_row(f"{low + 1:,}–{high:,}", *(f"{mean:.1%}" for mean in means))
    return table
