"""Building the learner of `PaperAMRC` from its parameters."""

import copy
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from driftline.core.columns import PaperColumns
from driftline.core.features import FeatureMap, FourierMap, LinearMap, count_features, is_feature_map
from driftline.paper.exact_solver import ExactSolver
from driftline.paper.kinematic_tracker import KinematicTracker
from driftline.paper.label_window import LabelWindow
from driftline.paper.learner import PaperLearner
from driftline.paper.protocols import Solver
from driftline.paper.subgradient_solver import SubgradientSolver
from driftline.paper.widening import LabelledWindow
from driftline.types import Matrix
from driftline.utils.validation import checked_random_state, flag, one_of, real_number, whole_number

FOURIER_FEATURES = ("fourier", "fourier-printed")
CHOICES = {
    "scaling": ("running", "file", "none"),
    "label_variance": ("binomial", "sample", "printed"),
    "unobserved": ("propagate", "hold"),
    "gain": ("multidimensional", "unidimensional"),
    "solver": ("subgradient", "exact"),
}
FLAGS = ("intercept", "widened", "deterministic")
MIN_WHOLE_NUMBERS = {"order": 0, "n_components": 1, "label_window": 1, "n_subgradients": 1, "n_iterations": 1}
"""Parameters that are whole numbers, and the smallest value of each."""


def checked_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters as plain Python values; raise ConfigError if one is invalid."""
    plain = dict(parameters)
    if not is_feature_map(parameters["features"]):
        one_of("features", parameters["features"], ("linear", *FOURIER_FEATURES))
    for name, words in CHOICES.items():
        one_of(name, parameters[name], words)
    for name, at_least in MIN_WHOLE_NUMBERS.items():
        plain[name] = whole_number(name, parameters[name], at_least=at_least)
    for name in FLAGS:
        plain[name] = flag(name, parameters[name])
    plain["scale"] = real_number("scale", parameters["scale"], above=0.0, below=np.inf)
    plain["coverage"] = real_number("coverage", parameters["coverage"], above=0.5, below=1.0)
    checked_random_state(parameters["random_state"])
    return plain


def assemble(parameters: Mapping[str, Any], rows: Matrix, seed: int) -> PaperLearner:
    """Return a new learner, without classes, for a stream whose first block is `rows`."""
    columns = PaperColumns(parameters["scaling"], rows)
    features = _feature_map(parameters, seed)
    features.start(rows.shape[1])
    n_features = count_features(features, columns.prepare(rows[:1]))
    tracker = KinematicTracker(
        n_features,
        order=parameters["order"],
        window=LabelWindow(parameters["label_window"], parameters["label_variance"]),
        unobserved=parameters["unobserved"],
        gain=parameters["gain"],
    )
    window = LabelledWindow(n_features, n_instances=parameters["n_subgradients"]) if parameters["widened"] else None
    solver = _solver(parameters, n_features)
    return PaperLearner(columns, features, tracker, solver, n_features, parameters["coverage"], window)


def n_bytes(parameters: Mapping[str, Any], n_columns: int, n_classes: int) -> int:
    """Return about how much memory a learner takes: rows of the solver, filters, directions and step sizes."""
    n_directions: int = parameters["n_components"] if parameters["features"] in FOURIER_FEATURES else 0
    n_features = 1 + n_columns + 2 * n_directions
    rows: int = (2 * parameters["n_subgradients"] + 2) * (12 * n_features + n_classes)
    filters: int = 16 * n_classes * n_features * (parameters["order"] + 2) ** 2
    others: int = 8 * n_columns * n_directions + 16 * parameters["n_iterations"] + 8 * parameters["label_window"]
    return rows + filters + others


def _feature_map(parameters: Mapping[str, Any], seed: int) -> FeatureMap:
    features = parameters["features"]
    if is_feature_map(features):
        return cast(FeatureMap, copy.deepcopy(features))
    if features in FOURIER_FEATURES:
        return FourierMap(
            n_components=parameters["n_components"],
            scale=parameters["scale"],
            seed=seed,
            divided=features != "fourier-printed",
        )
    return LinearMap(intercept=parameters["intercept"])


def _solver(parameters: Mapping[str, Any], n_features: int) -> Solver:
    n_rows = parameters["n_subgradients"]
    if parameters["solver"] == "exact":
        return ExactSolver(n_features, n_instances=n_rows)
    return SubgradientSolver(n_features, n_subgradients=n_rows, n_iterations=parameters["n_iterations"])
