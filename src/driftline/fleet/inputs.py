"""Rows, keys and labels that callers give to a fleet, checked."""

from typing import Any

import numpy as np

from driftline.core.class_list import ClassList
from driftline.errors import DataError
from driftline.types import LabelArray, Labels, Matrix
from driftline.utils.validation import read_ids, read_rows


def read_keys(keys: Any, n_rows: int) -> list[Any]:
    """Return keys as plain numbers and texts; raise DataError if they are not `n_rows` of these."""
    if isinstance(keys, np.ndarray) and keys.shape == (n_rows,) and keys.dtype.kind in "iu":
        return list(keys.tolist())  # the checks of others take as long as learning a row
    return list(read_ids(keys, n_rows).tolist())


def read_keyed_rows(X: Any, keys: Any, n_columns: int) -> tuple[Matrix, list[Any]]:
    """Return rows and the key of each; raise DataError if the rows do not have `n_columns` columns."""
    rows = read_rows(X)
    if rows.shape[1] != n_columns:
        raise DataError(f"X has {rows.shape[1]} columns, and the fleet {n_columns}")
    return rows, read_keys(keys, len(rows))


def positions_of(labels: LabelArray, classes: ClassList) -> Labels:
    """Return the positions of labels in a sorted list of classes; raise DataError if one is missing there."""
    classes.check(labels)
    known = classes.labels
    positions: Labels = np.minimum(np.searchsorted(known, labels), len(known) - 1)
    unknown = known[positions] != labels
    if unknown.any():
        row = int(np.argmax(unknown))
        raise DataError(
            f"the label of row {row} is {labels.tolist()[row]!r}, and the classes of the fleet are "
            f"{known.tolist()}; give all classes when the fleet begins"
        )
    return positions
