"""The figures of a summary about classes: what was predicted of each, and how well probabilities order their rows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from driftline.evaluation.metrics import METRICS, Measured, f1_scores, precisions, ranking, recalls

MAX_CONFUSION_LABELS = 100
"""Largest number of labels for which the numbers of all pairs of a label and a prediction are listed."""


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """The figures of one class.

    Attributes
    ----------
    label
        Its label.
    precision
        Share of right predictions of this class; None if it was never predicted.
    recall
        Share of its rows that were predicted as such.
    f1
        The harmonic mean of both, 0 if it was never predicted.
    support, predicted
        Number of its rows, and of the rows in which it was predicted.
    """

    label: Any
    precision: float | None
    recall: float
    f1: float
    support: int
    predicted: int


@dataclass(frozen=True, slots=True)
class Confusion:
    """Numbers of rows by label and predicted label.

    Attributes
    ----------
    labels : list
        Labels and predicted labels, in the order of their first rows.
    matrix : list of list of int
        One list for each label; its entries are the predicted labels in the same order. Rows that were predicted
        before any class was known are not counted.
    """

    labels: list[Any]
    matrix: list[list[int]]


def confusion(pairs: Counter[tuple[Any, Any]]) -> Confusion | None:
    """Return the numbers of rows by label and predicted label; None with more than 100 labels.

    Examples
    --------
    >>> confusion(Counter({("a", None): 1, ("a", "a"): 5, ("b", "a"): 2}))
    Confusion(labels=['a', 'b'], matrix=[[5, 0], [2, 0]])
    """
    labels = [label for label, _ in pairs] + [predicted for _, predicted in pairs if predicted is not None]
    position = {label: k for k, label in enumerate(dict.fromkeys(labels))}
    if len(position) > MAX_CONFUSION_LABELS:
        return None
    matrix = np.zeros((len(position), len(position)), np.int64)
    for (label, predicted), count in pairs.items():
        if predicted is not None:
            matrix[position[label], position[predicted]] += count
    return Confusion(list(position), matrix.tolist())


def class_summary(measured: Measured, labels: Sequence[Any]) -> dict[str, Any]:
    """Return the figures of a `Summary` that are computed from counts by class.

    Parameters
    ----------
    measured : Measured
        The counts of all rows.
    labels : sequence of label
        The labels that occurred, in the order of the counts.

    Returns
    -------
    dict
        Figures by the names of the attributes of `Summary`.
    """
    counts, areas = measured.counts, ranking(measured)
    shares = np.column_stack([precisions(counts), recalls(counts), f1_scores(counts)]).tolist()
    per_class = tuple(
        ClassFigures(
            label,
            precision=shares[k][0] if counts.predicted[k] else None,
            recall=shares[k][1],
            f1=shares[k][2],
            support=int(counts.support[k]),
            predicted=int(counts.predicted[k]),
        )
        for k, label in enumerate(labels)
    )
    figures = {"per_class": per_class} | {
        name.replace("-", "_"): METRICS[name].value(measured) for name in ("balanced-accuracy", "g-mean", "macro-f1")
    }
    return figures if areas is None else figures | asdict(areas)
