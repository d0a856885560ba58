"""What was said of single rows, as arrays for a model file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from driftline.core.schema import ArraySpec, Length, Schema
from driftline.guarantees.settings import Guarantees
from driftline.kernels.confidence import N_FEATURES
from driftline.kernels.statements import ON_TRIAL, RowStatements
from driftline.types import State

UNSAID = -1
"""Position of the predicted class where nothing was said of a row."""
MAX_FEATURE = 10.0
"""No feature of a confidence is larger: they are logarithms of bounded numbers."""


def row_of(said: RowStatements, t: int) -> RowStatements:
    """Return what was said of row t alone, with memory of its own."""
    arrays: list[Any] = [array[t : t + 1].copy() for array in said]
    return RowStatements(*arrays)


def blank_statements(n: int, n_classes: int, guarantees: Guarantees) -> RowStatements:
    """Return arrays of zeros for what is said of n rows."""
    n_errors, n_sets = len(guarantees.errors), len(guarantees.coverages)
    return RowStatements(
        predicted=np.zeros(n, np.int64),
        features=np.zeros((n, N_FEATURES)),
        confidences=np.zeros(n),
        like_errors=np.zeros((n, 3)),
        decisions=np.zeros((n, n_errors), np.int8),
        class_probabilities=np.zeros((n, n_classes)),
        sets=np.zeros((n, n_sets, n_classes), np.bool_),
    )


def joined(rows: Sequence[RowStatements | None], n_classes: int, guarantees: Guarantees) -> RowStatements:
    """Return what was said of single rows as one record; None stands for nothing, and has the prediction -1."""
    whole = blank_statements(len(rows), n_classes, guarantees)
    whole.predicted[:] = UNSAID
    for t, row in enumerate(rows):
        if row is not None:
            c = row.class_probabilities.shape[1]
            for name in ("predicted", "features", "confidences", "like_errors", "decisions"):
                getattr(whole, name)[t] = getattr(row, name)[0]
            whole.class_probabilities[t, :c], whole.sets[t, :, :c] = row.class_probabilities[0], row.sets[0]
    return whole


def statement_schema(n: Length, n_classes: int, guarantees: Guarantees) -> Schema:
    """Return what each of these arrays must be in a file."""
    specs = {
        "predicted": ArraySpec((n,), np.int64, UNSAID, max(n_classes - 1, UNSAID)),
        "features": ArraySpec((n, N_FEATURES), low=-MAX_FEATURE, high=MAX_FEATURE),
        "confidences": ArraySpec((n,), low=0.0, high=1.0),
        "like_errors": ArraySpec((n, 3), low=0.0, high=1.0),
        "decisions": ArraySpec((n, len(guarantees.errors)), np.int8, 0, ON_TRIAL),
        "class_probabilities": ArraySpec((n, n_classes), low=0.0, high=1.0),
        "sets": ArraySpec((n, len(guarantees.coverages), n_classes), np.bool_, False, True),
    }
    return {name: replace(spec, since=3) for name, spec in specs.items()}


def separated(state: State) -> list[RowStatements | None]:
    """Return what was said of each row, from the arrays of a record that `joined` returned."""
    arrays: list[Any] = [np.array(state[name]) for name in RowStatements._fields]
    said = RowStatements(*arrays)
    return [None if k == UNSAID else row_of(said, t) for t, k in enumerate(said.predicted.tolist())]
