"""What the classifiers that bound their own error share."""

import os
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from driftline.core.bounds import charge
from driftline.core.checkpoint import read_checkpoint
from driftline.core.features import FeatureMap, is_feature_map
from driftline.core.online_classifier import FIRST_KIND, OnlineClassifier
from driftline.core.protocols import BoundedLearner
from driftline.errors import CheckpointError
from driftline.types import Answers, LabelArray, Labels, Matrix, Said, Status, Step


class BoundedClassifier(OnlineClassifier[Said]):
    """A classifier that follows a stream and bounds its own error: all but the parameters and the learner."""

    deterministic: bool
    _learner: BoundedLearner
    _may_change = ("deterministic",)

    def steps(self, X: Any, y: Any, classes: Any = None, timestamps: Any = None) -> Iterator[Step]:
        """Predict, then learn, row by row: what was said of each row before its label was used.

        The input is checked at the call; the model advances as the iterator does.

        Parameters
        ----------
        X, y, classes, timestamps
            As in `partial_fit`.

        Returns
        -------
        iterator of Step
            A record for each row.
        """
        learned = self._advance(self._begin(X, y, classes, timestamps), at_once=1)
        return (step for said in learned for step in said.steps())

    def predict(self, X: Any) -> LabelArray:
        """Return a label for each row of X, of the deterministic or the randomised rule.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels. Those of the randomised rule depend on the seed, the step and the row's place in X:
            asking twice gives the same answer.
        """
        rows = self._readable(X)
        if self.deterministic:
            positions = self._learner.most_likely(rows)
        else:
            positions = self._draw(self._learner.probabilities(rows), self.n_steps_)
        labels: LabelArray = self.classes_[positions]
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
        rows = self._readable(X)
        return self._learner.probabilities(rows)

    def _answers(self, said: Said, asked: int | None = None) -> Answers:
        positions = said.predictions
        if not self.deterministic and said.probabilities.size:
            if asked is None:
                begun = self._learner.n_steps - len(said.labels)
                rows = enumerate(said.probabilities)
                positions = np.concatenate([self._draw(h[None], begun + t) for t, h in rows])
            else:
                positions = self._draw(said.probabilities, self.n_steps_, asked)
        return Answers(
            predictions=self._labels_at(positions),
            probabilities=said.given,
            bounds=said.bounds,
            statuses=said.statuses,
            charges=np.add(*charge(said)),
            predict_seconds=said.predict_seconds,
            learn_seconds=said.learn_seconds,
        )

    def _answers_of_nothing_known(self, n_rows: int) -> Answers:
        return Answers.of_nothing_known(n_rows)

    def _draw(self, probabilities: Matrix, n_steps: int, asked: int = 0) -> Labels:
        """Draw a label for each row, by numbers that depend on the seed, the step and the row's place since then."""
        rng = np.random.default_rng([self._seed, n_steps])
        rng.random(asked)
        return draw_labels(probabilities, rng)

    # What is known of the error -----------------------------------------------------------------------

    def mistake_bound(self, delta: float = 0.05) -> float:
        """Return a bound on the mistakes that the randomised rule made in the steps so far.

        It is the sum of the bounds on each step, and √(2 T log(1/δ)): with probability at least 1 - `delta` the
        mistakes stay below it if those bounds hold on average. For `AMRC` they are the rate bounds. For the paper's
        method they are R(U_t) + e_t, where e_t is the excess of the instance over what φ covered (the last term is
        that of e_t ≤ 1), and they hold if the uncertainty sets contained the true expectations and each label was
        learned before the next instance was predicted. A step whose bound says nothing enters as a mistake.

        Parameters
        ----------
        delta : float, default=0.05
            Probability that the bound is allowed to fail.

        Returns
        -------
        float
            The number of mistakes.
        """
        return self._fitted.ledger.mistakes(delta)

    def mistake_rate_bound(self, delta: float = 0.05) -> float:
        """Return `mistake_bound` divided by the number of steps.

        Parameters
        ----------
        delta : float, default=0.05
            Probability that the bound is allowed to fail.

        Returns
        -------
        float
            Mistakes for each step.
        """
        return self._fitted.ledger.rate(delta)

    @property
    def _fitted(self) -> BoundedLearner:
        check_is_fitted(self)
        return self._learner

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
        """The bound that is tuned by the labels that come."""
        return self._fitted.calibrated_bound

    @property
    def bound_status_(self) -> Status:
        """Whether `error_bound_` lies in [0, 1 - 1/c]."""
        return self._fitted.status

    @property
    def n_void_(self) -> int:
        """Number of steps whose bound was void."""
        return self._fitted.ledger.n_void

    # Files --------------------------------------------------------------------------------------------

    def _plain_parameters(self) -> dict[str, Any]:
        plain = super()._plain_parameters() | {"deterministic": bool(self.deterministic)}
        return plain | {"features": None} if is_feature_map(plain["features"]) else plain

    @classmethod
    def load(cls, path: str | os.PathLike[str], features: FeatureMap | None = None) -> "BoundedClassifier":
        """Read a model that `save` wrote; it continues as if it had never stopped.

        Parameters
        ----------
        path : path-like
            A file written by `save`.
        features : FeatureMap, optional
            The feature map, where the saved model had one of the user's own.

        Returns
        -------
        BoundedClassifier
            The model, of the kind that was saved.
        """
        content, arrays = read_checkpoint(path)
        cls._kind(content.get("estimator", FIRST_KIND), path)
        saved = content["parameters"].get("features")
        if (saved is None) != (features is not None):
            raise CheckpointError(
                f"{path} was saved with a feature map of the user's own: pass it as `features` of {cls.__name__}.load"
                if features is None
                else f"{path} was saved with features={saved!r}: leave `features` out"
            )
        own_map = {} if features is None else {"features": features}
        return cast(BoundedClassifier, cls._revived(path, content, arrays, own_map))


def draw_labels(h: Matrix, rng: np.random.Generator) -> Labels:
    """Draw a label for each row of probabilities, one uniform number a row."""
    cumulated = h.cumsum(axis=1)
    below = cumulated < rng.random((len(h), 1)) * cumulated[:, -1:]
    positions: Labels = np.sum(below, axis=1, dtype=np.int64)
    return positions
