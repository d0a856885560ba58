"""Rows and labels for the checks, in the range that a classifier accepts according to its tags."""

from typing import Any

import numpy as np
from sklearn.utils import get_tags

from driftline.checks.classifier_under_test import is_multi_class
from driftline.streams import RotatingGaussians
from driftline.types import Labels, Matrix


def to_accepted_range(estimator: Any, X: Matrix) -> Matrix:
    """Return the rows, shifted to positive numbers if the classifier accepts no others."""
    return X - np.nanmin(X, axis=0) if get_tags(estimator).input_tags.positive_only else X


def separated_classes(estimator: Any, n_rows: int, n_classes: int = 2, seed: int = 0) -> tuple[Matrix, Labels]:
    """Return rows of well-separated classes, in three columns."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    y[:n_classes] = np.arange(n_classes)
    corners = np.array([[i % 3, i // 3 % 3, i // 9] for i in range(n_classes)], float)
    centres = np.array([[-2.0] * 3, [2.0] * 3]) if n_classes == 2 else 6.0 * corners
    return to_accepted_range(estimator, centres[y] + rng.normal(size=(n_rows, 3))), y


def overlapping_classes(estimator: Any, n_rows: int = 40, seed: int = 0) -> tuple[Matrix, Labels]:
    """Return rows of overlapping classes, of which one occurs late, with missing values if they are allowed."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3 if is_multi_class(estimator) else 2, n_rows)
    y[: n_rows // 3] %= 2
    X = 1.5 * np.eye(3)[y] + rng.normal(size=(n_rows, 3))
    X[5] = X[4]
    if get_tags(estimator).input_tags.allow_nan:
        X[n_rows // 4, 1] = X[n_rows // 2, 2] = np.nan
    return to_accepted_range(estimator, X), y


def drifting_classes(estimator: Any, n_rows: int) -> tuple[Matrix, Labels]:
    """Return rows of two classes that exchange places again and again."""
    X, y = RotatingGaussians().sample(n_rows, seed=0)
    return to_accepted_range(estimator, X), y
