"""The costs of an evaluation: labels chosen by their costs, and what they and the others cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from driftline.core.class_list import ClassList
from driftline.core.costs import Costs
from driftline.guarantees.cost_rule import CostRule
from driftline.types import Indices, LabelArray, Labels, Matrix, Predictions


@dataclass(slots=True)
class CostRecord:
    """Chooses labels by their costs for any classifier with probabilities, and counts what they cost.

    The probabilities are calibrated by the labels that have arrived, as `AMRC(costs=…)` does. A classifier that chooses
    by costs itself keeps its labels.

    Attributes
    ----------
    costs : Costs
        The costs.
    rule : CostRule or None
        What chooses the labels; None if the classifier does.
    classes : ClassList
        The classes known so far.
    waiting : dict
        The probabilities of the rows whose labels have not arrived, by the positions of the rows in the stream.
    totals : ndarray of shape (2,)
        The cost of all labels that were given out, and of the labels that would have been without costs.
    is_silent : bool
        Whether the classifier gave no probabilities, so that no label could be chosen.
    """

    costs: Costs
    rule: CostRule | None
    classes: ClassList = field(default_factory=lambda: ClassList(np.empty(0)))
    waiting: dict[int, Matrix] = field(default_factory=dict)
    totals: Matrix = field(default_factory=lambda: np.zeros(2))
    is_silent: bool = False

    @classmethod
    def start(cls, costs: Any, model: Any) -> "CostRecord | None":
        """Return a record without rows, of the given costs or those of the model; None if there are neither."""
        own = getattr(model, "costs", None)
        given = own if costs is None else costs
        if given is None:
            return None
        known = Costs(given)
        return cls(known, CostRule(known) if own is None else None)

    def add_classes(self, labels: Sequence[Any]) -> None:
        """Add the classes that are not known yet."""
        n_before = len(self.classes.labels)
        for label in labels:
            self.classes = self.classes.with_label(label)
        n_added = len(self.classes.labels) - n_before
        if n_added and self.rule is not None:
            self.rule.add_classes(n_added)
            self.rule.name_classes(self.classes.labels)

    # Rows ---------------------------------------------------------------------------------------------

    def choose_then_learn(self, predictions: Predictions, columns: LabelArray) -> tuple[Predictions, Matrix]:
        """Choose a label for each row, then learn its label, row by row.

        Return the predictions with the chosen labels, and the costs of each row: with the chosen and with the plain
        label. `columns` are the labels that the columns of the probabilities belong to.
        """
        chosen = predictions.predicted.tolist()
        labels = predictions.labels.tolist()
        for part in self._parts(labels):
            h = self._probabilities(predictions, part, columns)
            if self.rule is not None and h.size:
                places = np.fromiter(map(self.classes.position, labels[part]), np.int64)
                positions = self.rule.choose_then_learn(h, places)
                chosen[part] = self._labels_at(positions, h, chosen[part])
            self.add_classes(labels[part])
        return self._with_costs(predictions, chosen, columns)

    def choose_row(self, row: int, predictions: Predictions, columns: LabelArray) -> tuple[Predictions, Matrix]:
        """Choose a label for one row, and keep its probabilities until its label arrives."""
        chosen, h = predictions.predicted.tolist(), self._probabilities(predictions, slice(0, 1), columns)
        if self.rule is not None and h.size:
            self.waiting[row] = h
            chosen = self._labels_at(self.rule.choose(h), h, chosen)
        return self._with_costs(predictions, chosen, columns)

    def learn_rows(self, rows: Indices, labels: LabelArray) -> None:
        """Learn labels that have arrived, in order, with the probabilities that their rows were given."""
        for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
            h = self.waiting.pop(row, None)
            place = self.classes.position(label)
            if self.rule is not None and h is not None and place < len(self.classes.labels):
                n_added = len(self.classes.labels) - h.shape[1]
                self.rule.choose_then_learn(np.pad(h, ((0, 0), (0, n_added))), np.array([place]))
            self.add_classes([label])

    def _parts(self, labels: list[Any]) -> Iterator[slice]:
        """Cut rows at those that bring a new class, each of which is a part alone."""
        known, start = set(self.classes.labels.tolist()), 0
        for t, label in enumerate(labels):
            if label in known:
                continue
            if start < t:
                yield slice(start, t)
            yield slice(t, t + 1)
            start = t + 1
            known.add(label)
        if start < len(labels):
            yield slice(start, len(labels))

    def _probabilities(self, predictions: Predictions, part: slice, columns: LabelArray) -> Matrix:
        """Return the probability of each known class; no columns if the classifier has no probabilities."""
        given = predictions.probabilities[part]
        places = np.fromiter(map(self.classes.position, columns.tolist()[: given.shape[1]]), np.int64)
        is_known = places < len(self.classes.labels)
        if not is_known.any():
            return np.zeros((len(given), 0))
        h = np.zeros((len(given), len(self.classes.labels)))
        h[:, places[is_known]] = np.clip(np.nan_to_num(given[:, : len(places)][:, is_known]), 0.0, 1.0)
        return h

    def _labels_at(self, positions: Labels, h: Matrix, plain: list[Any]) -> list[Any]:
        """Return the labels at some positions; the plain ones of rows whose probabilities are all 0."""
        labels = self.classes.labels[positions].tolist()
        return [label if row.any() else other for label, row, other in zip(labels, h, plain, strict=True)]

    def _with_costs(
        self, predictions: Predictions, chosen: list[Any], columns: LabelArray
    ) -> tuple[Predictions, Matrix]:
        plain, h = predictions.predicted.tolist(), predictions.probabilities
        self.is_silent |= not h.shape[1] and any(label is not None for label in plain)
        if self.rule is None and h.shape[1]:
            plain = columns[h.argmax(axis=1)].tolist()
        truth = predictions.labels.tolist()
        costs = np.array([list(map(self.costs.of, truth, given)) for given in (chosen, plain)]).T
        self.totals = np.cumsum(np.vstack([self.totals, costs]), axis=0)[-1]  # the same for rows in other slices
        if self.rule is None or chosen == plain:
            return predictions, costs
        dtype = object if None in chosen else None  # not that of the labels: their texts may be shorter
        return replace(predictions, predicted=np.array(chosen, dtype=dtype)), costs

    # Figures ------------------------------------------------------------------------------------------

    def figures(self, seen: Sequence[Any]) -> dict[str, Any]:
        """Return the figures of a `Summary` about costs; `seen` are the labels that occurred."""
        cost, without = self.totals.tolist()
        found = {str(label) for label in self.costs.labels if label in set(seen)}
        unseen = dict.fromkeys(text for text in map(str, self.costs.labels) if text not in found)
        return {
            "cost": cost,
            "cost_without": None if self.is_silent else without,
            "cost_labels_unseen": tuple(unseen),
        }
