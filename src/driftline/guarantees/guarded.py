"""Guarantees for any classifier that learns online."""

import copy
import inspect
from contextlib import suppress
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from driftline.core.class_list import ClassList
from driftline.errors import ConfigError, DataError
from driftline.guarantees.guaranteed_classifier import GuaranteedClassifier
from driftline.guarantees.settings import Guarantees, checked_guarantees
from driftline.guarantees.statement_arrays import joined, row_of
from driftline.guarantees.tracker import GuaranteeTracker
from driftline.guarantees.waiting_rows import WaitingRows
from driftline.kernels.statements import RowStatements
from driftline.types import LabelArray, Labels, Matrix
from driftline.utils.validation import read_ids, read_labels, whole_number

STATE = ("model_", "_keeper", "_classes", "_waiting")
"""Attributes that `partial_fit` sets."""


class Guarded(GuaranteedClassifier, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with guarantees: any one that has scikit-learn's `partial_fit`.

    Predictions are those of the classifier. What is added follows from its probabilities (`predict_proba`, if it has
    that) and from the labels that arrive: `decide`, `predict_set`, `predict_confidence`, `predict_bound`,
    `error_interval` and `alarm_`.

    `partial_fit(X, y)` counts what was said of these rows just before: exactly what `decide(X)` and the other methods
    would have returned. If other rows are learned between a prediction and its label, call `observe` with the rows
    that are predicted, and give the ids to `partial_fit` too.

    Something is said of all rows of a call before any of them is learned. So a call is a delay: the limits on wrong
    answers and missed labels (see `driftline.guarantees.row_guarantees.RowGuarantees`) grow by its number of rows.

    Parameters
    ----------
    model : estimator
        The classifier. A fitted one is continued; in either case a copy is used, `model_`.
    guarantees : Guarantees, optional
        The levels; by default those of `Guarantees()`.
    expire_after_labels : int, default=100000
        Number of labels after which an observed row is given up, if its own was not among them. At most 100,000 rows
        wait; when there are more, the oldest are given up.

    Attributes
    ----------
    model_ : estimator
        The classifier that learns.
    classes_ : ndarray
        The classes, in the order in which they became known.
    alarm_ : Alarm or None
        The raised alarm; None if the error has not risen.
    n_waiting_ : int
        Number of observed rows whose labels have not arrived.
    n_expired_ : int
        Number of observed rows that were given up.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from driftline.guarantees import Guarded
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians(angular_rate=0.01).sample(2000, seed=0)
    >>> model = Guarded(SGDClassifier(loss="log_loss", random_state=0))
    >>> for start in range(0, 2000, 10):
    ...     batch = slice(start, start + 10)
    ...     model = model.partial_fit(X[batch], y[batch], classes=[0, 1])
    >>> answered = model.answered_error(error=0.05)
    >>> bool(answered.n_rows > 500), bool(answered.error < 0.06)
    (True, True)
    """

    def __init__(self, model: Any, guarantees: Guarantees | None = None, expire_after_labels: int = 100_000) -> None:
        self.model = model
        self.guarantees = guarantees
        self.expire_after_labels = expire_after_labels

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then learn from the rows of X as one batch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        Guarded
            The estimator itself.
        """
        before = self.__dict__.copy()
        for name in STATE:
            self.__dict__.pop(name, None)
        try:
            return self.partial_fit(X, y, classes=np.unique(read_labels(y)))
        except BaseException:
            self.__dict__ = before
            raise

    def partial_fit(self, X: Any, y: Any, classes: Any = None, ids: Any = None) -> Self:
        """Let the classifier learn the rows of X, and count what was said of them before.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like, optional
            All classes, at the first call; most classifiers of scikit-learn need them.
        ids : array-like of shape (n_samples,), optional
            The ids that were given to `observe`. A row whose id is not waiting counts as a row that was not observed.

        Returns
        -------
        Guarded
            The estimator itself.
        """
        labels = read_labels(y, _n_rows(X))
        known = None if ids is None else read_ids(ids, len(labels)).tolist()
        before, is_first = self.__dict__.copy(), not hasattr(self, "_keeper")
        try:
            if is_first:
                self._start()
            self._classes.check(labels)
            said = self._statements(X)[2] if self._classes.labels.size else None
            self._let_model_learn(X, y, classes)
        except BaseException:
            if is_first:
                self.__dict__ = before
            raise
        self._add_classes(labels.tolist())
        positions = np.array([self._classes.position(label) for label in labels.tolist()])
        if known is None and said is not None:
            self._keeper.learn_rows(said, positions)
        elif known is not None:
            self._count_observed(known, said, positions)
        self._waiting.count_labels(len(labels))
        return self

    def observe(self, X: Any, ids: Any) -> Self:
        """Keep what is said of rows now, until `partial_fit` gets their labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances that are predicted now.
        ids : array-like of shape (n_samples,)
            Numbers or texts by which `partial_fit` finds the rows. No two waiting rows may have the same id.

        Returns
        -------
        Guarded
            The estimator itself.
        """
        known = read_ids(ids, _n_rows(X)).tolist()
        self._check_fitted()
        self._waiting.add(known, self._statements(X)[2])
        return self

    def acknowledge_alarm(self) -> None:
        """Arm a raised alarm again, from the next row on; no-op if none is raised."""
        self._check_fitted()
        if self._keeper.alarm is not None:
            self._keeper.alarm.acknowledge()

    # Prediction ---------------------------------------------------------------------------------------

    def predict(self, X: Any) -> LabelArray:
        """Return the labels that the classifier predicts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        self._check_fitted()
        labels: LabelArray = self.model_.predict(X)
        return labels

    def predict_proba(self, X: Any) -> Matrix:
        """Return the classifier's probabilities; 1 for the predicted label if it has none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, columns in the order of `classes_`.
        """
        return self._probabilities(X)[1]

    def _probabilities(self, X: Any) -> tuple[Labels, Matrix]:
        """Return the position of the predicted label for each row, and the probability of each class."""
        self._check_fitted()
        labels = np.asarray(self.model_.predict(X)).tolist()
        predicted = np.array([self._classes.position(label) for label in labels], np.int64)
        h = np.zeros((len(predicted), len(self._classes.labels)))
        unknown = np.flatnonzero(predicted == h.shape[1])
        if unknown.size:
            raise DataError(
                f"the model predicted {labels[unknown[0]]!r} for row {unknown[0]}, which is none of its classes, "
                f"{self._classes.labels.tolist()[:20]}; let it learn a row of that class first"
            )
        if hasattr(self.model_, "predict_proba") and hasattr(self.model_, "classes_"):
            columns = [self._classes.position(label) for label in np.asarray(self.model_.classes_).tolist()]
            with suppress(ConfigError, NotImplementedError):  # adapters, for models without probabilities
                h[:, columns] = np.clip(np.nan_to_num(self.model_.predict_proba(X)), 0.0, 1.0)
        says_nothing = h.sum(axis=1) == 0.0
        h[says_nothing, predicted[says_nothing]] = 1.0
        return predicted, h

    def _statements(self, X: Any) -> tuple[GuaranteeTracker, LabelArray, RowStatements]:
        predicted, h = self._probabilities(X)
        return self._keeper, self._classes.labels, self._keeper.state_rows(h, predicted)

    @property
    def _tracker(self) -> GuaranteeTracker:
        self._check_fitted()
        return self._keeper

    @property
    def classes_(self) -> LabelArray:  # type: ignore[override]
        """The classes, in the order in which they became known."""
        self._check_fitted()
        return self._classes.labels.copy()

    @property
    def n_waiting_(self) -> int:
        """Number of observed rows whose labels have not arrived."""
        self._check_fitted()
        return len(self._waiting)

    @property
    def n_expired_(self) -> int:
        """Number of observed rows that were given up."""
        self._check_fitted()
        return self._waiting.n_expired

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a class to predict; scikit-learn calls this."""
        return hasattr(self, "_keeper") and bool(self._classes.labels.size)

    # Learning -----------------------------------------------------------------------------------------

    def _check_fitted(self) -> None:
        """Raise NotFittedError if no class is known; a fitted classifier knows some before anything is learned."""
        if not hasattr(self, "_keeper") and _is_fitted(self.model):
            self._start()
        check_is_fitted(self)

    def _start(self) -> None:
        """Build what is needed, at the first call."""
        guarantees = checked_guarantees(self.guarantees)
        n_labels = whole_number("expire_after_labels", self.expire_after_labels, at_least=1)
        if not hasattr(self.model, "partial_fit") or not hasattr(self.model, "predict"):
            raise ConfigError(f"model must have predict and partial_fit; got {self.model!r:.200}")
        self.model_ = copy.deepcopy(self.model) if _is_fitted(self.model) else clone(self.model)
        self._keeper = GuaranteeTracker(guarantees)
        self._classes = ClassList(np.empty(0))
        self._waiting = WaitingRows(n_labels)
        self._add_classes([])

    def _let_model_learn(self, X: Any, y: Any, classes: Any) -> None:
        takes_classes = classes is not None and "classes" in inspect.signature(self.model_.partial_fit).parameters
        self.model_.partial_fit(X, y, **({"classes": classes} if takes_classes else {}))

    def _add_classes(self, labels: list[Any]) -> None:
        """Add the classes of the model and the labels that are not known yet."""
        before = len(self._classes.labels)
        for label in [*np.asarray(getattr(self.model_, "classes_", [])).tolist(), *labels]:
            self._classes = self._classes.with_label(label)
        added = len(self._classes.labels) - before
        if added:
            self._keeper.add_classes(added)
            self._keeper.name_classes(self._classes.labels)

    def _count_observed(self, ids: list[Any], said: RowStatements | None, positions: Labels) -> None:
        """Count what was said of rows when they were observed; of the others, what was said just now."""
        rows = [self._waiting.take(each) for each in ids]
        if said is not None:
            rows = [row_of(said, t) if row is None else row for t, row in enumerate(rows)]
        kept = [t for t, row in enumerate(rows) if row is not None]
        if kept:
            whole = joined([rows[t] for t in kept], len(self._classes.labels), self._keeper.guarantees)
            self._keeper.learn_rows(whole, positions[kept])


def _n_rows(X: Any) -> int:
    """Return the number of rows of a table or a sequence."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError):
        return False
    return hasattr(model, "classes_")
