"""scikit-learn's classifiers on columns that are standardised online."""

import copy
from typing import Any, Self

from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from driftline.adapters.base import copy_signature
from driftline.adapters.prepared import PreparedClassifier
from driftline.types import Matrix


class ScaledClassifier(PreparedClassifier):
    """A classifier after scikit-learn's StandardScaler; both learn online.

    Parameters
    ----------
    classifier : estimator
        A classifier with `partial_fit`; a clone of it is fitted.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    scaler_, classifier_ : StandardScaler, estimator
        The fitted scaler and classifier.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> model = ScaledClassifier(SGDClassifier(loss="log_loss", random_state=0))
    >>> model.partial_fit([[1000.0], [3000.0]], ["low", "high"], classes=["high", "low"]).predict([[1100.0]])
    array(['low'], dtype='<U4')
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then learn.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        ScaledClassifier
            The estimator itself.
        """
        return self._learn(StandardScaler(), clone(self.classifier), X, y, unique_labels(y))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Update the means and deviations of the columns, then the classifier with the scaled rows.

        Parameters
        ----------
        X, y
            As in `fit`.
        classes : array-like, optional
            At the first call: all classes that will occur.

        Returns
        -------
        ScaledClassifier
            The estimator itself.
        """
        if not hasattr(self, "classifier_"):
            return self._learn(StandardScaler(), clone(self.classifier), X, y, classes)
        return self._learn(copy.deepcopy(self.scaler_), copy.deepcopy(self.classifier_), X, y, classes)

    def _learn(self, scaler: Any, classifier: Any, X: Any, y: Any, classes: Any) -> Self:
        """Fit scaler and classifier, and store them if neither raises an error."""
        classifier.partial_fit(scaler.partial_fit(X).transform(X), y, classes=classes)
        self.scaler_, self.classifier_, self.n_features_in_ = scaler, classifier, scaler.n_features_in_
        return self

    @property
    def _trained(self) -> Any:
        check_is_fitted(self, "classifier_")
        return self.classifier_

    def _prepared(self, X: Any) -> Matrix:
        rows: Matrix = self.scaler_.transform(X)
        return rows


def sgd(**parameters: Any) -> ScaledClassifier:
    """Return a scaled SGDClassifier."""
    return ScaledClassifier(SGDClassifier(**parameters))


copy_signature(sgd, SGDClassifier)
