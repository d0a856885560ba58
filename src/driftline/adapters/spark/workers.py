"""What Spark runs on its workers: `KeyLearner`, with the rows of a key and its state."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, StatefulProcessorHandle, TimerValues

from driftline.adapters.spark.key_learner import KeyLearner
from driftline.adapters.spark.key_state import KeyRow, KeyState
from driftline.adapters.spark.outcomes import Outcome, refuse_without_key
from driftline.adapters.spark.settings import Settings

OUTCOMES_PER_TEXT = 1_000
"""Most outcomes in a text, so that it stays small when a key has many rows."""


class KeyProcessor(StatefulProcessor):  # type: ignore[misc]  # mypy skips Spark
    """Predicts and learns the rows of one key at a time.

    Spark keeps one value for each key: the bytes of the model, with the names of the features and the labels that wait
    for rows; the time of the newest row; the rows that wait for labels; and the time of the timer.

    Parameters
    ----------
    settings : Settings
        What all keys have in common.
    id_type : str
        The type of ids in Spark.
    """

    def __init__(self, settings: Settings, id_type: str) -> None:
        self._settings = settings
        self._schema = f"model binary, last bigint, waiting array<struct<id: {id_type}, moment: bigint>>, timer bigint"

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state; Spark calls this first."""
        self._handle = handle
        self._value = handle.getValueState("key", self._schema)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: TimerValues) -> Iterator[Row]:
        """Return the results of new rows of a key."""
        if key[0] is None:
            return self._results(key, refuse_without_key(key_rows(rows)))
        state, timer = self._load()
        outcomes = KeyLearner(self._settings, state).process(key_rows(rows))
        self._store(state, timer)
        return self._results(key, outcomes)

    def handleExpiredTimer(
        self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[Row]:
        """Return what happens to a key whose timer the watermark has passed; Spark then deletes the timer."""
        state, _ = self._load()
        moment = timerValues.getCurrentWatermarkInMs() * 1000
        outcomes = KeyLearner(self._settings, state).expire(moment)
        self._store(state, None)
        return self._results(key, outcomes)

    def close(self) -> None:
        """Do nothing; Spark calls this last."""

    def _load(self) -> tuple[KeyState, int | None]:
        value = self._value.get()
        if value is None:
            return KeyState(), None
        model, last, waiting, timer = value
        state = KeyState(last=last, waiting=dict(map(tuple, waiting)))
        state.restore(None if model is None else bytes(model), self._settings)
        return state, timer

    def _store(self, state: KeyState, timer: int | None) -> None:
        """Keep the state of a key, or nothing if it is forgotten; set the timer if it is too late or missing."""
        deadline = state.deadline(self._settings)
        if deadline is not None and (timer is None or timer > _timer_after(deadline)):
            if timer is not None:
                self._handle.deleteTimer(timer)
            timer = _timer_after(deadline)
            self._handle.registerTimer(timer)
        if state.model is None and state.last is None:
            self._value.clear()
        else:
            data = state.to_bytes(self._settings)
            self._value.update((data, state.last, list(state.waiting.items()), timer))

    def _results(self, key: Any, outcomes: list[Outcome]) -> Iterator[Row]:
        for text in as_json(outcomes):
            yield Row(key=key[0], outcomes=text)


def back_test(settings: Settings) -> Callable[[pa.Table], pa.Table]:
    """Return the function that Spark calls with all rows of a key of a static DataFrame."""

    def learn(rows: pa.Table) -> pa.Table:
        key, given = rows["key"][0], key_rows(rows.to_pylist())
        learner = KeyLearner(settings, KeyState())
        texts = as_json(learner.process(given) if key.is_valid else refuse_without_key(given))
        return pa.table({"key": pa.repeat(key, len(texts)), "outcomes": pa.array(texts, pa.string())})

    return learn


def as_json(outcomes: list[Outcome]) -> list[str]:
    """Return outcomes as texts, which Spark takes apart much faster than it takes rows from Python."""
    return [json.dumps(outcomes[t : t + OUTCOMES_PER_TEXT]) for t in range(0, len(outcomes), OUTCOMES_PER_TEXT)]


def key_rows(rows: Iterable[Any]) -> Iterator[KeyRow]:
    """Yield rows of Spark as rows of a key."""
    for row in rows:
        given = row["x"]
        x = None if given is None else [float("nan") if value is None else value for value in given]
        yield KeyRow(row["moment"], row["id"], x, row["label"])


def _timer_after(moment: int) -> int:
    """Return the first millisecond after a time in microseconds."""
    return moment // 1000 + 1
