"""Classifiers that cannot take missing values, on rows in which these are replaced by running means."""

from typing import Any, Self

import numpy as np

from driftline.adapters.prepared import PreparedClassifier
from driftline.types import Matrix


class ImputedClassifier(PreparedClassifier):
    """A classifier for which missing values are replaced by the mean of the known values that its column had so far.

    A value is replaced by 0 if none was known yet. The means are those of the rows learned.

    Parameters
    ----------
    classifier : estimator
        A classifier with `partial_fit`, which is trained in place.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    n_imputed_ : int
        Number of values that were replaced in the rows learned.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = ImputedClassifier(GaussianNB())
    >>> model.partial_fit([[1.0], [np.nan], [9.0]], ["low", "low", "high"], classes=["high", "low"]).n_imputed_
    1
    >>> model.predict([[np.nan], [8.5]])
    array(['low', 'high'], dtype='<U4')
    """

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Replace the missing values of each row by the means before it, update the means, and learn the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like, optional
            At the first call: all classes that will occur.

        Returns
        -------
        ImputedClassifier
            The estimator itself.
        """
        rows = np.asarray(X, np.float64)
        counts = getattr(self, "_counts", np.zeros(rows.shape[1]))
        sums = getattr(self, "_sums", np.zeros(rows.shape[1]))
        known = ~np.isnan(rows)
        after_counts = counts + np.cumsum(known, axis=0)
        after_sums = sums + np.cumsum(np.where(known, rows, 0.0), axis=0)
        # A missing value adds nothing to the sums, so that those after its row are those before it.
        filled = np.where(known, rows, after_sums / np.maximum(after_counts, 1.0))
        announced = {} if classes is None else {"classes": classes}
        self.classifier.partial_fit(filled, y, **announced)
        self._counts, self._sums = after_counts[-1], after_sums[-1]
        self.n_imputed_ = getattr(self, "n_imputed_", 0) + int(np.count_nonzero(~known))
        return self

    @property
    def _trained(self) -> Any:
        return self.classifier

    def _prepared(self, X: Any) -> Matrix:
        rows = np.asarray(X, np.float64)
        if not hasattr(self, "_counts"):
            return rows
        return np.where(np.isnan(rows), self._sums / np.maximum(self._counts, 1.0), rows)
