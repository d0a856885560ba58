"""The records that pass between the parts of an AMRC, and the array types they hold."""

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

LARGEST = 1e30
"""The largest number that an instance or its features may hold: finite in single precision, its powers in double."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some rows of a stream, in order: numbers (NaN where one is missing), labels, times (NaN if there are none)."""

    rows: Matrix
    labels: LabelArray
    times: Vector

    def part(self, which: slice | Flags) -> "Block":
        """Return some of the rows."""
        return Block(self.rows[which], self.labels[which], self.times[which])


class Status(StrEnum):
    """What a minimax risk says about the rule it came with."""

    OK = "ok"
    """The risk lies in [0, 1 - 1/c]."""
    EMPTY = "empty"
    """The risk is negative (or no number): no distribution on the stored instances meets the constraints, and it
    bounds nothing."""
    LOOSE = "loose"
    """The risk is above 1 - 1/c: it still bounds the error, but guessing uniformly has a smaller bound."""


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
    """A rule, its worst-case error over the uncertainty set, and whether that number can be one."""

    rule: Rule
    risk: float
    status: Status


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One time step: what was said about an instance before its label was used.

    Attributes
    ----------
    probabilities : ndarray of shape (n_classes,)
        The randomised rule ``h_t(·|x_t)``, for the classes known before the label came.
    prediction : int
        Position of the label that the deterministic rule gave; -1 if no class was known.
    bound : float
        The bound on the error of that rule: `error_bound_` before the step.
    status : Status
        Whether ``bound`` lies in [0, 1 - 1/c].
    excess : float
        (φ_x - φ)_+ at this instance: by how much the bound fails to account for it.
    label : int
        Position of the true label in ``classes_`` after the step.
    predict_seconds, learn_seconds : float
        How long it took to say it, and to learn from the label.
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
        """Whether the label had never been seen or announced: a certain mistake."""
        return self.label >= self.probabilities.size

    @property
    def expected_mistake(self) -> float:
        """Probability that the randomised rule errs on this instance, 1 - h_t(y_t|x_t)."""
        return 1.0 if self.is_new_class else 1.0 - float(self.probabilities[self.label])

    @property
    def mistake(self) -> bool:
        """Whether the deterministic rule errs on this instance."""
        return self.prediction != self.label


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Predicted:
    """What a learner predicted of some rows before their labels were used."""

    predictions: Labels
    """Positions in the list of classes; -1 if no class was known."""
    labels: Labels
    predict_seconds: Vector
    learn_seconds: Vector


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Said(Predicted):
    """What a learner that bounds its error said of some rows: `Step`s in columns."""

    probabilities: Matrix
    bounds: Vector
    rates: Vector
    """What enters the bound on accumulated mistakes: bounds that need not hold at every step, but on average."""
    statuses: LabelArray
    excesses: Vector

    @property
    def is_new_class(self) -> Flags:
        """Whether the label of each row had never been seen or announced: a certain mistake."""
        return np.asarray(self.labels >= self.probabilities.shape[1])

    @property
    def given(self) -> Vector:
        """What the randomised rule gave to the true label of each row."""
        known = np.flatnonzero(self.labels < self.probabilities.shape[1])
        given = np.zeros(len(self.labels))
        given[known] = self.probabilities[known, self.labels[known]]
        return given

    def steps(self) -> "list[Step]":
        """Return the rows one by one."""
        columns = zip(
            self.probabilities,
            self.predictions.tolist(),
            self.bounds.tolist(),
            self.statuses,
            self.excesses.tolist(),
            self.labels.tolist(),
            self.predict_seconds.tolist(),
            self.learn_seconds.tolist(),
            strict=True,
        )
        return [Step(*entries) for entries in columns]


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What a classifier said about some rows before it used their labels: an entry a row.

    Attributes
    ----------
    predictions : ndarray
        Labels; None (in an array of objects) where no class was known yet.
    probabilities : ndarray of float
        What the randomised rule, or a probabilistic classifier, gave to the true label; NaN if there is no such thing.
    bounds : ndarray of float
        R(U_t); NaN where the classifier has no bound.
    statuses : ndarray
        What each bound says, a `Status`; None where the classifier has no bound.
    charges : ndarray of float
        What each step adds to the bound on accumulated mistakes; NaN where the classifier has no bound.
    predict_seconds, learn_seconds : ndarray of float
        How long it took to say it, and to learn from the label; all of it is learning where both are done at once.
    """

    predictions: LabelArray
    probabilities: Vector
    bounds: Vector
    statuses: LabelArray
    charges: Vector
    predict_seconds: Vector
    learn_seconds: Vector

    @classmethod
    def joined(cls, parts: "list[Answers]") -> "Answers":
        """Return the answers of all parts, one after the other."""
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__}
        return cls(**columns)

    @classmethod
    def without_bounds(
        cls,
        predictions: LabelArray,
        predict_seconds: Vector,
        learn_seconds: Vector,
        probabilities: Vector | None = None,
    ) -> "Answers":
        """Return the answers of a classifier that has no bounds, and perhaps no probabilities."""
        unknown = np.full(len(predictions), np.nan)
        return cls(
            predictions=predictions,
            probabilities=unknown if probabilities is None else probabilities,
            bounds=unknown,
            statuses=np.full(len(predictions), None),
            charges=unknown,
            predict_seconds=predict_seconds,
            learn_seconds=learn_seconds,
        )

    @classmethod
    def of_nothing_known(cls, n_rows: int) -> "Answers":
        """Return the answers of a classifier with bounds that knows no class: certain mistakes."""
        return cls(
            predictions=np.full(n_rows, None),
            probabilities=np.zeros(n_rows),
            bounds=np.ones(n_rows),
            statuses=np.full(n_rows, Status.LOOSE, dtype=object),
            charges=np.ones(n_rows),
            predict_seconds=np.zeros(n_rows),
            learn_seconds=np.zeros(n_rows),
        )
