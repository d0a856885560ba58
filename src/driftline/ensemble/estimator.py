"""AMRC, the default estimator of driftline."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from driftline.core.bounded_classifier import BoundedClassifier
from driftline.core.costs import Costs, costs_from_json
from driftline.core.features import FeatureMap, is_feature_map
from driftline.core.state import independent_copy
from driftline.ensemble.construction import assemble_ensemble, n_bytes_of_ensemble
from driftline.ensemble.drift import drift_table
from driftline.ensemble.label_members import GAINS, SPACE
from driftline.ensemble.learner import EnsembleLearner
from driftline.ensemble.plan import EnsemblePlan, default_plan, first_plan, light_plan
from driftline.ensemble.row_weights import checked_class_weight, class_weight_from_json, class_weight_to_json
from driftline.errors import ConfigError, DataError
from driftline.guarantees.alarm import Alarm
from driftline.guarantees.guaranteed_classifier import GuaranteedClassifier
from driftline.guarantees.settings import Guarantees, checked_guarantees
from driftline.guarantees.tracker import GuaranteeTracker
from driftline.kernels.statements import RowStatements
from driftline.paper import PaperAMRC
from driftline.types import Block, Flags, LabelArray, Labels, Matrix, Predictions, Vector
from driftline.utils.extras import import_pandas
from driftline.utils.interrupts import defer_interrupt
from driftline.utils.validation import (
    are_small,
    check_columns,
    checked_random_state,
    column_names,
    flag,
    is_matrix,
    one_of,
    read_ids,
    read_labels,
    read_rows,
    read_times,
    real_number,
    whole_number,
)

MAX_ORDER = 1
ONE_STEP = np.ones(1)
"""The time between two rows without timestamps."""


class AMRC(GuaranteedClassifier, BoundedClassifier):
    """Adaptive minimax risk classifier: adapts to a drifting stream, and says how far it can be trusted.

    Members with different memories and features each solve a minimax problem over a store of recent instances. Their
    probabilities are mixed with weights that depend on how often each member was right. See "What we changed and why"
    in the documentation, and `AMRC.paper` for the method as published.

    Parameters
    ----------
    features : {"auto", "linear", "fourier"} or FeatureMap, default="auto"
        The instance features ψ(x): linear features only, or linear features and random Fourier features of two
        scales. "auto" has these, and features from trees that are grown from the rows learned so far; it has Fourier
        features only if the instances have at most `n_components` columns, because with more columns there are too few
        random directions.
    n_components : int, default=200
        Number of random directions for each scale.
    order : {0, 1}, default=1
        Order of the filters that track the class means: filters of order 1 also estimate a constant rate of change.
    scaling : {"running", "none"}, default="running"
        Whether columns are scaled by their running mean and standard deviation.
    coverage : float, default=0.95
        Share of steps at which the calibrated bound should hold.
    guarantees : Guarantees, optional
        Levels at which `decide` answers, `predict_set` covers and the alarm is raised; by default those of
        `Guarantees()`. They concern the most probable label, whatever `deterministic` is.
    memory : {"full", "light"}, default="full"
        "light" stores a few hundred rows and has small trees, for fleets of many models: with 8 columns and two
        classes, a model has less than 64 KiB of state instead of about 20 MB. "auto" then means linear features and
        trees, and there are at most 24 random directions. What it costs is in "Fleets" in the documentation.
    deterministic : bool, default=True
        Whether `predict` returns the most probable label or draws one from the randomised rule, to which
        the bounds apply. (The deterministic rule errs at most twice as often.)
    label_memory : bool, default=False
        Whether predictions also depend on the last labels learned, for labels that come in runs or follow each other
        in some order. There are then three more members: one combines what the others say with how often each label
        followed the last one, one predicts the last label, and one the most frequent label so far. That which made the
        fewest mistakes is used: the mixture of the others, or one of these. All rows of a batch are predicted with the
        same last labels, those learned before the batch. So do not use it if rows are predicted far ahead of their
        labels, unless such labels still say something about the next.
    costs : mapping, optional
        `costs[true][predicted]` is the cost of predicting `predicted` where `true` is right, a number from 0 up. A
        pair that is left out costs 1 if its labels differ and 0 if they are equal. `predict`, and `predicted` in the
        results of `prequential`, `steps` and `assess`, are then the label with the smallest expected cost under
        calibrated probabilities (`predict_calibrated_proba`), and not the most probable one; with
        ``deterministic=False`` they are drawn as without costs. Nothing else depends on costs: `predict_proba` is the
        same, bounds are on the error of the randomised rule, and `decide`, `predict_set`, `predict_confidence`,
        `error_interval` and the alarm concern the most probable label. There is no bound on the error of the labels
        chosen by cost, or on their cost.
    class_weight : "balanced", mapping or None, default=None
        Weights of classes, relative to the smallest of them: the members learn a row of a class of relative weight 5 as
        five equal rows, which takes as long. "balanced" is the number of rows so far of the most frequent class,
        divided by that of the class of the row. A label that a mapping lacks has weight 1. Each member is then the
        minimax rule of the weighted distribution, and `model_bound_` bounds the weighted error: the share of wrong rows
        if a row of weight w counts w times. (λ takes the copies of a row for different rows, so with large weights the
        uncertainty sets are narrow, and their condition is less likely met.) All other bounds and guarantees count each
        row once, and hold as they do without weights. To predict by what mistakes cost, use `costs`: it needs no other
        rule.
    expire_after_labels : int, default=100000
        Number of labels after which an observed row is given up: if so many other labels have been learned since it
        was observed, its own no longer counts as late, but as that of a row that was not observed.
    expire_after_time : float, optional
        The same for time, in the unit of the timestamps: an observed row is given up when a row is learned whose time
        is later by more than this. By default, or without timestamps, there is no such limit.
    random_state : int, RandomState or None, default=0
        Seed of the Fourier features, of the draws from the store and of the randomised rule.

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
        The calibrated bound.
    calibrated_bound_ : float
        Bound on the error probability of the current rule, calibrated by the labels learned so far. It should hold at
        the share `coverage` of all steps. Proved for any stream: of K windows of 100 labels that follow each other,
        wherever the first begins, at most ``(1 - coverage) K`` plus a constant (30 if coverage is 0.95) have more
        expected mistakes than the sum of their bounds.
    rate_bound_ : float
        Smaller bound that should hold on average over many steps; `mistake_bound` is computed from its sum. The same
        is proved of its windows, with a constant of 33.
    model_bound_ : float
        R(U_t) of the mixture, the weighted mean of those of its members. It is a bound if the uncertainty sets contain
        the true expectations. (Members that learn without λ have one of 0.3 standard errors here.)
    bound_status_ : Status
        "ok"; "loose" if `error_bound_` is above 1 - 1/c, because the last 100 labels or many earlier ones showed more
        mistakes than guessing makes.
    members_ : structured ndarray
        The members: feature space, gain (0 for a memory that grows until it is cut), weight in the mixture, model
        bound, and number of times that the memory was cut. With `label_memory`, the last three are those of the space
        "labels": the combination, the last label (gain 1) and the most frequent label (gain 0). One of them has weight
        1, or none has any.
    alarm_ : Alarm or None
        The raised alarm, with the columns that move; None if the error has not risen.
    n_waiting_ : int
        Number of observed rows whose labels have not arrived.
    n_expired_ : int
        Number of observed rows that were given up, because their labels did not arrive in time.
    n_missing_ : int
        Number of missing values replaced by their column's running mean.
    n_void_ : int
        Number of steps with a label of a class not known before; for these steps the bound is void.

    Notes
    -----
    Any number of threads may predict, and read bounds and other attributes, while one thread learns. Each call uses the
    model as it was before or after a batch of up to 256 rows. Threads that learn wait for one another.

    Examples
    --------
    >>> from driftline import AMRC
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(400, seed=0)
    >>> model = AMRC()
    >>> predictions = model.prequential(X, y)
    >>> mistakes = (predictions.predicted != y).sum()
    >>> bool(mistakes < model.mistake_bound(delta=0.05))
    True
    >>> model.predict(X[-3:]).shape, 0 < model.error_bound_ < 0.5
    ((3,), True)
    >>> model.decide(X[-3:], error=0.05).mask.shape, model.predict_set(X[-3:], coverage=0.9).shape
    ((3,), (3, 2))
    """

    _learner: EnsembleLearner
    _plan_version = 2
    _also_reads = (PaperAMRC,)

    def __init__(
        self,
        *,
        features: str | FeatureMap = "auto",
        n_components: int = 200,
        order: int = 1,
        scaling: str = "running",
        coverage: float = 0.95,
        guarantees: Guarantees | None = None,
        memory: str = "full",
        deterministic: bool = True,
        label_memory: bool = False,
        costs: Mapping[Any, Mapping[Any, float]] | None = None,
        class_weight: Any = None,
        expire_after_labels: int = 100_000,
        expire_after_time: float | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.features = features
        self.n_components = n_components
        self.order = order
        self.scaling = scaling
        self.coverage = coverage
        self.guarantees = guarantees
        self.memory = memory
        self.deterministic = deterministic
        self.label_memory = label_memory
        self.costs = costs
        self.class_weight = class_weight
        self.expire_after_labels = expire_after_labels
        self.expire_after_time = expire_after_time
        self.random_state = random_state

    @classmethod
    def paper(cls, **changes: Any) -> PaperAMRC:
        """Return the paper's configuration: order 1, 200 Fourier components, W = 200, N = 100, K = 2000.

        Parameters
        ----------
        **changes
            Parameters of `PaperAMRC` that should differ from its defaults.

        Returns
        -------
        PaperAMRC
            The estimator.
        """
        return PaperAMRC(**changes)

    # Guarantees ---------------------------------------------------------------------------------------

    @property
    def _tracker(self) -> GuaranteeTracker:
        return self._ensemble.tracker

    def _statements(self, X: Any) -> tuple[GuaranteeTracker, LabelArray, RowStatements]:
        model = self._current
        learner = model._learner
        return learner.tracker, model._classes.labels, learner.statements(model._read_columns(X))

    @property
    def alarm_(self) -> Alarm | None:
        """The raised alarm, with the columns whose means move now; None if the error has not risen."""
        alarm = self._tracker.raised
        return None if alarm is None else alarm.with_moved(self.drift())

    def acknowledge_alarm(self) -> None:
        """Arm a raised alarm again, from the next row on; no-op if none is raised."""
        with self._lock, defer_interrupt():
            check_is_fitted(self)
            self._learner.acknowledge_alarm()
            self._replace_learner(self._learner)

    def _replace_learner(self, learner: EnsembleLearner, **attributes: Any) -> None:  # type: ignore[override]
        classes = attributes.get("_classes", self._classes)
        learner.name_classes(classes.labels)
        super()._replace_learner(learner, **attributes)

    def predict_calibrated_proba(self, X: Any) -> Matrix:
        """Return calibrated probabilities of the classes, by which a model with costs chooses its labels.

        `predict_proba` is the randomised rule h, which is often 0 or 1 where a label is only likely. Here h is
        calibrated by the labels that arrived, each with the h of its row before the label was known. Use it where
        costs differ from row to row, such as with amounts: choose the label with the smallest expected cost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, columns in the order of `classes_`. How well they are calibrated is measured, not proved.

        Examples
        --------
        >>> from driftline import AMRC
        >>> model = AMRC(costs={"fraud": {"fine": 50}}, features="linear").fit([[0.0], [1.0]], ["fine", "fraud"])
        >>> model.predict_calibrated_proba([[0.0]]).shape
        (1, 2)
        """
        model = self._current
        rule = model._learner.cost_rule
        if rule is None:
            raise ConfigError("calibrated probabilities need costs; pass costs={} if all mistakes cost the same")
        return rule.probabilities(model._learner.probabilities(model._read_columns(X)))

    # Bounds and members -------------------------------------------------------------------------------

    @property
    def rate_bound_(self) -> float:
        """The bound on the error that should hold on average over many steps."""
        return self._ensemble.rate_bound

    @property
    def n_waiting_(self) -> int:
        """Number of observed rows whose labels have not arrived."""
        return self._started.n_waiting

    def is_waiting(self, ids: Any) -> Flags:
        """Return whether observed rows with these ids wait for their labels.

        Parameters
        ----------
        ids : array-like of shape (n_samples,)
            Numbers or texts, as in `observe`.

        Returns
        -------
        ndarray of shape (n_samples,)
            True for the rows whose labels `partial_fit` would learn with the values that were observed.

        Examples
        --------
        >>> from driftline import AMRC
        >>> model = AMRC(features="linear").partial_fit([[0.0], [1.0]], ["no", "yes"])
        >>> model.observe([[0.2]], ids=["order 1"]).is_waiting(["order 1", "order 2"])
        array([ True, False])
        """
        learner = self._started
        return np.array([learner.is_waiting(each) for each in read_ids(ids, None).tolist()], dtype=bool)

    def give_up(self, ids: Any = None) -> Self:
        """Stop waiting for the labels of observed rows, for example because they will not come any more.

        They change nothing in weights and bounds, and are counted in `n_expired_`. Other ids are ignored.

        Parameters
        ----------
        ids : array-like of shape (n_samples,), optional
            Numbers or texts, as in `observe`; by default all rows that wait.

        Returns
        -------
        AMRC
            The estimator itself.

        Examples
        --------
        >>> from driftline import AMRC
        >>> model = AMRC(features="linear").partial_fit([[0.0], [1.0]], ["no", "yes"])
        >>> model = model.observe([[0.2], [0.3]], ids=["order 1", "order 2"]).give_up(["order 1"])
        >>> model.n_waiting_, model.n_expired_
        (1, 1)
        """
        with self._lock:
            learner = self._started
            known = None if ids is None else read_ids(ids, None).tolist()
            with defer_interrupt():
                learner.give_up(known)
                self._mark_changed()
        return self

    @property
    def n_expired_(self) -> int:
        """Number of observed rows that were given up."""
        return self._started.n_expired

    @property
    def members_(self) -> np.ndarray[Any, np.dtype[np.void]]:
        """The members, with their weights and bounds."""
        learner = self._ensemble
        planned = [(space.plan.name, member.gain) for space in learner.spaces for member in space.plan.members]
        if learner.labels is not None:
            planned += [(SPACE, gain) for gain in GAINS]
        names, gains = zip(*planned, strict=True)
        kinds = [
            ("space", f"<U{max(map(len, names))}"),
            ("gain", float),
            ("weight", float),
            ("bound", float),
            ("cuts", int),
        ]
        table = np.zeros(len(planned), dtype=kinds)
        table["space"], table["gain"], table["weight"] = names, gains, learner.member_weights
        table["bound"] = learner.member_bounds
        cuts = np.concatenate([space.n_cuts for space in learner.spaces])
        table["cuts"][: len(cuts)] = cuts
        return table

    def fit(self, X: Any, y: Any, timestamps: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything, then learn from the rows of X in order.

        Parameters
        ----------
        X, y, timestamps
            As in `partial_fit`.
        sample_weight : array-like of shape (n_samples,) or float, optional
            As in `partial_fit`.

        Returns
        -------
        AMRC
            The fitted estimator itself.
        """
        self._fit_rows(X, y, timestamps, sample_weight)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        timestamps: Any = None,
        ids: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Continue to learn, from the rows of X in order.

        Bounds and guarantees count each row as if it had been predicted just before its own label was learned. If rows
        are predicted as a batch, call `observe` with the batch before: then the predictions that were made count.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances in stream order; NaN, None or masked where a value is missing.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like, optional
            At the first call: the expected classes. Other classes are added when their first row is learned.
        timestamps : array-like of shape (n_samples,), optional
            Times of the instances, which must not decrease: numbers, or dates (converted to seconds). Choose the unit
            so that typical increments are around one. Without timestamps, each step takes one unit.
        ids : array-like of shape (n_samples,), optional
            The ids that were given to `observe`. A row whose id is not waiting counts as a row that was not observed.
        sample_weight : array-like of shape (n_samples,) or float, optional
            Weights from 0 up, relative to their mean so far: equal weights change nothing. The members learn a row of
            relative weight 3 as three equal rows, and of two rows of relative weight 0.5 the second; a row counts as
            at most 100. A row of weight 0 is ignored as if it had not been passed. Otherwise each row counts once in
            the weights of the members, and in all bounds and guarantees but `model_bound_`.

        Returns
        -------
        AMRC
            The estimator itself.
        """
        self._learn_rows(X, y, classes, timestamps, ids, sample_weight)
        return self

    def _learn_rows(
        self, X: Any, y: Any, classes: Any, timestamps: Any, ids: Any = None, sample_weight: Any = None
    ) -> None:
        with self._lock:
            if classes is timestamps is ids is sample_weight is None and self._learn_usual_row(X, y):
                return
            super()._learn_rows(X, y, classes, timestamps, ids, sample_weight)

    def _learn_usual_row(self, X: Any, y: Any) -> bool:
        """Learn a row of a known class if there is nothing special about it; return whether it was learned.

        All other rows, and all that is wrong with a row, are left to checks that take much longer.
        """
        learner = self.__dict__.get("_learner")
        if (
            learner is None
            or not is_matrix(X)
            or X.shape != (1, self.n_features_in_)
            or not are_small(X)
            or type(y) is not np.ndarray
            or y.shape != (1,)
            or self._last_time is not None
            or not learner.learns_in_one_call
            or not self._is_unchanged
            or hasattr(self, "feature_names_in_")
        ):
            return False
        position = self._classes.known_position(y.item())
        if position is None:
            return False
        self._access.is_stale = True  # before anything changes, because of interrupts
        with defer_interrupt() if learner.has_second_step else nullcontext():
            learner.learn(X.copy(), position, ONE_STEP)
        self._mark_changed()
        return True

    def observe(self, X: Any, classes: Any = None, ids: Any = None, timestamps: Any = None) -> Self:
        """Predict rows whose labels will arrive later, and keep the predictions until `partial_fit` gets the labels.

        The bounds are then calibrated by these predictions, so that they include the effect of the delay. The weights
        of the members depend on these predictions and on the members' predictions when the label arrives; whichever of
        the two gives better weights counts more.

        `partial_fit` finds rows that were observed with ids by their ids, and learns the values that were observed. It
        finds the others by their values, in single or double precision; the first among equal rows. All other rows
        count as rows whose label arrives at once, also while observed rows wait for their labels.

        Observed rows are given up after `expire_after_labels` labels or `expire_after_time`. At most 100,000 rows wait
        for their labels; when there are more, the oldest are given up. `n_expired_` counts rows that were given up.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        classes : array-like, optional
            The expected classes, at the first call. Before any class is known there is no prediction to keep: when the
            labels of such rows arrive, weights and bounds do not change.
        ids : array-like of shape (n_samples,), optional
            Numbers or texts by which `partial_fit` finds the rows. No two waiting rows may have the same id.
        timestamps : array-like of shape (n_samples,), optional
            Times of the instances, as in `fit`; by default, and at the earliest, the time of the last row learned or
            observed.

        Returns
        -------
        AMRC
            The estimator itself.

        Examples
        --------
        >>> from driftline import AMRC
        >>> model = AMRC(features="linear").partial_fit([[0.0], [1.0]], ["no", "yes"])
        >>> model.observe([[0.2], [0.9]], ids=["order 1", "order 2"]).n_waiting_
        2
        >>> model.partial_fit([[0.9]], ["yes"], ids=["order 2"]).n_waiting_
        1
        """
        with self._lock, self._first_call_rolled_back_on_error():
            expected = np.empty(0) if classes is None else np.unique(read_labels(classes, name="classes"))
            rows = read_rows(X).copy()
            if hasattr(self, "_learner"):
                self._check_unchanged()
                self._check_expected(expected)
                check_columns(self, X)
            else:
                self._start(X, rows, expected)
            known = None if ids is None else read_ids(ids, len(rows))
            times = self._observation_times(timestamps, len(rows))
            with defer_interrupt():
                self._learner.observe(rows, known, times)
                self._replace_learner(self._learner)
        return self

    def _observation_times(self, timestamps: Any, n_rows: int) -> Vector:
        """Return the times of observed rows: those given, but not before the last row learned; NaN if unknown."""
        last_time = np.nan if self._last_time is None else self._last_time
        if timestamps is not None and self._last_time is None and self._learner.n_steps:
            raise DataError("timestamps were not given when the model learned; omit them here too")
        return np.fmax(read_times(timestamps, n_rows, None), last_time)

    def _predict_then_learn(
        self, learner: EnsembleLearner, block: Block, positions: Labels, elapsed: Vector
    ) -> Predictions:
        return learner.predict_then_learn(block.rows, positions, elapsed, block.ids, block.times, block.weights)

    def _learn_batch(self, learner: EnsembleLearner, block: Block, positions: Labels, elapsed: Vector) -> None:
        learner.learn(block.rows, positions, elapsed, block.ids, block.times, block.weights)

    def add_columns(self, columns: int | Sequence[str]) -> Self:
        """Add columns that start in mid-stream, after the existing ones.

        In all rows so far their values are missing, and are replaced by the column's mean. From their first value on,
        they are treated like the other columns. Columns cannot be added with a custom feature map, which only knows the
        columns that it was started with.

        Parameters
        ----------
        columns : int or sequence of str
            Number of columns; or their names, if the model has learned from tables whose columns have names.

        Returns
        -------
        AMRC
            The estimator itself.

        Examples
        --------
        >>> from driftline import AMRC
        >>> model = AMRC(features="linear").partial_fit([[0.0], [1.0]], ["no", "yes"])
        >>> model.add_columns(1).partial_fit([[0.0, 3.5]], ["no"]).n_features_in_
        2
        """
        with self._lock, defer_interrupt():
            names = self._new_names(columns)
            if names is None:
                self._widen(whole_number("columns", columns, at_least=1))
            else:
                names_in = np.array([*self.feature_names_in_, *names], dtype=object)
                self._widen(len(names), feature_names_in_=names_in)
        return self

    def _new_names(self, columns: Any) -> list[str] | None:
        """Return the names of the columns to add; None if the columns of the model have no names."""
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if known is None:
            return None
        names = list(columns) if isinstance(columns, Iterable) and not isinstance(columns, str) else []
        are_text = bool(names) and all(isinstance(name, str) for name in names)
        if not are_text or len({*known, *names}) < len(known) + len(names):
            raise ConfigError(f"columns must be new names, because the existing columns have names; got {columns!r}")
        return names

    def _widen(self, n: int, **attributes: Any) -> None:
        learner = independent_copy(self._learner)
        learner.add_columns(n)
        self._replace_learner(learner, n_features_in_=self.n_features_in_ + n, **attributes)

    def drift(self, *, columns: Sequence[str] | None = None, as_frame: bool = False) -> Any:
        """Return how the mean of each column moves in each class, the largest surprise first.

        Parameters
        ----------
        columns : sequence of str, optional
            Names of the columns, such as a stream's `columns`; by default those of the table that was learned
            from, or x0, x1, …
        as_frame : bool, default=False
            Whether to return a pandas DataFrame instead of a structured array. The array can be indexed by the names of
            its fields, too, and notebooks show it as a table; ``pandas.DataFrame(model.drift())`` is the same frame.

        Returns
        -------
        structured ndarray or DataFrame
            A row for each class and column, with the fields `label`; `feature`, the name of the column; `mean`, the
            tracked mean of the column in that class at its last row, and `mean_error`, its standard error; `rate`, its
            change per unit of time, and `rate_error`, the standard error of that (NaN for order 0, and if no time has
            passed); `surprise`, by how much a moving mean explains the last rows of the class better than a constant
            mean, in standard deviations: a value above about 3 is hardly due to chance. The standard errors include
            the disagreement of the filters.

        Examples
        --------
        >>> from driftline import AMRC
        >>> from driftline.streams import MovingClass
        >>> X, y = MovingClass().sample(1000, seed=0)  # class 0 goes around class 1
        >>> AMRC(features="linear").fit(X, y).drift()[["label", "feature"]][:2].tolist()
        [(0, 'x0'), (0, 'x1')]
        """
        model = self._current
        given = getattr(model, "feature_names_in_", None) if columns is None else columns
        numbered = [f"x{j}" for j in range(model.n_features_in_)]
        names = column_names("columns", numbered if given is None else given, model.n_features_in_)
        filters = model._learner.column_filters
        table = drift_table(filters.filters, model._classes.labels, names, filters.origin)
        return import_pandas("drift(as_frame=True)").DataFrame(table) if flag("as_frame", as_frame) else table

    @property
    def _ensemble(self) -> EnsembleLearner:
        return self._current._learner

    @property
    def _started(self) -> EnsembleLearner:
        """The learner, which may not know any class yet."""
        if not hasattr(self, "_learner"):
            check_is_fitted(self)  # raises an error that says so
        return self._learner

    def _checked_parameters(self) -> dict[str, Any]:
        given: dict[str, Any] = self.get_params(deep=False)
        if not is_feature_map(given["features"]):
            one_of("features", given["features"], ("auto", "linear", "fourier"))
        order = whole_number("order", given["order"], at_least=0)
        if order > MAX_ORDER:
            raise ConfigError(f"order must be 0 or 1; got {order} (AMRC.paper has higher orders)")
        one_of("scaling", given["scaling"], ("running", "none"))
        one_of("memory", given["memory"], ("full", "light"))
        checked_random_state(given["random_state"])
        checked_guarantees(given["guarantees"])
        checked_class_weight(given["class_weight"])
        if given["costs"] is not None:
            Costs(given["costs"])
        time = given["expire_after_time"]
        return given | {
            "n_components": whole_number("n_components", given["n_components"], at_least=1),
            "order": order,
            "coverage": real_number("coverage", given["coverage"], above=0.5, below=1.0),
            "deterministic": flag("deterministic", given["deterministic"]),
            "label_memory": flag("label_memory", given["label_memory"]),
            "expire_after_labels": whole_number("expire_after_labels", given["expire_after_labels"], at_least=1),
            "expire_after_time": None
            if time is None
            else real_number("expire_after_time", time, above=0, below=np.inf),
        }

    def _plain_parameters(self) -> dict[str, Any]:
        plain = super()._plain_parameters()
        guarantees, costs = plain["guarantees"], plain["costs"]
        return plain | {
            "guarantees": None if guarantees is None else guarantees.to_json(),
            "costs": None if costs is None else Costs(costs).to_json(),
            "class_weight": class_weight_to_json(plain["class_weight"]),
        }

    @classmethod
    def _parameters_from_plain(cls, plain: dict[str, Any]) -> dict[str, Any]:
        guarantees = plain.get("guarantees")  # files of versions 1 and 2 have none
        costs = plain.get("costs")
        return plain | {
            "guarantees": None if guarantees is None else Guarantees.from_json(guarantees),
            "costs": None if costs is None else costs_from_json(costs),
            "class_weight": class_weight_from_json(plain.get("class_weight")),
        }

    def _assemble(self, parameters: Mapping[str, Any], rows: Matrix, seed: int) -> EnsembleLearner:
        n_columns = rows.shape[1]
        return assemble_ensemble(parameters, self._plan(parameters, n_columns), n_columns, seed)

    @classmethod
    def _new(cls, n_columns: int, classes: LabelArray, parameters: Mapping[str, Any]) -> Self:
        """Return a model for so many columns and these classes, which has learned nothing."""
        model = cls(**parameters)
        rows = np.zeros((1, n_columns))
        model._start(rows, rows, classes)
        return model

    def _n_bytes(self, parameters: Mapping[str, Any], n_columns: int, n_classes: int) -> int:
        plan = self._plan(parameters, n_columns)
        n_components = 0 if is_feature_map(parameters["features"]) else parameters["n_components"]
        label_memory = parameters["label_memory"]
        return n_bytes_of_ensemble(plan, n_columns, n_components, n_classes, label_memory=label_memory)

    def _plan(self, parameters: Mapping[str, Any], n_columns: int) -> EnsemblePlan:
        features, fits = parameters["features"], n_columns <= parameters["n_components"]
        is_auto = isinstance(features, str) and features == "auto"
        wants_fourier = isinstance(features, str) and features == "fourier"
        if parameters["memory"] == "light":
            return light_plan(uses_fourier=wants_fourier, has_trees=is_auto, order=parameters["order"])
        uses_fourier = (is_auto and fits) or wants_fourier
        if self._plan_version == 1:
            return first_plan(uses_fourier=uses_fourier, order=parameters["order"])
        return default_plan(uses_fourier=uses_fourier, has_trees=is_auto, order=parameters["order"])
