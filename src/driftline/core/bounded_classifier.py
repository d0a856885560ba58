"""Base class of the estimators that bound their own error."""

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np

from driftline.core.checkpoint import MAX_BYTES, opened_checkpoint
from driftline.core.features import FeatureMap, is_feature_map
from driftline.core.model_content import ModelContent
from driftline.core.online_classifier import OnlineClassifier
from driftline.core.protocols import BoundedLearner
from driftline.errors import CheckpointError
from driftline.types import LabelArray, Labels, Matrix, Predictions, Status, Step


class BoundedClassifier(OnlineClassifier):
    """A classifier that learns from a stream and bounds its own error; subclasses define parameters and learner."""

    deterministic: bool
    _learner: BoundedLearner
    _may_change = ("deterministic",)

    def steps(self, X: Any, y: Any, classes: Any = None, timestamps: Any = None) -> Iterator[Step]:
        """Predict, then learn, row by row: an iterator over the predictions made before each label was used.

        The input is checked at the call; a row is learned when the iterator reaches it.

        Parameters
        ----------
        X, y, classes, timestamps
            As in `partial_fit`.

        Returns
        -------
        iterator of Step
            The prediction for each row, with labels as positions in `classes_`.
        """
        with self._lock:
            learned = self._advance(self._check_and_start(X, y, classes, timestamps), batch_rows=1)
        return (step for predictions in learned for step in predictions.steps())

    def predict(self, X: Any) -> LabelArray:
        """Return the label that the deterministic or the randomised rule predicts for each row of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels. Those of the randomised rule depend on the seed, the number of rows learned and the position of
            the row in X: the same call gives the same labels until more rows are learned.
        """
        model = self._current
        rows = model._read_columns(X)
        if self.deterministic:
            positions = model._learner.predict_indices(rows)
        else:
            positions = model._draw(model._learner.probabilities(rows), model._learner.n_steps)
        labels: LabelArray = model._classes.labels[positions]
        return labels

    def predict_proba(self, X: Any) -> Matrix:
        """Return the randomised rule h(y|x) for each row of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, columns in the order of `classes_`.
        """
        model = self._current
        return model._learner.probabilities(model._read_columns(X))

    def _drawn(self, predictions: Predictions, model: Self, asked: int | None) -> Predictions:
        if self.deterministic or not predictions.probabilities.size:
            return predictions
        if asked is None:
            n_before = model._learner.n_steps - len(predictions)
            rows = enumerate(predictions.probabilities)
            drawn = np.concatenate([model._draw(h[None], n_before + t) for t, h in rows])
        else:
            drawn = model._draw(predictions.probabilities, model._learner.n_steps, asked)
        return replace(predictions, predicted=drawn)

    def _predictions_without_classes(self, labels: LabelArray) -> Predictions:
        n = len(labels)
        predictions = Predictions.with_bounds(
            predicted=np.full(n, -1),
            labels=np.zeros(n, np.int64),
            probabilities=np.zeros((n, 0)),
            bounds=np.ones(n),
            rates=np.ones(n),
            statuses=np.full(n, Status.LOOSE, dtype=object),
            excesses=np.zeros(n),
            predict_seconds=np.zeros(n),
            learn_seconds=np.zeros(n),
        )
        return replace(predictions, predicted=np.full(n, None), labels=labels)

    def _draw(self, probabilities: Matrix, n_steps: int, asked: int = 0) -> Labels:
        """Draw a label for each row; random numbers depend on the seed, the step and the rows assessed since then."""
        rng = np.random.default_rng([self._seed, n_steps])
        rng.random(asked)
        return draw_labels(probabilities, rng)

    # Bounds on the error -----------------------------------------------------------------------

    def mistake_bound(self, delta: float = 0.05) -> float:
        """Return a bound on the mistakes that the randomised rule made in the steps so far.

        With probability at least 1 - `delta` the mistakes do not exceed it, on any stream. It is the sum of the bounds
        on each step plus √(2 T log(1/δ)), if those bounds held on average. If they did not, so that the labels gave
        more expected mistakes Σ (1 - h_t(y_t|x_t)) than the sum of the bounds, the expected mistakes take its place.
        For `AMRC` the bounds are the rate bounds; for the paper's method they are R(U_t) + e_t, where e_t is the excess
        of the instance over what φ covered. A step whose bound is void counts as a mistake. A step is a label that was
        learned, with the prediction that was made for its row. (A model file of version 1 or 2 has no sum of expected
        mistakes: for the steps before it was loaded, it is assumed that the bounds held on average.)

        Parameters
        ----------
        delta : float, default=0.05
            Probability that the bound is allowed to fail.

        Returns
        -------
        float
            The number of mistakes.
        """
        return self._fitted.mistake_bound.mistakes(delta)

    def mistake_rate_bound(self, delta: float = 0.05) -> float:
        """Return `mistake_bound` divided by the number of steps.

        Parameters
        ----------
        delta : float, default=0.05
            Probability that the bound is allowed to fail.

        Returns
        -------
        float
            Mistakes per step.
        """
        return self._fitted.mistake_bound.rate(delta)

    @property
    def _fitted(self) -> BoundedLearner:
        return self._current._learner

    @property
    def error_bound_(self) -> float:
        """The bound on the error probability of the current rule."""
        return self._fitted.error_bound

    @property
    def model_bound_(self) -> float:
        """R(U_t), the worst-case error of the current rule over the uncertainty set."""
        return self._fitted.model_bound

    @property
    def calibrated_bound_(self) -> float:
        """The bound on the error, calibrated by the labels learned so far."""
        return self._fitted.calibrated_bound

    @property
    def bound_status_(self) -> Status:
        """Whether `error_bound_` lies in [0, 1 - 1/c]."""
        return self._fitted.status

    @property
    def n_void_(self) -> int:
        """Number of steps whose bound was void."""
        return self._fitted.mistake_bound.n_void

    # Files --------------------------------------------------------------------------------------------

    def _plain_parameters(self) -> dict[str, Any]:
        plain = super()._plain_parameters() | {"deterministic": bool(self.deterministic)}
        return plain | {"features": None} if is_feature_map(plain["features"]) else plain

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], features: FeatureMap | None = None, *, max_bytes: int = MAX_BYTES
    ) -> "BoundedClassifier":
        """Read a model that `save` wrote; it continues as if it had never stopped.

        Everything in the file is checked before it is used, so files from strangers can be loaded. Only a custom
        feature map has to check its own arrays.

        Parameters
        ----------
        path : path-like
            A file written by `save`.
        features : FeatureMap, optional
            The feature map that the saved model used, if it was a `FeatureMap` and not one of the built-in names.
        max_bytes : int, default=2**30
            Largest size of the model in memory. A file that would take more is refused before its arrays are read.

        Returns
        -------
        BoundedClassifier
            The model, an instance of the class that was saved.
        """
        with opened_checkpoint(path, max_bytes) as file:
            content = ModelContent.from_json(file.content)
            cls._kind(content.estimator)
            saved = content.parameters.get("features")
            if (saved is None) != (features is not None):
                raise CheckpointError(
                    f"it was saved with a custom feature map: pass it as `features` of {cls.__name__}.load"
                    if features is None
                    else f"it was saved with features={saved!r}: omit `features`"
                )
            overrides = {} if features is None else {"features": features}
            return cast(BoundedClassifier, cls._restored(file, content, overrides))


def draw_labels(h: Matrix, rng: np.random.Generator) -> Labels:
    """Draw a label for each row of probabilities.

    Parameters
    ----------
    h : ndarray of shape (n_samples, n_classes)
        Probabilities.
    rng : numpy.random.Generator
        Source of random numbers: one uniform number is drawn for each row.

    Returns
    -------
    ndarray of shape (n_samples,)
        Positions of the classes.
    """
    cumulated = h.cumsum(axis=1)
    below = cumulated < rng.random((len(h), 1)) * cumulated[:, -1:]
    positions: Labels = np.sum(below, axis=1, dtype=np.int64)
    return positions
