"""The rule that predicts the label with the smallest expected cost."""

import numpy as np

from driftline.core.costs import Costs
from driftline.core.schema import ArraySpec, Schema
from driftline.core.state import ArrayState, independent_copy
from driftline.kernels.cost_rule import (
    FIRST_COVARIANCE,
    FIRST_WEIGHTS,
    MAX_WEIGHT,
    calibrated,
    choose,
    choose_then_learn,
)
from driftline.types import LabelArray, Labels, Matrix

ROUNDING = 1e-9


class CostRule(ArrayState):
    r"""Predicts the label with the smallest expected cost, from a classifier's probabilities and the labels so far.

    Labels and predictions are positions of classes. It knows nothing of the classifier but the probabilities that it
    gave to rows before their labels were known.

    Parameters
    ----------
    costs : Costs
        The costs.

    Notes
    -----
    A minimax rule gives a probability of 0 to labels that are possible, but unlikely, so its probabilities h must be
    calibrated before costs are compared. The calibrated probability of class y is proportional to

        1 / (1 + exp(-a_y - b_y log((h_y + s) / (1 - h_y + s)))),   s = 0.001,

    with the sum over classes 1. Each label updates the two weights of each class by one step of an extended Kalman
    filter, which is an online Newton step of logistic regression; at first a = 0 and b = 1. For two classes this is
    Platt scaling. The memory for a class is five numbers. That the probabilities are calibrated is measured, not
    proved: a row is predicted with weights that were right for the rows before it.
    """

    def __init__(self, costs: Costs) -> None:
        self._costs = costs
        self._matrix: Matrix = np.zeros((0, 0))
        self._weights: Matrix = np.zeros((0, 2))
        self._covariances: Matrix = np.zeros((0, 3))

    def snapshot(self) -> "CostRule":
        """Return a copy that learning does not change."""
        return independent_copy(self)

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""
        self._weights = np.vstack([self._weights, np.tile(FIRST_WEIGHTS, (n, 1))])
        self._covariances = np.vstack([self._covariances, np.tile(FIRST_COVARIANCE, (n, 1))])

    def name_classes(self, labels: LabelArray) -> None:
        """Set the labels of the classes, which the costs are about."""
        self._matrix = self._costs.matrix(labels)

    def probabilities(self, h: Matrix) -> Matrix:
        """Return calibrated probabilities for rows with the classifier's probabilities h; changes nothing."""
        return calibrated(h, self._weights)

    def choose(self, h: Matrix) -> Labels:
        """Return the position of the label with the smallest expected cost, for each row; changes nothing."""
        return choose(h, self._matrix, self._weights)

    def choose_then_learn(self, h: Matrix, labels: Labels) -> Labels:
        """Return the same, and learn the label of each row before the next row.

        A label of a class that h has no column for is not learned from.
        """
        return choose_then_learn(h, labels, self._matrix, self._weights, self._covariances)

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        c = len(self._weights)
        low, high = np.array([0.0, -1.0, 0.0]) - ROUNDING, 1.0 + ROUNDING
        return {
            "weights": ArraySpec((c, 2), low=-MAX_WEIGHT, high=MAX_WEIGHT),
            "covariances": ArraySpec(
                (c, 3),
                low=np.tile(low, (c, 1)),
                high=high,
                condition=_are_covariances,
                meaning="are variances and a covariance that fits them",
            ),
        }


def _are_covariances(array: Matrix) -> bool:
    return bool(np.all(array[:, 1] ** 2 <= array[:, 0] * array[:, 2] + ROUNDING))
