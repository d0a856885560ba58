"""Rows, keys and labels that callers give to a fleet, checked."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from driftline.core.class_list import ClassList
from driftline.errors import DataError
from driftline.types import LabelArray, Labels, Matrix
from driftline.utils.validation import read_ids, read_rows


def read_keys(keys: Any, n_rows: int | None = None) -> list[Any]:
    """Return keys as plain numbers and texts; raise DataError if they are not such, or if there are not `n_rows`."""
    if type(keys) is np.ndarray and keys.ndim == 1 and keys.dtype.kind in "iu" and n_rows in (None, len(keys)):
        return list(keys.tolist())  # the checks of others take as long as learning a row
    return list(read_ids(keys, n_rows, "key").tolist())


def is_key(value: Any) -> bool:
    """Return whether a value can be a key."""
    try:
        read_keys([value])
    except DataError:
        return False
    return True


def names_of_columns(X: Any) -> list[str] | None:
    """Return the names of the columns of a table; None if they have none."""
    for attribute in ("columns", "column_names"):  # in pyarrow, the former are the values
        given = getattr(X, attribute, None)
        names = list(given) if isinstance(given, Iterable) else []
        if names and all(isinstance(name, str) for name in names):
            return names
    return None


def names_of_model(model: Any) -> list[str] | None:
    """Return the names of the columns that a model has learned from; None if they had none."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else list(names)


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
