"""How many rows a weighted row counts as."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from driftline.core.schema import ArraySpec, Schema
from driftline.core.state import ArrayState
from driftline.errors import ConfigError
from driftline.types import Indices, LabelArray, Labels, Vector
from driftline.utils.validation import real_number

BALANCED = "balanced"
MAX_COPIES = 100.0
"""A row counts as at most so many rows, which limits the time that it takes."""
MAX_ROWS = 2.0**40
"""Most rows, and largest mean of the sample weights, in a file."""


class RowWeights(ArrayState):
    """Turns weights of rows and classes into whole numbers of rows.

    The weight of a row is its sample weight, relative to the mean of the sample weights so far, times the weight of its
    class, relative to the smallest class weight. What is left over when it is rounded down is added to the next row of
    its class, so that over many rows each class counts as its weights say. The first row of a class counts as one.

    Parameters
    ----------
    class_weight : "balanced", mapping or None
        As in `AMRC`.
    n_rows : int, default=0
        Number of rows that were learned before, with weight 1.
    """

    def __init__(self, class_weight: Any, n_rows: int = 0) -> None:
        self._class_weight = class_weight
        self._of_classes: Vector = np.zeros(0)
        """The weight of each class, from a mapping."""
        self._counts: Vector = np.zeros(0)
        self._remainders: Vector = np.zeros(0)
        self._sample_weights: Vector = np.array([float(n_rows), 1.0 if n_rows else 0.0])
        """Number and mean of the sample weights so far."""
        self._waited: Vector = np.zeros(1)
        """Time since the last row that was learned, if rows after it counted as none."""

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions; until they are named, their weight is 1."""
        self._counts = np.append(self._counts, np.zeros(n))
        self._remainders = np.append(self._remainders, np.zeros(n))
        self._of_classes = np.append(self._of_classes, np.ones(n))

    def name_classes(self, labels: LabelArray) -> None:
        """Set the labels of the classes, which a mapping of class weights is about."""
        if isinstance(self._class_weight, Mapping):
            weights = np.array([float(self._class_weight.get(label, 1.0)) for label in labels.tolist()])
            self._of_classes = weights / weights.min() if weights.size else weights

    def copies(self, labels: Labels, weights: Vector | None) -> Indices | None:
        """Return as how many rows each row counts; None if each counts as one, and so did the row before them.

        `weights` are the sample weights, 1 by default.
        """
        copies = np.empty(len(labels), np.int64)
        for t, y in enumerate(labels.tolist()):
            weight = 1.0 if weights is None else float(weights[t])
            self.count(y, weight)
            due = self._remainders[y] + self._relative(y, weight)
            copies[t] = int(due)
            self._remainders[y] = due - copies[t]
        return None if (copies == 1).all() and not self._waited[0] else copies

    def count(self, y: int, weight: float) -> None:
        """Count a row of class y with this sample weight."""
        self._counts[y] += 1.0
        self._sample_weights[0] += 1.0
        self._sample_weights[1] += (weight - self._sample_weights[1]) / self._sample_weights[0]

    def elapse(self, elapsed: float, *, is_learned: bool) -> float:
        """Return the time that passed since the last row that was learned, for a row with this time before it."""
        total = float(self._waited[0]) + elapsed
        self._waited[0] = 0.0 if is_learned else total
        return total

    def _relative(self, y: int, weight: float) -> float:
        """Return the weight of a row of class y, at most `MAX_COPIES`."""
        is_balanced = self._class_weight == BALANCED
        of_class = self._counts.max() / self._counts[y] if is_balanced else self._of_classes[y]
        return min(float(of_class * (weight / self._sample_weights[1])), MAX_COPIES)

    def schema(self) -> Schema:
        """Return what each array must be in a file; a model that never saw a weight has none of them."""
        return schema_of_weights(len(self._counts))


def schema_of_weights(c: int) -> Schema:
    """Return what the arrays of `RowWeights` must be in a file of a model with c classes."""
    schema = {
        "counts": ArraySpec((c,), low=0.0, high=MAX_ROWS),
        "remainders": ArraySpec((c,), low=0.0, high=1.0),
        "sample_weights": ArraySpec((2,), low=0.0, high=MAX_ROWS),
        "waited": ArraySpec((1,), low=0.0),
    }
    return {name: replace(spec, is_optional=True) for name, spec in schema.items()}


def checked_class_weight(value: Any) -> Any:
    """Return a parameter `class_weight`; raise ConfigError if it is none."""
    if value is None or (isinstance(value, str) and value == BALANCED):
        return value
    if not isinstance(value, Mapping) or not value:
        raise ConfigError(f'class_weight must be None, "balanced" or a mapping {{label: weight}}; got {value!r}')
    for label, weight in value.items():
        real_number(f"class_weight[{label!r}]", weight, above=0.0, below=np.inf)
    return value


def class_weight_to_json(value: Any) -> Any:
    """Return a parameter `class_weight` as a JSON value; a mapping is a list of pairs."""
    if not isinstance(value, Mapping):
        return value
    return [[label.item() if hasattr(label, "item") else label, float(weight)] for label, weight in value.items()]


def class_weight_from_json(value: Any) -> Any:
    """Return what `class_weight_to_json` was given; raise ConfigError if that is not possible."""
    if not isinstance(value, list):
        return value
    try:
        return dict(value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"class_weight must be pairs of labels and weights; {error}") from error
