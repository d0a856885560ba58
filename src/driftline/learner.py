"""The algorithm: predict with the current rule, track with the label, solve for the next rule."""

import time
from dataclasses import replace
from itertools import chain
from typing import Protocol

import numpy as np

from driftline import rules
from driftline.bounds import MistakeLedger
from driftline.errors import DataError
from driftline.features import Columns, FeatureMap
from driftline.solvers import Solver
from driftline.tracking import Tracker
from driftline.types import LARGEST, Labels, Matrix, Rule, Solution, State, Status, Step, UncertaintySet, Vector


class Part(Protocol):
    """Anything whose arrays belong in a checkpoint."""

    def state(self) -> State:
        """Return the arrays that a continuation needs."""


class Learner:
    """One AMRC, on rows of numbers and class positions from 0.

    predict:  x ─ columns, features ▶ ψ ─ rule ▶ h(·|x)                     reads, changes nothing
    learn:    (ψ, y) ─ tracker ▶ uncertainty set ─ solver ▶ solution with the next rule and its risk

    Parameters
    ----------
    columns, features, tracker, solver
        The parts, ready to use; each owns its arrays.
    n_features : int
        Length of ψ.
    """

    def __init__(
        self, columns: Columns, features: FeatureMap, tracker: Tracker, solver: Solver, n_features: int
    ) -> None:
        self._columns = columns
        self._features = features
        self._tracker = tracker
        self._solver = solver
        self.ledger = MistakeLedger()
        self.uncertainty = UncertaintySet(np.zeros((0, n_features)), np.zeros((0, n_features)))
        self.solution = Solution(Rule(np.zeros((0, n_features)), 0.0), 1.0, Status.LOOSE)

    @property
    def n_classes(self) -> int:
        """Number of classes known."""
        return len(self.solution.rule.weights)

    @property
    def n_missing(self) -> int:
        """Number of missing values replaced."""
        return self._columns.n_missing

    def add_class(self) -> None:
        """Make room for one more class; until it is learned, its scores are 0 and nothing is known of it."""
        self._tracker.add_class()
        self._solver.add_class()
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

    def foresee(self, x: Vector, label: int) -> Step:
        """Return what is said of one raw row before its label is used; changes nothing."""
        start = time.perf_counter()
        step = self._say(self._represent(x[None]), label)
        return replace(step, predict_seconds=time.perf_counter() - start)

    def step(self, x: Vector, label: int, elapsed: float) -> Step:
        """Predict one raw row, then learn its label; a label beyond the known classes adds a class."""
        start = time.perf_counter()
        Psi = self._represent(x[None])
        step = self._say(Psi, label)
        said = time.perf_counter()
        while label >= self.n_classes:
            self.add_class()
        self._learn(Psi[0], label, elapsed)
        self._columns.observe(x)
        self.ledger.add(step)
        return replace(step, predict_seconds=said - start, learn_seconds=time.perf_counter() - said)

    def _say(self, Psi: Matrix, label: int) -> Step:
        said = self.solution
        return Step(
            probabilities=rules.probabilities(said.rule, Psi)[0],
            prediction=int(rules.most_likely(said.rule, Psi)[0]) if self.n_classes else -1,
            bound=said.risk,
            status=said.status,
            excess=rules.excess(said.rule, Psi[0]),
            label=label,
        )

    def _learn(self, psi: Vector, label: int, elapsed: float) -> None:
        self.uncertainty = self._tracker.update(psi, label, elapsed)
        self._solver.observe(psi)
        self.solution = self._solver.solve(self.uncertainty)

    def _represent(self, X: Matrix) -> Matrix:
        Psi = self._features.transform(self._columns.prepare(X))
        if not np.all(np.abs(Psi) <= LARGEST):
            raise DataError(f"the feature map returned a value that is not a number up to {LARGEST:g}")
        return Psi

    def state(self) -> State:
        """Return the arrays that a continuation needs."""
        parts: dict[str, Part] = {
            "columns": self._columns,
            "features": self._features,
            "tracker": self._tracker,
            "solver": self._solver,
            "ledger": self.ledger,
        }
        nested = (((f"{part}/{name}", array) for name, array in owner.state().items()) for part, owner in parts.items())
        rule = self.solution.rule
        return dict(chain.from_iterable(nested)) | {
            "uncertainty/mean": self.uncertainty.mean,
            "uncertainty/width": self.uncertainty.width,
            "solution/weights": rule.weights,
            "solution/values": np.array([rule.offset, self.solution.risk]),
            "solution/status": np.array([self.solution.status.value]),
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""

        def part(name: str) -> State:
            prefix = f"{name}/"
            return {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}

        self._columns.restore(part("columns"))
        self._features.restore(part("features"))
        self._tracker.restore(part("tracker"))
        self._solver.restore(part("solver"))
        self.ledger.restore(part("ledger"))
        mean, width = state["uncertainty/mean"], state["uncertainty/width"]
        self.uncertainty = UncertaintySet(mean.astype(np.float64), width.astype(np.float64))
        offset, risk = state["solution/values"].tolist()
        weights = state["solution/weights"].astype(np.float64)
        self.solution = Solution(Rule(weights, offset), risk, Status(str(state["solution/status"][0])))
