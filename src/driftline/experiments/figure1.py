"""Figure 1 of the paper: the characteristics of one class move while those of the other do not."""

from dataclasses import dataclass

import numpy as np

from driftline.experiments.figure_drawing import Curve, Finding, Panel
from driftline.paper import PaperAMRC
from driftline.streams.synthetic.components import GaussianComponents
from driftline.streams.synthetic.mixtures import DriftingGaussians
from driftline.types import Labels, Matrix, Rule, Vector

SEED = 3
N_SHOWN = 60
"""Number of instances shown at each of the two times."""
AXIS_LIMIT = 8.0
"""Both features are shown from minus to plus this value."""
N_WARM_UP_STEPS = 50
"""Steps of the tracker before its errors are counted."""


@dataclass(frozen=True, slots=True)
class OneMovingClass(DriftingGaussians):
    """A stream in which class 0 circles the origin and class 1 stands still; equal priors, variance 2."""

    n_steps: int

    def components(self, times: Vector) -> GaussianComponents:
        """Return the components, one for each class."""
        angle = np.pi * (0.75 * times / self.n_steps - 0.25)
        means = np.full((times.size, 2, 2), -2.5)
        means[:, 0] = 4.0 * np.column_stack([np.cos(angle), np.sin(angle)])
        return GaussianComponents(np.arange(2), np.full((1, 2), 0.5), means, np.full((1, 2, 1), np.sqrt(2.0)))


def figure1(n_steps: int) -> tuple[tuple[Panel, ...], tuple[Finding, ...]]:
    """Return the instances and the rule at an early and a late time, and the tracked characteristics over time.

    Parameters
    ----------
    n_steps : int
        The late time; the early time is a third of it.

    Returns
    -------
    tuple of Panel
        Two of instances, and one of characteristics.
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
        _instances("time t₁", X, y, early, stream, found[early - 1], None),
        _instances("time t₂", X, y, n_steps, stream, found[-1], early),
        _characteristics(stream, tracked),
    )
    times = np.arange(1, n_steps + 1)
    truth = stream.expectations(times + 1)  # the tracker predicts the next step
    moved = np.abs(truth[-1] - truth[early - 1]).max(axis=1)
    errors = np.abs(tracked - truth)[N_WARM_UP_STEPS:].mean(axis=(0, 2))
    finding = Finding(
        f"From t₁ to t₂ the characteristics of class 1 move by {moved[0]:.1f}, those of class 2 by {moved[1]:.1f}; "
        f"the mean errors of the tracked characteristics are {errors[0]:.2f} and {errors[1]:.2f}.",
        holds=bool(moved[1] == 0.0 < moved[0] and errors[0] < moved[0]),
    )
    return panels, (finding,)


def _instances(
    title: str, X: Matrix, y: Labels, t: int, stream: OneMovingClass, rule: Rule, path_start: int | None
) -> Panel:
    """Return the last instances up to a time, the class means, the rule, and optionally the path of the first mean."""
    recent = slice(max(t - N_SHOWN, 0), t)
    means, curves = stream.class_means(t), []
    for label in (0, 1):
        points = X[recent][y[recent] == label]
        curves.append(Curve(f"class {label + 1}", points[:, 0].tolist(), points[:, 1].tolist(), "points", label))
    if path_start is not None:
        path = stream.class_means(np.linspace(path_start, t, 50))[:, 0]
        curves.append(Curve("", path[:, 0].tolist(), path[:, 1].tolist(), "path"))
    curves += [Curve("", [float(means[label, 0])], [float(means[label, 1])], "mark", label) for label in (0, 1)]
    curves.append(_boundary(rule))
    limits = (-AXIS_LIMIT, AXIS_LIMIT)
    return Panel(title, "first feature", "second feature", tuple(curves), limits, limits, equal=True)


def _boundary(rule: Rule) -> Curve:
    """Return the line through the origin on which both classes have the same score."""
    normal = rule.weights[0] - rule.weights[1]
    along = np.array([-normal[1], normal[0]]) / max(float(np.linalg.norm(normal)), 1e-12)
    ends = np.outer([-2.0 * AXIS_LIMIT, 2.0 * AXIS_LIMIT], along)
    return Curve("rule", ends[:, 0].tolist(), ends[:, 1].tolist(), "line", 2)


def _characteristics(stream: OneMovingClass, tracked: Vector) -> Panel:
    """Return the characteristics τ₁ to τ₄ over time, tracked and true."""
    times = np.arange(1, len(tracked) + 1)
    truth = stream.expectations(times + 1)
    curves = []
    for place, (label, feature) in enumerate(np.ndindex(2, 2)):
        values = tracked[:, label, feature].tolist()
        curves.append(Curve(f"τ{'₁₂₃₄'[place]}", times.tolist(), values, "line", place))
        curves.append(Curve("", times.tolist(), truth[:, label, feature].tolist(), "truth"))
    return Panel(
        "tracked (solid) and true (dotted)", "time t", "characteristic τ", tuple(curves), (0, len(tracked)), (-4, 5)
    )
