"""What happens to the rows of one key: they are predicted, learned, kept until their labels come, or refused."""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from driftline.adapters.spark.outcomes import (
    EXPIRED,
    FIGURES,
    LABELLED,
    LEARNED,
    MOVED,
    NO_FIGURES,
    OBSERVED,
    PREDICTED,
    REFUSED,
    KeyRow,
    KeyState,
)
from driftline.adapters.spark.settings import Settings
from driftline.errors import DataError
from driftline.fleet import AMRCFleet, FleetPredictions
from driftline.guarantees.alarm import moving_columns
from driftline.guarantees.error_interval import error_interval

KEY = 0
"""The only key of the fleet: the key whose rows are processed."""
ROWS_PER_REPORT = 100
"""After so many labels of a key, the columns that move are reported."""
MAX_WAITING = 1_000
"""Largest number of rows of a key that wait for labels; the oldest are given up, so that the state stays small."""

Outcome = dict[str, Any]
"""The values of a row of the result, by column; those that it lacks are null."""


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
        together: list[KeyRow] = []
        for row in in_order(rows):
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
        """Give up rows that waited too long before a time; forget the key if it was idle too long."""
        timeout, time_to_live, state = self._settings.label_timeout, self._settings.time_to_live, self._state
        if timeout is not None:
            late = [row_id for row_id, since in state.waiting.items() if since + timeout < moment]
            self._give_up(late, "no label came within label_timeout")
        if time_to_live is not None and state.last is not None and state.last + time_to_live < moment:
            self._give_up(list(state.waiting), "no row of the key came within time_to_live")
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

    # Rows -------------------------------------------------------------------------------------------------

    def _is_learned_at_once(self, row: KeyRow) -> bool:
        """Return whether a row has a label, and is not the label of an earlier row."""
        is_late = row.id is not None and (row.id in self._state.waiting or not row.has_features)
        return row.label is not None and not is_late

    def _process_other(self, row: KeyRow) -> None:
        """Process a row that is not learned at once."""
        try:
            if row.label is not None:
                self._learn_late(row)
            elif not row.has_features:
                self._refuse(row, "the row has neither features nor a label")
            elif row.id is None:
                said = self._fleet.predict_with_guarantees(np.array([row.x]), [KEY])
                self._add(row, PREDICTED, **_prediction(said, 0))
            else:
                self._observe(row)
        except DataError as error:
            self._refuse(row, str(error))

    def _learn_late(self, row: KeyRow) -> None:
        """Learn the label of a row that waits."""
        had_alarm = self._figures["has_alarm"]
        if row.id not in self._state.waiting or not self._fleet.label([KEY], [row.id], [row.label])[0]:
            self._state.waiting.pop(row.id, None)
            self._refuse(row, f"no row with the id {row.id!r} waits for a label: none came, or it was given up")
            return
        del self._state.waiting[row.id]
        self._figures = self._current_figures()
        self._add(row, LABELLED, **self._report(had_alarm))

    def _observe(self, row: KeyRow) -> None:
        """Predict a row, and keep it until its label comes."""
        said = self._fleet.observe(np.array([row.x]), [KEY], [row.id])
        self._state.waiting[row.id] = row.moment  # type: ignore[assignment]  # rows without a time are refused
        self._figures = self._current_figures()
        self._add(row, OBSERVED, **_prediction(said, 0))
        if len(self._state.waiting) > MAX_WAITING:
            self._give_up([next(iter(self._state.waiting))], f"more than {MAX_WAITING:,} rows of the key wait")

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
                self._refuse(rows[0], str(error))
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
        for t, (row, figures) in enumerate(zip(rows, self._figures_between(rows, said, after), strict=True)):
            self._figures = figures
            is_last = t == len(rows) - 1
            self._add(row, LEARNED, **_prediction(said, t), **(self._report(had_alarm) if is_last else {}))

    # Figures and outcomes ---------------------------------------------------------------------------------

    def _figures_between(self, rows: list[KeyRow], said: FleetPredictions, after: Outcome) -> list[Outcome]:
        """Return the figures after each row that was learned; `after` are those after the last one."""
        figures, answered, so_far = [], ~np.ma.getmaskarray(said.answers), self._figures
        for row, predicted, is_answered in zip(rows[:-1], said.labels.tolist(), answered.tolist(), strict=False):
            is_wrong = predicted != row.label
            interval = error_interval(so_far["n_rows"] + 1, so_far["n_wrong"] + is_wrong, self._settings.delta)
            so_far = so_far | {
                "n_rows": interval.n_rows,
                "n_wrong": interval.n_wrong,
                "error": interval.error,
                "low": interval.low,
                "high": interval.high,
                "n_answered": so_far["n_answered"] + is_answered,
                "n_wrong_answers": so_far["n_wrong_answers"] + (is_answered and is_wrong),
            }
            figures.append(so_far)
        return [*figures, after]

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
        self._outcomes.append(_outcome(row, event, self._figures, **values))

    def _refuse(self, row: KeyRow, problem: str) -> None:
        self._add(row, REFUSED, problem=problem)

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


def refuse_without_key(rows: Iterable[KeyRow]) -> list[Outcome]:
    """Return the outcomes of rows that have no key."""
    return [_outcome(row, REFUSED, NO_FIGURES, problem="the row has no key") for row in rows]


def in_order(rows: Iterable[KeyRow]) -> list[KeyRow]:
    """Return rows by time. At the same time labels come last, and the order depends on nothing but the values.

    Spark passes rows on in any order, which is another one when it repeats a task.
    """
    rows = list(rows)
    if len({row.moment for row in rows}) == len(rows):
        return sorted(rows, key=lambda row: -math.inf if row.moment is None else row.moment)
    return sorted(rows, key=_order)


def _order(row: KeyRow) -> tuple[Any, ...]:
    return row.moment is not None, row.moment or 0, not row.has_features, row.label is not None, repr(row)


def _outcome(row: KeyRow, event: str, figures: Outcome, **values: Any) -> Outcome:
    given = {"moment": row.moment, "id": row.id, "label": row.label, "event": event}
    return given | figures | values


def _prediction(said: FleetPredictions, t: int) -> Outcome:
    """Return what was said of row t."""
    label = said.labels[t].item()
    return {
        "prediction": label,
        "answer": None if np.ma.getmaskarray(said.answers)[t] else label,
        "confidence": float(said.confidences[t]),
    }
