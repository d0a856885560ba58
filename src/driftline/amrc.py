"""AMRC, the estimator: scikit-learn's interface around the learner."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from driftline import rules
from driftline._checkpoint import read_checkpoint, write_checkpoint
from driftline._labels import ClassList
from driftline._validation import check_columns, read_labels, read_rows, read_times
from driftline.assembly import assemble, checked_parameters
from driftline.bounds import charge
from driftline.errors import CheckpointError, ConfigError, DataError
from driftline.features import FeatureMap
from driftline.learner import Learner
from driftline.types import Answers, Block, LabelArray, Labels, Matrix, Status, Step, UncertaintySet


class AMRC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Adaptive minimax risk classifier: follows a drifting stream and bounds its own error at every step.

    Parameters
    ----------
    order : int, default=1
        Order k of the tracking: how many derivatives of each expectation are followed.
    features : {"linear", "fourier"} or FeatureMap, default="linear"
        The instance features ψ(x).
    n_components, scale : int, float, default=200, 1.0
        Number and scale of the random Fourier features.
    intercept : bool, default=True
        Whether linear features begin with a constant.
    scaling : {"running", "file", "none"}, default="running"
        How columns are scaled before ψ: by running mean and deviation; by the range of the first block of
        rows (the authors' look into the future, if that block is the whole file); not at all.
    label_window : int, default=200
        W, how many recent labels estimate the label probabilities.
    label_variance : {"binomial", "sample", "printed"}, default="binomial"
        Variance of that estimate: p(1-p)/n; the sample variance of the last W estimates, as in the
        authors' code; p(1-p), as printed in the paper (the rule is then trivial).
    unobserved : {"propagate", "hold"}, default="propagate"
        What time does to classes that a step does not observe: extrapolation as in Theorem 2 of the paper,
        or nothing, as in the authors' code.
    gain : {"multidimensional", "unidimensional"}, default="multidimensional"
        One Kalman gain for each component, or their average for all.
    solver : {"subgradient", "exact"}, default="subgradient"
        Alg. 4 of the paper, or a linear program over the last `n_subgradients` instances (slow).
    n_subgradients, n_iterations : int, default=100, 2000
        N and K of Alg. 4.
    deterministic : bool, default=True
        Whether `predict` returns the most probable label or draws one from the randomised rule, to which
        the bounds apply. (The deterministic rule errs at most twice as often.)
    random_state : int, RandomState or None, default=0
        Seed of the Fourier features and of the randomised rule.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`; a class first seen in mid-stream is
        added at the end.
    n_features_in_ : int
        Number of columns of the instances.
    n_steps_ : int
        Number of labelled instances learned from.
    error_bound_ : float
        R(U_t), the worst-case error probability of the current rule over the uncertainty set. It is a
        bound if the set contains the true expectations and `bound_status_` is not "empty".
    bound_status_ : Status
        "ok"; "empty" if `error_bound_` is negative and so bounds nothing; "loose" if above 1 - 1/c.
    uncertainty_ : UncertaintySet
        `mean` and `width` of the tracked expectations, classes by features.
    excess_ : float
        Mean by which instances exceeded what the bound accounts for: add it to `error_bound_`.
    n_missing_ : int
        Number of missing values replaced by their column's running mean.
    n_void_ : int
        Number of steps whose bound was void: "empty", or a label of a class not known before.

    Examples
    --------
    >>> from driftline import AMRC
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(400, seed=0)
    >>> model = AMRC(scaling="none", intercept=False)
    >>> mistakes = sum(step.mistake for step in model.steps(X, y))
    >>> bool(mistakes < model.mistake_bound(delta=0.05))
    True
    >>> model.predict(X[-3:]).shape, model.bound_status_.value
    ((3,), 'ok')
    """

    def __init__(
        self,
        *,
        order: int = 1,
        features: str | FeatureMap = "linear",
        n_components: int = 200,
        scale: float = 1.0,
        intercept: bool = True,
        scaling: str = "running",
        label_window: int = 200,
        label_variance: str = "binomial",
        unobserved: str = "propagate",
        gain: str = "multidimensional",
        solver: str = "subgradient",
        n_subgradients: int = 100,
        n_iterations: int = 2000,
        deterministic: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.order = order
        self.features = features
        self.n_components = n_components
        self.scale = scale
        self.intercept = intercept
        self.scaling = scaling
        self.label_window = label_window
        self.label_variance = label_variance
        self.unobserved = unobserved
        self.gain = gain
        self.solver = solver
        self.n_subgradients = n_subgradients
        self.n_iterations = n_iterations
        self.deterministic = deterministic
        self.random_state = random_state

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the paper's configuration: order 1, 200 Fourier components, W = 200, N = 100, K = 2000.

        Parameters
        ----------
        **changes
            Parameters of `AMRC` to set otherwise. The tables were made with ``unobserved="hold",
            label_variance="sample"`` and a `scale` found by cross-validation.
        """
        published: dict[str, Any] = {"features": "fourier", "intercept": False, "scaling": "file"}
        return cls(**published | changes)

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
        AMRC
            The fitted estimator itself.
        """
        block = self._read(X, y, timestamps, fresh=True)
        self._start(X, block, np.unique(block.labels))
        for _ in self._advance(block):
            pass
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
        AMRC
            The estimator itself.
        """
        for _ in self.steps(X, y, classes=classes, timestamps=timestamps):
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
        fresh = not hasattr(self, "_learner")
        block = self._read(X, y, timestamps, fresh=fresh)
        expected = block.labels[:0] if classes is None else np.unique(read_labels(classes, name="classes"))
        if fresh:
            ClassList(expected).check(block.labels)
            self._start(X, block, expected)
        elif not np.isin(expected, self._classes.labels).all():
            raise DataError(
                f"classes {expected.tolist()} were not all announced at the first call, which knew "
                f"{self._classes.labels.tolist()}; leave `classes` out, and new ones join as they come"
            )
        return self._advance(block)

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
        begun = self._learner.ledger.n_steps if hasattr(self, "_learner") else 0
        steps = list(self.steps(X, y, classes=classes, timestamps=timestamps))
        positions = [step.prediction for step in steps]
        if not self.deterministic:
            drawn = [step.probabilities[None] for step in steps]
            positions = [self._draw(h, begun + t)[0] if h.size else -1 for t, h in enumerate(drawn)]
        return self._answers(steps, positions)

    def _read(self, X: Any, y: Any, timestamps: Any, *, fresh: bool) -> Block:
        """Check everything about a block of rows, and copy it; changes nothing."""
        parameters = checked_parameters(self.get_params(deep=False))
        rows = read_rows(X).copy()
        labels = read_labels(y, len(rows))
        if fresh:
            return Block(rows, labels, read_times(timestamps, len(rows), None))
        changed = [name for name in parameters if parameters[name] is not self._parameters[name] != parameters[name]]
        changed = [name for name in changed if name != "deterministic"]
        if changed:
            raise ConfigError(f"{', '.join(changed)} changed since the first call; call fit to begin anew")
        check_columns(self, X)
        self._classes.check(labels)
        if self._learner.ledger.n_steps and (timestamps is None) != (self._last_time is None):
            raise DataError("timestamps must be given either at every call or at none")
        return Block(rows, labels, read_times(timestamps, len(rows), self._last_time))

    def _start(self, X: Any, block: Block, expected: LabelArray) -> None:
        parameters = checked_parameters(self.get_params(deep=False))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        learner = assemble(parameters, block.rows, seed)
        check_columns(self, X, reset=True)
        for _ in expected:
            learner.add_class()
        self._parameters, self._seed, self._learner = parameters, seed, learner
        self._classes = ClassList(expected)
        self._last_time: float | None = None

    def _advance(self, block: Block) -> Iterator[Step]:
        learner, begun = self._learner, self._learner.ledger.n_steps

        def advance() -> Iterator[Step]:
            for t, label in enumerate(block.labels.tolist()):
                if self._learner is not learner or learner.ledger.n_steps != begun + t:
                    raise DataError("the model has learned from other rows since these steps began; begin anew")
                time = block.times[t]
                elapsed = 1.0 if self._last_time is None else time - self._last_time
                step = learner.step(block.rows[t], self._classes.position(label), elapsed)
                self._classes.add(label)
                self._last_time = None if np.isnan(time) else float(time)
                yield step

        return advance()

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
        places = map(self._classes.position, labels.tolist())
        steps = [self._learner.foresee(x, place) for x, place in zip(rows, places, strict=True)]
        if self.deterministic:
            return self._answers(steps, [step.prediction for step in steps])
        return self._answers(steps, self._draw(np.array([step.probabilities for step in steps]), self.n_steps_, asked))

    def _answers(self, steps: list[Step], positions: Sequence[int] | Labels) -> Answers:
        """Put steps into columns, with the positions of the labels predicted; -1 if there is none."""
        labels = self._classes.labels
        if -1 in positions:
            labels = np.array([*labels.tolist(), None], dtype=object)
        return Answers(
            predictions=labels[positions],
            probabilities=np.array([1.0 - step.expected_mistake for step in steps]),
            bounds=np.array([step.bound for step in steps]),
            statuses=np.array([step.status for step in steps], dtype=object),
            charges=np.array([sum(charge(step)) for step in steps]),
            predict_seconds=np.array([step.predict_seconds for step in steps]),
            learn_seconds=np.array([step.learn_seconds for step in steps]),
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

        With probability at least 1 - `delta`, if the uncertainty sets contained the true expectations:
        Σ (R(U_t) + e_t) + √(2 T log(1/δ)), where e_t is the excess of the instance over what φ covered, and
        steps whose R(U_t) bounds nothing enter as mistakes. (The last term is that of e_t ≤ 1.) It is about labels that
        are learned before the next instance is predicted: with late ones, the sets were of an earlier time.

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
        """R(U_t) of the current rule; see `bound_status_`."""
        return self._fitted.solution.risk

    @property
    def bound_status_(self) -> Status:
        """Whether `error_bound_` lies in [0, 1 - 1/c]."""
        return self._fitted.solution.status

    @property
    def uncertainty_(self) -> UncertaintySet:
        """Mean and width of the tracked expectations, classes by features."""
        return self._fitted.uncertainty

    @property
    def excess_(self) -> float:
        """Mean by which instances exceeded what the bound accounts for."""
        return self._fitted.ledger.mean_excess

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
        own_map, state = isinstance(self._parameters["features"], FeatureMap), self._parameters["random_state"]
        plain = {
            "features": None if own_map else self._parameters["features"],
            "deterministic": bool(self.deterministic),
            # A generator has moved on since; the seed that it gave is kept below.
            "random_state": int(state) if isinstance(state, int | np.integer) else None,
        }
        content = {
            "parameters": self._parameters | plain,
            "classes": self._classes.to_json(),
            "columns": [self.n_features_in_, list(getattr(self, "feature_names_in_", []))],
            "seed": self._seed,
            "last_time": self._last_time,
        }
        write_checkpoint(path, content, self._learner.state())

    @classmethod
    def load(cls, path: str | os.PathLike[str], features: FeatureMap | None = None) -> Self:
        """Read a model that `save` wrote; it continues as if it had never stopped.

        Parameters
        ----------
        path : path-like
            A file written by `save`.
        features : FeatureMap, optional
            The feature map, where the saved model had one of the user's own.

        Returns
        -------
        AMRC
            The model.
        """
        content, arrays = read_checkpoint(path)
        parameters = content["parameters"]
        if (parameters["features"] is None) != (features is not None):
            raise CheckpointError(
                f"{path} was saved with a feature map of the user's own: pass it as `features`"
                if features is None
                else f"{path} was saved with features={parameters['features']!r}: leave `features` out"
            )
        model = cls(**parameters | ({} if features is None else {"features": features}))
        model.n_features_in_, names = content["columns"]
        if names:
            model.feature_names_in_ = np.array(names, dtype=object)
        model._seed = content["seed"]
        model._last_time = content["last_time"]
        model._classes = ClassList.from_json(content["classes"])
        model._parameters = checked_parameters(model.get_params(deep=False))
        model._learner = assemble(model._parameters, np.zeros((2, model.n_features_in_)), model._seed)
        for _ in model._classes.labels:
            model._learner.add_class()
        model._learner.restore(arrays)
        return model

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that missing values are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
