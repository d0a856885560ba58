"""Checks over many rows: the model learns, and its memory is bounded."""

import pickle
from typing import Any

import numpy as np

from driftline.checks.data import drifting, gaussians
from driftline.checks.subjects import fresh, learn

BATCH = 100


def check_memory_is_bounded(estimator: Any) -> None:
    """Check that the pickled model stops growing: after 2,000 rows of a drifting stream, by less than one byte a row.

    What keeps anything of every row needs at least that. Windows and budgets should be full by then: check the
    estimator with small ones.
    """
    X, y = drifting(estimator, 4000)
    model, sizes = fresh(estimator), []
    for first in range(0, len(X), BATCH):
        learn(model, X[first : first + BATCH], y[first : first + BATCH], np.unique(y))
        sizes.append(len(pickle.dumps(model)))
    half = len(sizes) // 2
    early, late = max(sizes[:half]), max(sizes[half:])
    if late - early >= half * BATCH:
        raise AssertionError(
            f"4,000 rows: expected less than {half * BATCH:,} bytes more than in the first 2,000 rows; "
            f"the pickled model grew from {early:,} to {late:,} bytes"
        )


def check_it_learns(estimator: Any) -> None:
    """Check that of two classes that lie well apart, less than a tenth of rows 1,001 to 1,500 is mistaken.

    Not asked of those whose tag `classifier_tags.poor_score` says that they do not learn so well.
    """
    X, y = gaussians(estimator, 1500)
    model, wrong = learn(fresh(estimator), X[:25], y[:25], np.unique(y)), 0
    for first in range(25, len(X), 25):
        rows = slice(first, first + 25)
        if first >= 1000:
            wrong += int(np.count_nonzero(model.predict(X[rows]) != y[rows]))
        learn(model, X[rows], y[rows], np.unique(y))
    if wrong >= 50:
        raise AssertionError(
            f"two classes well apart: expected less than 50 mistakes in rows 1,001 to 1,500; got {wrong} "
            "(one that cannot do better says so by the tag classifier_tags.poor_score)"
        )
