"""AMRC as a River classifier."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from driftline import ensemble
from driftline.adapters.river.named_features import Features, NamedAMRC
from driftline.core.features import FeatureMap
from driftline.ensemble.drift import DriftTable
from driftline.errors import MissingExtraError

try:
    from river import base
except ImportError as error:
    raise MissingExtraError(f"River's AMRC needs river ({error}); pip install 'driftline[river]'") from error

if TYPE_CHECKING:
    import pandas as pd


class AMRC(base.MiniBatchClassifier):  # type: ignore[misc]  # River is not followed, see pyproject.toml
    """Adaptive minimax risk classifier for River: follows a drifting stream and bounds its own error at every step.

    It is `driftline.AMRC` with River's interface: the same rows give the same predictions and bounds. The set of
    features may change. A feature that is absent from a row, or None or NaN, is missing, and is replaced by its mean so
    far. A feature that first occurs later in the stream is used from the first row learned with it. Columns are scaled
    online, so no scaler is needed before it. A label is any hashable object but None; new classes are added when they
    first occur. `driftline.adapters.river.Guarded` adds decisions, sets, intervals and an alarm.

    Parameters
    ----------
    features : {"auto", "linear", "fourier"} or FeatureMap, default="auto"
        The instance features ψ(x): linear features only, or linear features and random Fourier features of two scales.
        "auto" takes both if the first row has at most `n_components` features. With a map of your own, features cannot
        be added later.
    n_components : int, default=200
        Number of random directions of each scale.
    order : {0, 1}, default=1
        Order of the filters that track the class means; 1 assumes that means move at a steady rate.
    scaling : {"running", "none"}, default="running"
        Whether columns are scaled by their running mean and deviation.
    coverage : float, default=0.95
        Fraction of steps at which the error bound should hold.
    memory : {"full", "light"}, default="full"
        "light" is for many models, one for each key: it has few stored rows and small trees; see `driftline.AMRC`.
    deterministic : bool, default=True
        Whether `predict_one` returns the most probable label, or draws one from the randomised rule, to which the
        bounds apply.
    label_memory : bool, default=False
        Whether predictions also depend on the last labels learned, for labels that come in runs; see `driftline.AMRC`.
    late_labels : bool, default=False
        Whether other rows are predicted before the label of a row arrives. If True, each predicted row is pending until
        its label arrives, and the bounds take the delay into account. If False, the bounds assume that each label
        arrives before the next row is predicted.
    expire_after_labels : int, default=100000
        Number of labels after which a pending row is given up, if its own label was not among them.
    seed : int or None, default=0
        Seed of the Fourier features, of the rows sampled from the store and of the randomised rule.

    Notes
    -----
    With `late_labels`, a prediction changes the model: predict each row once, and let it learn the row with the same
    values. A transformer that learns in between, such as a scaler, changes the values; this causes a warning.

    Examples
    --------
    >>> from driftline.adapters.river import AMRC
    >>> from river import datasets, evaluate, metrics
    >>> model = AMRC()
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> accuracy.get() > 0.88, 0 < model.error_bound < 0.5
    (True, True)
    >>> mistakes = (1 - accuracy.get()) * 1250
    >>> mistakes < model.mistake_bound(delta=0.05)
    True
    """

    def __init__(
        self,
        *,
        features: str | FeatureMap = "auto",
        n_components: int = 200,
        order: int = 1,
        scaling: str = "running",
        coverage: float = 0.95,
        memory: str = "full",
        deterministic: bool = True,
        label_memory: bool = False,
        late_labels: bool = False,
        expire_after_labels: int = 100_000,
        seed: int | None = 0,
    ) -> None:
        self.features = features
        self.n_components = n_components
        self.order = order
        self.scaling = scaling
        self.coverage = coverage
        self.memory = memory
        self.deterministic = deterministic
        self.label_memory = label_memory
        self.late_labels = late_labels
        self.expire_after_labels = expire_after_labels
        self.seed = seed
        model = ensemble.AMRC(
            features=features,
            n_components=n_components,
            order=order,
            scaling=scaling,
            coverage=coverage,
            memory=memory,
            deterministic=deterministic,
            label_memory=label_memory,
            expire_after_labels=expire_after_labels,
            random_state=seed,
        )
        self._named = NamedAMRC(model, late_labels=late_labels)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"features": "linear"}

    def _unit_test_skips(self) -> set[str]:
        # These checks predict the same row twice, which makes it two pending rows and changes the running means.
        predict_twice = {"check_predict_many_matches_predict_one", "check_predict_proba_many_matches_predict_proba_one"}
        return predict_twice if self.late_labels else set()

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> None:
        """Learn the label of a row.

        Parameters
        ----------
        x : dict
            Numbers by name of feature.
        y : hashable
            The label.
        w : float, default=1.0
            Weight of the row, relative to the mean weight so far: see `sample_weight` of `driftline.AMRC.partial_fit`.
        """
        self._named.learn_one(x, y, w)

    def learn_many(self, X: "pd.DataFrame", y: "pd.Series[Any]") -> None:
        """Learn the labels of rows, in order.

        Parameters
        ----------
        X : DataFrame
            Numbers, with a column for each feature.
        y : Series
            The labels.
        """
        self._named.learn_many(X, y)

    def predict_proba_one(self, x: Features) -> dict[Any, float]:
        """Return the probabilities h(y|x) of the randomised rule.

        Parameters
        ----------
        x : dict
            Numbers by name of feature.

        Returns
        -------
        dict
            The probability of each label; empty before the first row is learned.
        """
        h = self._named.call_for_row("predict_proba", x)
        return {} if h is None else dict(zip(self._named.labels, h.tolist(), strict=True))

    def predict_one(self, x: Features) -> Any:
        """Return the label that the deterministic or the randomised rule predicts.

        Parameters
        ----------
        x : dict
            Numbers by name of feature.

        Returns
        -------
        hashable
            The label; None before the first row is learned.
        """
        position = self._named.call_for_row("predict", x)
        return None if position is None else self._named.labels[position]

    def predict_proba_many(self, X: "pd.DataFrame") -> "pd.DataFrame":
        """Return the probabilities of the randomised rule for each row.

        Parameters
        ----------
        X : DataFrame
            Numbers, with a column for each feature.

        Returns
        -------
        DataFrame
            The probabilities, with a column for each label and the index of X.
        """
        import pandas as pd  # noqa: PLC0415  # a caller who has a table has pandas

        H = self._named.call_for_table("predict_proba", X)
        labels = pd.Index(self._named.labels, dtype=object, tupleize_cols=False)
        return pd.DataFrame(H, index=X.index, columns=labels, dtype=np.float64)

    def predict_many(self, X: "pd.DataFrame") -> "pd.Series[Any]":
        """Return the label that the deterministic or the randomised rule predicts for each row.

        Parameters
        ----------
        X : DataFrame
            Numbers, with a column for each feature.

        Returns
        -------
        Series
            The labels, with the index of X; None before the first row is learned.
        """
        import pandas as pd  # noqa: PLC0415

        positions = self._named.call_for_table("predict", X)
        labels = [None] * len(X) if positions is None else [self._named.labels[position] for position in positions]
        return pd.Series(labels, index=X.index, dtype=None if labels else object)

    # Bounds and drift ---------------------------------------------------------------------------------

    @property
    def error_bound(self) -> float:
        """Bound on the error probability of the next prediction, which should hold at `coverage` of the steps."""
        return self._named.model.error_bound_ if self._named.labels else 1.0

    @property
    def rate_bound(self) -> float:
        """Smaller bound, which should hold on average over many predictions."""
        return self._named.model.rate_bound_ if self._named.labels else 1.0

    def mistake_bound(self, delta: float = 0.05) -> float:
        """Return a bound on the number of mistakes of the randomised rule in the rows learned so far.

        Parameters
        ----------
        delta : float, default=0.05
            Largest probability that the bound does not hold.

        Returns
        -------
        float
            The bound.
        """
        return self._named.model.mistake_bound(delta) if self._named.labels else 0.0

    def drift(self) -> Any:
        """Return how the mean of each feature moves in each class, the most surprising first.

        Returns
        -------
        structured ndarray
            The table of `driftline.AMRC.drift`, with the labels and names of the features.
        """
        labels = self._named.labels
        table = self._named.model.drift(columns=[str(name) for name in self.feature_names] or ["none"])
        named = np.empty(len(table), dtype=[("label", object), *table.dtype.descr[1:]])
        for field in table.dtype.names[1:]:
            named[field] = table[field]
        for i, position in enumerate(table["label"].tolist()):
            named["label"][i] = labels[position]
        return named.view(DriftTable)

    @property
    def labels(self) -> list[Any]:
        """The classes, in the order in which they first occurred."""
        return list(self._named.labels)

    @property
    def feature_names(self) -> list[Any]:
        """The features, in the order in which they first occurred."""
        return list(self._named.rows.positions)

    @property
    def n_missing(self) -> int:
        """Number of missing values that were replaced by the mean of their feature."""
        return self._named.model.n_missing_ if self._named.labels else 0

    @property
    def n_waiting(self) -> int:
        """Number of pending rows: predicted, with labels that have not arrived; 0 without `late_labels`."""
        return self._named.n_waiting

    @property
    def n_expired(self) -> int:
        """Number of pending rows that were given up, because their labels did not arrive; 0 without `late_labels`."""
        return self._named.n_expired
