"""Records that the parts of driftline exchange, and names for the types of arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Singles = NDArray[np.float32]
Indices = NDArray[np.int64]
Labels = NDArray[np.int64]
LabelArray = np.ndarray[Any, np.dtype[Any]]
"""The user's labels, numbers or text; `Labels` are positions in a list of classes."""
Flags = NDArray[np.bool_]
State = dict[str, NDArray[np.generic]]

LARGEST_COUNT = 2**31 - 1
"""Largest allowed value of a parameter that is a whole number."""
LARGEST_VALUE = 1e30
"""Largest allowed value in instances and features: finite in single precision, and its powers in double precision."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Consecutive rows of a stream: numbers (NaN if missing), labels, times (NaN if the stream has none), and ids.

    `weights` are weights with which they are learned, above 0; None if all are learned alike.
    """

    rows: Matrix
    labels: LabelArray
    times: Vector
    ids: LabelArray | None = None
    weights: Vector | None = None

    def part(self, which: slice | Flags) -> "Block":
        """Return some of the rows."""
        ids = None if self.ids is None else self.ids[which]
        weights = None if self.weights is None else self.weights[which]
        return Block(self.rows[which], self.labels[which], self.times[which], ids, weights)


class Status(StrEnum):
    """Whether a minimax risk is a valid bound on the error of its rule."""

    OK = "ok"
    """The risk lies in [0, 1 - 1/c]."""
    EMPTY = "empty"
    """The risk is negative or NaN, and no bound: no distribution on the stored instances satisfies the constraints."""
    LOOSE = "loose"
    """The risk is above 1 - 1/c: it still bounds the error, but uniform guessing has a smaller bound."""


@dataclass(frozen=True, slots=True, eq=False)
class UncertaintySet:
    """The distributions p with ``|E_p Φ(x, y) - mean| <= width``, component by component.

    Both arrays have one row for each class and one column for each feature.
    """

    mean: Matrix
    width: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """The classification rule ``h(y|x) ∝ (s_y - max(offset, φ_x))_+`` with scores ``s = weights ψ(x)``."""

    weights: Matrix
    offset: float


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A rule, its worst-case error over the uncertainty set, and whether that error is a valid bound."""

    rule: Rule
    risk: float
    status: Status


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """The prediction for one row before its label was used: one row of `Predictions`.

    Attributes
    ----------
    probabilities : ndarray of shape (n_classes,)
        The randomised rule ``h_t(·|x_t)``, for the classes known before the label was learned.
    prediction : int
        Position in ``classes_`` of the label that the deterministic rule predicts; -1 if no class was known.
    bound : float
        The bound on the error of the randomised rule: `error_bound_` before the step.
    status : Status
        Whether ``bound`` lies in [0, 1 - 1/c].
    excess : float
        (φ_x - φ)_+ at this instance: the amount that must be added to the bound.
    label : int
        Position of the true label in ``classes_`` after the step.
    predict_seconds, learn_seconds : float
        Time spent predicting the row, and learning from its label.
    """

    probabilities: Vector
    prediction: int
    bound: float
    status: Status
    excess: float
    label: int
    predict_seconds: float = 0.0
    learn_seconds: float = 0.0

    @property
    def is_new_class(self) -> bool:
        """Whether the class of the label was not known before, so that the prediction is certainly wrong."""
        return self.label >= self.probabilities.size

    @property
    def expected_mistake(self) -> float:
        """Probability 1 - h_t(y_t|x_t) that the randomised rule is wrong at this instance."""
        return 1.0 if self.is_new_class else 1.0 - float(self.probabilities[self.label])

    @property
    def mistake(self) -> bool:
        """Whether the prediction of the deterministic rule is wrong."""
        return self.prediction != self.label


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Predictions:
    """Predictions for some rows before their labels were used: arrays with one entry for each row.

    Learners fill it with positions of classes, estimators with the user's labels.

    Attributes
    ----------
    predicted : ndarray
        The predicted labels. Where no class was known yet: position -1, or None in an array of objects.
    labels : ndarray
        The true labels.
    probabilities : ndarray of shape (n_rows, n_classes)
        Probability of each class known before the label was learned; no columns if the classifier has no probabilities.
    label_probabilities : ndarray of float
        Probability of the true label; 0 if its class was not known, NaN if the classifier has no probabilities.
    bounds : ndarray of float
        The bound on the error of the randomised rule; NaN if the classifier has no bound.
    statuses : ndarray
        The `Status` of each bound; None if the classifier has no bound.
    is_void : ndarray of bool
        Whether the bound is void: the uncertainty set was empty, or the class of the label was not known.
    charges : ndarray of float
        Contribution of each row's bound to the bound on accumulated mistakes, at most 1; NaN without a bound.
    excesses : ndarray of float
        Contribution (φ_x - φ)_+ of the part of each row that its bound does not account for.
    predict_seconds, learn_seconds : ndarray of float
        Time spent predicting each row, and learning from its label; if both are done at once, all of it is counted as
        learning.
    """

    predicted: LabelArray
    labels: LabelArray
    probabilities: Matrix
    label_probabilities: Vector
    bounds: Vector
    statuses: LabelArray
    is_void: Flags
    charges: Vector
    excesses: Vector
    predict_seconds: Vector
    learn_seconds: Vector

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def total_charges(self) -> Vector:
        """Contribution of each row to the bound on accumulated mistakes."""
        return self.charges + self.excesses

    def steps(self) -> Iterator[Step]:
        """Return an iterator over the rows; the labels of the record must be positions."""
        columns = zip(
            self.probabilities,
            self.predicted.tolist(),
            self.bounds.tolist(),
            self.statuses,
            self.excesses.tolist(),
            self.labels.tolist(),
            self.predict_seconds.tolist(),
            self.learn_seconds.tolist(),
            strict=True,
        )
        return (Step(*entries) for entries in columns)

    @classmethod
    def concatenate(cls, parts: Sequence["Predictions"]) -> "Predictions":
        """Return the rows of all parts in order; classes that were added later have probability 0 in earlier parts."""
        n_classes = max(part.probabilities.shape[1] for part in parts)
        columns = {name: [getattr(part, name) for part in parts] for name in cls.__slots__}
        columns["probabilities"] = [np.pad(h, ((0, 0), (0, n_classes - h.shape[1]))) for h in columns["probabilities"]]
        return cls(**{name: np.concatenate(arrays) for name, arrays in columns.items()})

    @classmethod
    def with_bounds(
        cls,
        *,
        predicted: Labels,
        labels: Labels,
        probabilities: Matrix,
        bounds: Vector,
        rates: Vector,
        statuses: LabelArray,
        excesses: Vector,
        predict_seconds: Vector,
        learn_seconds: Vector,
    ) -> "Predictions":
        """Return the predictions of a learner that bounds its error, in positions of classes.

        `rates` are the bounds that should hold on average, not at every step. A row whose bound is void adds one
        mistake to the bound on accumulated mistakes.
        """
        n_classes = probabilities.shape[1]
        is_known = labels < n_classes
        label_probabilities = np.zeros(len(labels))
        label_probabilities[is_known] = probabilities[is_known, labels[is_known]]
        is_empty = np.array([status is Status.EMPTY for status in statuses])
        is_void = ~is_known | is_empty
        return cls(
            predicted=predicted,
            labels=labels,
            probabilities=probabilities,
            label_probabilities=label_probabilities,
            bounds=bounds,
            statuses=statuses,
            is_void=is_void,
            charges=np.where(is_void, 1.0, np.minimum(rates, 1.0)),
            excesses=excesses,
            predict_seconds=predict_seconds,
            learn_seconds=learn_seconds,
        )

    @classmethod
    def without_bounds(
        cls,
        predicted: LabelArray,
        labels: LabelArray,
        predict_seconds: Vector,
        learn_seconds: Vector,
        label_probabilities: Vector | None = None,
        probabilities: Matrix | None = None,
    ) -> "Predictions":
        """Return the predictions of a classifier without bounds, and with or without probabilities."""
        n = len(labels)
        unknown = np.full(n, np.nan)
        return cls(
            predicted=predicted,
            labels=labels,
            probabilities=np.zeros((n, 0)) if probabilities is None else probabilities,
            label_probabilities=unknown if label_probabilities is None else label_probabilities,
            bounds=unknown,
            statuses=np.full(n, None),
            is_void=np.zeros(n, np.bool_),
            charges=unknown,
            excesses=np.zeros(n),
            predict_seconds=predict_seconds,
            learn_seconds=learn_seconds,
        )
