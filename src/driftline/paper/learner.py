"""The algorithm of the paper: predict with the current rule, track with the label, solve for the next rule."""

import time
from typing import Any, NamedTuple

import numpy as np

from driftline.core.bounds import MistakeBound
from driftline.core.calibration import CalibratedBound
from driftline.core.columns import ColumnPreparer
from driftline.core.features import FeatureMap, FourierMap, LinearMap, checked_features
from driftline.core.schema import ArraySpec, Schema, nested_schema
from driftline.core.state import SavedPart, Stateful, copy_with, independent_copy, nested_state, restore_parts
from driftline.errors import CheckpointError
from driftline.paper import rules
from driftline.paper.protocols import Solver, Tracker, status_of
from driftline.paper.widening import LabelledWindow
from driftline.types import (
    LARGEST_VALUE,
    Labels,
    Matrix,
    Predictions,
    Rule,
    Solution,
    State,
    Status,
    UncertaintySet,
    Vector,
)


class RowPrediction(NamedTuple):
    """The prediction for one row: the entries of `Predictions` that are known before the label."""

    probabilities: Vector
    prediction: int
    bound: float
    status: Status
    excess: float
    seconds: float


class PaperLearner:
    """The learner of `PaperAMRC`; rows are numbers, and labels are positions of classes from 0.

    predict:  x ─ columns, features ▶ ψ ─ rule ▶ h(·|x)                     reads, changes nothing
    learn:    (ψ, y) ─ tracker ▶ uncertainty set ─ solver ▶ solution with the next rule and its risk

    Parameters
    ----------
    columns, features, tracker, solver
        The parts, ready to use; each owns its arrays.
    n_features : int
        Length of ψ.
    coverage : float
        Share of steps at which the calibrated bound should hold.
    window : LabelledWindow, optional
        Widens the uncertainty sets so that none is empty; if None, they are as published.
    """

    def __init__(
        self,
        columns: ColumnPreparer,
        features: FeatureMap,
        tracker: Tracker,
        solver: Solver,
        n_features: int,
        coverage: float,
        window: LabelledWindow | None = None,
    ) -> None:
        self._columns = columns
        self._features = features
        self._tracker = tracker
        self._solver = solver
        self._window = window
        self.calibration = CalibratedBound(coverage)
        self.mistake_bound = MistakeBound()
        self.uncertainty = UncertaintySet(np.zeros((0, n_features)), np.zeros((0, n_features)))
        self.solution = Solution(Rule(np.zeros((0, n_features)), 0.0), 1.0, Status.LOOSE)

    @property
    def n_steps(self) -> int:
        """Number of labels learned."""
        return self.mistake_bound.n_steps

    @property
    def n_classes(self) -> int:
        """Number of classes known."""
        return len(self.solution.rule.weights)

    @property
    def n_missing(self) -> int:
        """Number of missing values replaced."""
        return self._columns.n_missing

    @property
    def model_bound(self) -> float:
        """R(U_t)."""
        return self.solution.risk

    @property
    def calibrated_bound(self) -> float:
        """The bound calibrated by the labels learned so far."""
        return self.calibration.bound(self.n_classes)

    @property
    def error_bound(self) -> float:
        """R(U_t)."""
        return self.model_bound

    @property
    def status(self) -> Status:
        """Whether R(U_t) lies in [0, 1 - 1/c]."""
        return self.solution.status

    def snapshot(self) -> "PaperLearner":
        """Return a copy for predictions and bounds, which learning does not change; it cannot learn."""
        return copy_with(
            self,  # the rule and the uncertainty set are replaced, never changed
            _columns=independent_copy(self._columns),
            mistake_bound=independent_copy(self.mistake_bound),
            calibration=independent_copy(self.calibration),
        )

    def add_classes(self, n: int) -> None:
        """Add n classes, with scores of 0 and an unbounded uncertainty set until their first labels are learned."""
        self._tracker.add_classes(n)
        self._solver.add_classes(n)
        if self._window is not None:
            self._window.add_classes(n)
        weights = np.pad(self.solution.rule.weights, ((0, n), (0, 0)))
        if self.n_steps == 0:  # nothing learned: the uniform rule, whose error is 1 - 1/c
            self.solution = Solution(Rule(weights, -1.0 / len(weights)), 1.0 - 1.0 / len(weights), Status.OK)
        else:
            self.solution = Solution(Rule(weights, self.solution.rule.offset), self.solution.risk, self.solution.status)
        grown = ((0, n), (0, 0))
        self.uncertainty = UncertaintySet(
            np.pad(self.uncertainty.mean, grown), np.pad(self.uncertainty.width, grown, constant_values=np.inf)
        )

    def probabilities(self, X: Matrix) -> Matrix:
        """Return h(·|x) for each raw row of X."""
        return rules.probabilities(self.solution.rule, self._represent(X))

    def predict_indices(self, X: Matrix) -> Labels:
        """Return the position of the class that the deterministic rule predicts for each raw row of X."""
        return rules.predict_indices(self.solution.rule, self._represent(X))

    def score_batch(self, X: Matrix, labels: Labels) -> Predictions:
        """Return a record of the predictions for raw rows and of their labels; changes nothing."""
        rows = [self._predict_row(x)[0] for x in X]
        return _in_columns(rows, labels, np.zeros(len(rows)))

    def predict_then_learn(self, X: Matrix, labels: Labels, elapsed: Vector) -> Predictions:
        """Predict each raw row, then learn its label; a new class must be alone in its call, and is added."""
        rows, learn_seconds = [], np.zeros(len(labels))
        for t, label in enumerate(labels.tolist()):
            row, psi = self._predict_row(X[t])
            start = time.perf_counter()
            if label >= self.n_classes:
                self.add_classes(1)
            self.learn(psi, label, float(elapsed[t]))
            self._columns.update(X[t : t + 1])
            rows.append(row)
            learn_seconds[t] = time.perf_counter() - start
        predictions = _in_columns(rows, labels, learn_seconds)
        self.mistake_bound.add(predictions)
        n_classes = predictions.probabilities.shape[1]
        if n_classes:
            self.calibration.update(1.0 - predictions.label_probabilities, n_classes)
        return predictions

    def _predict_row(self, x: Vector) -> tuple[RowPrediction, Vector]:
        """Return the prediction for a raw row, and its features."""
        start = time.perf_counter()
        Psi, solution = self._represent(x[None]), self.solution
        row = RowPrediction(
            probabilities=rules.probabilities(solution.rule, Psi)[0],
            prediction=int(rules.predict_indices(solution.rule, Psi)[0]) if self.n_classes else -1,
            bound=solution.risk,
            status=solution.status,
            excess=rules.excess(solution.rule, Psi[0]),
            seconds=time.perf_counter() - start,
        )
        return row, Psi[0]

    def learn(self, psi: Vector, label: int, elapsed: float) -> None:
        """Track the features of an instance with its label, and solve for the next rule; bounds are not updated."""
        self.uncertainty = self._tracker.update(psi, label, elapsed)
        self._solver.observe(psi)
        if self._window is None:
            self.solution = self._solver.solve(self.uncertainty)
            return
        self._window.observe(psi, label)
        self.uncertainty = self._window.widened(self.uncertainty)
        self.solution = self._window.covered(self._solver.solve(self.uncertainty), self.uncertainty)
        if not self.solution.rule.weights.any():  # guessing has a smaller risk than the solver's rule
            self._solver.reset()

    def _represent(self, X: Matrix) -> Matrix:
        # Values far outside the range of their column, as after a change of units, may overflow when scaled.
        Z = np.clip(self._columns.prepare(X), -LARGEST_VALUE, LARGEST_VALUE)
        return checked_features(self._features.transform(Z), len(X), self.uncertainty.mean.shape[1])

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        rule = self.solution.rule
        return nested_state(self._parts()) | {
            "uncertainty/mean": self.uncertainty.mean,
            "uncertainty/width": self.uncertainty.width,
            "solution/weights": rule.weights,
            "solution/values": np.array([rule.offset, self.solution.risk]),
            "solution/status": np.array([Status(self.solution.status).value]),  # skops restores it as str
        }

    def schema(self) -> Schema:
        """Return what each array must be in a file; those of a custom feature map are not described."""
        c, d = self.uncertainty.mean.shape
        described = {name: part.schema() for name, part in self._own_parts().items()}
        if isinstance(self._features, LinearMap | FourierMap):
            described["features"] = self._features.schema()
        solution: Schema = {
            "weights": ArraySpec((c, d)),
            "values": ArraySpec((2,), low=-np.inf, high=np.inf, allows_nan=True),
            "status": ArraySpec((1,), str, condition=_is_status, meaning=f"are one of {', '.join(Status)}"),
        }
        uncertainty: Schema = {"mean": ArraySpec((c, d)), "width": ArraySpec((c, d), low=0.0, high=np.inf)}
        return nested_schema(described | {"uncertainty": uncertainty, "solution": solution})

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        restore_parts(self._parts(), state)
        mean, width = state["uncertainty/mean"], state["uncertainty/width"]
        self.uncertainty = UncertaintySet(mean.astype(np.float64), width.astype(np.float64))
        offset, risk = state["solution/values"].tolist()
        weights = state["solution/weights"].astype(np.float64)
        status = Status(str(state["solution/status"][0]))
        if status != status_of(risk, len(weights)):
            raise CheckpointError(f"its array 'solution/status' says {status.value!r}, which a risk of {risk} is not")
        self.solution = Solution(Rule(weights, offset), risk, status)

    def _parts(self) -> dict[str, Stateful]:
        """Return the parts whose arrays are saved, by name."""
        return {"features": self._features, **self._own_parts()}

    def _own_parts(self) -> dict[str, SavedPart]:
        """Return these parts without the feature map, which may be the user's."""
        parts: dict[str, SavedPart] = {
            "columns": self._columns,
            "tracker": self._tracker,
            "solver": self._solver,
            "mistake_bound": self.mistake_bound,
            "calibration": self.calibration,
        }
        return parts if self._window is None else parts | {"window": self._window}

    def __setstate__(self, fields: dict[str, Any]) -> None:
        """Restore from a pickle; arrays are copied because a memory-mapped file is read-only."""
        self.__dict__.update(fields)
        self.restore(self.state())


def _is_status(array: Any) -> bool:
    return str(array[0]) in set(Status)


def _in_columns(rows: list[RowPrediction], labels: Labels, learn_seconds: Vector) -> Predictions:
    """Return the predictions for single rows as one record with arrays."""
    probabilities, predicted, bounds, statuses, excesses, seconds = zip(*rows, strict=True)
    return Predictions.with_bounds(
        predicted=np.array(predicted),
        labels=labels,
        probabilities=np.array(probabilities),
        bounds=np.array(bounds),
        rates=np.array(bounds),
        statuses=np.array(statuses, dtype=object),
        excesses=np.array(excesses),
        predict_seconds=np.array(seconds),
        learn_seconds=learn_seconds,
    )
