"""Guarantees for River's classifiers, with River's interface."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from driftline.errors import DataError, MissingExtraError
from driftline.guarantees.alarm import Alarm
from driftline.guarantees.figures import GuaranteeFigures
from driftline.guarantees.settings import Guarantees, checked_guarantees
from driftline.guarantees.tracker import GuaranteeTracker
from driftline.guarantees.waiting_rows import WaitingRows
from driftline.kernels.confidence import BOUND
from driftline.kernels.statements import ANSWERED, RowStatements
from driftline.utils.validation import whole_number

try:
    from river import base, linear_model
except ImportError as error:
    raise MissingExtraError(f"River's Guarded needs river ({error}); pip install 'driftline[river]'") from error


class Guarded(GuaranteeFigures, base.Wrapper, base.Classifier):  # type: ignore[misc]  # River is not followed, see pyproject.toml
    """A River classifier with guarantees, as `driftline.guarantees.Guarded` gives them to others.

    Predictions are those of the classifier. `learn_one(x, y)` counts what would have been said of x just before. If
    labels arrive late, call `observe_one(x, id)` when a row is predicted, and `learn_one(x, y, id)` with its label.

    Parameters
    ----------
    model : river.base.Classifier
        The classifier, or a pipeline that ends with one.
    guarantees : Guarantees, optional
        The levels; by default those of `Guarantees()`.
    expire_after_labels : int, default=100000
        Number of labels after which an observed row is given up, if its own was not among them. At most 100,000 rows
        wait; when there are more, the oldest are given up.

    Notes
    -----
    Nothing is said of a row whose predicted label is None, or has neither been learned nor predicted for a row that
    was learned.

    Examples
    --------
    >>> from driftline.adapters.river import Guarded
    >>> from river import datasets, linear_model, preprocessing
    >>> model = Guarded(preprocessing.StandardScaler() | linear_model.LogisticRegression())
    >>> for x, y in datasets.Phishing():
    ...     label = model.decide_one(x, error=0.05)  # None: hand it over
    ...     model.learn_one(x, y)
    >>> answered = model.answered_error(error=0.05)
    >>> answered.n_rows > 500, answered.error < 0.07
    (True, True)
    """

    def __init__(
        self, model: base.Classifier, guarantees: Guarantees | None = None, expire_after_labels: int = 100_000
    ) -> None:
        self.model = model
        self.guarantees = guarantees
        self.expire_after_labels = expire_after_labels
        self._labels: dict[Any, int] = {}
        self._guarantee_tracker = GuaranteeTracker(checked_guarantees(guarantees))
        self._waiting = WaitingRows(whole_number("expire_after_labels", expire_after_labels, at_least=1))

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": linear_model.LogisticRegression()}

    @property
    def _wrapped_model(self) -> base.Classifier:
        return self.model

    @property
    def _multiclass(self) -> bool:
        return bool(self.model._multiclass)

    # Learning -----------------------------------------------------------------------------------------

    def learn_one(self, x: dict[Any, Any], y: Any, id: Any = None, **kwargs: Any) -> None:  # noqa: A002  # a plain word
        """Let the classifier learn a row, and count what was said of it before.

        Parameters
        ----------
        x : dict
            The row.
        y : hashable
            Its label.
        id : hashable, optional
            The id that was given to `observe_one`.
        **kwargs
            Further arguments of the classifier's `learn_one`.
        """
        predicted = self.model.predict_one(x)
        if self._labels and predicted is not None:
            self._add_label(predicted)
        now = self._statements(x)
        self.model.learn_one(x, y, **kwargs)
        self._add_label(y)
        observed = None if id is None else self._waiting.take(id)
        said = now if observed is None else observed
        if said is not None:
            self._tracker.learn_rows(said, np.array([self._labels[y]]))
        self._waiting.count_labels(1)

    def observe_one(self, x: dict[Any, Any], id: Any) -> None:  # noqa: A002
        """Keep what is said of a row now, until `learn_one` gets its label; no-op before the first label.

        Parameters
        ----------
        x : dict
            A row that is predicted now.
        id : hashable
            By which `learn_one` finds the row; no two waiting rows may have the same.
        """
        if id is None:
            raise DataError("id is None; give each row an id of its own")
        said = self._statements(x)
        if said is not None:
            self._waiting.add([id], said)

    def acknowledge_alarm(self) -> None:
        """Arm a raised alarm again, from the next row on; no-op if none is raised."""
        if self._tracker.alarm is not None:
            self._tracker.alarm.acknowledge()

    def _add_label(self, label: Any) -> None:
        if label not in self._labels:
            self._labels[label] = len(self._labels)
            self._tracker.add_classes(1)
            named = np.empty(len(self._labels), dtype=object)
            named[:] = list(self._labels)
            self._tracker.name_classes(named)

    # Prediction ---------------------------------------------------------------------------------------

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Return the label that the classifier predicts.

        Parameters
        ----------
        x : dict
            The row.
        **kwargs
            Further arguments of the classifier's `predict_one`.

        Returns
        -------
        hashable
            The label; None before the first label.
        """
        return self.model.predict_one(x, **kwargs)

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the classifier's probabilities.

        Parameters
        ----------
        x : dict
            The row.
        **kwargs
            Further arguments of the classifier's `predict_proba_one`.

        Returns
        -------
        dict
            The probability of each label.
        """
        probabilities: dict[Any, float] = self.model.predict_proba_one(x, **kwargs)
        return probabilities

    def decide_one(self, x: dict[Any, Any], error: Any = None) -> Any:
        """Return the predicted label if the row can be answered; None if it should be handed over.

        Parameters
        ----------
        x : dict
            The row.
        error : float or mapping, optional
            The allowed share of wrong answers, one of the levels; by default the first of them.

        Returns
        -------
        hashable
            The label, or None.
        """
        position = self._tracker.guarantees.error_position(error)
        said = self._statements(x)
        if said is None or said.decisions[0, position] != ANSWERED:
            return None
        return list(self._labels)[said.predicted[0]]

    def predict_set_one(self, x: dict[Any, Any], coverage: float | None = None) -> set[Any]:
        """Return the labels that can be right.

        Parameters
        ----------
        x : dict
            The row.
        coverage : float, optional
            The share of sets that contain the true label, one of the levels; by default the first of them.

        Returns
        -------
        set
            The labels; empty if nothing is said of the row.
        """
        position = self._tracker.guarantees.coverage_position(coverage)
        said = self._statements(x)
        if said is None:
            return set()
        inside = said.sets[0, position].tolist()
        return {label for label, is_inside in zip(self._labels, inside, strict=True) if is_inside}

    def predict_confidence_one(self, x: dict[Any, Any]) -> float:
        """Return the probability that the prediction is right, calibrated by the labels so far.

        Parameters
        ----------
        x : dict
            The row.

        Returns
        -------
        float
            The probability; 0 if nothing is said of the row.
        """
        said = self._statements(x)
        return 0.0 if said is None else float(said.confidences[0])

    def predict_bound_one(self, x: dict[Any, Any]) -> float:
        """Return a bound on the error of the row: that of recent rows of like confidence, plus a margin.

        Parameters
        ----------
        x : dict
            The row.

        Returns
        -------
        float
            The bound; 1 if nothing is said of the row.
        """
        said = self._statements(x)
        return 1.0 if said is None else float(said.like_errors[0, BOUND])

    def _statements(self, x: dict[Any, Any]) -> RowStatements | None:
        """Return what is said of a row; None if its predicted label is not known."""
        predicted = self.model.predict_one(x)
        if predicted not in self._labels:
            return None
        shares = self.model.predict_proba_one(x) if hasattr(self.model, "predict_proba_one") else {}
        h = np.array([[min(max(shares.get(label, 0.0), 0.0), 1.0) for label in self._labels]])
        if not h.any():
            h[0, self._labels[predicted]] = 1.0
        return self._tracker.state_rows(h, np.array([self._labels[predicted]]))

    # Figures ------------------------------------------------------------------------------------------

    @property
    def _tracker(self) -> GuaranteeTracker:
        return self._guarantee_tracker

    def _known_labels(self) -> list[Any]:
        return list(self._labels)

    @property
    def alarm(self) -> Alarm | None:
        """The raised alarm; None if the error has not risen."""
        return self._tracker.raised

    @property
    def n_waiting(self) -> int:
        """Number of observed rows whose labels have not arrived."""
        return len(self._waiting)

    @property
    def n_expired(self) -> int:
        """Number of observed rows that were given up."""
        return self._waiting.n_expired
