"""Dynamic weighted majority."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import Baseline
from driftline.baselines.columns import RawColumns
from driftline.baselines.naive_bayes import Experts, forget, learn, no_experts, opinion, put, resized, with_codes
from driftline.errors import ConfigError
from driftline.types import Indices, Labels, Matrix, State, Vector


class DWM(Baseline):
    """Dynamic weighted majority (Kolter and Maloof, 2007) of naive Bayes classifiers.

    Experts vote with their weights, and all learn every row. At every `period`-th row each expert that errs has its
    weight multiplied by `beta`; then weights are scaled to a maximum of 1, experts below the threshold leave, and if
    the vote was wrong a new one joins with weight 1.

    Parameters
    ----------
    period : int, default=50
        Number of rows between updates of the ensemble.
    beta : float, default=0.5
        What the weight of an expert that errs is multiplied by, between 0 and 1.
    threshold : float, default=0.01
        Weight below which an expert leaves, between 0 and 1.
    max_experts : int, default=100
        Largest number of experts. When one joins that is too many, that of the smallest weight, the oldest such,
        leaves.
    nominal : sequence of int or None, default=()
        Positions of the columns that hold codes of names: whole numbers from 0 to 1,023. Any other number there is
        treated, and counted, as a missing value. All other columns hold numbers, with a Gaussian density for each
        class; for columns of zeros and ones that is a poor description, and nominal the better choice.

    Notes
    -----
    The rule, and naive Bayes, are those of MOA. Predictions differ where a product of probabilities is too small for a
    float, which MOA takes as zero, and on ties of votes if `beta` is no power of 1/2, because it scales weights by a
    rounded reciprocal.

    Each expert keeps four numbers for each class and column, and for each class and nominal column a count for each
    code up to the largest that came.

    Examples
    --------
    >>> from driftline.baselines import DWM
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((DWM(period=10).prequential(X, y).predictions != y).mean() < 0.25)
    True
    """

    def __init__(
        self,
        *,
        period: int = 50,
        beta: float = 0.5,
        threshold: float = 0.01,
        max_experts: int = 100,
        nominal: Sequence[int] | None = (),
    ) -> None:
        self.period = period
        self.beta = beta
        self.threshold = threshold
        self.max_experts = max_experts
        self.nominal = nominal

    def _preparation(self, parameters: Mapping[str, Any], n_columns: int) -> RawColumns:
        return RawColumns(n_columns, parameters["nominal"])

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "WeightedMajority":
        if max(parameters["nominal"], default=0) >= n_columns:
            raise ConfigError(
                f"nominal must be positions of columns, from 0 to {n_columns - 1} here; got {parameters['nominal']}"
            )
        return WeightedMajority(n_columns, **parameters)


class WeightedMajority:
    """The method: see `DWM`."""

    def __init__(
        self, n_columns: int, period: int, beta: float, threshold: float, max_experts: int, nominal: Sequence[int]
    ) -> None:
        self._period, self._beta, self._threshold, self._max_experts = period, beta, threshold, max_experts
        self._experts = resized(no_experts(n_columns, nominal), 1, 0)
        self._weights: Vector = np.ones(1)
        """Those of the experts there are, and zeros where there is room."""
        self._size: Indices = np.ones(1, np.int64)
        self._n_rows: Indices = np.zeros(1, np.int64)

    def add_class(self) -> None:
        """Make room for one more class, of which no expert has seen a row."""
        self._resize(len(self._weights), self._experts.rows.shape[1] + 1)

    def _resize(self, n_experts: int, n_classes: int) -> None:
        self._experts = resized(self._experts, n_experts, n_classes)
        kept = self._weights[:n_experts]
        self._weights = np.pad(kept, (0, n_experts - len(kept)))

    def predict(self, Z: Matrix) -> Labels:
        """Return the position of a class for each row."""
        return predict_rows(Z, self._experts, self._weights, self._size)

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        n_updates = (self._n_rows[0] + len(Z)) // self._period - self._n_rows[0] // self._period
        room = min(int(self._size[0] + n_updates), self._max_experts)
        if room > len(self._weights):
            self._resize(room, self._experts.rows.shape[1])
        self._experts = with_codes(self._experts, Z)
        rule = (self._period, self._beta, self._threshold, self._max_experts)
        return advance(Z, labels, self._experts, self._weights, self._size, self._n_rows, *rule)

    def state(self) -> State:
        """Return the arrays that a continuation needs; how much room there was is not of them."""
        size = int(self._size[0])
        experts = resized(self._experts, size, self._experts.rows.shape[1])._asdict()
        return experts | {"weights": self._weights[:size].copy(), "n_rows": self._n_rows.copy()}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        arrays: Any = {name: array.copy() for name, array in state.items()}
        self._weights, self._n_rows = arrays.pop("weights"), arrays.pop("n_rows")
        self._size = np.array([len(self._weights)])
        self._experts = Experts(**arrays)


@kernel
def predict_rows(Z: Matrix, experts: Experts, weights: Vector, size: Indices) -> Labels:
    """Return the class with the largest vote for each row."""
    predictions = np.empty(len(Z), np.int64)
    opinions = np.empty(len(weights), np.int64)
    for t in range(len(Z)):
        poll(Z[t], experts, size[0], opinions)
        predictions[t] = majority(opinions, weights, size[0], experts.rows.shape[1])
    return predictions


@kernel
def poll(x: Vector, experts: Experts, size: int, opinions: Labels) -> None:
    """Put the class that each expert votes for into `opinions`."""
    for e in range(size):
        opinions[e] = opinion(experts, e, x)


@kernel
def majority(opinions: Labels, weights: Vector, size: int, n_classes: int) -> int:
    """Return the class with the largest sum of weights, the first on ties."""
    votes = np.zeros(n_classes)
    for e in range(size):
        votes[opinions[e]] += weights[e]
    return int(np.argmax(votes))


@kernel
def advance(
    Z: Matrix,
    labels: Labels,
    experts: Experts,
    weights: Vector,
    size: Indices,
    n_rows: Indices,
    period: int,
    beta: float,
    threshold: float,
    max_experts: int,
) -> Labels:
    """Predict each row, revise the ensemble if it is time, and let every expert learn the row."""
    predictions = np.empty(len(Z), np.int64)
    opinions = np.empty(len(weights), np.int64)
    n_classes = experts.rows.shape[1]
    for t in range(len(Z)):
        x, y = Z[t], labels[t]
        poll(x, experts, size[0], opinions)
        predictions[t] = majority(opinions, weights, size[0], n_classes)
        n_rows[0] += 1
        if n_rows[0] % period == 0:
            punish(opinions, y, weights, size[0], beta)
            errs = majority(opinions, weights, size[0], n_classes) != y
            scale_and_drop(experts, weights, size, threshold)
            if errs:
                add_expert(experts, weights, size, max_experts)
        for e in range(size[0]):
            learn(experts, e, x, y)
    return predictions


@kernel
def punish(opinions: Labels, y: int, weights: Vector, size: int, beta: float) -> None:
    """Multiply the weights of the experts that err by β."""
    for e in range(size):
        if opinions[e] != y:
            weights[e] *= beta


@kernel
def scale_and_drop(experts: Experts, weights: Vector, size: Indices, threshold: float) -> None:
    """Divide the weights by their maximum, and drop the experts that are below the threshold then."""
    weights[: size[0]] /= weights[: size[0]].max()
    for e in range(size[0] - 1, -1, -1):
        if weights[e] < threshold:
            drop(experts, weights, size, e)


@kernel
def add_expert(experts: Experts, weights: Vector, size: Indices, max_experts: int) -> None:
    """Let a new expert of weight 1 join; if there are as many as may be, the weakest leaves, the oldest such."""
    if size[0] == max_experts:
        drop(experts, weights, size, int(np.argmin(weights[: size[0]])))
    forget(experts, size[0])
    weights[size[0]] = 1.0
    size[0] += 1


@kernel
def drop(experts: Experts, weights: Vector, size: Indices, e: int) -> None:
    """Drop expert e; the others stay in order."""
    for later in range(e + 1, size[0]):
        put(experts, later - 1, later)
        weights[later - 1] = weights[later]
    size[0] -= 1
