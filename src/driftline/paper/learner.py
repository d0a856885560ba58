"""The algorithm: predict with the current rule, track with the label, solve for the next rule."""

import time
from dataclasses import replace
from itertools import chain
from typing import Any, Protocol

import numpy as np

from driftline.core.bounds import MistakeLedger
from driftline.core.calibration import Certificate
from driftline.core.columns import Columns
from driftline.core.features import FeatureMap, check_same_width, checked_features
from driftline.paper import rules
from driftline.paper.protocols import Solver, Tracker
from driftline.paper.widening import LabelledWindow
from driftline.types import LARGEST, Labels, Matrix, Rule, Said, Solution, State, Status, Step, UncertaintySet, Vector


class Part(Protocol):
    """Anything whose arrays belong in a checkpoint."""

    def state(self) -> State:
        """Return the arrays that a continuation needs."""


class PaperLearner:
    """One AMRC of the paper, on rows of numbers and class positions from 0.

    predict:  x ─ columns, features ▶ ψ ─ rule ▶ h(·|x)                     reads, changes nothing
    learn:    (ψ, y) ─ tracker ▶ uncertainty set ─ solver ▶ solution with the next rule and its risk

    Parameters
    ----------
    columns, features, tracker, solver
        The parts, ready to use; each owns its arrays.
    n_features : int
        Length of ψ.
    coverage : float
        Coverage that the calibrated bound aims at.
    window : LabelledWindow, optional
        What keeps the uncertainty sets from being empty, if anything does.
    """

    def __init__(
        self,
        columns: Columns,
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
        self.certificate = Certificate(coverage)
        self.ledger = MistakeLedger()
        self.uncertainty = UncertaintySet(np.zeros((0, n_features)), np.zeros((0, n_features)))
        self.solution = Solution(Rule(np.zeros((0, n_features)), 0.0), 1.0, Status.LOOSE)

    @property
    def n_steps(self) -> int:
        """Number of labels learned."""
        return self.ledger.n_steps

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
        """The bound tuned by the labels that came."""
        return self.certificate.bound(self.n_classes)

    @property
    def error_bound(self) -> float:
        """R(U_t)."""
        return self.model_bound

    @property
    def status(self) -> Status:
        """Whether R(U_t) lies in [0, 1 - 1/c]."""
        return self.solution.status

    def add_class(self) -> None:
        """Make room for one more class; until it is learned, its scores are 0 and nothing is known of it."""
        self._tracker.add_class()
        self._solver.add_class()
        if self._window is not None:
            self._window.add_class()
        weights = np.pad(self.solution.rule.weights, ((0, 1), (0, 0)))
        if self.ledger.n_steps == 0:  # nothing learned: the uniform rule, whose error is 1 - 1/c
            self.solution = Solution(Rule(weights, -1.0 / len(weights)), 1.0 - 1.0 / len(weights), Status.OK)
        else:
            self.solution = Solution(Rule(weights, self.solution.rule.offset), self.solution.risk, self.solution.status)
        grown = ((0, 1), (0, 0))
        self.uncertainty = UncertaintySet(
            np.pad(self.uncertainty.mean, grown), np.pad(self.uncertainty.width, grown, constant_values=np.inf)
        )

    def probabilities(self, X: Matrix) -> Matrix:
        """Return h(·|x) for each raw row of X."""
        return rules.probabilities(self.solution.rule, self._represent(X))

    def most_likely(self, X: Matrix) -> Labels:
        """Return the position of the label of the deterministic rule for each raw row of X."""
        return rules.most_likely(self.solution.rule, self._represent(X))

    def foresee(self, X: Matrix, labels: Labels) -> Said:
        """Return what is said of raw rows before their labels are used; changes nothing."""
        return _together([self._say(x, label)[0] for x, label in zip(X, labels.tolist(), strict=True)])

    def advance(self, X: Matrix, labels: Labels, elapsed: Vector) -> Said:
        """Predict each raw row, then learn its label; a label beyond the known classes adds a class.

        Such a label must come alone.
        """
        steps = []
        for x, label, time_passed in zip(X, labels.tolist(), elapsed.tolist(), strict=True):
            step, psi = self._say(x, label)
            start = time.perf_counter()
            while label >= self.n_classes:
                self.add_class()
            self.learn(psi, label, time_passed)
            self._columns.observe(x)
            steps.append(replace(step, learn_seconds=time.perf_counter() - start))
        said = _together(steps)
        self.ledger.add(said)
        if said.probabilities.shape[1]:
            self.certificate.advance(1.0 - said.given, said.probabilities.shape[1])
        return said

    def _say(self, x: Vector, label: int) -> tuple[Step, Vector]:
        """Return what is said of a raw row, and its features."""
        start = time.perf_counter()
        Psi, said = self._represent(x[None]), self.solution
        step = Step(
            probabilities=rules.probabilities(said.rule, Psi)[0],
            prediction=int(rules.most_likely(said.rule, Psi)[0]) if self.n_classes else -1,
            bound=said.risk,
            status=said.status,
            excess=rules.excess(said.rule, Psi[0]),
            label=label,
            predict_seconds=time.perf_counter() - start,
        )
        return step, Psi[0]

    def learn(self, psi: Vector, label: int, elapsed: float) -> None:
        """Track the features of an instance with its label, and solve for the next rule; nothing is judged."""
        self.uncertainty = self._tracker.update(psi, label, elapsed)
        self._solver.observe(psi)
        if self._window is None:
            self.solution = self._solver.solve(self.uncertainty)
            return
        self._window.observe(psi, label)
        self.uncertainty = self._window.widened(self.uncertainty)
        self.solution = self._window.covered(self._solver.solve(self.uncertainty), self.uncertainty)
        if not self.solution.rule.weights.any():  # guessing is better than where the solver is, so far
            self._solver.begin_anew()

    def _represent(self, X: Matrix) -> Matrix:
        Z = np.clip(self._columns.prepare(X), -LARGEST, LARGEST)  # a column in other units is far beyond its range
        return checked_features(self._features.transform(Z), len(X), self.uncertainty.mean.shape[1])

    def state(self) -> State:
        """Return the arrays that a continuation needs."""
        parts: dict[str, Part] = {
            "columns": self._columns,
            "features": self._features,
            "tracker": self._tracker,
            "solver": self._solver,
            "ledger": self.ledger,
            "certificate": self.certificate,
        }
        if self._window is not None:
            parts["window"] = self._window
        nested = (((f"{part}/{name}", array) for name, array in owner.state().items()) for part, owner in parts.items())
        rule = self.solution.rule
        return dict(chain.from_iterable(nested)) | {
            "uncertainty/mean": self.uncertainty.mean,
            "uncertainty/width": self.uncertainty.width,
            "solution/weights": rule.weights,
            "solution/values": np.array([rule.offset, self.solution.risk]),
            "solution/status": np.array([Status(self.solution.status).value]),  # text, from the files of some others
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""

        def part(name: str) -> State:
            prefix = f"{name}/"
            return {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}

        check_same_width(self.uncertainty.mean.shape[1], state["uncertainty/mean"].shape[1])
        self._columns.restore(part("columns"))
        self._features.restore(part("features"))
        self._tracker.restore(part("tracker"))
        self._solver.restore(part("solver"))
        self.ledger.restore(part("ledger"))
        self.certificate.restore(part("certificate"))
        if self._window is not None:
            self._window.restore(part("window"))
        mean, width = state["uncertainty/mean"], state["uncertainty/width"]
        self.uncertainty = UncertaintySet(mean.astype(np.float64), width.astype(np.float64))
        offset, risk = state["solution/values"].tolist()
        weights = state["solution/weights"].astype(np.float64)
        self.solution = Solution(Rule(weights, offset), risk, Status(str(state["solution/status"][0])))

    def __setstate__(self, fields: dict[str, Any]) -> None:
        """Continue from a pickle, whose arrays may lie in a file that cannot be written to."""
        self.__dict__.update(fields)
        self.restore(self.state())


def _together(steps: list[Step]) -> Said:
    """Put steps into columns."""
    return Said(
        probabilities=np.array([step.probabilities for step in steps]),
        predictions=np.array([step.prediction for step in steps]),
        bounds=np.array([step.bound for step in steps]),
        rates=np.array([step.bound for step in steps]),
        statuses=np.array([step.status for step in steps], dtype=object),
        excesses=np.array([step.excess for step in steps]),
        labels=np.array([step.label for step in steps]),
        predict_seconds=np.array([step.predict_seconds for step in steps]),
        learn_seconds=np.array([step.learn_seconds for step in steps]),
    )
