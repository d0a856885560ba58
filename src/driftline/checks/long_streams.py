"""Checks with many rows: the model learns, and its memory is bounded."""

import pickle
from typing import Any

import numpy as np

from driftline.checks.classifier_under_test import learn, unfitted_copy
from driftline.checks.sample_data import drifting_classes, separated_classes

BATCH_ROWS = 100
"""Number of rows in a batch."""


def check_memory_is_bounded(estimator: Any) -> None:
    """Check that the pickled model grows by less than one byte a row after 2,000 rows of a drifting stream.

    A model that stores something of every row grows faster. Windows and budgets must be full after 2,000 rows: check
    an estimator with small ones.
    """
    X, y = drifting_classes(estimator, 4000)
    model, sizes = unfitted_copy(estimator), []
    for first in range(0, len(X), BATCH_ROWS):
        learn(model, X[first : first + BATCH_ROWS], y[first : first + BATCH_ROWS], np.unique(y))
        sizes.append(len(pickle.dumps(model)))
    half = len(sizes) // 2
    early, late = max(sizes[:half]), max(sizes[half:])
    if late - early >= half * BATCH_ROWS:
        raise AssertionError(
            f"4,000 rows: expected less than {half * BATCH_ROWS:,} bytes more than in the first 2,000 rows; "
            f"the pickled model grew from {early:,} to {late:,} bytes"
        )


def check_easy_classes_are_learned(estimator: Any) -> None:
    """Check that the error for two well-separated classes is below 10 % in rows 1,001 to 1,500.

    Classifiers with the tag `classifier_tags.poor_score` are not checked.
    """
    X, y = separated_classes(estimator, 1500)
    model, wrong = learn(unfitted_copy(estimator), X[:25], y[:25], np.unique(y)), 0
    for first in range(25, len(X), 25):
        rows = slice(first, first + 25)
        if first >= 1000:
            wrong += int(np.count_nonzero(model.predict(X[rows]) != y[rows]))
        learn(model, X[rows], y[rows], np.unique(y))
    if wrong >= 50:
        raise AssertionError(
            f"two well-separated classes: expected less than 50 mistakes in rows 1,001 to 1,500; got {wrong} "
            "(set the tag classifier_tags.poor_score if the classifier cannot do better)"
        )
