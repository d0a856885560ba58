"""Counts by class over consecutive rows: labels, predictions, and the probabilities of each class, in bins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from driftline.evaluation.ranking_figures import MAX_BINS, bins_of
from driftline.types import Flags, Indices, LabelArray, Matrix, Predictions, Vector

MAX_CELLS = 4096
"""Largest number of classes × bins: with more classes, there are fewer bins."""
MIN_BINS = 8
"""With so many classes that there would be fewer bins, scores are not counted."""
SMALLEST_PROBABILITY = 1e-15
"""The probability of a true label is at least this in the log loss, which is therefore at most 34.5 for a row."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts:
    """Counts over consecutive rows; the sum of two is that of all their rows.

    Classes have positions in the list of a `ClassCounter`. Classes that became known later are missing at the end:
    until then they had no row, no prediction and probability 0.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    log_loss, squared_error : float
        Sums of ``-log p_y`` and of ``Σ_k (p_k - [k = y])²`` for probabilities p and label y; NaN without probabilities.
    support, predicted, hits : ndarray of shape (n_classes,)
        Rows of each class, rows in which it was predicted, and rows in which it was predicted and true.
    scores : ndarray of shape (2, n_classes, n_bins)
        For each class, the number of rows of other classes and of its own by the bin of its probability; without bins
        if the classifier gives no probabilities.
    """

    n_rows: int
    log_loss: float
    squared_error: float
    support: Indices
    predicted: Indices
    hits: Indices
    scores: Indices

    def __add__(self, other: "ClassCounts") -> "ClassCounts":
        n_classes = max(len(self.support), len(other.support))
        n_bins = min(self.scores.shape[2], other.scores.shape[2])
        one, two = self.expanded(n_classes, n_bins), other.expanded(n_classes, n_bins)
        return ClassCounts(
            one.n_rows + two.n_rows,
            one.log_loss + two.log_loss,
            one.squared_error + two.squared_error,
            one.support + two.support,
            one.predicted + two.predicted,
            one.hits + two.hits,
            one.scores + two.scores,
        )

    def __sub__(self, part: "ClassCounts") -> "ClassCounts":
        """Return the counts without some of the rows."""
        part = part.expanded(len(self.support), self.scores.shape[2])
        return ClassCounts(
            self.n_rows - part.n_rows,
            self.log_loss - part.log_loss,
            self.squared_error - part.squared_error,
            self.support - part.support,
            self.predicted - part.predicted,
            self.hits - part.hits,
            self.scores - part.scores,
        )

    def expanded(self, n_classes: int, n_bins: int) -> "ClassCounts":
        """Return the same counts for this number of classes, and of bins, which must not be more than there are."""
        if (n_classes, n_bins) == self.scores.shape[1:]:
            return self
        n_added = n_classes - len(self.support)
        support, predicted, hits = (
            np.pad(counts, (0, n_added)) for counts in (self.support, self.predicted, self.hits)
        )
        scores = np.pad(with_fewer_bins(self.scores, n_bins), ((0, 0), (0, n_added), (0, 0)))
        if n_bins and n_added:
            scores[0, -n_added:, 0] = self.n_rows
        return replace(self, support=support, predicted=predicted, hits=hits, scores=scores)

    def reordered(self, order: Sequence[int]) -> "ClassCounts":
        """Return the counts with the classes at other positions: `order` has the position of each one here."""
        support, predicted, hits = (counts[order] for counts in (self.support, self.predicted, self.hits))
        return replace(self, support=support, predicted=predicted, hits=hits, scores=self.scores[:, order])


def with_fewer_bins(scores: Indices, n_bins: int) -> Indices:
    """Return counts in bins, of which neighbours were merged until there are only so many, or none."""
    *shape, n = scores.shape
    return scores[..., :0] if not n_bins else scores.reshape(*shape, n_bins, n // n_bins).sum(-1, dtype=scores.dtype)


@dataclass(slots=True, eq=False)
class ClassCounter:
    """Counts rows by class; what it needs to know of all rows so far.

    Attributes
    ----------
    classes : dict
        Positions of the classes: the labels, the classes of the classifier and the predicted labels, as they occur.
    n_rows : int
        Number of rows so far.
    n_bins : int
        Number of bins of scores; 0 if the classifier gives no probabilities, or there are too many classes.
    lowest, highest : ndarray of shape (n_classes, n_bins)
        The smallest and largest probability of each class in each bin; where they are equal, all of them are.
    """

    classes: dict[Any, int] = field(default_factory=dict)
    n_rows: int = 0
    n_bins: int = MAX_BINS
    lowest: Matrix = field(default_factory=lambda: np.full((0, MAX_BINS), np.inf))
    highest: Matrix = field(default_factory=lambda: np.full((0, MAX_BINS), -np.inf))

    @property
    def is_tie(self) -> Flags:
        """Whether all probabilities of a class in a bin are equal; by class and bin."""
        return np.equal(self.lowest, self.highest)

    def rows(self, labels: LabelArray, predictions: Predictions, columns: LabelArray) -> "CountedRows":
        """Return rows with what is counted of them; `columns` are the classes that the probabilities belong to."""
        given = predictions.probabilities
        known = columns.tolist()[: given.shape[1]]
        truth, predicted = labels.tolist(), predictions.predicted.tolist()
        self._add_classes([*dict.fromkeys(truth), *known, *dict.fromkeys(predicted)])
        if np.isnan(predictions.label_probabilities).any():
            self._reduce_bins(0)
        h = np.zeros((len(truth), len(self.classes) if self.n_bins else 0))
        if self.n_bins:
            h[:, self._positions(known)] = np.clip(np.nan_to_num(given[:, : len(known)]), 0.0, 1.0)
        bins = bins_of(h)
        self._widen(h, bins)
        self.n_rows += len(truth)
        return CountedRows(
            labels=self._positions(truth),
            predicted=self._positions(predicted),
            bins=bins // (MAX_BINS // max(self.n_bins, 1)),
            losses=np.column_stack([*row_losses(predictions)]),
            n_classes=len(self.classes),
            n_bins=self.n_bins,
        )

    def _positions(self, labels: Iterable[Any]) -> Indices:
        """Return the positions of labels; -1 for one that is None, because no class was known."""
        return np.array([self.classes.get(label, -1) for label in labels], np.int64)

    def _add_classes(self, labels: list[Any]) -> None:
        n_before = len(self.classes)
        for label in labels:
            if label not in self.classes and label is not None and label == label:  # noqa: PLR0124  # NaN
                self.classes[label] = len(self.classes)
        n_added = len(self.classes) - n_before
        if not n_added:
            return
        self.lowest, self.highest = (
            np.pad(edges, ((0, n_added), (0, 0)), constant_values=empty)
            for edges, empty in ((self.lowest, np.inf), (self.highest, -np.inf))
        )
        if self.n_bins and self.n_rows:
            self.lowest[-n_added:, 0] = self.highest[-n_added:, 0] = 0.0
        n_bins = min(MAX_BINS, 2 ** int(np.log2(MAX_CELLS / len(self.classes)))) if self.n_bins else 0
        self._reduce_bins(n_bins if n_bins >= MIN_BINS else 0)

    def _reduce_bins(self, n_bins: int) -> None:
        if n_bins < self.n_bins:
            shape = len(self.classes), n_bins, -1 if n_bins else 0
            self.lowest = self.lowest.reshape(shape).min(axis=2) if n_bins else self.lowest[:, :0]
            self.highest = self.highest.reshape(shape).max(axis=2) if n_bins else self.highest[:, :0]
            self.n_bins = n_bins

    def _widen(self, h: Matrix, bins: Indices) -> None:
        """Include probabilities into the smallest and largest ones of their bins."""
        if self.n_bins:
            place = np.arange(h.shape[1]), bins // (MAX_BINS // self.n_bins)
            np.minimum.at(self.lowest, place, h)
            np.maximum.at(self.highest, place, h)


@dataclass(frozen=True, slots=True, eq=False)
class CountedRows:
    """Rows with what is counted of them.

    Attributes
    ----------
    labels, predicted : ndarray of int
        Positions of the classes; -1 if nothing was predicted.
    bins : ndarray of shape (n_rows, n_classes)
        The bin of the probability of each class; without columns if there are no bins.
    losses : ndarray of shape (n_rows, 2)
        Log loss and squared error of each row.
    n_classes, n_bins : int
        Numbers of classes and bins.
    """

    labels: Indices
    predicted: Indices
    bins: Indices
    losses: Matrix
    n_classes: int
    n_bins: int

    def counts(self, part: slice, n_windows: int) -> list[ClassCounts]:
        """Return the counts of some rows, which make up windows of equal length."""
        labels, predicted, c = self.labels[part], self.predicted[part], self.n_classes
        n = len(labels) // n_windows
        window = np.repeat(np.arange(n_windows), n)
        support, said, hits = (
            np.bincount((window * (c + 1) + places + 1), minlength=n_windows * (c + 1)).reshape(n_windows, c + 1)[:, 1:]
            for places in (labels, predicted, np.where(labels == predicted, labels, -1))
        )
        scores = np.zeros((n_windows, 2, c, 0), np.uint32)
        if self.n_bins:
            is_label = labels[:, np.newaxis] == np.arange(c)
            cells = ((2 * window[:, np.newaxis] + is_label) * c + np.arange(c)) * self.n_bins + self.bins[part]
            scores = np.bincount(cells.ravel(), minlength=n_windows * 2 * c * self.n_bins).astype(np.uint32)
            scores = scores.reshape(n_windows, 2, c, self.n_bins)
        losses = self.losses[part].reshape(n_windows, n, 2).sum(axis=1).tolist()
        return [
            ClassCounts(n, losses[k][0], losses[k][1], support[k], said[k], hits[k], scores[k].copy())
            for k in range(n_windows)
        ]


def row_losses(predictions: Predictions) -> tuple[Vector, Vector]:
    """Return the log loss and the squared error of each row; NaN where there are no probabilities."""
    p, h = predictions.label_probabilities, predictions.probabilities
    return -np.log(np.clip(p, SMALLEST_PROBABILITY, 1.0)), np.einsum("ij,ij->i", h, h) - 2.0 * p + 1.0
