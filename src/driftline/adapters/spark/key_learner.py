"""What happens to the rows and labels of one key: they are predicted, learned, kept for each other, or refused."""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from driftline.adapters.spark.key_state import KeyRow, KeyState, in_order
from driftline.adapters.spark.outcomes import (
    ACKNOWLEDGED,
    EXPIRED,
    FIGURES,
    HELD,
    LABELLED,
    LEARNED,
    MOVED,
    NO_FIGURES,
    OBSERVED,
    PREDICTED,
    REFUSED,
    Outcome,
    figures_between,
    outcome,
    prediction,
)
from driftline.adapters.spark.problems import problem_of, unknown_label
from driftline.adapters.spark.settings import Settings
from driftline.errors import DataError
from driftline.fleet import AMRCFleet
from driftline.guarantees.alarm import moving_columns

KEY = 0
"""The only key of the fleet: the key whose rows are processed."""
ROWS_PER_REPORT = 100
"""After so many labels of a key, the columns that move are reported."""
MAX_WAITING = 1_000
"""Largest number of rows of a key that wait for labels, and of labels that wait for rows; the first are given up."""


@lru_cache(maxsize=4)
def fleet_of(settings: Settings) -> AMRCFleet:
    """Return the fleet of this process for some settings; making one takes as long as learning hundreds of rows."""
    return settings.new_fleet()


class KeyLearner:
    """Processes rows of a key, beginning with the state that it had before.

    The results do not depend on how the rows are divided among calls, if these come in the order of time.

    Parameters
    ----------
    settings : Settings
        What all keys have in common.
    state : KeyState
        The state of the key, which is changed.
    """

    def __init__(self, settings: Settings, state: KeyState) -> None:
        self._settings, self._state = settings, state
        self._fleet = fleet_of(settings)
        self._outcomes: list[Outcome] = []
        self._load(state.model)

    def process(self, rows: Iterable[KeyRow]) -> list[Outcome]:
        """Return what happens to rows, in the order of their times."""
        rows = list(rows)
        together: list[KeyRow] = []
        for row in in_order(rows + self._take_later_labels(rows)):
            if row.moment is None:
                self._refuse(row, "the row has no time")
                continue
            if not self._is_learned_at_once(row) or self._is_deadline_before(row.moment):
                self._learn(together)
                together = []
                self._advance(row.moment)
            if self._is_learned_at_once(row):
                together.append(row)
            else:
                self._process_other(row)
            self._state.last = row.moment if self._state.last is None else max(row.moment, self._state.last)
        self._learn(together)
        return self._finish()

    def expire(self, moment: int) -> list[Outcome]:
        """Return what happens to the key if no row comes before a time."""
        self._advance(moment)
        return self._finish()

    def _finish(self) -> list[Outcome]:
        self._state.model = self._model_state()
        return self._outcomes

    # Time -------------------------------------------------------------------------------------------------

    def _is_deadline_before(self, moment: int) -> bool:
        deadline = self._state.deadline(self._settings)
        return deadline is not None and deadline < moment

    def _advance(self, moment: int) -> None:
        """Give up rows and labels that waited too long before a time; forget the key if it was idle too long."""
        timeout, time_to_live, state = self._settings.label_timeout, self._settings.time_to_live, self._state
        if timeout is not None:
            late = [row_id for row_id, since in state.waiting.items() if since + timeout < moment]
            self._give_up(late, "no label came within label_timeout")
            labels = [row for row in state.held.values() if row.moment + timeout < moment]
            self._give_up_labels(labels, "no row with this id came within label_timeout")
        if time_to_live is not None and state.last is not None and state.last + time_to_live < moment:
            self._give_up(list(state.waiting), "no row of the key came within time_to_live")
            self._give_up_labels(list(state.held.values()), "no row of the key came within time_to_live")
            self._load(None)
            state.last = None

    def _give_up(self, ids: list[Any], reason: str) -> None:
        if not ids:
            return
        self._fleet.give_up(KEY, ids)
        since = [self._state.waiting.pop(row_id) for row_id in ids]
        self._figures = self._current_figures()
        for row_id, moment in zip(ids, since, strict=True):
            self._add(KeyRow(moment, row_id, [], None), EXPIRED, problem=reason)

    def _give_up_labels(self, labels: list[KeyRow], reason: str) -> None:
        for row in labels:
            del self._state.held[row.id]
            self._add(row, EXPIRED, problem=reason)

    # Rows -------------------------------------------------------------------------------------------------

    def _is_learned_at_once(self, row: KeyRow) -> bool:
        """Return whether a row has a label, and is not the label of an earlier row."""
        is_late = self._settings.has_ids and (row.id in self._state.waiting or not row.has_features)
        return row.label is not None and not is_late

    def _process_other(self, row: KeyRow) -> None:
        """Process a row that is not learned at once."""
        try:
            if row.x is None:
                self._acknowledge(row)
            elif row.label is not None and row.id is None:
                self._refuse(row, "the label has no id")
            elif row.label is not None:
                self._learn_late(row)
            elif not row.has_features:
                self._refuse(row, "the row has neither features nor a label")
            elif row.id is None:
                said = self._fleet.predict_with_guarantees(np.array([row.x]), [KEY])
                self._add(row, PREDICTED, **prediction(said, 0))
            else:
                self._observe(row)
        except DataError as error:
            self._refuse(row, self._problem_of(row, error))

    def _acknowledge(self, row: KeyRow) -> None:
        """Arm the alarm of the key again."""
        if not self._figures["has_alarm"]:
            self._refuse(row, "no alarm of the key is raised")
            return
        self._fleet.acknowledge_alarm([KEY])
        self._figures = self._current_figures()
        self._add(row, ACKNOWLEDGED)

    def _take_later_labels(self, rows: list[KeyRow]) -> list[KeyRow]:
        """Take the held labels that came after their rows by time, to learn them in this order nevertheless."""
        held = self._state.held
        if not held:
            return []
        observed = (row for row in rows if row.label is None and row.has_features and row.id in held)
        later = (row.id for row in observed if row.moment is not None and row.moment <= held[row.id].moment)
        return [held.pop(row_id) for row_id in dict.fromkeys(later)]

    def _learn_late(self, row: KeyRow) -> None:
        """Learn the label of a row that waits; hold it if none does."""
        state, had_alarm = self._state, self._figures["has_alarm"]
        if row.id not in state.waiting:
            self._hold(row)
            return
        is_learned = self._fleet.label([KEY], [row.id], [row.label])[0]
        del state.waiting[row.id]
        if is_learned:
            self._figures = self._current_figures()
            self._add(row, LABELLED, **self._report(had_alarm))
        else:
            self._refuse(row, f"the row with the id {row.id!r} was given up")

    def _hold(self, row: KeyRow) -> None:
        """Keep a label until its row comes."""
        held = self._state.held
        if row.id in held:
            self._refuse(row, f"another label for the row with the id {row.id!r} is held already")
        elif row.label not in self._settings.classes:
            self._refuse(row, unknown_label(row.label, self._settings))
        else:
            held[row.id] = KeyRow(row.moment, row.id, [], row.label)
            if not row.was_held:
                self._add(row, HELD)
            if len(held) > MAX_WAITING:
                oldest = next(iter(held.values()))
                self._give_up_labels([oldest], f"more than {MAX_WAITING:,} labels of the key wait for their rows")

    def _observe(self, row: KeyRow) -> None:
        """Predict a row; then learn its label if that is held, or keep the row until its label comes."""
        said = self._fleet.observe(np.array([row.x]), [KEY], [row.id])
        state = self._state
        state.waiting[row.id] = row.moment
        self._figures = self._current_figures()
        self._add(row, OBSERVED, **prediction(said, 0))
        if row.id in state.held:
            self._learn_late(state.held.pop(row.id))
        if len(state.waiting) > MAX_WAITING:
            self._give_up([next(iter(state.waiting))], f"more than {MAX_WAITING:,} rows of the key wait")

    def _learn(self, rows: list[KeyRow]) -> None:
        """Predict and learn rows, in pieces that end where the columns that move are reported."""
        while rows:
            n = ROWS_PER_REPORT - self._figures["n_rows"] % ROWS_PER_REPORT
            self._learn_piece(rows[:n])
            rows = rows[n:]

    def _learn_piece(self, rows: list[KeyRow]) -> None:
        before, n_before, had_alarm = self._model_state(), self._figures["n_rows"], self._figures["has_alarm"]
        try:
            X, y = np.array([row.x for row in rows]), np.array([row.label for row in rows])
            said = self._fleet.step(X, y, np.full(len(rows), KEY))
        except DataError as error:
            if len(rows) == 1:
                self._refuse(rows[0], self._problem_of(rows[0], error))
            else:
                for row in rows:
                    self._learn_piece([row])
            return
        after = self._current_figures()
        alarm = self._fleet.model(KEY).alarm_ if after["has_alarm"] and not had_alarm else None
        n_until_alarm = len(rows) if alarm is None else alarm.raised_at + 1 - n_before
        if n_until_alarm < len(rows):  # once more, with a piece that ends with the row that raises the alarm
            self._load(before)
            self._learn_piece(rows[:n_until_alarm])
            self._learn_piece(rows[n_until_alarm:])
            return
        for t, (row, figures) in enumerate(
            zip(rows, figures_between(rows, said, self._figures, after, self._settings.delta), strict=True)
        ):
            self._figures = figures
            is_last = t == len(rows) - 1
            self._add(row, LEARNED, **prediction(said, t), **(self._report(had_alarm) if is_last else {}))

    # Figures and outcomes ---------------------------------------------------------------------------------

    def _report(self, had_alarm: bool) -> Outcome:
        """Return what is known of changes now, if an alarm has just been raised or so many labels were learned."""
        is_raised = self._figures["has_alarm"] and not had_alarm
        if not is_raised and self._figures["n_rows"] % ROWS_PER_REPORT:
            return {}
        model = self._fleet.model(KEY)
        columns = moving_columns(model.drift(columns=self._settings.columns))
        moved = [dict(zip(MOVED, each, strict=True)) for each in columns]
        return {"moved": moved, "alarm_since": model.alarm_.since if is_raised and model.alarm_ else None}

    def _current_figures(self) -> Outcome:
        if KEY not in self._fleet:
            return NO_FIGURES
        (status,) = self._fleet.status([KEY])
        figures = {name: status[name].item() for name in FIGURES}
        return figures | {"error": None} if math.isnan(figures["error"]) else figures

    def _add(self, row: KeyRow, event: str, **values: Any) -> None:
        self._outcomes.append(outcome(row, event, self._figures, **values))

    def _refuse(self, row: KeyRow, problem: str) -> None:
        self._add(row, REFUSED, problem=problem)

    def _problem_of(self, row: KeyRow, error: DataError) -> str:
        return problem_of(row, self._settings, error, is_waiting=row.id in self._state.waiting)

    # The model --------------------------------------------------------------------------------------------

    def _model_state(self) -> bytes | None:
        return self._fleet.key_state(KEY) if KEY in self._fleet else None

    def _load(self, model: bytes | None) -> None:
        """Let the only key of the fleet go on from bytes, or begin anew."""
        if KEY in self._fleet:
            self._fleet.remove(KEY)
        if model is not None:
            self._fleet.set_key_state(KEY, model, trusted=True)
        self._figures = self._current_figures()
