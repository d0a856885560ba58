"""The learner of `AMRC`: it mixes the members of several feature spaces, and calibrates the bound."""

import time
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
from driftline.ensemble.learned_rows import NO_CHOICE, Learned, guessing_error, predictions_of
from driftline.ensemble.packed_arrays import pack_ensemble
from driftline.ensemble.pending_rows import Matches, PendingRow, PendingRows
from driftline.ensemble.plan import EnsemblePlan
from driftline.ensemble.row_weights import RowWeights, schema_of_weights
from driftline.ensemble.space import Space
from driftline.guarantees.cost_rule import CostRule
from driftline.guarantees.statement_arrays import row_of
from driftline.guarantees.tracker import GuaranteeTracker
from driftline.kernels.ensemble import learn_rows, predict_rows
from driftline.kernels.mixing import label_entries, largest_entries, mix_and_reweigh, mixture
from driftline.kernels.packing import Packed
from driftline.kernels.statements import RowStatements
from driftline.types import Indices, LabelArray, Labels, Matrix, Predictions, Singles, State, Status, Vector

LABELS_PER_REVIEW = 64
"""After so many labels it is decided anew how often each member learns."""


class EnsembleLearner:
    """The learner of `AMRC`; rows are numbers, and labels are positions of classes from 0.

    predict:  x ─ columns ▶ z ─ each space ▶ members' probabilities ─ mixture ▶ h(·|x)       reads, changes nothing
              (with label memory, h(·|x) and the last labels ─ choice ▶ the probabilities that are used;
              with costs, h(·|x) ─ calibration, costs ▶ the label that is predicted)
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
    plan : EnsemblePlan
        The plan of the ensemble.
    labels : LabelMembers or None, default=None
        The members that know the last labels; None if there are none.
    cost_rule : CostRule or None, default=None
        What predicts labels by their costs; None if the most probable label is predicted.
    row_weights : RowWeights or None, default=None
        What turns weights into numbers of rows; None until a weight is given.
    """

    def __init__(
        self,
        columns: RunningColumns,
        spaces: list[Space],
        column_filters: ColumnFilters,
        pending: PendingRows,
        tracker: GuaranteeTracker,
        coverage: float,
        plan: EnsemblePlan,
        labels: LabelMembers | None = None,
        cost_rule: CostRule | None = None,
        row_weights: RowWeights | None = None,
    ) -> None:
        self.plan = plan
        self._columns = columns
        self.labels = labels
        self.cost_rule = cost_rule
        self.row_weights = row_weights
        self.column_filters = column_filters
        self.spaces = spaces
        self.mistake_bound = MistakeBound()
        self.calibration = CalibratedBound(coverage)
        n_members = sum(space.n_members for space in spaces)
        self.weights = np.full(n_members, 1.0 / n_members)
        self._scheme_weights = np.tile(self.weights, (2, 1))
        self._scheme_shares = np.full(2, 0.5)
        self.n_classes = 0
        self.pending = pending
        self.tracker = tracker
        self._has_custom_features = any(space.has_custom_features for space in spaces)
        self._packed: tuple[EnsembleLearner, Packed] | None = None
        """The arrays of all parts in one buffer, and whose they are; None if some of them were replaced."""
        self._asked: tuple[bytes, Singles] | None = None
        """The row that was asked about last, and its features; None if the columns changed since then."""

    @property
    def n_steps(self) -> int:
        """Number of labels learned."""
        return self.mistake_bound.n_steps

    @property
    def standardises(self) -> bool:
        """Whether columns are standardised."""
        return self._columns._standardises

    @property
    def n_missing(self) -> int:
        """Number of missing values replaced."""
        return self._columns.n_missing

    def is_waiting(self, row_id: Any) -> bool:
        """Return whether an observed row with this id waits for its label."""
        return self.pending.is_waiting(row_id)

    @property
    def n_waiting(self) -> int:
        """Number of rows that were observed and have no label yet."""
        return len(self.pending)

    def give_up(self, ids: list[Any] | None) -> None:
        """Remove the pending rows with these ids, or all; other ids are ignored."""
        self.pending.give_up(ids)

    @property
    def n_expired(self) -> int:
        """Number of rows that were observed and given up, because their labels did not arrive."""
        return self.pending.n_expired

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
        mean = float(np.sum(self.member_weights * bounds))
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
        return Status.LOOSE if self.error_bound > guessing_error(self.n_classes) else Status.OK

    def snapshot(self) -> "EnsembleLearner":
        """Return a copy for predictions, bounds and drift, which learning does not change; it cannot learn."""
        return copy_with(
            self,
            _columns=independent_copy(self._columns),
            column_filters=independent_copy(self.column_filters),
            spaces=[space.snapshot() for space in self.spaces],
            mistake_bound=independent_copy(self.mistake_bound),
            calibration=independent_copy(self.calibration),
            tracker=self.tracker.copy(),
            weights=self.weights.copy(),
            labels=None if self.labels is None else self.labels.snapshot(),
            cost_rule=None if self.cost_rule is None else self.cost_rule.snapshot(),
        )

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""
        self._packed = None
        self.n_classes += n
        self.pending.add_classes(n)
        self.tracker.add_classes(n)
        self.column_filters.add_classes(n)
        if self.labels is not None:
            self.labels.add_classes(n)
        if self.cost_rule is not None:
            self.cost_rule.add_classes(n)
        if self.row_weights is not None:
            self.row_weights.add_classes(n)
        for space in self.spaces:
            space.add_classes(n)

    def name_classes(self, labels: LabelArray) -> None:
        """Set the labels of the classes, for levels, costs and weights that differ between labels."""
        self.tracker.name_classes(labels)
        if self.cost_rule is not None:
            self.cost_rule.name_classes(labels)
        if self.row_weights is not None:
            self.row_weights.name_classes(labels)

    def add_columns(self, n: int) -> None:
        """Add n columns, whose values are missing in the rows so far."""
        for space in self.spaces:
            space.check_can_grow()
        self._asked = self._packed = None
        self._columns.add_columns(n)
        self.pending.add_columns(n)
        self.column_filters.add_columns(n)
        for space in self.spaces:
            space.add_columns(n)

    def statements(self, X: Matrix) -> RowStatements:
        """Return what is said of each raw row of X."""
        h = self.probabilities(X)
        return self.tracker.state_rows(h, largest_entries(h))

    def probabilities(self, X: Matrix) -> Matrix:
        """Return h(·|x) for each raw row of X; the features of a single row are kept, in case it is learned next."""
        if self._packed is None or self._packed[0] is not self:
            h = mixture(self._member_probabilities(X, self._columns.prepare(X)), self.weights)
        else:
            features = self._flat_features(X, self._columns.prepare(X))
            if len(X) == 1:
                self._asked = X.tobytes(), features
            h = predict_rows(X, features, self.n_classes, *self._packed[1])
        return h if self.labels is None else self.labels.probabilities(h)

    def predict_indices(self, X: Matrix) -> Labels:
        """Return the position of the class that the deterministic rule predicts for each raw row of X."""
        h = self.probabilities(X)
        return largest_entries(h) if self.cost_rule is None else self.cost_rule.choose(h)

    def score_batch(self, X: Matrix, labels: Labels) -> Predictions:
        """Return a record of the predictions for raw rows and of their labels; changes nothing."""
        start = time.perf_counter()
        scored = self._score(X, labels)
        return predictions_of(scored, predict_seconds=time.perf_counter() - start)

    def _score(self, X: Matrix, labels: Labels) -> Learned:
        """Return what `learn` would return of rows, if it were asked about each of them now."""
        n = len(X)
        h = self.probabilities(X) if self.n_classes else np.zeros((n, 0))
        chosen = NO_CHOICE if self.cost_rule is None else self.cost_rule.choose(h)
        return Learned(labels, h, np.full(n, self.error_bound), np.full(n, self.rate_bound), chosen)

    def predict_then_learn(
        self,
        X: Matrix,
        labels: Labels,
        elapsed: Vector,
        ids: LabelArray | None = None,
        times: Vector | None = None,
        weights: Vector | None = None,
    ) -> Predictions:
        """Predict each raw row, then learn its label, as `learn` does; return the predictions."""
        start = time.perf_counter()
        learned = self.learn(X, labels, elapsed, ids, times, weights)
        return predictions_of(learned, learn_seconds=time.perf_counter() - start)

    def learn(
        self,
        X: Matrix,
        labels: Labels,
        elapsed: Vector,
        ids: LabelArray | None = None,
        times: Vector | None = None,
        weights: Vector | None = None,
    ) -> Learned:
        """Predict each raw row, then learn its label; a new class must be alone in its call, and is added.

        Rows that were observed are found by their ids; without ids, by their values. `times` are the times of the rows,
        by which observed rows expire, and `weights` those with which they are learned.
        """
        if weights is not None and self.row_weights is None:
            self.row_weights = RowWeights(None, self.n_steps)
            self.row_weights.add_classes(self.n_classes)
        if not self.plan.rests_members:
            return self._learn_batch(X, labels, elapsed, ids, times, weights)
        parts, start = [], 0
        while start < len(X):
            stop = start + LABELS_PER_REVIEW - self.n_steps % LABELS_PER_REVIEW
            part = slice(start, stop)
            options = (None if given is None else given[part] for given in (ids, times, weights))
            parts.append(self._learn_batch(X[part], labels[part], elapsed[part], *options))
            if self.n_steps % LABELS_PER_REVIEW == 0:
                self._review_members()
            start = stop
        return parts[0] if len(parts) == 1 else Learned(*map(np.concatenate, zip(*parts, strict=True)))

    def _review_members(self) -> None:
        """Decide how often each member learns, by its weight."""
        start = 0
        for space in self.spaces:
            space.review(self.weights[start : start + space.n_members])
            start += space.n_members

    def _learn_batch(
        self,
        X: Matrix,
        labels: Labels,
        elapsed: Vector,
        ids: LabelArray | None,
        times: Vector | None,
        weights: Vector | None,
    ) -> Learned:
        """Learn rows as `learn` does, all of them with the members that learn now."""
        is_new = labels[0] >= self.n_classes
        counted, copies = self.row_weights, None
        if counted is not None and not is_new:
            counted = independent_copy(counted)
            copies = counted.copies(labels, weights)
        if self._can_learn_in_one_call and not is_new and copies is None:
            self.row_weights = counted
            return self._learn_in_one_call(X, labels, elapsed)
        times = np.full(len(X), np.nan) if times is None else times
        matches = self.pending.match(X, ids, times)
        X = matches.observed_values(X)
        if is_new:
            return self._learn_new_class(X, labels, elapsed, matches, times, weights)
        Z, features = self._represent(X, matches, times)
        self.row_weights = counted
        if counted is not None and copies is not None:
            members = self._learn_copies(X, Z, labels, elapsed, copies, counted)
        else:
            members, *_ = self._learn_rows(X, labels, elapsed, features, False, False)
        return self._update_weights(members, labels, matches)

    @property
    def learns_in_one_call(self) -> bool:
        """Whether one call of a kernel learns the next row with all parts, if its class is known."""
        return self._can_learn_in_one_call and self.row_weights is None

    @property
    def _can_learn_in_one_call(self) -> bool:
        """The same for a row that counts as one row."""
        return not self._has_custom_features and self.labels is None and not len(self.pending)

    @property
    def has_second_step(self) -> bool:
        """Whether the call that learns the next row is followed by a second step, before which Ctrl-C could come."""
        is_reviewed_next = self.plan.rests_members and (self.n_steps + 1) % LABELS_PER_REVIEW == 0
        return is_reviewed_next or self.cost_rule is not None

    def _learn_in_one_call(self, X: Matrix, labels: Labels, elapsed: Vector) -> Learned:
        """Learn rows that were not observed."""
        is_single = len(X) == 1
        columns = self._columns if is_single else independent_copy(self._columns)
        if is_single and self._asked is not None and self._asked[0] == X.tobytes():
            features = self._asked[1]
        else:
            features = self._flat_features(X, columns.prepare(X) if is_single else columns.update(X))
        self._columns, self._asked = columns, None
        _, h, bounds, rates = self._learn_rows(X, labels, elapsed, features, is_single, True)
        return Learned(labels, h, bounds, rates, self._choose_then_learn(h, labels))

    def _choose_then_learn(self, h: Matrix, labels: Labels) -> Labels:
        """Return the choices of the rule with costs, which learns the labels; none if there are no costs."""
        return NO_CHOICE if self.cost_rule is None else self.cost_rule.choose_then_learn(h, labels)

    def _learn_rows(
        self,
        X: Matrix,
        labels: Labels,
        elapsed: Vector,
        features: Singles,
        updates_columns: bool,
        updates_weights: bool,
    ) -> tuple[Vector, Matrix, Vector, Vector]:
        """Let all parts learn rows; return members' probabilities, the mixture and both bounds."""
        columns = self._columns
        return learn_rows(
            X,
            labels,
            elapsed,
            features,
            *self._packed_arrays(),
            *self.tracker.rows.arrays,
            updates_columns,
            updates_weights,
            columns._missing,
            columns._count,
            columns._mean,
            columns._squares,
            columns._is_binary,
            columns._early,
            columns._recent,
            columns._recent_figures,
            columns._n_first_columns,
            columns._standardises,
            self.plan.counted_share,
            self.plan.pace,
        )

    def _packed_arrays(self) -> Packed:
        """Return the arrays of all parts in one buffer; a copy of this learner has arrays of its own."""
        if self._packed is None or self._packed[0] is not self:
            parts = self.calibration, self.tracker, self.column_filters, self.spaces
            arrays, (self.weights, self._scheme_weights) = pack_ensemble(
                self.mistake_bound, [self.weights, self._scheme_weights], *parts
            )
            self._packed = self, arrays
        return self._packed[1]

    def all_arrays(self) -> tuple[Packed, list[Any]]:
        """Return the arrays of all parts in one buffer, and the others, in the order of `driftline.kernels.fleet`.

        Together with the pending rows they are all that learning changes.
        """
        return self._packed_arrays(), [*self._columns.arrays, self.tracker.rows.arrays[0], self._scheme_shares]

    def acknowledge_alarm(self) -> None:
        """Arm a raised alarm again, from the next row on; no-op if none is raised."""
        self._packed = None
        if self.tracker.alarm is not None:
            self.tracker.alarm.acknowledge()

    def _update_weights(self, members: Vector, labels: Labels, matches: Matches) -> Learned:
        """Update weights, bounds and guarantees; return the mixture and both bounds as they were before each row.

        Rows that were not observed count by the predictions made now; both weighting schemes of `_reweigh_late` then
        continue with the weights of their mixture. A row that was observed before any class was known has no
        prediction: it changes none of them, and its own bounds are 1.
        """
        n = len(labels)
        chosen = NO_CHOICE if self.cost_rule is None else np.zeros(n, np.int64)
        learned = Learned(labels, np.empty((n, self.n_classes)), np.ones(n), np.ones(n), chosen)
        for part, row in matches.parts():
            h, bounds, rates = learned.h[part], learned.bounds[part], learned.rates[part]
            if row is None:
                mix_and_reweigh(members[part], labels[part], self.weights, h, self.plan.counted_share)
                self._scheme_weights[:] = self.weights
                if self.labels is not None:
                    self.labels.choose_and_learn(h, labels[part])
                self.tracker.learn_at_once(h, largest_entries(h), labels[part])
            else:
                h[:] = row.probabilities
                if self.labels is not None:
                    self.labels.learn_pending(row.label_rules, int(labels[part][0]))
                if not row.has_prediction:
                    continue
                is_late = self.pending.n_labels - n + part.start > row.n_labels
                self._reweigh_late(row, members[part], labels[part], 0.0 if is_late else self.plan.counted_share)
                if row.said is not None:
                    self.tracker.learn_rows(row.said, labels[part])
            if self.cost_rule is not None:
                chosen[part] = self.cost_rule.choose_then_learn(h, labels[part])
            losses = 1.0 - label_entries(h, labels[part])
            bounds[:], rates[:] = self.calibration.update(losses, self.n_classes)
        self.mistake_bound.add_steps(learned.rates, 1.0 - label_entries(learned.h, labels))
        return learned

    def _reweigh_late(self, row: PendingRow, members: Vector, labels: Labels, counted_share: float) -> None:
        """Update the weights by the label of a pending row.

        There are two schemes of weighting members. The first uses their predictions when the row was observed, which
        shows which members predict well in spite of the delay. The second uses their predictions now, before the label
        is learned, which shows sooner which members have adapted to the stream. Either scheme can be far better than
        the other. Therefore the weights are a mixture of both schemes, whose shares depend on the predictions of each
        scheme when the row was observed. If other labels came in between, only expected mistakes count: where members
        disagree because labels are late, counted mistakes are too noisy. The bounds are calibrated by the mixture's
        predictions when the row was observed.
        """
        unused = np.empty((1, self.n_classes))
        for said, weights in (
            (row.member_probabilities[None], self._scheme_weights[0]),
            (members, self._scheme_weights[1]),
            (row.scheme_probabilities[None], self._scheme_shares),
        ):
            mix_and_reweigh(said, labels, weights, unused, counted_share)
        self.weights[:] = np.sum(self._scheme_shares[:, None] * self._scheme_weights, axis=0)

    def observe(self, X: Matrix, ids: LabelArray | None, times: Vector) -> None:
        """Predict raw rows and keep the predictions until their labels arrive.

        Before any class is known there are no predictions, and the rows are prepared when their labels arrive.
        """
        self.pending.check_ids(ids)
        known = [None] * len(X) if ids is None else ids.tolist()
        columns = independent_copy(self._columns)
        Z = columns.update(X) if self.n_classes else np.zeros_like(X)
        unknown: Vector = np.zeros((len(X), len(self.weights), 0))
        members = self._member_probabilities(X, Z) if self.n_classes else unknown
        schemes = np.stack([mixture(members, weights) for weights in self._scheme_weights], axis=1)
        h = mixture(members, self.weights)
        label_rules = np.zeros((len(X), 0, self.n_classes))
        if self.labels is not None:
            label_rules = self.labels.pending(h)
            h = self.labels.used(label_rules)
        arrays = X, Z, members, schemes, h, label_rules
        values = ([entry.copy() for entry in row] for row in zip(*arrays, strict=True))  # not views of all rows
        parts = zip(values, self._statements_on(h), known, times.tolist(), strict=True)
        self.pending.add([PendingRow(*row, *rest) for row, *rest in parts])
        self._columns, self._asked = columns, None

    def _statements_on(self, h: Matrix) -> list[RowStatements | None]:
        """Return what is said of each row with these probabilities; nothing before any class is known."""
        if not self.n_classes:
            return [None] * len(h)
        said = self.tracker.state_rows(h, largest_entries(h))
        return [row_of(said, t) for t in range(len(h))]

    def _flat_features(self, X: Matrix, Z: Matrix) -> Singles:
        """Return the features of raw rows X, which are Z after their preparation, in one space after the other.

        Those of trees are left out, because the kernels compute them.
        """
        features: list[Singles] = []
        for i, space in enumerate(self.spaces):
            if i > 0 and space.has_features_of(self.spaces[i - 1]):
                features.append(features[-1])
            elif space.plan.forest is None:
                features.append(space.represent(X, Z).ravel())
        flat: Singles = np.concatenate(features)
        return flat

    def _member_probabilities(self, X: Matrix, Z: Matrix) -> Vector:
        """Return the probabilities of all members for raw rows X, which are Z after their preparation.

        Their axes are rows, members and classes.
        """
        return np.concatenate([space.member_probabilities(space.represent(X, Z)) for space in self.spaces], axis=1)

    def _learn_new_class(
        self,
        X: Matrix,
        labels: Labels,
        elapsed: Vector,
        matches: Matches,
        times: Vector,
        weights: Vector | None,
    ) -> Learned:
        """Learn a row of a class not known before; its prediction is made without that class."""
        before = self._score(X, labels)
        _, features = self._represent(X, matches, times)
        said = self._statements_on(before.h)[0] if matches.rows[0] is None else matches.rows[0].said
        if self.n_classes:
            self.calibration.update(np.ones(1), self.n_classes)
        self.add_classes(1)
        if self.labels is not None and matches.rows[0] is not None:
            self.labels.learn_pending(matches.rows[0].label_rules, int(labels[0]))
        elif self.labels is not None:
            self.labels.learn_new_class(int(labels[0]))
        if said is not None:
            self.tracker.learn_rows(said, labels)
        if self.row_weights is not None:
            self.row_weights.count(int(labels[0]), 1.0 if weights is None else float(weights[0]))
            elapsed = np.array([self.row_weights.elapse(float(elapsed[0]), is_learned=True)])
        self._learn_rows(X, labels, elapsed, features, False, False)
        self.mistake_bound.add_steps(np.ones(1), np.ones(1), n_void=1)
        return before

    def _learn_copies(
        self, X: Matrix, Z: Matrix, labels: Labels, elapsed: Vector, copies: Indices, weights: RowWeights
    ) -> Vector:
        """Let the members learn each row as many times as it counts; return their probabilities before that.

        No time passes between the copies of a row. A row that counts as none only predicts.
        """
        before = np.empty((len(X), len(self.weights), self.n_classes))
        for t, n in enumerate(copies.tolist()):
            x, z, row = X[t : t + 1], Z[t : t + 1], slice(t, t + 1)
            passed = weights.elapse(float(elapsed[t]), is_learned=n > 0)
            if n == 0:
                before[row] = self._member_probabilities(x, z)
                continue
            X_n, times = np.repeat(x, n, axis=0), np.append(passed, np.zeros(n - 1))
            features = self._flat_features(X_n, np.repeat(z, n, axis=0))
            before[row] = self._learn_rows(X_n, np.repeat(labels[row], n), times, features, False, False)[0][:1]
        return before

    def _represent(self, X: Matrix, matches: Matches, times: Vector) -> tuple[Matrix, Singles]:
        """Return the prepared rows and their features; update the columns, and remove rows that were pending."""
        columns = independent_copy(self._columns)
        Z = _prepared(columns, X, matches)
        features = self._flat_features(X, Z)
        self._columns, self._asked = columns, None
        self.pending.remove(matches, times)
        return Z, features

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
            **nested_schema({"row_weights": schema_of_weights(self.n_classes)}),
            **nested_schema({name: part.schema() for name, part in self._parts().items()}),
        }

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        self.weights, self._scheme_weights, self._scheme_shares = (
            np.array(state[name]) for name in ("weights", "scheme_weights", "scheme_shares")
        )
        self.pending.n_expired = int(state.get("n_expired", np.zeros(1))[0])  # older model files do not have it
        if "row_weights/counts" in state and self.row_weights is None:
            self.row_weights = RowWeights(None)
            self.row_weights.add_classes(self.n_classes)
        restore_parts(self._parts(), state)
        self._asked = self._packed = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes to pickle: each array once, and nothing that depends on what was asked."""
        return self.__dict__ | {"_asked": None, "_packed": None}

    def __setstate__(self, fields: dict[str, Any]) -> None:
        """Restore from a pickle; arrays are copied because a memory-mapped file is read-only."""
        self.__dict__.update(fields)
        self.restore(self.state())

    def _parts(self) -> dict[str, SavedPart]:
        """Return the parts whose arrays are saved, by name."""
        spaces = {f"space{i}": space for i, space in enumerate(self.spaces)}
        labels: dict[str, SavedPart] = {} if self.labels is None else {"labels": self.labels}
        optional = {"cost_rule": self.cost_rule, "row_weights": self.row_weights}
        given: dict[str, SavedPart] = {name: part for name, part in optional.items() if part is not None}
        return {
            "columns": self._columns,
            "mistake_bound": self.mistake_bound,
            "calibration": self.calibration,
            "guarantees": self.tracker,
            "pending": self.pending,
            "drift": self.column_filters,
            **labels,
            **given,
            **spaces,
        }


def _prepared(columns: RunningColumns, X: Matrix, matches: Matches) -> Matrix:
    """Return the prepared rows, and update the columns; pending rows were prepared when they were observed."""
    Z = np.empty_like(X)
    for part, row in matches.parts():
        Z[part] = row.z if row is not None and row.has_prediction else columns.update(X[part])
    return Z
