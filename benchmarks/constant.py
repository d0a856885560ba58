"""A classifier that needs no time, to measure the time of an evaluation itself."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from driftline.types import Predictions


class Constant(ClassifierMixin, BaseEstimator):
    """Predicts the same label for every row, also in blocks."""

    def __init__(self, label=0):
        self.label = label

    def partial_fit(self, X, y, classes=None, timestamps=None):
        """Learn nothing."""
        return self

    def predict(self, X):
        """Return the label for each row."""
        return np.full(len(X), self.label)

    def assess(self, X, y, classes=None, asked=0):
        """Return the label as the prediction for each row."""
        n = len(X)
        return Predictions.without_bounds(self.predict(X), y, np.zeros(n), np.zeros(n))

    def prequential(self, X, y, classes=None, timestamps=None):
        """Return the label as the prediction for each row."""
        return self.assess(X, y)
