"""The learner of `AMRC`: it mixes the members of several feature spaces, and calibrates the bound."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from driftline.core.bounds import MistakeBound
from driftline.core.calibration import CalibratedBound
from driftline.core.columns import RunningColumns
from driftline.core.schema import Schema, nested_schema, probabilities, whole_numbers
from driftline.core.state import SavedPart, copy_with, independent_copy, nested_state, restore_parts
from driftline.ensemble.filters import ColumnFilters
from driftline.ensemble.label_members import LabelMembers
from driftline.ensemble.pending_rows import Matches, PendingRow, PendingRows
from driftline.ensemble.space import Space
from driftline.guarantees.statement_arrays import row_of
from driftline.guarantees.tracker import GuaranteeTracker
from driftline.kernels.mixing import mix_and_reweigh, mixture
from driftline.kernels.statements import RowStatements
from driftline.types import LabelArray, Labels, Matrix, Predictions, Singles, State, Status, Vector


class EnsembleLearner:
    """The learner of `AMRC`; rows are numbers, and labels are positions of classes from 0.

    predict:  x ─ columns ▶ z ─ each space ▶ members' probabilities ─ mixture ▶ h(·|x)       reads, changes nothing
              (with label memory, h(·|x) and the last labels ─ choice ▶ the probabilities that are used)
    learn:    (z, y) ─ each space ▶ members; their probabilities ─ mixture ▶ weights, calibration ▶ bound, guarantees

    Parameters
    ----------
    columns : RunningColumns
        Preparation of the raw columns.
    spaces : list of Space
        The feature spaces with their members.
    column_filters : ColumnFilters
        Filters of the raw columns, for `AMRC.drift`; predictions do not depend on them.
    pending : PendingRows
        The rows that were observed and have no label yet.
    tracker : GuaranteeTracker
        The guarantees of the deterministic rule.
    coverage : float
        Share of steps at which the calibrated bound should hold.
    labels : LabelMembers or None, default=None
        The members that know the last labels; None if there are none.
    """

    def __init__(
        self,
        columns: RunningColumns,
        spaces: list[Space],
        column_filters: ColumnFilters,
        pending: PendingRows,
        tracker: GuaranteeTracker,
        coverage: float,
        labels: LabelMembers | None = None,
    ) -> None:
        self._columns = columns
        self.labels = labels
        self.column_filters = column_filters
        self.spaces = spaces
        self.mistake_bound = MistakeBound()
        self.calibration = CalibratedBound(coverage)
        n_members = sum(space.n_members for space in spaces)
        self.weights = np.full(n_members, 1.0 / n_members)
        self._scheme_weights = np.tile(self.weights, (2, 1))
        self._scheme_shares = np.full(2, 0.5)
        self.n_classes = 0
        self._pending = pending
        self.tracker = tracker

    @property
    def n_steps(self) -> int:
        """Number of labels learned."""
        return self.mistake_bound.n_steps

    @property
    def n_missing(self) -> int:
        """Number of missing values replaced."""
        return self._columns.n_missing

    @property
    def n_waiting(self) -> int:
        """Number of rows that were observed and have no label yet."""
        return len(self._pending)

    @property
    def n_expired(self) -> int:
        """Number of rows that were observed and given up, because their labels did not arrive."""
        return self._pending.n_expired

    @property
    def member_bounds(self) -> Vector:
        """The model bound of each member."""
        of_labels = [] if self.labels is None else [self.labels.bounds]
        return np.concatenate([space.bounds for space in self.spaces] + of_labels)

    @property
    def member_weights(self) -> Vector:
        """The weight of each member in what the ensemble predicts."""
        if self.labels is None:
            return self.weights
        share, *others = self.labels.weights
        return np.concatenate([share * self.weights, others])

    @property
    def model_bound(self) -> float:
        """R(U_t) of the mixture: the weighted mean of the members' bounds."""
        bounds = self.member_bounds
        mean = float(self.member_weights @ bounds)
        return min(mean, float(bounds.max()))  # the weights may sum to slightly more than 1

    @property
    def calibrated_bound(self) -> float:
        """The bound calibrated by the labels learned so far."""
        return self.calibration.bound(self.n_classes)

    @property
    def rate_bound(self) -> float:
        """The bound that should hold on average; 1 before any class is known."""
        return self.calibration.rate(self.n_classes) if self.n_classes else 1.0

    @property
    def error_bound(self) -> float:
        """The calibrated bound; 1 before any class is known."""
        return self.calibrated_bound if self.n_classes else 1.0

    @property
    def status(self) -> Status:
        """Whether the bound lies in [0, 1 - 1/c]: if a class is known, and the rule was not worse than guessing."""
        return Status.LOOSE if self.error_bound > self._guessing_error else Status.OK

    @property
    def _guessing_error(self) -> float:
        """The error of guessing; 0 before any class is known."""
        return 1.0 - 1.0 / max(self.n_classes, 1)

    def snapshot(self) -> "EnsembleLearner":
        """Return a copy for predictions, bounds and drift, which learning does not change; it cannot learn."""
        return copy_with(
            self,  # the columns are replaced when they are updated, so they can be shared
            column_filters=independent_copy(self.column_filters),
            spaces=[space.snapshot() for space in self.spaces],
            mistake_bound=replace(self.mistake_bound),
            calibration=independent_copy(self.calibration),
            tracker=self.tracker.copy(),
            weights=self.weights.copy(),
            labels=None if self.labels is None else self.labels.snapshot(),
        )

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""
        self.n_classes += n
        self._pending.add_classes(n)
        self.tracker.add_classes(n)
        self.column_filters.add_classes(n)
        if self.labels is not None:
            self.labels.add_classes(n)
        for space in self.spaces:
            space.add_classes(n)

    def add_columns(self, n: int) -> None:
        """Add n columns, whose values are missing in the rows so far."""
        for space in self.spaces:
            space.check_can_grow()
        self._columns.add_columns(n)
        self._pending.add_columns(n)
        self.column_filters.add_columns(n)
        for space in self.spaces:
            space.add_columns(n)

    def statements(self, X: Matrix) -> RowStatements:
        """Return what is said of each raw row of X."""
        h = self.probabilities(X)
        return self.tracker.state_rows(h, _largest(h))

    def probabilities(self, X: Matrix) -> Matrix:
        """Return h(·|x) for each raw row of X."""
        h = mixture(self._member_probabilities(self._columns.prepare(X)), self.weights)
        return h if self.labels is None else self.labels.probabilities(h)

    def predict_indices(self, X: Matrix) -> Labels:
        """Return the position of the class that the deterministic rule predicts for each raw row of X."""
        return _largest(self.probabilities(X))

    def score_batch(self, X: Matrix, labels: Labels) -> Predictions:
        """Return a record of the predictions for raw rows and of their labels; changes nothing."""
        start = time.perf_counter()
        h = self.probabilities(X) if self.n_classes else np.zeros((len(X), 0))
        bounds = np.full(len(X), self.error_bound)
        rates = np.full(len(X), self.rate_bound)
        return self._predictions(h, bounds, rates, labels, predict_seconds=time.perf_counter() - start)

    def predict_then_learn(
        self, X: Matrix, labels: Labels, elapsed: Vector, ids: LabelArray | None = None, times: Vector | None = None
    ) -> Predictions:
        """Predict each raw row, then learn its label; a new class must be alone in its call, and is added.

        Rows that were observed are found by their ids; without ids, by their values. `times` are the times of the rows,
        by which observed rows expire.
        """
        start = time.perf_counter()
        times = np.full(len(X), np.nan) if times is None else times
        matches = self._pending.match(X, ids, times)
        X = matches.observed_values(X)
        if labels[0] >= self.n_classes:
            return self._learn_new_class(X, labels, elapsed, matches, times)
        represented = self._represent(X, matches, times)
        learned = [space.predict_then_learn(Psi, labels, elapsed) for space, Psi in represented]
        self.column_filters.update(X, labels, elapsed)
        h, bounds, rates = self._update_weights(np.concatenate(learned, axis=1), labels, matches)
        predictions = self._predictions(h, bounds, rates, labels, learn_seconds=time.perf_counter() - start)
        self.mistake_bound.add(predictions)
        return predictions

    def _update_weights(self, members: Vector, labels: Labels, matches: Matches) -> tuple[Matrix, Vector, Vector]:
        """Update weights, bounds and guarantees; return the mixture and both bounds as they were before each row.

        Rows that were not observed count by the predictions made now; both weighting schemes of `_reweigh_late` then
        continue with the weights of their mixture. A row that was observed before any class was known has no
        prediction: it changes none of them, and its own bounds are 1.
        """
        n = len(labels)
        h, bounds, rates = np.empty((n, self.n_classes)), np.ones(n), np.ones(n)
        for part, row in matches.parts():
            if row is None:
                mix_and_reweigh(members[part], labels[part], self.weights, h[part])
                self._scheme_weights[:] = self.weights
                if self.labels is not None:
                    self.labels.choose_and_learn(h[part], labels[part])
                self.tracker.state_then_learn(h[part], _largest(h[part]), labels[part])
            else:
                h[part] = row.probabilities
                if self.labels is not None:
                    self.labels.learn_pending(row.label_rules, int(labels[part][0]))
                if not row.has_prediction:
                    continue
                self._reweigh_late(row, members[part], labels[part])
                if row.said is not None:
                    self.tracker.learn_rows(row.said, labels[part])
            losses = 1.0 - h[part][np.arange(len(h[part])), labels[part]]
            bounds[part], rates[part] = self.calibration.update(losses, self.n_classes)
        return h, bounds, rates

    def _reweigh_late(self, row: PendingRow, members: Vector, labels: Labels) -> None:
        """Update the weights by the label of a pending row.

        There are two schemes of weighting members. The first uses their predictions when the row was observed, which
        shows which members predict well in spite of the delay. The second uses their predictions now, before the label
        is learned, which shows sooner which members have adapted to the stream. Either scheme can be far better than
        the other. Therefore the weights are a mixture of both schemes, whose shares depend on the predictions of each
        scheme when the row was observed. The bounds are calibrated by the mixture's predictions when the row was
        observed.
        """
        unused = np.empty((1, self.n_classes))
        mix_and_reweigh(row.member_probabilities[None], labels, self._scheme_weights[0], unused)
        mix_and_reweigh(members, labels, self._scheme_weights[1], unused)
        mix_and_reweigh(row.scheme_probabilities[None], labels, self._scheme_shares, unused)
        self.weights = self._scheme_shares @ self._scheme_weights

    def observe(self, X: Matrix, ids: LabelArray | None, times: Vector) -> None:
        """Predict raw rows and keep the predictions until their labels arrive.

        Before any class is known there are no predictions, and the rows are prepared when their labels arrive.
        """
        self._pending.check_ids(ids)
        known = [None] * len(X) if ids is None else ids.tolist()
        with self._columns_restored_on_error():
            Z = self._columns.update(X) if self.n_classes else np.zeros_like(X)
            members = self._member_probabilities(Z) if self.n_classes else np.zeros((len(X), len(self.weights), 0))
            schemes = np.stack([mixture(members, weights) for weights in self._scheme_weights], axis=1)
            h = mixture(members, self.weights)
            label_rules = np.zeros((len(X), 0, self.n_classes))
            if self.labels is not None:
                label_rules = self.labels.pending(h)
                h = self.labels.used(label_rules)
            arrays = X, Z, members, schemes, h, label_rules
            values = ([entry.copy() for entry in row] for row in zip(*arrays, strict=True))  # not views of all rows
            parts = zip(values, self._statements_on(h), known, times.tolist(), strict=True)
            self._pending.add([PendingRow(*row, *rest) for row, *rest in parts])

    def _statements_on(self, h: Matrix) -> list[RowStatements | None]:
        """Return what is said of each row with these probabilities; nothing before any class is known."""
        if not self.n_classes:
            return [None] * len(h)
        said = self.tracker.state_rows(h, _largest(h))
        return [row_of(said, t) for t in range(len(h))]

    def _prepare(self, X: Matrix, matches: Matches) -> Matrix:
        """Return the prepared rows; those of pending rows were prepared when they were observed."""
        Z = np.empty_like(X)
        for part, row in matches.parts():
            Z[part] = row.z if row is not None and row.has_prediction else self._columns.update(X[part])
        return Z

    def _member_probabilities(self, Z: Matrix) -> Vector:
        """Return the probabilities of all members for prepared rows, as (rows, members, classes)."""
        return np.concatenate([space.member_probabilities(Z) for space in self.spaces], axis=1)

    def _learn_new_class(
        self, X: Matrix, labels: Labels, elapsed: Vector, matches: Matches, times: Vector
    ) -> Predictions:
        """Learn a row of a class not known before; its prediction is made without that class."""
        before = self.score_batch(X, labels)
        start = time.perf_counter()
        represented = self._represent(X, matches, times)
        said = self._statements_on(before.probabilities)[0] if matches.rows[0] is None else matches.rows[0].said
        if self.n_classes:
            self.calibration.update(np.ones(1), self.n_classes)
        self.add_classes(1)
        if self.labels is not None and matches.rows[0] is not None:
            self.labels.learn_pending(matches.rows[0].label_rules, int(labels[0]))
        elif self.labels is not None:
            self.labels.learn_new_class(int(labels[0]))
        if said is not None:
            self.tracker.learn_rows(said, labels)
        for space, Psi in represented:
            space.predict_then_learn(Psi, labels, elapsed)
        self.column_filters.update(X, labels, elapsed)
        self.mistake_bound.add(before)
        return replace(before, learn_seconds=np.full(1, time.perf_counter() - start))

    def _represent(self, X: Matrix, matches: Matches, times: Vector) -> list[tuple[Space, Singles]]:
        """Return the features of raw rows in each space; update the columns, and remove rows that were pending."""
        with self._columns_restored_on_error():
            Z = self._prepare(X, matches)
            represented = [(space, space.represent(Z)) for space in self.spaces]
        self._pending.remove(matches, times)
        return represented

    @contextmanager
    def _columns_restored_on_error(self) -> Iterator[None]:
        """Let the block update a copy of the columns; put the old ones back if a custom feature map rejects a row."""
        before = self._columns
        self._columns = independent_copy(before)
        try:
            yield
        except BaseException:
            self._columns = before
            raise

    def _predictions(
        self,
        h: Matrix,
        bounds: Vector,
        rates: Vector,
        labels: Labels,
        *,
        predict_seconds: float = 0.0,
        learn_seconds: float = 0.0,
    ) -> Predictions:
        n = len(labels)
        statuses = np.full(n, Status.OK, dtype=object)
        statuses[bounds > self._guessing_error] = Status.LOOSE
        return Predictions.with_bounds(
            predicted=_largest(h) if self.n_classes else np.full(n, -1),
            labels=labels,
            probabilities=h,
            bounds=bounds,
            rates=rates,
            statuses=statuses,
            excesses=np.zeros(n),
            predict_seconds=np.full(n, predict_seconds / n),
            learn_seconds=np.full(n, learn_seconds / n),
        )

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        weights = {
            "weights": self.weights,
            "scheme_weights": self._scheme_weights,
            "scheme_shares": self._scheme_shares,
            "n_expired": np.array([self.n_expired]),
        }
        return weights | nested_state(self._parts())

    def schema(self) -> Schema:
        """Return what each array must be in a file; those of a custom feature map are not described."""
        n_members = self.weights.size
        return {
            "weights": probabilities((n_members,)),
            "scheme_weights": probabilities((2, n_members)),
            "scheme_shares": probabilities((2,)),
            "n_expired": replace(whole_numbers((1,)), since=3),
            **nested_schema({name: part.schema() for name, part in self._parts().items()}),
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        self.weights, self._scheme_weights, self._scheme_shares = (
            np.array(state[name]) for name in ("weights", "scheme_weights", "scheme_shares")
        )
        self._pending.n_expired = int(state.get("n_expired", np.zeros(1))[0])  # older model files do not have it
        restore_parts(self._parts(), state)

    def __setstate__(self, fields: dict[str, Any]) -> None:
        """Restore from a pickle; arrays are copied because a memory-mapped file is read-only."""
        self.__dict__.update(fields)
        self.restore(self.state())

    def _parts(self) -> dict[str, SavedPart]:
        """Return the parts whose arrays are saved, by name."""
        spaces = {f"space{i}": space for i, space in enumerate(self.spaces)}
        labels: dict[str, SavedPart] = {} if self.labels is None else {"labels": self.labels}
        return {
            "columns": self._columns,
            "mistake_bound": self.mistake_bound,
            "calibration": self.calibration,
            "guarantees": self.tracker,
            "pending": self._pending,
            "drift": self.column_filters,
            **labels,
            **spaces,
        }


def _largest(h: Matrix) -> Labels:
    positions: Labels = np.argmax(h, axis=1)
    return positions
