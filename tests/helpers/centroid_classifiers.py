"""Two correct online classifiers, as a user might write them: they predict the class with the nearest mean."""

import io
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from driftline.types import Predictions


class Centroids(ClassifierMixin, BaseEstimator):
    """Predicts the class with the nearest running mean; all classes must be announced at the first call."""

    def __init__(self, gain=0.2):
        self.gain = gain

    def fit(self, X, y):
        vars(self).pop("classes_", None)
        return self.partial_fit(X, y)

    def partial_fit(self, X, y, classes=None):
        first = not hasattr(self, "classes_")
        X, y = self.read(X, y, first)
        known = np.unique(y if classes is None else classes) if first else self.classes_
        if not np.isin(y, known).all():
            raise ValueError(f"y has a class that is none of {known.tolist()}")
        if first:
            self.classes_ = known
            self._counts, self._means = np.zeros(len(known)), np.zeros((len(known), X.shape[1]))
        for x, label in zip(X, y, strict=True):
            self.learn(x, label)
        return self

    def read(self, X, y, first):
        X, y = validate_data(self, X, y, reset=first)
        check_classification_targets(y)
        return X, y

    def learn(self, x, label):
        place = self.classes_.tolist().index(label)
        self._counts[place] += 1
        self._means[place] += max(self.gain, 1 / self._counts[place]) * (x - self._means[place])

    def distances(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        apart = ((X[:, None] - self._means) ** 2).sum(axis=2)
        return np.where(self._counts > 0, apart, np.inf)

    def predict(self, X):
        most_likely = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most_likely]

    def predict_proba(self, X):
        apart = self.distances(X)
        h = np.exp(-(apart - apart.min(axis=1, keepdims=True)))
        return h / h.sum(axis=1, keepdims=True)

    def save(self, path):
        file = io.BytesIO()
        np.savez(file, gain=self.gain, classes=self.classes_, counts=self._counts, means=self._means)
        Path(path).write_bytes(file.getvalue())

    @classmethod
    def load(cls, path):
        with np.load(path) as kept:
            model = cls(gain=float(kept["gain"]))
            model.classes_, model._counts, model._means = kept["classes"], kept["counts"], kept["means"]
        model.n_features_in_ = model._means.shape[1]
        return model


class JoiningCentroids(Centroids):
    """Also adds classes that were not announced, and has `prequential` and `assess`, as driftline's classifiers do."""

    def partial_fit(self, X, y, classes=None, timestamps=None):
        first = not hasattr(self, "classes_")
        X, y = self.read(X, y, first)
        if first:
            self.classes_ = np.unique(y[:0] if classes is None else classes)
            self._counts, self._means = np.zeros(len(self.classes_)), np.zeros((len(self.classes_), X.shape[1]))
        for x, label in zip(X, y, strict=True):
            self.join(label)
            self.learn(x, label)
        return self

    def fit(self, X, y):
        vars(self).pop("classes_", None)
        return self.partial_fit(X, y, classes=np.unique(np.asarray(y)))

    def join(self, label):
        if label not in self.classes_.tolist():
            self.classes_ = np.append(self.classes_, label).astype(np.result_type(self.classes_, np.array([label])))
            self._counts = np.append(self._counts, 0.0)
            self._means = np.vstack([self._means, np.zeros(self._means.shape[1])])

    def prequential(self, X, y, classes=None, timestamps=None):
        parts = []
        for t in range(len(X)):
            parts.append(self.assess(X[t : t + 1], y[t : t + 1]))
            self.partial_fit(X[t : t + 1], y[t : t + 1], classes)
        return Predictions.concatenate(parts)

    def assess(self, X, y, classes=None, asked=0):
        predicted = self.predict(X) if hasattr(self, "classes_") else np.full(len(X), None)
        return Predictions.without_bounds(predicted, np.asarray(y), np.zeros(len(X)), np.zeros(len(X)))
