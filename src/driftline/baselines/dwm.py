"""Dynamic weighted majority."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from driftline._jit import kernel
from driftline.baselines.base import Baseline
from driftline.baselines.naive_bayes import (
    Experts,
    copy_expert,
    empty_experts,
    learn,
    most_probable_class,
    reset_expert,
    resized,
    with_room_for_codes,
)
from driftline.core.columns import MAX_CODES, RawColumns
from driftline.core.schema import MOST_COUNTED, ArraySpec, Length, Schema, whole_numbers
from driftline.errors import CheckpointError, ConfigError
from driftline.types import LARGEST_VALUE, Indices, Labels, Matrix, State, Vector


class DWM(Baseline):
    """Dynamic weighted majority (Kolter and Maloof, 2007) of naive Bayes classifiers.

    Experts vote with their weights, and all experts learn every row. At every `period`-th row the weights of the
    experts that are wrong are multiplied by `beta`. Then the weights are scaled to a maximum of 1, and experts below
    the threshold are removed. If the vote was wrong, a new expert with weight 1 is added.

    Parameters
    ----------
    period : int, default=50
        Number of rows between updates of the ensemble.
    beta : float, default=0.5
        Factor, between 0 and 1, for the weight of an expert that is wrong.
    threshold : float, default=0.01
        Weight, between 0 and 1, below which an expert is removed.
    max_experts : int, default=100
        Largest number of experts. If a new one would exceed it, the expert with the smallest weight is removed, the
        oldest on ties.
    nominal : sequence of int or None, default=()
        Positions of the columns that contain codes of categories: whole numbers from 0 to 1,023. Any other number there
        is treated, and counted, as a missing value. All other columns contain numbers, and are described by a Gaussian
        density for each class. For columns of zeros and ones that is a poor description: better list them here.

    Notes
    -----
    The rule and the naive Bayes classifiers are those of MOA. Predictions differ from MOA's if a product of
    probabilities is too small for a float, because MOA takes it as zero; and on ties of votes if `beta` is not a power
    of 1/2, because MOA scales weights by a rounded reciprocal.

    Each expert stores four numbers for each class and column, and for each class and nominal column one count for each
    code up to the largest one seen.

    Examples
    --------
    >>> from driftline.baselines import DWM
    >>> from driftline.streams import RotatingGaussians
    >>> X, y = RotatingGaussians().sample(1000, seed=0)
    >>> bool((DWM(period=10).prequential(X, y).predicted != y).mean() < 0.25)
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

    def _column_preparer(self, parameters: Mapping[str, Any], n_columns: int) -> RawColumns:
        return RawColumns(n_columns, parameters["nominal"])

    def _method(self, parameters: Mapping[str, Any], n_columns: int, seed: int) -> "DWMMethod":
        if max(parameters["nominal"], default=0) >= n_columns:
            raise ConfigError(
                f"nominal must be positions of columns, from 0 to {n_columns - 1}; got {parameters['nominal']}"
            )
        return DWMMethod(n_columns, **parameters)


class DWMMethod:
    """The method of `DWM` on prepared rows and class positions."""

    def __init__(
        self, n_columns: int, period: int, beta: float, threshold: float, max_experts: int, nominal: Sequence[int]
    ) -> None:
        self._period, self._beta, self._threshold, self._max_experts = period, beta, threshold, max_experts
        self._experts = resized(empty_experts(n_columns, nominal), 1, 0)
        self._weights: Vector = np.ones(1)
        """Weights of the experts, then zeros for experts that may be added."""
        self._size: Indices = np.ones(1, np.int64)
        self._n_rows: Indices = np.zeros(1, np.int64)

    def add_classes(self, n: int) -> None:
        """Add n classes, of which no expert has seen a row."""
        self._resize(len(self._weights), self._experts.rows.shape[1] + n)

    def _resize(self, n_experts: int, n_classes: int) -> None:
        self._experts = resized(self._experts, n_experts, n_classes)
        kept = self._weights[:n_experts]
        self._weights = np.pad(kept, (0, n_experts - len(kept)))

    def predict(self, Z: Matrix) -> Labels:
        """Return the predicted class position of each row."""
        return predict_rows(Z, self._experts, self._weights, self._size)

    def advance(self, Z: Matrix, labels: Labels) -> Labels:
        """Predict each row, then learn its label."""
        n_updates = (self._n_rows[0] + len(Z)) // self._period - self._n_rows[0] // self._period
        room = min(int(self._size[0] + n_updates), self._max_experts)
        if room > len(self._weights):
            self._resize(room, self._experts.rows.shape[1])
        self._experts = with_room_for_codes(self._experts, Z)
        rule = (self._period, self._beta, self._threshold, self._max_experts)
        return advance(Z, labels, self._experts, self._weights, self._size, self._n_rows, *rule)

    def state(self) -> State:
        """Return the arrays that determine future predictions, without the room for experts that may be added."""
        size = int(self._size[0])
        experts = resized(self._experts, size, self._experts.rows.shape[1])._asdict()
        return experts | {"weights": self._weights[:size].copy(), "n_rows": self._n_rows.copy()}

    def schema(self) -> Schema:
        """Return what each array must be in a file; the room for codes grows with the codes that are seen."""
        n, (c, p) = Length("experts", self._max_experts, at_least=1), self._experts.mean.shape[1:]
        codes = Length("codes", p * MAX_CODES)
        count = ArraySpec((n, c, p), low=0.0, high=MOST_COUNTED)
        return {
            "starts": whole_numbers((p + 1,), p * MAX_CODES),
            "rows": ArraySpec((n, c), low=0.0, high=MOST_COUNTED),
            "seen": count,
            "counts": ArraySpec((n, c, codes), low=0.0, high=MOST_COUNTED),
            "levels": ArraySpec((n, c, p), low=0.0, high=MAX_CODES),
            "mean": ArraySpec((n, c, p), low=-LARGEST_VALUE, high=LARGEST_VALUE),
            "squares": ArraySpec((n, c, p), low=0.0),
            "weights": ArraySpec((n,), low=np.finfo(float).tiny, high=1.0),
            "n_rows": whole_numbers((1,)),
        }

    def restore(self, state: State) -> None:
        """Restore the arrays that `state` returned."""
        widths = np.diff(state["starts"])
        is_nominal = np.diff(self._experts.starts) > 0
        if (
            state["starts"][0] != 0
            or state["starts"][-1] != state["counts"].shape[2]
            or not np.array_equal(widths > 0, is_nominal)
            or not np.all((widths >= 0) & (widths <= MAX_CODES))
        ):
            raise CheckpointError("its array 'method/starts' does not divide 'method/counts' among the nominal columns")
        arrays: Any = {name: array.copy() for name, array in state.items()}
        self._weights, self._n_rows = arrays.pop("weights"), arrays.pop("n_rows")
        self._size = np.array([len(self._weights)])
        self._experts = Experts(**arrays)


@kernel
def predict_rows(Z: Matrix, experts: Experts, weights: Vector, size: Indices) -> Labels:
    """Return the class with the largest vote for each row."""
    predictions = np.empty(len(Z), np.int64)
    votes = np.empty(len(weights), np.int64)
    for t in range(len(Z)):
        collect_votes(Z[t], experts, size[0], votes)
        predictions[t] = majority(votes, weights, size[0], experts.rows.shape[1])
    return predictions


@kernel
def collect_votes(x: Vector, experts: Experts, size: int, votes: Labels) -> None:
    """Write the class that each expert votes for to `votes`."""
    for e in range(size):
        votes[e] = most_probable_class(experts, e, x)


@kernel
def majority(votes: Labels, weights: Vector, size: int, n_classes: int) -> int:
    """Return the class with the largest sum of weights, the first on ties."""
    totals = np.zeros(n_classes)
    for e in range(size):
        totals[votes[e]] += weights[e]
    return int(np.argmax(totals))


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
    """Predict each row, update the ensemble at every `period`-th row, and let every expert learn the row."""
    predictions = np.empty(len(Z), np.int64)
    votes = np.empty(len(weights), np.int64)
    n_classes = experts.rows.shape[1]
    for t in range(len(Z)):
        x, y = Z[t], labels[t]
        collect_votes(x, experts, size[0], votes)
        predictions[t] = majority(votes, weights, size[0], n_classes)
        n_rows[0] += 1
        if n_rows[0] % period == 0:
            discount_wrong_experts(votes, y, weights, size[0], beta)
            is_wrong = majority(votes, weights, size[0], n_classes) != y
            normalise_and_prune(experts, weights, size, threshold)
            if is_wrong:
                add_expert(experts, weights, size, max_experts)
        for e in range(size[0]):
            learn(experts, e, x, y)
    return predictions


@kernel
def discount_wrong_experts(votes: Labels, y: int, weights: Vector, size: int, beta: float) -> None:
    """Multiply the weights of the experts that are wrong by β."""
    for e in range(size):
        if votes[e] != y:
            weights[e] *= beta


@kernel
def normalise_and_prune(experts: Experts, weights: Vector, size: Indices, threshold: float) -> None:
    """Divide the weights by their maximum, then remove the experts with a weight below the threshold."""
    weights[: size[0]] /= weights[: size[0]].max()
    for e in range(size[0] - 1, -1, -1):
        if weights[e] < threshold:
            remove_expert(experts, weights, size, e)


@kernel
def add_expert(experts: Experts, weights: Vector, size: Indices, max_experts: int) -> None:
    """Add an expert with weight 1; if there are `max_experts`, first remove the one with the smallest weight."""
    if size[0] == max_experts:
        remove_expert(experts, weights, size, int(np.argmin(weights[: size[0]])))
    reset_expert(experts, size[0])
    weights[size[0]] = 1.0
    size[0] += 1


@kernel
def remove_expert(experts: Experts, weights: Vector, size: Indices, e: int) -> None:
    """Remove expert e; the others keep their order."""
    for later in range(e + 1, size[0]):
        copy_expert(experts, later - 1, later)
        weights[later - 1] = weights[later]
    size[0] -= 1
