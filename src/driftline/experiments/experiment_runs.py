"""The runs that experiments consist of, described by plain values so that a result can be found again."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

import numpy as np

from driftline import registry
from driftline.errors import ConfigError
from driftline.evaluation import choose_scale, evaluate
from driftline.paper import rules
from driftline.paper.construction import assemble, checked_parameters
from driftline.streams import RangeScaled, RotatingGaussians, Stream, load
from driftline.streams.synthetic.integrals import normal_quantiles, quasirandom_points
from driftline.types import Matrix, Rule, Vector

N_WARM_UP_ROWS = 50
"""Rows on which a classifier is run before it is timed."""
N_POINTS_PER_CLASS = 64
"""Instances of each class for the error of a rule: the standard error is about 0.01."""
MAX_TIMES = 200
"""Number of times that a simulation returns values for, at most."""


class ExperimentRun(ABC):
    """A run whose result is kept: a dataclass of plain values, so that equal runs have equal keys."""

    work: str
    model: str
    stream: str
    parameters: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the description of the run, as values that can be written as JSON."""
        values = {one.name: getattr(self, one.name) for one in fields(cast(Any, self))}
        return values | {"stream": self.stream, "parameters": dict(self.parameters)}

    @property
    def key(self) -> str:
        """A digest of the description."""
        return run_key(self.to_dict())

    @abstractmethod
    def perform(self, unfinished: Path | None) -> dict[str, Any]:
        """Do the run and return its result.

        Parameters
        ----------
        unfinished : Path or None
            A folder for the state of a long run. A run that was interrupted continues from there.

        Returns
        -------
        dict
            Values that can be written as JSON.
        """


def run_key(description: dict[str, Any]) -> str:
    """Return the key of the run that has this description."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class StreamRun(ExperimentRun):
    """A run of a classifier on a stream of the catalogue.

    Attributes
    ----------
    work : {"evaluation", "timing", "course", "scale"}
        Evaluate the classifier; measure the time per step; return cumulative errors after every row; or choose the
        scale of the kernel.
    model, stream : str
        Names of the classifier and of the stream.
    parameters : mapping
        Parameters of the classifier.
    n_rows : int or None
        Number of rows of the stream, from the first; None for all.
    ranges : {"column", "array", None}
        Scale the stream by its range over all rows, as the paper does: the range of each column, or one range for all
        columns. None leaves scaling to the classifier.
    """

    work: str
    model: str
    stream: str
    parameters: Mapping[str, Any]
    n_rows: int | None
    ranges: str | None

    def perform(self, unfinished: Path | None) -> dict[str, Any]:
        """Do the run and return its result."""
        stream = load(self.stream)
        if self.ranges is not None:
            stream = RangeScaled(stream, by=self.ranges)
        if self.work == "scale":
            choice = choose_scale(self._model(), stream, n_rows=self.n_rows, progress=False)
            errors = {f"{scale:g}": error for scale, error in choice.errors.items()}
            return {"scale": choice.scale, "errors": errors, "n_rows": choice.n_rows}
        if self.work == "course":
            return self._cumulative_errors(stream)
        if self.work == "timing":
            return self._time_per_step(stream)
        return self._evaluation(stream, unfinished)

    def _model(self) -> Any:
        scales = self.ranges is not None and "scaling" in registry.describe(self.model).parameters
        return registry.create(self.model, **({"scaling": "none"} if scales else {}) | dict(self.parameters))

    def _time_per_step(self, stream: Stream) -> dict[str, Any]:
        """Return the time that a step takes after a first evaluation, which compiles everything."""
        for n_rows in (N_WARM_UP_ROWS, self.n_rows):
            summary = evaluate(self._model(), stream, limit=n_rows, classes=stream.classes(), progress=False).summary
        seconds = summary.predict_seconds + summary.learn_seconds
        return {"n_rows": summary.n_rows, "milliseconds": 1e3 * seconds / summary.n_rows}

    def _evaluation(self, stream: Stream, unfinished: Path | None) -> dict[str, Any]:
        evaluation = evaluate(
            self._model(),
            stream,
            limit=self.n_rows,
            classes=stream.classes(),
            progress=False,
            checkpoint=unfinished,
            resume=unfinished is not None,
        )
        if not evaluation.finished:
            raise KeyboardInterrupt
        return evaluation.summary.to_dict()

    def _cumulative_errors(self, stream: Stream) -> dict[str, Any]:
        """Return, after each row, the mistakes, the expected mistakes of the randomised rule, and the sum of R(U_t)."""
        blocks = list(stream.blocks())
        X, y = (
            np.concatenate([getattr(block, name) for block in blocks])[: self.n_rows] for name in ("rows", "labels")
        )
        predictions = self._model().prequential(X, y, classes=stream.classes())
        columns = {
            "error": predictions.predicted != y,
            "expected_error": 1.0 - predictions.label_probabilities,
            "mean_bound": predictions.bounds,
        }
        known = {name: values for name, values in columns.items() if not np.isnan(values.astype(float)).any()}
        return {"n_rows": len(y)} | {name: np.cumsum(values).tolist() for name, values in known.items()}


@dataclass(frozen=True)
class SimulationRun(ExperimentRun):
    """Several runs of the paper's AMRC on its synthetic stream, one for each seed, summed up.

    Attributes
    ----------
    work : {"bounds", "mistakes"}
        Compare bounds with error probabilities at each time, or accumulate mistakes.
    model : str
        Name of the classifier: the paper's AMRC with linear features, on columns that are not scaled.
    parameters : mapping
        Parameters of the classifier.
    n_steps : int
        Length of each run.
    first_seed, n_runs : int
        The first seed, and how many there are.
    """

    work: str
    model: str
    parameters: Mapping[str, Any]
    n_steps: int
    first_seed: int
    n_runs: int

    stream = "rotating-gaussians"

    def perform(self, unfinished: Path | None) -> dict[str, Any]:
        """Do the runs and return sums over them at some times; they are too short to be continued."""
        runs = [self._one_run(seed) for seed in range(self.first_seed, self.first_seed + self.n_runs)]
        times = kept_times(self.n_steps)
        sums = {name: np.sum([run[name] for run in runs], axis=0)[times - 1] for name in runs[0]}
        return {"n_runs": self.n_runs, "times": times.tolist()} | {name: total.tolist() for name, total in sums.items()}

    def _one_run(self, seed: int) -> dict[str, Vector]:
        X, y = RotatingGaussians().sample(self.n_steps, seed=seed)
        model = registry.create(self.model, **self.parameters)
        given = model.get_params()
        if (given["features"], given["intercept"], given["scaling"]) != ("linear", False, "none"):
            raise ConfigError(f"a simulation needs linear features, no intercept and scaling='none'; got {model!r}")
        if self.work == "mistakes":
            predictions = model.prequential(X, y, classes=[0, 1])
            return {
                "mistakes": np.cumsum(1.0 - predictions.label_probabilities),
                "bounds": np.cumsum(predictions.bounds),
            }
        # Only rules and bounds are needed: the learner alone takes two thirds of the time of the estimator.
        learner = assemble(checked_parameters(given), X, seed)
        learner.add_classes(2)
        found, bounds = [], np.empty(self.n_steps)
        for t, label in enumerate(y.tolist()):
            found.append(learner.solution.rule)
            bounds[t] = learner.solution.risk
            learner.learn(X[t], label, 1.0)
        errors = error_probabilities(RotatingGaussians(), found, seed)
        return {"bounds": bounds, "errors": errors, "squares": errors**2, "holds": (bounds >= errors).astype(float)}


def kept_times(n_steps: int) -> Any:
    """Return the times at which a simulation keeps values: all, or `MAX_TIMES` spread evenly on a logarithmic scale.

    Examples
    --------
    >>> kept_times(4).tolist(), kept_times(10_000)[[0, 1, -1]].tolist(), len(kept_times(10_000)) <= 200
    ([1, 2, 3, 4], [1, 2, 10000], True)
    """
    if n_steps <= MAX_TIMES:
        return np.arange(1, n_steps + 1)
    return np.unique(np.geomspace(1, n_steps, MAX_TIMES).round().astype(np.int64))


def error_probabilities(stream: RotatingGaussians, found: list[Rule], seed: int) -> Vector:
    """Return the true error probability R(h_t) of the rules of the times 1, 2, …, by quasi-Monte Carlo integration.

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
    normals = normal_quantiles(quasirandom_points(components.n_features, N_POINTS_PER_CLASS, seed)).reshape(
        -1, components.n_features
    )
    labels = np.repeat(components.labels, len(normals))
    weights = np.broadcast_to(components.weights, (len(found), components.weights.shape[1]))
    instances = components.means[:, :, None] + components.deviations[:, :, None] * normals
    errors = np.empty(len(found))
    for t, rule in enumerate(found):
        Psi: Matrix = instances[t].reshape(-1, components.n_features)
        wrong = 1.0 - rules.probabilities(rule, Psi)[np.arange(len(labels)), labels]
        errors[t] = weights[t] @ wrong.reshape(-1, len(normals)).mean(axis=1)
    return errors
