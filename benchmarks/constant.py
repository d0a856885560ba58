"""A classifier that costs nothing, to measure what an evaluation itself costs."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from driftline.types import Predictions


class Constant(ClassifierMixin, BaseEstimator):
    """Says the same label of every row, and takes blocks."""

    def __init__(self, label=0):
        self.label = label

    def partial_fit(self, X, y, classes=None, timestamps=None):
        """Learn nothing."""
        return self

    def predict(self, X):
        """Return the label, as often as there are rows."""
        return np.full(len(X), self.label)

    def assess(self, X, y, classes=None, asked=0):
        """Return the label as an answer."""
        n = len(X)
        return Predictions.without_bounds(self.predict(X), y, np.zeros(n), np.zeros(n))

    def prequential(self, X, y, classes=None, timestamps=None):
        """Return the label as an answer."""
        return self.assess(X, y)
