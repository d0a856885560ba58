"""The true error probability of a classification rule under a known distribution."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from driftline.errors import DataError
from driftline.streams.synthetic.components import GaussianComponents
from driftline.streams.synthetic.integrals import N_REPLICATES, outside_probability
from driftline.types import Matrix, Vector

LINEAR_RULE_POINTS = 8192
"""Number of quasi-random points for the error of a linear rule that has no closed form."""
MAX_ROUNDING_EXCESS = 1e-6
"""Largest distance from [0, 1] of a rule's probability that is accepted as a rounding error."""


@dataclass(frozen=True, slots=True)
class ErrorProbability:
    """The true error probability of a rule, and its standard error.

    Attributes
    ----------
    value : float
        The error probability.
    standard_error : float
        Standard error of ``value``; 0 if the value is exact.
    """

    value: float
    standard_error: float


def error_of_linear_rule(components: GaussianComponents, weights: Matrix, intercepts: Vector) -> ErrorProbability:
    """Return the error probability of argmax_y (weights_y·x + intercepts_y), with random choice between equal scores.

    Parameters
    ----------
    components : GaussianComponents
        The distribution at one time.
    weights : ndarray of shape (n_classes, n_features)
        A row for each class.
    intercepts : ndarray of shape (n_classes,)
        A number for each class.

    Returns
    -------
    ErrorProbability
        The error probability.
    """
    wrong = np.zeros(N_REPLICATES)
    for weight, label, mean, deviation in _possible(components):
        tied = np.all(weights[label] == weights, axis=1) & (intercepts == intercepts[label])
        lead = weights[label] - weights[~tied]
        margins = lead @ mean + intercepts[label] - intercepts[~tied]
        lost = outside_probability(lead * deviation, margins, LINEAR_RULE_POINTS)
        wrong += weight * (tied.sum() - 1.0 + lost) / tied.sum()
    return _estimate(wrong)


def error_of_rule(
    components: GaussianComponents, probabilities: Callable[[Matrix], Matrix], normals: Vector
) -> ErrorProbability:
    """Return the error probability of a randomised rule ``x ↦ h(·|x)``, the mean of ``1 - h(y|x)``.

    Parameters
    ----------
    components : GaussianComponents
        The distribution at one time.
    probabilities : callable
        Function of instances (rows) that returns the probabilities of all labels (columns).
    normals : ndarray of shape (n_replicates, n_points, n_features)
        Standard normal vectors.

    Returns
    -------
    ErrorProbability
        The error probability.
    """
    wrong = np.zeros(len(normals))
    for weight, label, mean, deviation in _possible(components):
        instances = mean + deviation * normals
        h = probabilities(instances.reshape(-1, instances.shape[2]))
        right = _checked(h, instances.shape[0] * instances.shape[1], components.n_classes)[:, label]
        wrong += weight * (1.0 - right.reshape(instances.shape[:2]).mean(axis=1))
    return _estimate(wrong)


def _possible(components: GaussianComponents) -> Iterator[tuple[float, int, Vector, Vector]]:
    """Yield weight, label, mean and deviations of each component with a positive weight."""
    weights, means, deviations = components.weights[0], components.means[0], components.deviations[0]
    for k in np.flatnonzero(weights):
        yield float(weights[k]), int(components.labels[k]), means[k], deviations[k]


def _checked(h: Matrix, n_rows: int, n_classes: int) -> Matrix:
    """Return the output of a rule; raise a DataError if it is not a row of probabilities for each instance."""
    h = np.asarray(h)
    if h.shape != (n_rows, n_classes):
        raise DataError(
            f"the rule returned an array of shape {h.shape} for {n_rows} instances; expected a row for each instance "
            f"and a column for each of the {n_classes} classes: announce all classes to the model first"
        )
    if h.dtype.kind not in "biuf" or not np.all((h >= -MAX_ROUNDING_EXCESS) & (h <= 1.0 + MAX_ROUNDING_EXCESS)):
        raise DataError(
            f"the rule returned {h[0]} for the first instance; expected probabilities: pass predict_proba, not scores "
            "or labels"
        )
    return h


def _estimate(replicates: Vector) -> ErrorProbability:
    spread = float(np.std(replicates, ddof=1))
    return ErrorProbability(float(np.mean(replicates)), spread / float(np.sqrt(replicates.size)))
