"""From the parameters of an AMRC to the parts that it is made of."""

import copy
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from sklearn.utils import check_random_state

from driftline._validation import whole_number
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
FLAGS = ("intercept", "deterministic")
WHOLE_NUMBERS = {"order": 0, "n_components": 1, "label_window": 1, "n_subgradients": 1, "n_iterations": 1}


def checked_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters as plain Python values, or refuse those that cannot work."""
    plain = dict(parameters)
    choices = dict(CHOICES)
    if not _is_map(parameters["features"]):
        choices["features"] = ("linear", "fourier")
    for name, words in choices.items():
        if not isinstance(parameters[name], str) or parameters[name] not in words:
            raise ConfigError(f"{name} must be one of {', '.join(map(repr, words))}; got {parameters[name]!r}")
    for name, at_least in WHOLE_NUMBERS.items():
        plain[name] = whole_number(name, parameters[name], at_least=at_least)
    for name in FLAGS:
        if not isinstance(parameters[name], bool | np.bool_):
            raise ConfigError(f"{name} must be True or False; got {parameters[name]!r}")
        plain[name] = bool(parameters[name])
    scale = parameters["scale"]
    if not isinstance(scale, int | float | np.integer | np.floating) or not 0 < scale < np.inf:
        raise ConfigError(f"scale must be a positive number; got {scale!r}")
    plain["scale"] = float(scale)
    try:
        check_random_state(parameters["random_state"])
    except ValueError as error:
        raise ConfigError(f"random_state: {error}") from error
    return plain


def _is_map(features: object) -> bool:
    return isinstance(features, FeatureMap) and not isinstance(features, type)


def assemble(parameters: Mapping[str, Any], rows: Matrix, seed: int) -> Learner:
    """Build a learner, without classes yet, for instances like `rows`, the first block of the stream."""
    columns = Columns(parameters["scaling"])
    features = _feature_map(parameters, seed)
    columns.start(rows)
    features.start(rows.shape[1])
    first = features.transform(columns.prepare(rows[:1]))
    if not isinstance(first, np.ndarray) or first.ndim != 2 or len(first) != 1:
        raise ConfigError(f"the feature map must return an array with a row for each instance; got {first!r}")
    n_features = first.shape[1]
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
    if _is_map(features):
        return cast(FeatureMap, copy.deepcopy(features))
    if features == "fourier":
        return FourierMap(n_components=parameters["n_components"], scale=parameters["scale"], seed=seed)
    return LinearMap(intercept=parameters["intercept"])


def _solver(parameters: Mapping[str, Any], n_features: int) -> Solver:
    n_rows = parameters["n_subgradients"]
    if parameters["solver"] == "exact":
        return ExactSolver(n_features, n_instances=n_rows)
    return SubgradientSolver(n_features, n_subgradients=n_rows, n_iterations=parameters["n_iterations"])
