"""The confusion matrix of a report, and the figures of each class."""

from dataclasses import dataclass

import numpy as np

from driftline.evaluation import ClassFigures, Summary
from driftline.report.formatting import visible_text
from driftline.types import Matrix

MAX_CLASSES = 20
"""With more classes, the 19 most frequent are shown, and the others together."""
MAX_COUNTED_CLASSES = 8
"""With more classes, a cell has only a share, and the count is shown on demand."""
STRONGEST_SHADE = 50
"""Percentage of the colour in a cell that has all rows of a class; more would make the text hard to read.
The strength grows with the square root of the share, so that rare mistakes are seen."""


@dataclass(frozen=True, slots=True)
class ConfusionCell:
    """A cell of the confusion matrix.

    Attributes
    ----------
    count
        Number of rows.
    share
        Their share among the rows of the class, as text; empty if there is no row.
    shade
        Strength of the background colour, in percent.
    is_right
        Whether the prediction is right.
    note
        What the cell says, in words.
    """

    count: int
    share: str
    shade: int
    is_right: bool
    note: str


@dataclass(frozen=True, slots=True)
class ConfusionTable:
    """The confusion matrix as the page shows it.

    Attributes
    ----------
    names
        Names of the classes, the most frequent first.
    rows
        The cells of each class, by predicted class.
    has_counts
        Whether cells have room for counts.
    """

    names: list[str]
    rows: list[list[ConfusionCell]]
    has_counts: bool


def confusion_table(summary: Summary) -> ConfusionTable | None:
    """Return the confusion matrix; None if there are more than 100 classes or only one."""
    if summary.confusion is None or len(summary.confusion.labels) < 2:
        return None
    counts = np.array(summary.confusion.matrix)
    order = np.argsort(-counts.sum(axis=1), kind="stable")
    counts = counts[np.ix_(order, order)]
    names = [visible_text(summary.confusion.labels[k]) for k in order.tolist()]
    right = np.diag(counts).copy()
    if len(names) > MAX_CLASSES:
        first = MAX_CLASSES - 1
        right = np.append(right[:first], right[first:].sum())
        counts, names = _merged(counts, first), [*names[:first], f"{len(names) - first} others"]
    cells = [_cells(counts[i].tolist(), i, names, int(right[i])) for i in range(len(names))]
    return ConfusionTable(names, cells, has_counts=len(names) <= MAX_COUNTED_CLASSES)


def _merged(counts: Matrix, first: int) -> Matrix:
    """Return the matrix with all classes from one on as a single class."""
    starts = np.arange(first + 1)
    merged: Matrix = np.add.reduceat(np.add.reduceat(counts, starts, axis=0), starts, axis=1)
    return merged


def _cells(counts: list[int], i: int, names: list[str], n_right: int) -> list[ConfusionCell]:
    """Return the cells of a class, of which so many rows were predicted right."""
    total, cells = max(sum(counts), 1), []
    for j, count in enumerate(counts):
        share = count / total
        note = f"{count:,} of {total:,} rows of {names[i]} were predicted as {names[j]}"
        if i == j and n_right != count:
            note += f", {n_right:,} of them as the right one"
        cells.append(ConfusionCell(count, _share_text(share), round(STRONGEST_SHADE * share**0.5), i == j, note))
    return cells


def _share_text(share: float) -> str:
    """Return a share in whole percents, without the sign; empty for 0."""
    if not share:
        return ""
    return "<1" if share < 0.005 else f"{100.0 * share:.0f}"


def listed_classes(summary: Summary) -> list[ClassFigures]:
    """Return the figures of the most frequent classes, and those of the positive class."""
    classes = sorted(summary.per_class, key=lambda figures: -figures.support)
    positive = [figures for figures in classes[MAX_CLASSES:] if figures.label == summary.positive]
    return [*classes[:MAX_CLASSES], *positive]
