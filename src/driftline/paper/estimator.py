"""The estimator of the paper's method."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftline.core.bounded_classifier import BoundedClassifier
from driftline.core.features import FeatureMap
from driftline.paper.construction import assemble, checked_parameters, n_bytes
from driftline.paper.learner import PaperLearner
from driftline.types import Matrix, Rule, UncertaintySet


class PaperAMRC(BoundedClassifier):
    """The adaptive minimax risk classifier of the paper; its defaults are the published configuration.

    (The paper's tables are reproduced with ``features="fourier-printed", unobserved="hold", label_variance="sample"``,
    a `scale` chosen by cross-validation, and ``scaling="none"`` on streams that `RangeScaled` has scaled with one range
    for all columns; the stream poker is scaled column by column.)

    Parameters
    ----------
    order : int, default=1
        Order k of the tracking: number of derivatives of each expectation that are tracked.
    features : {"fourier", "fourier-printed", "linear"} or FeatureMap, default="fourier"
        The instance features ψ(x). Those of "fourier" are divided by √D, as in the authors' Python program; those
        of "fourier-printed" are not, as in the paper and in the authors' other program, so that Alg. 4 takes longer
        steps.
    n_components, scale : int, float, default=200, 1.0
        Number and scale of the random Fourier features.
    intercept : bool, default=False
        Whether linear features start with a constant.
    scaling : {"file", "running", "none"}, default="file"
        How columns are scaled before ψ: by the range of the first block of rows (if that block is the whole file,
        this uses future rows, as the authors do); by the running mean and standard deviation; not at all.
    label_window : int, default=200
        W, the number of recent labels from which the label probabilities are estimated.
    label_variance : {"binomial", "sample", "printed"}, default="binomial"
        Variance of that estimate: p(1-p)/n; the sample variance of the last W estimates, as in the
        authors' code; p(1-p), as printed in the paper (the rule then always guesses).
    unobserved : {"propagate", "hold"}, default="propagate"
        What happens at a step to the classes other than that of its label: they are extrapolated, as in Theorem 2 of
        the paper, or not changed, as in the authors' code.
    gain : {"multidimensional", "unidimensional"}, default="multidimensional"
        One Kalman gain for each component, or the mean of these gains for all components.
    solver : {"subgradient", "exact"}, default="subgradient"
        Alg. 4 of the paper, or a linear program over the last `n_subgradients` instances (slow).
    n_subgradients, n_iterations : int, default=100, 2000
        N and K of Alg. 4.
    widened : bool, default=False
        Whether the uncertainty sets are widened so that they contain the distribution of the last `n_subgradients`
        labelled instances. R(U_t) then always lies in [0, 1 - 1/c].
    coverage : float, default=0.95
        Share of steps at which the calibrated bound should hold.
    deterministic : bool, default=True
        Whether `predict` returns the most probable label or draws one from the randomised rule, to which
        the bounds apply. (The deterministic rule errs at most twice as often.)
    random_state : int, RandomState or None, default=0
        Seed of the Fourier features and of the randomised rule.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`; a class that was not
        expected is added at the end with its first row.
    n_features_in_ : int
        Number of columns of the instances.
    n_steps_ : int
        Number of labelled instances learned from.
    error_bound_ : float
        R(U_t), the worst-case error probability of the current rule over the uncertainty set. It is a
        bound if the set contains the true expectations and `bound_status_` is not "empty".
    bound_status_ : Status
        "ok"; "empty" if `error_bound_` is negative and therefore no bound; "loose" if it is above 1 - 1/c.
    uncertainty_ : UncertaintySet
        `mean` and `width` of the tracked expectations, classes by features.
    rule_ : Rule
        The current rule: `weights` μ, classes by features, and `offset` φ.
    excess_ : float
        Mean excess of the instances over what the bound accounts for: add it to `error_bound_`.
    n_missing_ : int
        Number of missing values replaced by their column's running mean.
    n_void_ : int
        Number of steps whose bound was void: "empty", or a label of a class not known before.

    Examples
    --------
    >>> from driftline import PaperAMRC
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(400, seed=0)
    >>> model = PaperAMRC(features="linear", scaling="none")
    >>> mistakes = sum(step.mistake for step in model.steps(X, y))
    >>> bool(mistakes < model.mistake_bound(delta=0.05))
    True
    >>> model.predict(X[-3:]).shape, model.bound_status_.value
    ((3,), 'ok')
    """

    _learner: PaperLearner

    def __init__(
        self,
        *,
        order: int = 1,
        features: str | FeatureMap = "fourier",
        n_components: int = 200,
        scale: float = 1.0,
        intercept: bool = False,
        scaling: str = "file",
        label_window: int = 200,
        label_variance: str = "binomial",
        unobserved: str = "propagate",
        gain: str = "multidimensional",
        solver: str = "subgradient",
        n_subgradients: int = 100,
        n_iterations: int = 2000,
        widened: bool = False,
        coverage: float = 0.95,
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
        self.widened = widened
        self.coverage = coverage
        self.deterministic = deterministic
        self.random_state = random_state

    @property
    def uncertainty_(self) -> UncertaintySet:
        """Mean and width of the tracked expectations, classes by features."""
        return self._minimax.uncertainty

    @property
    def rule_(self) -> Rule:
        """The current rule: weights μ, classes by features, and offset φ."""
        return self._minimax.solution.rule

    @property
    def excess_(self) -> float:
        """Mean excess of the instances over what the bound accounts for."""
        return self._minimax.mistake_bound.mean_excess

    @property
    def _minimax(self) -> PaperLearner:
        return self._current._learner

    def _checked_parameters(self) -> dict[str, Any]:
        return checked_parameters(self.get_params(deep=False))

    def _n_bytes(self, parameters: Mapping[str, Any], n_columns: int, n_classes: int) -> int:
        return n_bytes(parameters, n_columns, n_classes)

    def _assemble(self, parameters: Mapping[str, Any], rows: Matrix, seed: int) -> PaperLearner:
        return assemble(parameters, rows, seed)
