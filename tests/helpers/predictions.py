"""Records of predictions without a classifier."""

import numpy as np

from driftline.types import Predictions, Status


def predictions_with_bounds(predicted, label_probabilities, bounds, *, statuses=None, charges=None, seconds=(0.0, 0.0)):
    """Return a record with the columns that tests need; by default, the charges are the bounds."""
    n = len(predicted)
    return Predictions(
        predicted=predicted,
        labels=predicted,
        probabilities=np.zeros((n, 0)),
        label_probabilities=label_probabilities,
        bounds=bounds,
        statuses=np.full(n, Status.OK, dtype=object) if statuses is None else statuses,
        is_void=np.zeros(n, bool),
        charges=bounds if charges is None else charges,
        excesses=np.zeros(n),
        predict_seconds=np.full(n, seconds[0]),
        learn_seconds=np.full(n, seconds[1]),
    )
