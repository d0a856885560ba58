"""From the parameters of an AMRC to the parts that it is made of."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline.errors import ConfigError
from driftline.features import Columns, FeatureMap, FourierMap, LinearMap
from driftline.learner import Learner
from driftline.solvers import ExactSolver, Solver, SubgradientSolver
from driftline.tracking import KinematicTracker, LabelWindow
from driftline.types import Matrix

CHOICES = {
    "scaling": ("running", "file", "none"),
    "label_variance": ("binomial", "sample", "printed"),
    "unobserved": ("propagate", "hold"),
    "gain": ("multidimensional", "unidimensional"),
    "solver": ("subgradient", "exact"),
}
WHOLE_NUMBERS = {"order": 0, "n_components": 1, "label_window": 1, "n_subgradients": 1, "n_iterations": 1}


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that cannot work, before anything is built."""
    choices = dict(CHOICES)
    if not isinstance(parameters["features"], FeatureMap):
        choices["features"] = ("linear", "fourier")
    for name, words in choices.items():
        if parameters[name] not in words:
            raise ConfigError(f"{name} must be one of {', '.join(map(repr, words))}; got {parameters[name]!r}")
    for name, at_least in WHOLE_NUMBERS.items():
        value = parameters[name]
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
            raise ConfigError(f"{name} must be a whole number from {at_least} up; got {value!r}")
    if not parameters["scale"] > 0:
        raise ConfigError(f"scale must be positive; got {parameters['scale']!r}")


def assemble(parameters: Mapping[str, Any], rows: Matrix, seed: int) -> Learner:
    """Build a learner, without classes yet, for instances like `rows`, the first block of the stream."""
    columns = Columns(parameters["scaling"])
    features = _feature_map(parameters, seed)
    columns.start(rows)
    features.start(rows.shape[1])
    n_features = features.transform(columns.prepare(rows[:1])).shape[1]
    tracker = KinematicTracker(
        n_features,
        order=parameters["order"],
        window=LabelWindow(parameters["label_window"], parameters["label_variance"]),
        unobserved=parameters["unobserved"],
        gain=parameters["gain"],
    )
    return Learner(columns, features, tracker, _solver(parameters, n_features), n_features)


def _feature_map(parameters: Mapping[str, Any], seed: int) -> FeatureMap:
    features = parameters["features"]
    if isinstance(features, FeatureMap):
        return copy.deepcopy(features)
    if features == "fourier":
        return FourierMap(n_components=parameters["n_components"], scale=parameters["scale"], seed=seed)
    return LinearMap(intercept=parameters["intercept"])


def _solver(parameters: Mapping[str, Any], n_features: int) -> Solver:
    n_rows = parameters["n_subgradients"]
    if parameters["solver"] == "exact":
        return ExactSolver(n_features, n_instances=n_rows)
    return SubgradientSolver(n_features, n_subgradients=n_rows, n_iterations=parameters["n_iterations"])
