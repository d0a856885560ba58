"""What the estimators share: scikit-learn's interface around a learner."""

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from driftline import rules
from driftline._checkpoint import read_checkpoint, write_checkpoint
from driftline._labels import ClassList
from driftline._validation import check_columns, read_labels, read_rows, read_times
from driftline.bounds import charge
from driftline.errors import CheckpointError, ConfigError, DataError
from driftline.features import FeatureMap, is_feature_map
from driftline.learning import Learner
from driftline.types import (
    Answers,
    Block,
    LabelArray,
    Labels,
    Matrix,
    Said,
    Status,
    Step,
)

AT_ONCE = 256
"""How many rows a learner is given at once, where nobody looks at them one by one."""


class StreamClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that follows a stream and bounds its own error: all but the parameters and the learner."""

    deterministic: bool
    random_state: int | np.random.RandomState | None
    _also_reads: "tuple[type[StreamClassifier], ...]" = ()
    """Other kinds whose files `load` reads."""

    @abstractmethod
    def _checked_parameters(self) -> dict[str, Any]:
        """Return the parameters as plain Python values, or refuse those that cannot work."""

    @abstractmethod
    def _assemble(self, parameters: Mapping[str, Any], rows: Matrix, seed: int) -> Learner:
        """Build a learner, without classes yet, for instances like `rows`, the first block of the stream."""

    # Learning -----------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, timestamps: Any = None) -> Self:
        """Forget everything, then learn from the rows of X in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances in stream order; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Labels.
        timestamps : array-like of shape (n_samples,), optional
            Times of the instances that never decrease, as numbers or dates (counted in seconds). Choose the
            unit so that usual increments are around one. Without them each step takes one unit.

        Returns
        -------
        StreamClassifier
            The fitted estimator itself.
        """
        before = self.__dict__.copy()
        block = self._read(X, y, timestamps, fresh=True)
        try:
            self._start(X, block.rows, np.unique(block.labels))
            for _ in self._advance(block):
                pass
        except Exception:  # of a feature map that refuses a row
            self.__dict__ = before
            raise
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, timestamps: Any = None) -> Self:
        """Learn from the rows of X in order, continuing.

        Parameters
        ----------
        X, y
            As in `fit`.
        classes : array-like, optional
            At the first call: the classes to expect. Others may come; each joins at its first row.
        timestamps
            As in `fit`.

        Returns
        -------
        StreamClassifier
            The estimator itself.
        """
        for _ in self._advance(self._begin(X, y, classes, timestamps)):
            pass
        return self

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

    def _begin(self, X: Any, y: Any, classes: Any, timestamps: Any) -> Block:
        """Check some rows, and start if they are the first; learns nothing."""
        fresh = not hasattr(self, "_learner")
        block = self._read(X, y, timestamps, fresh=fresh)
        expected = block.labels[:0] if classes is None else np.unique(read_labels(classes, name="classes"))
        if fresh:
            ClassList(expected).check(block.labels)
            self._start(X, block.rows, expected)
        elif not np.isin(expected, self._classes.labels).all():
            raise DataError(
                f"classes {expected.tolist()} were not all announced at the first call, which knew "
                f"{self._classes.labels.tolist()}; leave `classes` out, and new ones join as they come"
            )
        return block

    def prequential(self, X: Any, y: Any, classes: Any = None, timestamps: Any = None) -> Answers:
        """Predict, then learn, row by row: `steps` to the end, as columns of labels and numbers.

        Parameters
        ----------
        X, y, classes, timestamps
            As in `partial_fit`.

        Returns
        -------
        Answers
            What was said of each row before its label was used.
        """
        parts = []
        for said in self._advance(self._begin(X, y, classes, timestamps)):
            begun = self._learner.ledger.n_steps - len(said.labels)
            positions = said.predictions
            if not self.deterministic and said.probabilities.size:
                rows = enumerate(said.probabilities)
                positions = np.concatenate([self._draw(h[None], begun + t) for t, h in rows])
            parts.append(self._answers(said, positions))
        return Answers.joined(parts)

    def _read(self, X: Any, y: Any, timestamps: Any, *, fresh: bool) -> Block:
        """Check everything about a block of rows, and copy it; changes nothing."""
        if fresh:
            self._checked_parameters()
            rows = read_rows(X).copy()
            return Block(rows, read_labels(y, len(rows)), read_times(timestamps, len(rows), None))
        self._check_unchanged()
        rows = read_rows(X).copy()
        labels = read_labels(y, len(rows))
        check_columns(self, X)
        self._classes.check(labels)
        if self._learner.ledger.n_steps and (timestamps is None) != (self._last_time is None):
            raise DataError("timestamps must be given either at every call or at none")
        return Block(rows, labels, read_times(timestamps, len(rows), self._last_time))

    def _check_unchanged(self) -> None:
        """Refuse to go on with other parameters than those that the learner was made from."""
        made = self._parameters
        if all(getattr(self, name) is value for name, value in made.items()):  # as a rule, and checking takes its time
            return
        given = self._checked_parameters()
        changed = [name for name in made if given[name] is not made[name] != given[name] and name != "deterministic"]
        if changed:
            raise ConfigError(f"{', '.join(changed)} changed since the first call; call fit to begin anew")

    def _start(self, X: Any, rows: Matrix, expected: LabelArray) -> None:
        parameters = self._checked_parameters()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        learner = self._assemble(parameters, rows, seed)
        check_columns(self, X, reset=True)
        for _ in expected:
            learner.add_class()
        self._parameters, self._seed, self._learner = parameters, seed, learner
        self._classes = ClassList(expected)
        self._last_time: float | None = None

    def _advance(self, block: Block, at_once: int | None = None) -> Iterator[Said]:
        learner, begun = self._learner, self._learner.ledger.n_steps
        before = np.nan if self._last_time is None else self._last_time
        elapsed = np.diff(block.times, prepend=before)
        elapsed[np.isnan(elapsed)] = 1.0
        labels = block.labels.tolist()
        # The user's feature map may refuse a row: those before it are learned then, however rows are grouped.
        at_once = at_once or (1 if is_feature_map(self._parameters["features"]) else AT_ONCE)

        def advance() -> Iterator[Said]:
            start = 0
            while start < len(labels):
                if self._learner is not learner or learner.ledger.n_steps != begun + start:
                    raise DataError("the model has learned from other rows since these steps began; begin anew")
                places = self._places(labels[start : start + at_once])
                part = slice(start, start + len(places))
                said = learner.advance(block.rows[part], places, elapsed[part])
                start = part.stop
                self._classes.add(labels[start - 1])
                time = block.times[start - 1]
                self._last_time = None if np.isnan(time) else float(time)
                yield said

        return advance()

    def _places(self, labels: list[Any]) -> Labels:
        """Return the positions of the first labels: those of known classes, or of one that is not known alone."""
        places = [self._classes.position(label) for label in labels]
        new = next((t for t, place in enumerate(places) if place == self._learner.n_classes), len(places))
        return np.array(places[: max(new, 1)])

    # Prediction: reads, changes nothing ---------------------------------------------------------------

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

    def assess(self, X: Any, y: Any, classes: Any = None, asked: int = 0) -> Answers:
        """Return what the model says of each row now, beside its label; learns nothing.

        Before it has learned, it knows only the classes announced. If there are none, there is no prediction, and the
        bound is 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, optional
            The classes to expect, if nothing was learned yet.
        asked : int, default=0
            How many rows the model was asked about since it last learned: the randomised rule draws as if they all
            came in one X.

        Returns
        -------
        Answers
            What is said of each row, and its bound. With labels that come late, that is the bound of the time of the
            last label learned.
        """
        if not self.__sklearn_is_fitted__():
            if classes is None:
                return Answers.of_nothing_known(len(read_labels(y, len(read_rows(X)))))
            announced: Self = clone(self)
            announced.steps(X, y, classes=classes)  # which learns as it is iterated, and is not
            return announced.assess(X, y, asked=asked)
        rows = self._readable(X)
        labels = read_labels(y, len(rows))
        self._classes.check(labels)
        said = self._learner.foresee(rows, np.array([self._classes.position(label) for label in labels.tolist()]))
        if self.deterministic:
            return self._answers(said, said.predictions)
        return self._answers(said, self._draw(said.probabilities, self.n_steps_, asked))

    def _answers(self, said: Said, positions: Labels) -> Answers:
        """Put what was said beside the labels predicted, given by their positions; -1 if there is none."""
        labels = self._classes.labels
        if -1 in positions:
            labels = np.array([*labels.tolist(), None], dtype=object)
        return Answers(
            predictions=labels[positions],
            probabilities=said.given,
            bounds=said.bounds,
            statuses=said.statuses,
            charges=np.add(*charge(said)),
            predict_seconds=said.predict_seconds,
            learn_seconds=said.learn_seconds,
        )

    def _draw(self, probabilities: Matrix, n_steps: int, asked: int = 0) -> Labels:
        """Draw a label for each row, by numbers that depend on the seed, the step and the row's place since then."""
        rng = np.random.default_rng([self._seed, n_steps])
        rng.random(asked)
        return rules.draw(probabilities, rng)

    def _readable(self, X: Any) -> Matrix:
        check_is_fitted(self)
        rows = read_rows(X)
        check_columns(self, X)
        return rows

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
    def _fitted(self) -> Learner:
        check_is_fitted(self)
        return self._learner

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether there is a class to predict."""
        return hasattr(self, "_learner") and self._learner.n_classes > 0

    @property
    def classes_(self) -> LabelArray:
        """The classes, in the order of the columns of `predict_proba`."""
        check_is_fitted(self)
        return self._classes.labels

    @property
    def n_steps_(self) -> int:
        """Number of labelled instances learned from."""
        return self._fitted.ledger.n_steps

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
    def n_missing_(self) -> int:
        """Number of missing values replaced by their column's running mean."""
        return self._fitted.n_missing

    @property
    def n_void_(self) -> int:
        """Number of steps whose bound was void."""
        return self._fitted.ledger.n_void

    # Files --------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically.

        Parameters
        ----------
        path : path-like
            Where to. What was there stays until the new file is complete.
        """
        check_is_fitted(self)
        own_map, state = is_feature_map(self._parameters["features"]), self._parameters["random_state"]
        plain = {
            "features": None if own_map else self._parameters["features"],
            "deterministic": bool(self.deterministic),
            # A generator has moved on since; the seed that it gave is kept below.
            "random_state": int(state) if isinstance(state, int | np.integer) else None,
        }
        content = {
            "estimator": type(self).__name__,
            "parameters": self._parameters | plain,
            "classes": self._classes.to_json(),
            "columns": [self.n_features_in_, list(getattr(self, "feature_names_in_", []))],
            "seed": self._seed,
            "last_time": self._last_time,
        }
        write_checkpoint(path, content, self._learner.state())

    @classmethod
    def load(cls, path: str | os.PathLike[str], features: FeatureMap | None = None) -> "StreamClassifier":
        """Read a model that `save` wrote; it continues as if it had never stopped.

        Parameters
        ----------
        path : path-like
            A file written by `save`.
        features : FeatureMap, optional
            The feature map, where the saved model had one of the user's own.

        Returns
        -------
        StreamClassifier
            The model, of the kind that was saved.
        """
        content, arrays = read_checkpoint(path)
        parameters = content["parameters"]
        if (parameters["features"] is None) != (features is not None):
            raise CheckpointError(
                f"{path} was saved with a feature map of the user's own: pass it as `features`"
                if features is None
                else f"{path} was saved with features={parameters['features']!r}: leave `features` out"
            )
        kind = _kind(content.get("estimator", FIRST_KIND), cls, path)
        model = kind(**parameters | ({} if features is None else {"features": features}))
        model.n_features_in_, names = content["columns"]
        if names:
            model.feature_names_in_ = np.array(names, dtype=object)
        model._seed = content["seed"]
        model._last_time = content["last_time"]
        model._classes = ClassList.from_json(content["classes"])
        model._parameters = model._checked_parameters()
        model._learner = model._assemble(model._parameters, np.zeros((2, model.n_features_in_)), model._seed)
        for _ in model._classes.labels:
            model._learner.add_class()
        model._learner.restore(arrays)
        return model

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that missing values are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


FIRST_KIND = "PaperAMRC"
"""What the first files, which do not say so, hold."""


def _kind(name: str, asked: type[StreamClassifier], path: str | os.PathLike[str]) -> type[StreamClassifier]:
    """Return the estimator that a file was saved by: the one asked for, or one whose files it also reads."""
    kinds: dict[str, type[StreamClassifier]] = {kind.__name__: kind for kind in (*asked._also_reads, asked)}
    if name not in kinds:
        raise CheckpointError(f"{path} holds a model of the kind {name}: read it with {name}.load")
    return kinds[name]
