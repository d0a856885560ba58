"""The methods of classifiers that come with guarantees."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftline.guarantees.alarm import Alarm
from driftline.guarantees.figures import GuaranteeFigures
from driftline.guarantees.tracker import GuaranteeTracker
from driftline.kernels.confidence import BOUND, LOW, MIDDLE
from driftline.kernels.statements import ANSWERED, RowStatements
from driftline.types import Flags, LabelArray, Vector


@dataclass(frozen=True, slots=True, eq=False)
class GuaranteedPredictions:
    """Predictions for some rows, with all that can be said of them before their labels are known.

    Attributes
    ----------
    labels : ndarray
        The predicted labels.
    answers : MaskedArray
        The same, masked where the row should be handed over.
    sets : ndarray of bool, of shape (n_samples, n_classes)
        Whether each label is in the set, in the order of ``classes_``.
    confidences : ndarray of float
        The probability that the predicted label is right.
    like_errors, lower_bounds, bounds : ndarray of float
        The error among recent rows of like confidence, and its lower and upper limit.
    """

    labels: LabelArray
    answers: "np.ma.MaskedArray[Any, Any]"
    sets: Flags
    confidences: Vector
    like_errors: Vector
    lower_bounds: Vector
    bounds: Vector


class GuaranteedClassifier(GuaranteeFigures):
    """A classifier that says how far its predictions can be trusted, kept true by the labels that arrive.

    What it says of a row concerns the label that is most probable, also if the classifier draws its labels. What is
    counted is what was said of a row before its label was learned. See `AMRC.observe` and `Guarded` for rows that
    are predicted together, or long before their labels arrive.
    """

    classes_: LabelArray

    @abstractmethod
    def _statements(self, X: Any) -> tuple[GuaranteeTracker, LabelArray, RowStatements]:
        """Return the tracker, the labels of the classes, and what is said of each row of X now."""

    def predict_with_guarantees(
        self, X: Any, *, error: Any = None, coverage: float | None = None
    ) -> GuaranteedPredictions:
        """Return labels, answers, sets, confidences and bounds of rows at once, as the methods below return them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        error : float or mapping, optional
            The level of the answers, as in `decide`.
        coverage : float, optional
            The level of the sets, as in `predict_set`.

        Returns
        -------
        GuaranteedPredictions
            One entry for each row.
        """
        tracker, classes, said = self._statements(X)
        answered = said.decisions[:, tracker.guarantees.error_position(error)] == ANSWERED
        labels = classes[said.predicted]
        return GuaranteedPredictions(
            labels=labels,
            answers=np.ma.MaskedArray(labels, mask=~answered),
            sets=said.sets[:, tracker.guarantees.coverage_position(coverage)],
            confidences=said.confidences,
            like_errors=said.like_errors[:, MIDDLE].copy(),
            lower_bounds=said.like_errors[:, LOW].copy(),
            bounds=said.like_errors[:, BOUND].copy(),
        )

    def decide(self, X: Any, error: Any = None) -> "np.ma.MaskedArray[Any, Any]":
        """Return a label for each row that can be answered; the others are masked, for somebody else to decide.

        Among the rows answered, at most a share `error` is wrong in the long run, on any stream. (With an `AMRC`, rows
        that are decided as a batch must be observed before they are learned: see `AMRC.partial_fit`.)

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        error : float or mapping, optional
            The allowed share of wrong answers, one of the levels in `guarantees`; by default the first of them.

        Returns
        -------
        MaskedArray of shape (n_samples,)
            The labels; masked where the row should be handed over.
        """
        return self.predict_with_guarantees(X, error=error).answers

    def predict_set(self, X: Any, coverage: float | None = None) -> Flags:
        """Return the labels that can be right, for each row.

        The true label is in the set in at least a share `coverage` of the rows in the long run, on any stream.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        coverage : float, optional
            The share of sets that contain the true label, one of the levels in `guarantees`; by default the first.

        Returns
        -------
        ndarray of bool, of shape (n_samples, n_classes)
            Whether each label is in the set; columns in the order of `classes_`.
        """
        return self.predict_with_guarantees(X, coverage=coverage).sets

    def predict_confidence(self, X: Any) -> Vector:
        """Return the probability that the prediction is right, for each row, calibrated by the labels so far.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples,)
            The probabilities.
        """
        return self.predict_with_guarantees(X).confidences

    def predict_bound(self, X: Any) -> Vector:
        """Return a bound on the error of each row: that of recent rows of like confidence, plus a margin.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples,)
            The bounds.
        """
        return self.predict_with_guarantees(X).bounds

    @property
    def alarm_(self) -> Alarm | None:
        """The raised alarm; None if the error has not risen."""
        return self._tracker.raised

    def _known_labels(self) -> list[Any]:
        labels: list[Any] = self.classes_.tolist()
        return labels
