"""What the models of a fleet say of rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftline.guarantees.settings import Guarantees
from driftline.kernels.confidence import BOUND
from driftline.kernels.statements import ANSWERED, RowStatements
from driftline.types import Flags, LabelArray, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class FleetPredictions:
    """What the models of a fleet say of some rows, before the labels of these rows are learned.

    Attributes
    ----------
    labels : ndarray
        The predicted labels.
    answers : MaskedArray
        The same, masked where the row should be handed over.
    probabilities : ndarray of shape (n_samples, n_classes)
        The probability of each class, which is the randomised rule.
    confidences, row_bounds : ndarray of float
        The probability that the predicted label is right, and a bound on the error of the row.
    sets : ndarray of bool, of shape (n_samples, n_classes)
        Whether each label can be right.
    error_bounds : ndarray of float
        The calibrated bound of the model of each row, its `error_bound_`.
    """

    labels: LabelArray
    answers: "np.ma.MaskedArray[Any, Any]"
    probabilities: Matrix
    confidences: Vector
    row_bounds: Vector
    sets: Flags
    error_bounds: Vector

    @classmethod
    def of_statements(
        cls, said: RowStatements, h: Matrix, bounds: Vector, classes: LabelArray, guarantees: Guarantees, **levels: Any
    ) -> "FleetPredictions":
        """Return the predictions, from what was said of rows at all levels.

        Parameters
        ----------
        said : RowStatements
            What was said of the rows.
        h : ndarray of shape (n_samples, n_classes)
            Their probabilities.
        bounds : ndarray of float
            The calibrated bound of the model of each row.
        classes : ndarray
            The classes.
        guarantees : Guarantees
            The levels.
        **levels
            `error` and `coverage`: the levels of the answers and of the sets; by default the first ones.

        Returns
        -------
        FleetPredictions
            One entry for each row.
        """
        labels = classes[said.predicted]
        answered = said.decisions[:, guarantees.error_position(levels.get("error"))] == ANSWERED
        return cls(
            labels=labels,
            answers=np.ma.MaskedArray(labels, mask=~answered),
            probabilities=h,
            confidences=said.confidences,
            row_bounds=said.like_errors[:, BOUND].copy(),
            sets=said.sets[:, guarantees.coverage_position(levels.get("coverage"))].copy(),
            error_bounds=bounds,
        )

    @classmethod
    def concatenate(cls, parts: "Sequence[FleetPredictions]") -> "FleetPredictions":
        """Return the predictions of several calls as one, in order.

        Parameters
        ----------
        parts : sequence of FleetPredictions
            At least one.

        Returns
        -------
        FleetPredictions
            All of them.
        """
        labels = np.concatenate([part.labels for part in parts])
        return cls(
            labels=labels,
            answers=np.ma.MaskedArray(labels, mask=np.concatenate([part.answers.mask for part in parts])),
            probabilities=np.concatenate([part.probabilities for part in parts]),
            confidences=np.concatenate([part.confidences for part in parts]),
            row_bounds=np.concatenate([part.row_bounds for part in parts]),
            sets=np.concatenate([part.sets for part in parts]),
            error_bounds=np.concatenate([part.error_bounds for part in parts]),
        )
