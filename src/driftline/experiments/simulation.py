"""Many runs of the paper's AMRC on its synthetic stream, drawn anew for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driftline import registry
from driftline.errors import ConfigError
from driftline.experiments.runs import Task
from driftline.paper import rules
from driftline.paper.construction import assemble, checked_parameters
from driftline.streams import RotatingGaussians
from driftline.streams.synthetic.integrals import even_points, quantiles
from driftline.types import Matrix, Rule, Vector

N_POINTS = 64
"""Instances of each class for the error of a rule: enough for a standard error of about 0.01."""
N_TIMES = 200
"""Up to so many times are kept."""


@dataclass(frozen=True)
class Simulation(Task):
    """Some runs of a classifier on the synthetic stream, one for each seed.

    Attributes
    ----------
    work : {"bounds", "mistakes"}
        Whether to compare bounds and error probabilities at each time, or to accumulate mistakes.
    model : str
        By name: the paper's AMRC with linear features, on columns that are not scaled.
    parameters : mapping
        Of the classifier.
    n_steps : int
        Length of each run.
    first_seed, n_runs : int
        The seeds.
    """

    work: str
    model: str
    parameters: Mapping[str, Any]
    n_steps: int
    first_seed: int
    n_runs: int

    stream = "rotating-gaussians"

    def perform(self, partial: Path | None) -> dict[str, Any]:
        """Do it, and return sums over the runs at some times; it takes too little to be continued."""
        courses = [self._course(seed) for seed in range(self.first_seed, self.first_seed + self.n_runs)]
        times = times_of(self.n_steps)
        sums = {name: np.sum([course[name] for course in courses], axis=0)[times - 1] for name in courses[0]}
        return {"n_runs": self.n_runs, "times": times.tolist()} | {name: total.tolist() for name, total in sums.items()}

    def _course(self, seed: int) -> dict[str, Vector]:
        X, y = RotatingGaussians().sample(self.n_steps, seed=seed)
        model = registry.create(self.model, **self.parameters)
        given = model.get_params()
        if (given["features"], given["intercept"], given["scaling"]) != ("linear", False, "none"):
            raise ConfigError(f"a simulation needs instances as they are for features; got {model!r}")
        if self.work == "mistakes":
            answers = model.prequential(X, y, classes=[0, 1])
            return {"mistakes": np.cumsum(1.0 - answers.probabilities), "bounds": np.cumsum(answers.bounds)}
        # The model's learner, since nothing but its rules and bounds is wanted, and the rest takes half as long again.
        learner = assemble(checked_parameters(given), X, seed)
        for _ in range(2):
            learner.add_class()
        found, bounds = [], np.empty(self.n_steps)
        for t, label in enumerate(y.tolist()):
            found.append(learner.solution.rule)
            bounds[t] = learner.solution.risk
            learner.learn(X[t], label, 1.0)
        errors = error_probabilities(RotatingGaussians(), found, seed)
        return {"bounds": bounds, "errors": errors, "squares": errors**2, "holds": (bounds >= errors).astype(float)}


def times_of(n_steps: int) -> Any:
    """Return the times that are kept: all, or if these are too many, such as are evenly spread on a logarithmic scale.

    Examples
    --------
    >>> times_of(4).tolist(), times_of(10_000)[[0, 1, -1]].tolist(), len(times_of(10_000)) <= 200
    ([1, 2, 3, 4], [1, 2, 10000], True)
    """
    if n_steps <= N_TIMES:
        return np.arange(1, n_steps + 1)
    return np.unique(np.geomspace(1, n_steps, N_TIMES).round().astype(np.int64))


def error_probabilities(stream: RotatingGaussians, found: list[Rule], seed: int) -> Vector:
    """Return the true error R(h_t) of the rules of the times 1, 2, …, by points that spread evenly.

    Parameters
    ----------
    stream : RotatingGaussians
        The distribution.
    found : list of Rule
        A rule on its instances for each time.
    seed : int
        Seed of the points.

    Returns
    -------
    ndarray
        The error probabilities.
    """
    components = stream.components(np.arange(1.0, len(found) + 1.0))
    normals = quantiles(even_points(components.n_features, N_POINTS, seed)).reshape(-1, components.n_features)
    labels = np.repeat(components.labels, len(normals))
    weights = np.broadcast_to(components.weights, (len(found), components.weights.shape[1]))
    instances = components.means[:, :, None] + components.deviations[:, :, None] * normals
    errors = np.empty(len(found))
    for t, rule in enumerate(found):
        Psi: Matrix = instances[t].reshape(-1, components.n_features)
        wrong = 1.0 - rules.probabilities(rule, Psi)[np.arange(len(labels)), labels]
        errors[t] = weights[t] @ wrong.reshape(-1, len(normals)).mean(axis=1)
    return errors
