"""The paper's first figure: the characteristics of one class move, those of the other do not."""

from dataclasses import dataclass

import numpy as np

from driftline.experiments.figure import Curve, Finding, Panel
from driftline.paper import PaperAMRC
from driftline.streams.synthetic.components import GaussianComponents
from driftline.streams.synthetic.mixtures import DriftingGaussians
from driftline.types import Labels, Matrix, Rule, Vector

SEED = 3
N_SHOWN = 60
"""Instances that are shown at each of the two times."""
REACH = 8.0
"""How far the plane is shown."""
WARM_UP = 50
"""Steps that a filter is given before it is judged."""


@dataclass(frozen=True, slots=True)
class OneMovingClass(DriftingGaussians):
    """Class 0 goes around the origin while class 1 stands still; equally likely, of variance 2."""

    n_steps: int

    def components(self, times: Vector) -> GaussianComponents:
        """Return the components, one a class."""
        angle = np.pi * (0.75 * times / self.n_steps - 0.25)
        means = np.full((times.size, 2, 2), -2.5)
        means[:, 0] = 4.0 * np.column_stack([np.cos(angle), np.sin(angle)])
        return GaussianComponents(np.arange(2), np.full((1, 2), 0.5), means, np.full((1, 2, 1), np.sqrt(2.0)))


def opening(n_steps: int) -> tuple[tuple[Panel, ...], tuple[Finding, ...]]:
    """Return the instances and the rule at an early and a late time, and the characteristics in between.

    Parameters
    ----------
    n_steps : int
        The late time; the early one is a third of it.

    Returns
    -------
    tuple of Panel
        Two of instances, and one of time.
    tuple of Finding
        What they show.
    """
    stream = OneMovingClass(n_steps)
    X, y = stream.sample(n_steps, seed=SEED)
    model = PaperAMRC(features="linear", scaling="none")
    tracked, found = np.empty((n_steps, 2, 2)), []
    for t, _ in enumerate(model.steps(X, y, classes=[0, 1])):
        tracked[t] = model.uncertainty_.mean
        found.append(model.rule_)
    early = n_steps // 3
    panels = (
        _plane("time t₁", X, y, early, stream, found[early - 1], None),
        _plane("time t₂", X, y, n_steps, stream, found[-1], early),
        _course(stream, tracked),
    )
    times = np.arange(1, n_steps + 1)
    truth = stream.expectations(times + 1)  # the tracker forecasts the next step
    moved = np.abs(truth[-1] - truth[early - 1]).max(axis=1)
    errors = np.abs(tracked - truth)[WARM_UP:].mean(axis=(0, 2))
    finding = Finding(
        f"From t₁ to t₂ the characteristics of class 1 move by {moved[0]:.1f}, those of class 2 by {moved[1]:.1f}; "
        f"the tracked ones are off by {errors[0]:.2f} and {errors[1]:.2f} on average.",
        holds=bool(moved[1] == 0.0 < moved[0] and errors[0] < moved[0]),
    )
    return panels, (finding,)


def _plane(title: str, X: Matrix, y: Labels, t: int, stream: OneMovingClass, rule: Rule, before: int | None) -> Panel:
    """Return the last instances up to a time, the true class means and the rule; and where one mean was before."""
    recent = slice(max(t - N_SHOWN, 0), t)
    means, curves = stream.class_means(t), []
    for label in (0, 1):
        points = X[recent][y[recent] == label]
        curves.append(Curve(f"class {label + 1}", points[:, 0].tolist(), points[:, 1].tolist(), "points", label))
    if before is not None:
        path = stream.class_means(np.linspace(before, t, 50))[:, 0]
        curves.append(Curve("", path[:, 0].tolist(), path[:, 1].tolist(), "ghost"))
    curves += [Curve("", [float(means[label, 0])], [float(means[label, 1])], "mark", label) for label in (0, 1)]
    curves.append(_boundary(rule))
    plane = (-REACH, REACH)
    return Panel(title, "first feature", "second feature", tuple(curves), plane, plane, equal=True)


def _boundary(rule: Rule) -> Curve:
    """Return the line through the origin on which the scores of both classes are the same."""
    normal = rule.weights[0] - rule.weights[1]
    along = np.array([-normal[1], normal[0]]) / max(float(np.linalg.norm(normal)), 1e-12)
    ends = np.outer([-2.0 * REACH, 2.0 * REACH], along)
    return Curve("rule", ends[:, 0].tolist(), ends[:, 1].tolist(), "line", 2)


def _course(stream: OneMovingClass, tracked: Vector) -> Panel:
    """Return the characteristics τ₁ to τ₄ over time, tracked and true."""
    times = np.arange(1, len(tracked) + 1)
    truth = stream.expectations(times + 1)
    curves = []
    for place, (label, feature) in enumerate(np.ndindex(2, 2)):
        values = tracked[:, label, feature].tolist()
        curves.append(Curve(f"τ{'₁₂₃₄'[place]}", times.tolist(), values, "line", place))
        curves.append(Curve("", times.tolist(), truth[:, label, feature].tolist(), "truth"))
    return Panel(
        "tracked, and dotted the true ones", "time t", "characteristic τ", tuple(curves), (0, len(tracked)), (-4, 5)
    )
