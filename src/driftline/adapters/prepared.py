"""Base class of classifiers that prepare rows for another one."""

from abc import abstractmethod
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from driftline.types import LabelArray, Matrix


class PreparedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that prepares rows, and lets another one learn and predict them.

    Parameters
    ----------
    classifier : estimator
        The other classifier, with `partial_fit`.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    @property
    @abstractmethod
    def _trained(self) -> Any:
        """The classifier that has learned."""

    @abstractmethod
    def _prepared(self, X: Any) -> Matrix:
        """Return rows as the classifier takes them."""

    @property
    def classes_(self) -> LabelArray:
        """The classes, in the order of the columns of ``predict_proba``."""
        labels: LabelArray = self._trained.classes_
        return labels

    def predict(self, X: Any) -> LabelArray:
        """Return a label for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        labels: LabelArray = self._trained.predict(self._prepared(X))
        return labels

    @available_if(lambda self: hasattr(self.classifier, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each class for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, columns in the order of ``classes_``.
        """
        probabilities: Matrix = self._trained.predict_proba(self._prepared(X))
        return probabilities
