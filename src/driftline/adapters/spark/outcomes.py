"""The columns of the result, and what is kept of a key between two calls."""

import math
from dataclasses import dataclass, field
from typing import Any

from driftline.adapters.spark.settings import Settings

LEARNED, PREDICTED, OBSERVED, LABELLED, EXPIRED, REFUSED = (
    "learned",
    "predicted",
    "observed",
    "labelled",
    "expired",
    "refused",
)
"""What happened to a row: it was predicted, and then learned, or left, or kept until its label comes; its label came
later; its label did not come in time; or it cannot be used."""

FIGURES = {
    "n_rows": "bigint",
    "n_wrong": "bigint",
    "error": "double",
    "low": "double",
    "high": "double",
    "n_answered": "bigint",
    "n_wrong_answers": "bigint",
    "has_alarm": "boolean",
    "n_waiting": "bigint",
}
"""The figures of a key after a row, as in `AMRCFleet.status`, with their types in Spark."""
NO_FIGURES = dict.fromkeys(FIGURES, 0) | {"error": None, "low": 0.0, "high": 1.0, "has_alarm": False}
"""The figures of a key that has no model."""
MOVED = ("label", "column", "surprise")
"""What is said of a column that moves."""


def result_columns(label_type: str) -> dict[str, str]:
    """Return the columns that a result has after those of the row, with their types in Spark."""
    return {
        "event": "string",
        "prediction": label_type,
        "answer": label_type,
        "confidence": "double",
        **FIGURES,
        "alarm_since": "bigint",
        "moved": f"array<struct<{MOVED[0]}: {label_type}, {MOVED[1]}: string, {MOVED[2]}: double>>",
        "problem": "string",
    }


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A row of a key: a row with features, a label of an earlier row, or both.

    Attributes
    ----------
    moment : int or None
        Its time: microseconds, or a whole number.
    id : int, str or None
        By which the label finds its row.
    x : list of float
        The features; NaN where one is missing.
    label : object
        The label; None if it is not known.
    """

    moment: int | None
    id: Any
    x: list[float]
    label: Any

    @property
    def has_features(self) -> bool:
        """Whether any feature is known."""
        return not all(map(math.isnan, self.x))


@dataclass(slots=True)
class KeyState:
    """What is kept of a key between two calls.

    Attributes
    ----------
    model : bytes or None
        The state of its model; None if it has not learned or observed anything.
    last : int or None
        The time of its newest row.
    waiting : dict
        The ids of the rows that wait for their labels, with their times, the oldest first.
    """

    model: bytes | None = None
    last: int | None = None
    waiting: dict[Any, int] = field(default_factory=dict)

    def deadline(self, settings: Settings) -> int | None:
        """Return the time after which something happens to the key without new rows; None if nothing does."""
        deadlines = []
        if settings.label_timeout is not None and self.waiting:
            deadlines.append(next(iter(self.waiting.values())) + settings.label_timeout)
        if settings.time_to_live is not None and self.last is not None:
            deadlines.append(self.last + settings.time_to_live)
        return min(deadlines, default=None)
