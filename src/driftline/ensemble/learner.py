"""The ensemble as a learner: features, members, mixture, certificate."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from driftline.bounds import MistakeLedger
from driftline.certificate import Certificate
from driftline.ensemble.filters import DriftWatch
from driftline.ensemble.pending import Pending, Waiting
from driftline.ensemble.space import Space
from driftline.features import RunningColumns
from driftline.kernels.mixing import mix_and_reweigh, mixture
from driftline.types import Labels, Matrix, Said, Singles, State, Status, Vector


class Part(Protocol):
    """Anything whose arrays belong in a checkpoint."""

    def state(self) -> State:
        """Return the arrays that a continuation needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""


class EnsembleLearner:
    """Members with different memories and features, mixed online, on rows of numbers and class positions from 0.

    predict:  x ─ columns ▶ z ─ space by space ▶ what each member says ─ mixture ▶ h(·|x)    reads, changes nothing
    learn:    (z, y) ─ space by space ▶ members; what they said ─ mixture ▶ weights, certificate ▶ bound

    Parameters
    ----------
    columns : RunningColumns
        Preparation of the raw columns.
    spaces : list of Space
        The spaces.
    drift : DriftWatch
        Filters for the table of drift, which nothing else needs.
    coverage : float
        Coverage that the calibrated bound aims at.
    """

    def __init__(self, columns: RunningColumns, spaces: list[Space], drift: DriftWatch, coverage: float) -> None:
        self._columns = columns
        self.drift = drift
        self.spaces = spaces
        self.ledger = MistakeLedger()
        self.certificate = Certificate(coverage)
        n_members = sum(space.n_members for space in spaces)
        self.weights = np.full(n_members, 1.0 / n_members)
        self._ways = np.tile(self.weights, (2, 1))
        self._trust = np.full(2, 0.5)
        self.n_classes = 0
        self._pending = Pending()

    @property
    def n_steps(self) -> int:
        """Number of labels learned."""
        return self.ledger.n_steps

    @property
    def n_missing(self) -> int:
        """Number of missing values replaced."""
        return self._columns.n_missing

    @property
    def n_waiting(self) -> int:
        """Number of rows that were observed and have no label yet."""
        return len(self._pending)

    @property
    def member_bounds(self) -> Vector:
        """The model bound of each member."""
        return np.concatenate([space.bounds for space in self.spaces])

    @property
    def model_bound(self) -> float:
        """R(U_t) of the mixture: the mean of the members' bounds, each given its λ."""
        bounds = self.member_bounds
        return min(float(self.weights @ bounds), float(bounds.max()))  # weights may sum to a rounding more than 1

    @property
    def calibrated_bound(self) -> float:
        """The bound tuned by the labels that came."""
        return self.certificate.bound(self.n_classes)

    @property
    def rate_bound(self) -> float:
        """What is to hold on average; 1 if there is no class to predict."""
        return self.certificate.rate(self.n_classes) if self.n_classes else 1.0

    @property
    def error_bound(self) -> float:
        """The calibrated bound; 1 if there is no class to predict."""
        return self.calibrated_bound if self.n_classes else 1.0

    @property
    def status(self) -> Status:
        """Whether the bound lies in [0, 1 - 1/c]: always, once there is a class."""
        return Status.OK if self.n_classes else Status.LOOSE

    def add_class(self) -> None:
        """Make room for one more class."""
        self.n_classes += 1
        self._pending.add_class()
        self.drift.add_class()
        for space in self.spaces:
            space.add_class()

    def add_columns(self, n: int) -> None:
        """Make room for n more columns, whose values are missing in the rows so far."""
        for space in self.spaces:
            space.check_can_grow()
        self._columns.add_columns(n)
        self._pending.add_columns(n)
        self.drift.add_columns(n)
        for space in self.spaces:
            space.add_columns(n)

    def probabilities(self, X: Matrix) -> Matrix:
        """Return h(·|x) for each raw row of X."""
        return mixture(self._say(self._columns.prepare(X)), self.weights)

    def most_likely(self, X: Matrix) -> Labels:
        """Return the position of the label of the deterministic rule for each raw row of X."""
        return _largest(self.probabilities(X))

    def foresee(self, X: Matrix, labels: Labels) -> Said:
        """Return what is said of raw rows before their labels are used; changes nothing."""
        start = time.perf_counter()
        h = self.probabilities(X) if self.n_classes else np.zeros((len(X), 0))
        bounds = np.full(len(X), self.error_bound)
        rates = np.full(len(X), self.rate_bound)
        return self._said(h, bounds, rates, labels, time.perf_counter() - start, 0.0)

    def advance(self, X: Matrix, labels: Labels, elapsed: Vector) -> Said:
        """Predict each raw row, then learn its label; a label beyond the known classes, which comes alone, adds one."""
        if labels[0] >= self.n_classes:
            return self._meet(X, labels, elapsed)
        start = time.perf_counter()
        waited = self._pending.find(X)
        learned = [space.follow(Psi, labels, elapsed) for space, Psi in self._taken_in(X, waited)]
        self.drift.follow(X, labels, elapsed)
        h, bounds, rates = self._judged(np.concatenate(learned, axis=1), labels, waited)
        answer = self._said(h, bounds, rates, labels, 0.0, time.perf_counter() - start)
        self.ledger.add(answer)
        return answer

    def _judged(self, said: Vector, labels: Labels, waited: list[Waiting | None]) -> tuple[Matrix, Vector, Vector]:
        """Weigh the members; return the mixture and both bounds, as they were before each row.

        Of rows that waited there are two ways to weigh: by what was said of them when they were observed, which shows
        who is good at predicting with that delay; and by what is said of them now, before their labels are learned,
        which shows sooner who follows the stream. Either can be far better than the other, so the weights are a
        mixture of both ways, which are themselves weighed by what they said then. Bounds go by what was said then.
        While some rows wait, others do not count: some of them may be older than labels that are already learned.
        """
        n = len(labels)
        h, bounds, rates = np.empty((n, self.n_classes)), np.empty(n), np.empty(n)
        for t, row in enumerate(waited):
            bounds[t], rates[t] = self.error_bound, self.rate_bound
            this = slice(t, t + 1)
            if row is None:
                h[this] = mixture(said[this], self.weights)
                continue
            mix_and_reweigh(row.said[None], labels[this], self._ways[0], h[this])
            mix_and_reweigh(said[this], labels[this], self._ways[1], h[this])
            mix_and_reweigh(row.ways[None], labels[this], self._trust, h[this])
            self.weights = self._trust @ self._ways
            h[t] = row.h
            self.certificate.advance(1.0 - row.h[labels[this]], self.n_classes)
        if len(waited) < n:
            rest = slice(len(waited), n)
            mix_and_reweigh(said[rest], labels[rest], self.weights, h[rest])
            self._ways[:] = self.weights
            losses = 1.0 - h[rest][np.arange(n - len(waited)), labels[rest]]
            bounds[rest], rates[rest] = self.certificate.advance(losses, self.n_classes)
        return h, bounds, rates

    def observe(self, X: Matrix) -> None:
        """Let raw rows wait for their labels: what is said of them now counts when these come."""
        with self._unless_refused():
            Z = self._columns.advance(X)
            said = self._say(Z)
        ways = np.stack([mixture(said, weights) for weights in self._ways], axis=1)
        for entries in zip(X, Z, said, ways, mixture(said, self.weights), strict=True):
            self._pending.add(Waiting(*entries))

    def _prepared(self, X: Matrix, waited: list[Waiting | None]) -> Matrix:
        """Return rows prepared: those that waited as they were then, the others now."""
        if not waited:
            return self._columns.advance(X)
        rows = zip(X, waited, strict=False)
        first = np.array([self._columns.advance(x[None])[0] if row is None else row.z for x, row in rows])
        return np.concatenate([first, self._columns.advance(X[len(waited) :])])

    def _say(self, Z: Matrix) -> Vector:
        return np.concatenate([space.say(Z) for space in self.spaces], axis=1)

    def _meet(self, X: Matrix, labels: Labels, elapsed: Vector) -> Said:
        """Learn a row of a class not known before: what is said of it is said without that class."""
        before = self.foresee(X, labels)
        start = time.perf_counter()
        represented = self._taken_in(X, self._pending.find(X))
        if self.n_classes:
            self.certificate.advance(np.ones(1), self.n_classes)
        self.add_class()
        for space, Psi in represented:
            space.follow(Psi, labels, elapsed)
        self.drift.follow(X, labels, elapsed)
        self.ledger.add(before)
        return replace(before, learn_seconds=np.full(1, time.perf_counter() - start))

    def _taken_in(self, X: Matrix, waited: list[Waiting | None]) -> list[tuple[Space, Singles]]:
        """Take raw rows into the statistics of the columns; return them as each space represents them."""
        with self._unless_refused():
            Z = self._prepared(X, waited)
            represented = [(space, space.represent(Z)) for space in self.spaces]
        for x, row in zip(X, waited, strict=False):
            if row is not None:
                self._pending.take(x)
        return represented

    @contextmanager
    def _unless_refused(self) -> Iterator[None]:
        """Undo what was done to the columns, if the user's feature map refuses a row."""
        before = {name: array.copy() for name, array in self._columns.state().items()}
        try:
            yield
        except Exception:
            self._columns.restore(before)
            raise

    def _said(
        self, h: Matrix, bounds: Vector, rates: Vector, labels: Labels, predicting: float, learning: float
    ) -> Said:
        n = len(labels)
        return Said(
            probabilities=h,
            predictions=_largest(h) if self.n_classes else np.full(n, -1),
            bounds=bounds,
            rates=rates,
            statuses=np.full(n, self.status, dtype=object),
            excesses=np.zeros(n),
            labels=labels,
            predict_seconds=np.full(n, predicting / n),
            learn_seconds=np.full(n, learning / n),
        )

    def state(self) -> State:
        """Return the arrays that a continuation needs."""
        arrays: State = {"weights": self.weights, "ways": self._ways, "trust": self._trust}
        for part, owner in self._parts().items():
            arrays |= {f"{part}/{name}": array for name, array in owner.state().items()}
        return arrays

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        self.weights, self._ways, self._trust = (np.array(state[name]) for name in ("weights", "ways", "trust"))
        for part, owner in self._parts().items():
            prefix = f"{part}/"
            own = {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}
            owner.restore(own)

    def __setstate__(self, fields: dict[str, Any]) -> None:
        """Continue from a pickle, whose arrays may lie in a file that cannot be written to."""
        self.__dict__.update(fields)
        self.restore(self.state())

    def _parts(self) -> dict[str, Part]:
        """Return whatever has arrays of its own."""
        spaces = {f"space{i}": space for i, space in enumerate(self.spaces)}
        return {
            "columns": self._columns,
            "ledger": self.ledger,
            "certificate": self.certificate,
            "pending": self._pending,
            "drift": self.drift,
            **spaces,
        }


def _largest(h: Matrix) -> Labels:
    positions: Labels = np.argmax(h, axis=1)
    return positions
