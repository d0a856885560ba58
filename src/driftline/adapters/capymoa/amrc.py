"""AMRC as a CapyMOA classifier."""

from typing import Any

import numpy as np

from driftline import ensemble
from driftline.adapters.capymoa.classifier import import_capymoa
from driftline.core.features import FeatureMap
from driftline.types import Matrix, Vector

import_capymoa()  # raises a MissingExtraError that says what is missing
from capymoa.base import Classifier  # noqa: E402

MISSING_LABEL = -1


class AMRC(Classifier):  # type: ignore[misc]  # CapyMOA is not followed, see pyproject.toml
    """Adaptive minimax risk classifier for CapyMOA: follows a drifting stream and bounds its own error at every step.

    It is `driftline.AMRC` with CapyMOA's interface: the same rows give the same predictions and bounds. Classes are
    added when they first occur; before that, those of the schema have probability 0. A nominal attribute becomes one
    column of 0 and 1 for each of its values. Missing values are replaced by the mean of their column so far. An
    instance without a label is not learned.

    Parameters
    ----------
    schema : Schema
        Description of the stream's attributes and classes.
    random_seed : int, default=1
        Seed of the Fourier features, of the rows sampled from the store and of the randomised rule.
    features, n_components, order, scaling, coverage, memory, label_memory
        See `driftline.AMRC`.

    Examples
    --------
    >>> from capymoa.evaluation import prequential_evaluation
    >>> from capymoa.stream.generator import RandomRBFGeneratorDrift
    >>> from driftline.adapters.capymoa import AMRC
    >>> stream = RandomRBFGeneratorDrift(magnitude_of_change=0.001)
    >>> model = AMRC(stream.get_schema())
    >>> results = prequential_evaluation(stream, model, max_instances=500)
    >>> results.accuracy() > 50, 0 < model.error_bound <= 0.5
    (True, True)
    """

    def __init__(
        self,
        schema: Any,
        random_seed: int = 1,
        *,
        features: str | FeatureMap = "auto",
        n_components: int = 200,
        order: int = 1,
        scaling: str = "running",
        coverage: float = 0.95,
        memory: str = "full",
        label_memory: bool = False,
    ) -> None:
        super().__init__(schema, random_seed)
        self.model = ensemble.AMRC(
            features=features,
            n_components=n_components,
            order=order,
            scaling=scaling,
            coverage=coverage,
            memory=memory,
            label_memory=label_memory,
            random_state=random_seed,
        )
        header = schema.get_moa_header()
        attributes = [header.inputAttribute(j) for j in range(schema.get_num_attributes())]
        self._widths = [int(each.numValues()) if each.isNominal() else 0 for each in attributes]
        """Number of values of each nominal attribute; 0 for a numeric one."""
        self._n_classes = int(schema.get_num_classes())

    def train(self, instance: Any) -> None:
        """Learn a labelled instance.

        Parameters
        ----------
        instance : LabeledInstance
            The instance; without a label it is ignored.
        """
        label = int(instance.y_index)
        if label != MISSING_LABEL:
            self.model.partial_fit(self._row(instance.x), np.array([label]))

    def predict_proba(self, instance: Any) -> Vector | None:
        """Return the probabilities h(y|x) of the randomised rule.

        Parameters
        ----------
        instance : Instance
            The instance.

        Returns
        -------
        ndarray or None
            The probability of each class of the schema; None before the first instance is learned.
        """
        if not self._has_learned:
            return None
        probabilities = np.zeros(self._n_classes)
        probabilities[self.model.classes_] = self.model.predict_proba(self._row(instance.x))[0]
        return probabilities

    def predict(self, instance: Any) -> int | None:
        """Return the most probable class; on ties the one that occurred first, as in the estimator.

        Parameters
        ----------
        instance : Instance
            The instance.

        Returns
        -------
        int or None
            Its index in the schema; None before the first instance is learned.
        """
        return int(self.model.predict(self._row(instance.x))[0]) if self._has_learned else None

    @property
    def _has_learned(self) -> bool:
        return self.model.__sklearn_is_fitted__()

    def _row(self, x: Any) -> Matrix:
        if not any(self._widths):
            return np.array(x, dtype=np.float64)[None]
        cells: list[float] = []
        for value, width in zip(np.asarray(x, dtype=np.float64).tolist(), self._widths, strict=True):
            cells += [value] if not width else _indicators(value, width)
        return np.array([cells])

    @property
    def error_bound(self) -> float:
        """Bound on the error probability of the next prediction, which should hold at `coverage` of the steps."""
        return self.model.error_bound_ if self._has_learned else 1.0

    @property
    def rate_bound(self) -> float:
        """Smaller bound, which should hold on average over many predictions."""
        return self.model.rate_bound_ if self._has_learned else 1.0

    def mistake_bound(self, delta: float = 0.05) -> float:
        """Return a bound on the number of mistakes of the randomised rule in the instances learned so far.

        Parameters
        ----------
        delta : float, default=0.05
            Largest probability that the bound does not hold.

        Returns
        -------
        float
            The bound.
        """
        return self.model.mistake_bound(delta) if self._has_learned else 0.0


def _indicators(value: float, width: int) -> list[float]:
    """Return the one-hot encoding of a nominal value; NaN everywhere if it is missing."""
    if np.isnan(value):
        return [np.nan] * width
    return [float(position == value) for position in range(width)]
