"""Draw the pictures of the documentation from real computations: ``python docs/pictures.py [NAME …]``.

Each function draws one picture and returns the numbers that the text beside it uses, which are printed.
"""

import sys
import textwrap
import tomllib
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from driftline import AMRC, PaperAMRC
from driftline.core.bounded_classifier import BoundedClassifier
from driftline.evaluation import evaluate
from driftline.experiments.figure_drawing import COLOURS, MARKERS, SETTINGS
from driftline.streams import AbruptDrift, DriftingGaussians, MovingClass, RotatingGaussians, load

HERE = Path(__file__).parent
BLUE, ORANGE, GREEN = COLOURS[:3]
BETWEEN = LinearSegmentedColormap.from_list("classes", [ORANGE, "white", BLUE])
N_POINTS = 512
"""Instances of each class for a true error: a standard error of some tenths of a point."""
PURPOSES = {"commands and results": "#FBE6CF", "methods": "#D9EAF5", "data": "#DDF1E4", "foundations": "#EEEEEE"}
"""The colours of rooms in the picture of the architecture."""
ROOMS = {
    "__main__": ("commands and results", "python -m driftline"),
    "cli": ("commands and results", "the commands: read the arguments, call the library, print and write the results"),
    "checks": ("commands and results", "checks that every classifier for streams should pass"),
    "experiments": ("commands and results", "the paper's tables and figures: specs, runs, stored results"),
    "report": ("commands and results", "the HTML page and the summary sentences of an evaluation"),
    "registry": ("methods", "classifiers by name, and saved models of any class"),
    "evaluation": ("commands and results", "predict, record, learn: summary, timeline, checkpoints"),
    "adapters": (
        "methods",
        "classifiers of other libraries for driftline, and AMRC for River and CapyMOA",
    ),
    "ensemble": ("methods", "AMRC(), the default: feature spaces, members with different memories, their mixture"),
    "paper": ("methods", "AMRC.paper(), the published method: tracking, solvers"),
    "baselines": ("methods", "the methods that AMRC is compared with"),
    "guarantees": ("methods", "what holds for the predictions of any classifier: error limits, alarms"),
    "core": ("methods", "what all methods share: interface, features, bounds, files"),
    "streams": ("data", "labelled rows: files, catalogue, synthetic streams, arrays"),
    "kernels": ("methods", "the arithmetic of the methods: compiled, on plain arrays"),
    "utils": ("foundations", "argument checks, atomic writes, progress bars, interrupts"),
    "_jit": ("foundations", "the only import of numba"),
    "types": ("foundations", "records such as Predictions and Block, and array types"),
    "errors": ("foundations", "DriftlineError and its kinds"),
}
"""The purpose and the content of each room of the import contract."""


def new_figure(n_panels: int = 1, width: float = 4.2, height: float = 3.6) -> tuple[Figure, list[Axes]]:
    """Return a white figure, which is readable on light and on dark pages, and its panels."""
    figure = Figure(figsize=(width * n_panels, height), layout="constrained", facecolor="white")
    return figure, list(figure.subplots(1, n_panels, squeeze=False)[0])


def paper_model() -> PaperAMRC:
    """Return the paper's method in the plane of the instances, where it can be drawn."""
    return PaperAMRC(features="linear", scaling="none")


def show_rows(axes: Axes, X: np.ndarray, y: np.ndarray) -> None:
    """Draw instances; colours and markers show the two classes."""
    for label, colour in enumerate((BLUE, ORANGE)):
        points = X[y == label]
        style = {"marker": MARKERS[label], "color": colour, "markeredgecolor": "black", "markeredgewidth": 0.4}
        axes.plot(points[:, 0], points[:, 1], linestyle="none", markersize=4.5, label=f"class {label}", **style)


def label_plane(axes: Axes, title: str, reach: float) -> None:
    """Give a panel a title, equal axes and labels."""
    axes.set(title=title, xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set(xlabel="first column", ylabel="second column")


def below(axes: Axes, n_columns: int) -> None:
    """Put the legend below a panel."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=n_columns)


def follow(model: BoundedClassifier, world: DriftingGaussians, n_steps: int, *, seed: int = 0) -> dict[str, np.ndarray]:
    """Run a model over a stream; return the true error, the bounds and the expected mistake at each step."""
    X, y = world.sample(n_steps, seed=seed)
    history: dict[str, list[float]] = {"truth": [], "bound": [], "rate": [], "mistake": [], "mistake_bound": []}
    iterator = model.steps(X, y, classes=[0, 1])
    for t in range(n_steps):
        history["truth"].append(world.rule_error(t + 1, model.predict_proba, n_points=N_POINTS).value)
        history["rate"].append(getattr(model, "rate_bound_", np.nan))
        step = next(iterator)
        history["bound"].append(step.bound)
        history["mistake"].append(step.expected_mistake)
        history["mistake_bound"].append(model.mistake_bound(delta=0.05))
    return {name: np.array(values) for name, values in history.items()}


def uncertainty() -> tuple[Figure, str]:
    """Draw the uncertainty set at one step: a box for each class."""
    world, t = MovingClass(), 400
    X, y = world.sample(t, seed=0)
    model = paper_model().fit(X, y)
    figure, (left, right) = new_figure(2)
    show_rows(left, X[-80:], y[-80:])
    for label, colour in enumerate((BLUE, ORANGE)):
        mark = {"marker": MARKERS[label], "color": colour, "markeredgecolor": "black", "linestyle": "none"}
        left.plot(*world.class_means(t + 1)[label], markersize=11, **mark)
        right.plot(*world.expectations(t + 1)[label], markersize=11, **mark, label=f"true τ of class {label}")
        middle, width = model.uncertainty_.mean[label], model.uncertainty_.width[label]
        box = Rectangle(tuple(middle - width), *(2.0 * width), facecolor=colour, alpha=0.25, edgecolor=colour)
        right.add_patch(box)
        right.plot(*middle, "+", color="black", markersize=9, label="" if label else "tracked mean")
    label_plane(left, "the last 80 rows, and the true class means", 8.0)
    label_plane(right, "the uncertainty set: τ within a box", 4.0)
    right.set(xlabel="p(y) × mean of the first column", ylabel="p(y) × mean of the second")
    below(left, 2)
    below(right, 3)
    miss = np.abs(world.expectations(t + 1) - model.uncertainty_.mean) - model.uncertainty_.width
    width = model.uncertainty_.width.round(2).tolist()
    return figure, f"half widths {width}, {int((miss <= 0).sum())} of 4 components hold the truth"


def tracking() -> tuple[Figure, str]:
    """Draw a component of each class over time: the truth, the tracked mean, and its width."""
    world, n_steps = MovingClass(), 640
    X, y = world.sample(n_steps, seed=0)
    model = paper_model()
    sets = [model.uncertainty_ for _ in model.steps(X, y, classes=[0, 1])]
    times = np.arange(2, n_steps + 2)  # what is known after step t is about step t + 1
    truth = world.expectations(times)
    figure, panels = new_figure(2, width=4.6, height=3.2)
    held = []
    for label, (axes, colour) in enumerate(zip(panels, (BLUE, ORANGE), strict=True)):
        mean = np.array([each.mean[label, 0] for each in sets])
        width = np.array([each.width[label, 0] for each in sets])
        axes.fill_between(times, mean - width, mean + width, color=colour, alpha=0.25, linewidth=0, label="± width")
        axes.plot(times, mean, color=colour, linewidth=1.0, label="tracked mean")
        axes.plot(times, truth[:, label, 0], color="black", linewidth=1.2, linestyle=(0, (4, 2)), label="truth")
        axes.set(title=f"class {label}, which {'stands still' if label else 'moves'}", xlabel="step", ylim=(-5, 5))
        axes.set_ylabel("p(y) × mean of the first column")
        below(axes, 3)
        held.append(np.mean(np.abs(truth[50:, label, 0] - mean[50:]) <= width[50:]))
    return figure, f"after 50 steps the truth is within the width at {held[0]:.1%} and {held[1]:.1%} of the steps"


def rule() -> tuple[Figure, str]:
    """Draw the probabilities of two rules over the plane, at the same step."""
    world, t, reach = RotatingGaussians(angular_rate=0.01), 400, 8.0
    X, y = world.sample(t, seed=0)
    axis = np.linspace(-reach, reach, 161)
    plane = np.stack(np.meshgrid(axis, axis), axis=-1)
    figure, panels = new_figure(2)
    errors = []
    models: dict[str, BoundedClassifier] = {"AMRC.paper(), linear features": paper_model(), "AMRC()": AMRC()}
    for axes, (name, model) in zip(panels, models.items(), strict=True):
        model.fit(X, y)
        h = model.predict_proba(plane.reshape(-1, 2))[:, 0].reshape(plane.shape[:2])
        extent = (-reach, reach, -reach, reach)
        image = axes.imshow(h, origin="lower", extent=extent, cmap=BETWEEN, vmin=0, vmax=1, alpha=0.6)
        axes.contour(axis, axis, h, levels=[0.5], colors="black", linewidths=1.2)
        show_rows(axes, X[-80:], y[-80:])
        label_plane(axes, name, reach)
        below(axes, 2)
        rules = model.predict_proba, lambda rows, model=model: np.eye(2)[model.predict(rows)]
        errors += [world.rule_error(t + 1, each, n_points=4096).value for each in rules]
    figure.colorbar(image, ax=panels, shrink=0.8, label="h(class 0 | x)")
    listed = ", ".join(f"{error:.1%}" for error in errors)
    return figure, f"true errors at step {t + 1}, of each the randomised and the deterministic rule: {listed}"


def bound() -> tuple[Figure, str]:
    """Draw the bounds and the true error on a part of the paper's stream, with the steps at which a bound fails."""
    history = follow(AMRC(), RotatingGaussians(), 1000)
    figure, (axes,) = new_figure(width=8.4)
    steps, fails = np.arange(1, 1001), history["bound"] < history["truth"]
    shown = slice(600, 900)
    axes.plot(steps[shown], history["bound"][shown], color=BLUE, label="calibrated bound")
    axes.plot(steps[shown], history["rate"][shown], color=GREEN, linestyle=(0, (5, 2)), label="rate bound")
    axes.plot(steps[shown], history["truth"][shown], color="black", linewidth=1.2, label="true error")
    failed = np.flatnonzero(fails[shown]) + shown.start
    axes.plot(steps[failed], history["truth"][failed], "o", color=ORANGE, markersize=5, label="calibrated bound fails")
    axes.set(xlabel="step", ylabel="error probability", ylim=(0, None), title="AMRC() on RotatingGaussians()")
    below(axes, 4)
    late = slice(200, None)
    means = ", ".join(f"{name} {history[name][late].mean():.1%}" for name in ("truth", "bound", "rate"))
    over = np.mean(history["rate"][late] >= history["truth"][late])
    return (
        figure,
        f"after 200 steps: means {means}; holds at {1 - fails[late].mean():.1%}, the rate bound at {over:.1%}",
    )


def mistakes() -> tuple[Figure, str]:
    """Draw the expected mistakes so far, and the bound on them."""
    history = follow(AMRC(), RotatingGaussians(), 1000)
    figure, (axes,) = new_figure(width=8.4, height=3.2)
    total, steps = np.cumsum(history["mistake"]), np.arange(1, 1001)
    axes.plot(steps, history["mistake_bound"], color=BLUE, label="mistake_bound(delta=0.05)")
    axes.plot(steps, np.cumsum(history["rate"]), color=GREEN, linestyle=(0, (5, 2)), label="sum of the rate bounds")
    axes.plot(steps, total, color="black", label="expected mistakes")
    axes.set(xlabel="step", ylabel="mistakes so far", title="AMRC() on RotatingGaussians()")
    below(axes, 3)
    return figure, f"in the end {total[-1]:.0f} expected mistakes, bound {history['mistake_bound'][-1]:.0f}"


def surprise() -> tuple[Figure, str]:
    """Draw the bound and the true error around a step at which two classes trade places."""
    at = 1000
    history = follow(AMRC(), AbruptDrift(at=(at,)), 1200)
    figure, (axes,) = new_figure(width=8.4)
    steps, shown = np.arange(1, 1201), slice(at - 100, at + 150)
    fails = history["bound"] < history["truth"]
    axes.plot(steps[shown], history["bound"][shown], color=BLUE, label="calibrated bound")
    axes.plot(steps[shown], history["truth"][shown], color="black", linewidth=1.2, label="true error")
    failed = np.flatnonzero(fails[shown]) + shown.start
    axes.plot(steps[failed], history["truth"][failed], "o", color=ORANGE, markersize=4, label="the bound fails")
    axes.axvline(at + 0.5, color="0.5", linewidth=1.0, linestyle=":")
    axes.set(xlabel="step", ylabel="error probability", ylim=(0, 1), title="two classes trade places after step 1,000")
    below(axes, 3)
    after = np.flatnonzero(fails[at:])
    return figure, (
        f"true error {history['truth'][at]:.1%} and bound {history['bound'][at]:.1%} at step {at + 1}; the bound "
        f"fails at {len(after)} steps after the change, the last {after[-1] + 1 if len(after) else 0} after it; "
        f"below 10 % again {int(np.argmax(history['truth'][at:] < 0.1)) + 1} steps after it"
    )


def flights() -> tuple[Figure, str]:
    """Draw errors and bounds on the stream of the tutorial."""
    run = evaluate(AMRC(), load("flights"), progress=False)
    return run.plot(), f"error {run.summary.error:.1%}, mean bound {run.summary.mean_bound:.1%}"


def architecture() -> tuple[Figure, str]:
    """Draw the rooms of the import contract in layers: each layer may import from those below it."""
    settings = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    rows = [[name.strip() for name in layer.split("|")] for layer in layers]
    figure = Figure(figsize=(9.6, 0.68 * len(rows) + 0.5), facecolor="white")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(0, 10), ylim=(-len(rows) - 0.7, 0.05))
    axes.axis("off")
    for i, names in enumerate(rows):
        width = 9.4 / len(names)
        for j, name in enumerate(names):
            left = 0.1 + j * width
            purpose, content = ROOMS[name]
            style = {"facecolor": PURPOSES[purpose], "edgecolor": "0.55", "linewidth": 0.8}
            axes.add_patch(Rectangle((left, -i - 0.92), width - 0.1, 0.84, **style))
            axes.text(left + 0.12, -i - 0.3, name, va="center", family="monospace", weight="bold", fontsize=10)
            lines = textwrap.fill(content, width=int(12.8 * width))
            axes.text(left + 0.12, -i - 0.46, lines, va="top", fontsize=8.5, linespacing=1.15)
    arrow = {"arrowstyle": "-|>", "color": "0.3", "linewidth": 1.2}
    axes.annotate("", (9.62, -len(rows) + 0.1), (9.62, -0.1), arrowprops=arrow)
    axes.text(9.82, -len(rows) / 2, "may import", rotation=-90, ha="center", va="center", color="0.3")
    for k, (purpose, colour) in enumerate(PURPOSES.items()):
        place = (0.1 + 2.35 * k, -len(rows) - 0.5)
        axes.add_patch(Rectangle(place, 0.25, 0.25, facecolor=colour, edgecolor="0.55", linewidth=0.8))
        axes.text(place[0] + 0.35, place[1] + 0.12, purpose, va="center", fontsize=9)
    return figure, f"{len(rows)} layers, {len(ROOMS)} rooms"


PICTURES: tuple[Callable[[], tuple[Figure, str]], ...] = (
    uncertainty,
    tracking,
    rule,
    bound,
    mistakes,
    surprise,
    flights,
    architecture,
)


def main(wanted: list[str]) -> None:
    """Draw the pictures that are named, or all."""
    mpl.rcdefaults()
    mpl.rcParams.update(SETTINGS)
    for picture in PICTURES:
        if wanted and picture.__name__ not in wanted:
            continue
        figure, numbers = picture()
        figure.savefig(HERE / "pictures" / f"{picture.__name__}.svg", metadata={"Date": None})
        sys.stdout.write(f"{picture.__name__}: {numbers}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
