"""Rows that an ensemble has predicted and learned, and the record of their predictions."""

from typing import NamedTuple

import numpy as np

from driftline.kernels.mixing import largest_entries
from driftline.types import Labels, Matrix, Predictions, Status, Vector

NO_CHOICE = np.zeros(0, np.int64)
"""The choices of a rule without costs."""


class Learned(NamedTuple):
    """Rows that were predicted and then learned; each array has one entry for each row."""

    labels: Labels
    h: Matrix
    """The mixture's probabilities before the label was learned."""
    bounds: Vector
    """The calibrated bound before that."""
    rates: Vector
    """The bound on average before that."""
    chosen: Labels
    """The position of the label with the smallest expected cost; empty if there are no costs."""


def predictions_of(learned: Learned, *, predict_seconds: float = 0.0, learn_seconds: float = 0.0) -> Predictions:
    """Return rows with their predictions as a record."""
    labels, h, bounds, rates, _ = learned
    n, n_classes = h.shape
    statuses = np.full(n, Status.OK, dtype=object)
    statuses[bounds > guessing_error(n_classes)] = Status.LOOSE
    return Predictions.with_bounds(
        predicted=_predicted(learned) if n_classes else np.full(n, -1),
        labels=labels,
        probabilities=h,
        bounds=bounds,
        rates=rates,
        statuses=statuses,
        excesses=np.zeros(n),
        predict_seconds=np.full(n, predict_seconds / n),
        learn_seconds=np.full(n, learn_seconds / n),
    )


def guessing_error(n_classes: int) -> float:
    """Return the error of guessing; 0 before any class is known."""
    return 1.0 - 1.0 / max(n_classes, 1)


def _predicted(learned: Learned) -> Labels:
    """Return the position of the label that is predicted for each row."""
    return learned.chosen if learned.chosen.size else largest_entries(learned.h)
