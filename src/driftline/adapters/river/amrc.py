"""AMRC as a classifier of River."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from driftline import ensemble
from driftline.adapters.river.named import Features, NamedAMRC
from driftline.core.features import FeatureMap
from driftline.errors import MissingExtraError

try:
    from river import base
except ImportError as error:
    raise MissingExtraError(f"River's AMRC needs river ({error}); pip install 'driftline[river]'") from error

if TYPE_CHECKING:
    import pandas as pd


class AMRC(base.MiniBatchClassifier):  # type: ignore[misc]  # River is not followed, see pyproject.toml
    """Adaptive minimax risk classifier for River: follows a drifting stream and bounds its own error at every step.

    It is `driftline.AMRC` behind River's interface: the same rows give the same predictions and bounds. Features may
    come and go. One that a row lacks, or that is None or NaN, is missing, and counts as its mean so far. One that is
    new in mid-stream is used from the first row learned with it. Columns are scaled as they come, so it needs no scaler
    before it. Labels are anything hashable but None; classes join as they come.

    Parameters
    ----------
    features : {"auto", "linear", "fourier"} or FeatureMap, default="auto"
        The instance features ψ(x): linear ones alone, or random Fourier features of two scales beside them. "auto"
        takes both, if the first row has at most `n_components` features. A map of your own takes no new ones.
    n_components : int, default=200
        Number of random directions of each scale.
    order : {0, 1}, default=1
        Order of the filters that follow the class means: 1 follows means that move steadily.
    scaling : {"running", "none"}, default="running"
        Whether columns are scaled by their running mean and deviation.
    coverage : float, default=0.95
        Coverage that the error bound aims at.
    deterministic : bool, default=True
        Whether `predict_one` returns the most probable label or draws one from the randomised rule, to which the
        bounds apply.
    late_labels : bool, default=False
        Whether other rows are predicted before the label of a row comes. Then each row that is predicted waits for its
        label, and the bounds allow for the delay. Without it they are those of labels that come at once.
    seed : int or None, default=0
        Seed of the Fourier features, of what is drawn from the store and of the randomised rule.

    Notes
    -----
    With `late_labels`, a prediction changes the model: ask once about each row, and let it learn the row with the same
    values. A transformer that learns in between, such as a scaler, changes them; there is a warning then.

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
        deterministic: bool = True,
        late_labels: bool = False,
        seed: int | None = 0,
    ) -> None:
        self.features = features
        self.n_components = n_components
        self.order = order
        self.scaling = scaling
        self.coverage = coverage
        self.deterministic = deterministic
        self.late_labels = late_labels
        self.seed = seed
        model = ensemble.AMRC(
            features=features,
            n_components=n_components,
            order=order,
            scaling=scaling,
            coverage=coverage,
            deterministic=deterministic,
            random_state=seed,
        )
        self._named = NamedAMRC(model, late_labels=late_labels)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"features": "linear"}

    def _unit_test_skips(self) -> set[str]:
        # Asked twice, it has two rows that wait, and has taken both into the running mean of the columns.
        twice = {"check_predict_many_matches_predict_one", "check_predict_proba_many_matches_predict_proba_one"}
        return twice if self.late_labels else set()

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Features, y: Any) -> None:
        """Learn the label of a row.

        Parameters
        ----------
        x : dict
            Numbers by name of feature.
        y : hashable
            The label.
        """
        self._named.learn_one(x, y)

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
        """Return the randomised rule h(y|x).

        Parameters
        ----------
        x : dict
            Numbers by name of feature.

        Returns
        -------
        dict
            The probability of each label; empty before anything was learned.
        """
        h = self._named.ask_one("predict_proba", x)
        return {} if h is None else dict(zip(self._named.labels, h.tolist(), strict=True))

    def predict_one(self, x: Features) -> Any:
        """Return a label, of the deterministic or the randomised rule.

        Parameters
        ----------
        x : dict
            Numbers by name of feature.

        Returns
        -------
        hashable
            The label; None before anything was learned.
        """
        place = self._named.ask_one("predict", x)
        return None if place is None else self._named.labels[place]

    def predict_proba_many(self, X: "pd.DataFrame") -> "pd.DataFrame":
        """Return the randomised rule for each row.

        Parameters
        ----------
        X : DataFrame
            Numbers, with a column for each feature.

        Returns
        -------
        DataFrame
            The probabilities, with a column for each label and the index of X.
        """
        import pandas as pd  # noqa: PLC0415  # who has a table has it

        H = self._named.ask_many("predict_proba", X)
        labels = pd.Index(self._named.labels, dtype=object, tupleize_cols=False)
        return pd.DataFrame(H, index=X.index, columns=labels, dtype=np.float64)

    def predict_many(self, X: "pd.DataFrame") -> "pd.Series[Any]":
        """Return a label for each row, of the deterministic or the randomised rule.

        Parameters
        ----------
        X : DataFrame
            Numbers, with a column for each feature.

        Returns
        -------
        Series
            The labels, with the index of X; None before anything was learned.
        """
        import pandas as pd  # noqa: PLC0415

        places = self._named.ask_many("predict", X)
        labels = [None] * len(X) if places is None else [self._named.labels[place] for place in places]
        return pd.Series(labels, index=X.index, dtype=None if labels else object)

    # What is known of the error, and of the stream ----------------------------------------------------

    @property
    def error_bound(self) -> float:
        """The bound on the error probability of the next prediction, which is to hold at the share `coverage`."""
        return self._named.model.error_bound_ if self._named.labels else 1.0

    @property
    def rate_bound(self) -> float:
        """A smaller one, which is to hold on average over many predictions."""
        return self._named.model.rate_bound_ if self._named.labels else 1.0

    def mistake_bound(self, delta: float = 0.05) -> float:
        """Return a bound on the mistakes that the randomised rule made in the rows learned so far.

        Parameters
        ----------
        delta : float, default=0.05
            Probability that the bound is allowed to fail.

        Returns
        -------
        float
            The number of mistakes.
        """
        return self._named.model.mistake_bound(delta) if self._named.labels else 0.0

    def drift(self) -> Any:
        """Return how the mean of each feature moves in each class, the most surprising first.

        Returns
        -------
        structured ndarray
            As `driftline.AMRC.drift` has it, with the labels and the names of the features.
        """
        labels = self._named.labels
        table = self._named.model.drift(columns=[str(name) for name in self.feature_names] or ["none"])
        named = np.empty(len(table), dtype=[("label", object), *table.dtype.descr[1:]])
        for field in table.dtype.names[1:]:
            named[field] = table[field]
        for i, place in enumerate(table["label"].tolist()):
            named["label"][i] = labels[place]
        return named

    @property
    def labels(self) -> list[Any]:
        """The classes, in the order in which they came."""
        return list(self._named.labels)

    @property
    def feature_names(self) -> list[Any]:
        """The features, in the order in which they came."""
        return list(self._named.rows.places)

    @property
    def n_missing(self) -> int:
        """Number of missing values replaced by the mean of their feature so far."""
        return self._named.model.n_missing_ if self._named.labels else 0

    @property
    def n_waiting(self) -> int:
        """Number of rows that were predicted and whose labels have not come, with `late_labels`."""
        return self._named.n_waiting
