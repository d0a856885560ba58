"""The columns of the result, and the values that a row has in them."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from driftline.adapters.spark.key_state import KeyRow
from driftline.fleet import FleetPredictions
from driftline.guarantees.error_interval import error_interval

LEARNED, PREDICTED, OBSERVED, LABELLED, HELD, EXPIRED, ACKNOWLEDGED, REFUSED = (
    "learned",
    "predicted",
    "observed",
    "labelled",
    "held",
    "expired",
    "acknowledged",
    "refused",
)
"""What happened to a row: it was predicted, and then learned, or left, or kept until its label comes; it was a label,
which was learned, or is held until its row comes; label or row did not come in time; it armed the alarm again; or it
cannot be used."""

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


Outcome = dict[str, Any]
"""The values of a row of the result, by column; those that it lacks are null."""


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


def outcome(row: KeyRow, event: str, figures: Outcome, **values: Any) -> Outcome:
    """Return the values of a row of the result."""
    given = {"moment": row.moment, "id": row.id, "label": row.label, "event": event}
    return given | figures | values


def refuse_without_key(rows: Iterable[KeyRow]) -> list[Outcome]:
    """Return the outcomes of rows that have no key."""
    return [outcome(row, REFUSED, NO_FIGURES, problem="the row has no key") for row in rows]


def prediction(said: FleetPredictions, t: int) -> Outcome:
    """Return what was said of row t."""
    label = said.labels[t].item()
    return {
        "prediction": label,
        "answer": None if np.ma.getmaskarray(said.answers)[t] else label,
        "confidence": float(said.confidences[t]),
    }


def figures_between(
    rows: list[KeyRow], said: FleetPredictions, before: Outcome, after: Outcome, delta: float
) -> list[Outcome]:
    """Return the figures after each row that was learned; `before` and `after` are those of the whole."""
    figures, answered, so_far = [], ~np.ma.getmaskarray(said.answers), before
    for row, predicted, is_answered in zip(rows[:-1], said.labels.tolist(), answered.tolist(), strict=False):
        is_wrong = predicted != row.label
        interval = error_interval(so_far["n_rows"] + 1, so_far["n_wrong"] + is_wrong, delta)
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
