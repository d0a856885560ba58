"""The guarantees of an evaluation: what is said of each row before its label is known, and what became of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from driftline.core.class_list import ClassList
from driftline.guarantees import Alarm, Guarantees
from driftline.guarantees.error_interval import ErrorInterval, error_interval
from driftline.guarantees.tracker import GuaranteeTracker
from driftline.kernels.confidence import BOUND
from driftline.kernels.statements import ANSWERED, RowStatements
from driftline.types import Flags, Indices, LabelArray, Labels, Matrix, Predictions, Vector

ALARM_CHECK_ROWS = 500
"""A raised alarm is noted, and armed again, after a multiple of so many rows, wherever the slices of a run end."""
MAX_ALARMS = 1000
"""Largest number of alarms that are kept; further ones are only counted."""


@dataclass(frozen=True, slots=True, eq=False)
class StatedRows:
    """What was said of rows at the first level of each kind, and whether it was right: one entry for each row.

    Attributes
    ----------
    is_stated : ndarray of bool
        Whether anything was said. Where not, because no class was known, the other entries are NaN, 0 or False.
    confidences, bounds : ndarray of float
        Probability that the prediction is right, and the bound on the error of the row.
    is_answered : ndarray of bool
        Whether the row was answered, and not handed over.
    set_sizes : ndarray of int
        Number of labels in the set.
    is_covered : ndarray of bool
        Whether the true label was in the set.
    """

    is_stated: Flags
    confidences: Vector
    bounds: Vector
    is_answered: Flags
    set_sizes: Indices
    is_covered: Flags

    @classmethod
    def nothing(cls, n: int) -> "StatedRows":
        """Return n rows of which nothing was said."""
        no = np.zeros(n, np.bool_)
        return cls(no, np.full(n, np.nan), np.full(n, np.nan), no.copy(), np.zeros(n, np.int64), no.copy())

    @classmethod
    def concatenate(cls, parts: Sequence["StatedRows"]) -> "StatedRows":
        """Return the rows of all parts in order."""
        return cls(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)))

    def fill(self, part: slice, said: RowStatements, labels: Labels) -> None:
        """Set the entries of some rows; a label that is no position in the sets is not covered."""
        sets = said.sets[:, 0]
        in_sets = labels < sets.shape[1]
        self.is_stated[part] = True
        self.confidences[part] = said.confidences
        self.bounds[part] = said.like_errors[:, BOUND]
        self.is_answered[part] = said.decisions[:, 0] == ANSWERED
        self.set_sizes[part] = sets.sum(axis=1)
        self.is_covered[part] = in_sets & sets[np.arange(len(sets)), np.where(in_sets, labels, 0)]


@dataclass(slots=True)
class GuaranteeRecord:
    """Follows the guarantees of any classifier, from the predictions and labels of an evaluation.

    Classes have positions in the order in which they became known: as a class of the classifier, as a prediction, or
    as a label. A row that is predicted before any class is known is not counted.

    Attributes
    ----------
    tracker : GuaranteeTracker
        What says something of each row, and learns from the labels.
    classes : ClassList
        The classes known so far.
    waiting : dict
        What was said of the rows whose labels have not arrived, by the positions of the rows in the stream.
    n_unstated : int
        Number of labels of rows of which nothing was said.
    alarms : list of Alarm
        The first alarms, at most `MAX_ALARMS`; their rows are numbered by the stream.
    n_alarms : int
        Number of all alarms.
    """

    tracker: GuaranteeTracker
    classes: ClassList = field(default_factory=lambda: ClassList(np.empty(0)))
    waiting: dict[int, RowStatements] = field(default_factory=dict)
    n_unstated: int = 0
    alarms: list[Alarm] = field(default_factory=list)
    n_alarms: int = 0

    @classmethod
    def start(cls, guarantees: Guarantees) -> "GuaranteeRecord":
        """Return a record without rows."""
        return cls(GuaranteeTracker(guarantees))

    def add_classes(self, labels: Sequence[Any]) -> None:
        """Add the classes that are not known yet."""
        before = self.classes
        for label in labels:
            self.classes = self.classes.with_label(label)
        n_added = len(self.classes.labels) - len(before.labels)
        if n_added:
            self.tracker.add_classes(n_added)
            self.tracker.name_classes(self.classes.labels)

    # Rows ---------------------------------------------------------------------------------------------

    def state_then_learn(self, predictions: Predictions, columns: LabelArray) -> StatedRows:
        """Say something of each row, then learn its label, row by row.

        `columns` are the labels that the columns of the probabilities belong to.
        """
        rows = StatedRows.nothing(len(predictions))
        predicted, labels = predictions.predicted.tolist(), predictions.labels.tolist()
        for part, is_usual in self._parts(predicted, labels):
            if is_usual:
                h, places = self._probabilities(predictions, part, columns)
                truth = self._positions(labels[part])
                rows.fill(part, self.tracker.state_then_learn(h, places, truth), truth)
            else:
                said = self._state(predictions, part, columns, rows)
                self._learn(said, labels[part][0])
        return rows

    def state_row(self, row: int, predictions: Predictions, columns: LabelArray) -> StatedRows:
        """Say something of one row, and keep it until the label arrives; `row` is its position in the stream."""
        rows = StatedRows.nothing(1)
        said = self._state(predictions, slice(0, 1), columns, rows)
        if said is not None:
            self.waiting[row] = said
        return rows

    def learn_rows(self, rows: Indices, labels: LabelArray) -> None:
        """Learn labels that have arrived, in order, with what was said of their rows."""
        for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
            self._learn(self.waiting.pop(row, None), label)

    def _parts(self, predicted: list[Any], labels: list[Any]) -> Iterator[tuple[slice, bool]]:
        """Cut rows at those without a prediction and those that bring a new class, each of which is a part alone.

        Return the parts, and whether all predictions and labels in them are of known classes.
        """
        known, start = set(self.classes.labels.tolist()), 0
        for t, (prediction, label) in enumerate(zip(predicted, labels, strict=True)):
            if prediction in known and label in known:
                continue
            if start < t:
                yield slice(start, t), True
            yield slice(t, t + 1), False
            start = t + 1
            known |= {label} if _is_missing(prediction) else {label, prediction}
        if start < len(labels):
            yield slice(start, len(labels)), True

    def _state(
        self, predictions: Predictions, part: slice, columns: LabelArray, rows: StatedRows
    ) -> RowStatements | None:
        """Say something of a row and enter it into `rows`; return None if there is no prediction."""
        predicted, label = predictions.predicted[part].tolist()[0], predictions.labels[part].tolist()[0]
        if _is_missing(predicted):
            return None
        self.add_classes([predicted])
        said = self.tracker.state_rows(*self._probabilities(predictions, part, columns))
        rows.fill(part, said, self._positions([label]))
        return said

    def _learn(self, said: RowStatements | None, label: Any) -> None:
        """Learn the label of a row, with what was said of it; None if nothing was said."""
        self.add_classes([label])
        if said is None:
            self.n_unstated += 1
        else:
            self.tracker.learn_rows(said, self._positions([label]))

    def _positions(self, labels: list[Any]) -> Labels:
        return np.fromiter(map(self.classes.position, labels), np.int64, len(labels))

    def _probabilities(self, predictions: Predictions, part: slice, columns: LabelArray) -> tuple[Matrix, Labels]:
        """Return the probability of each known class, and the positions of the predicted ones.

        Where a classifier has no probabilities, the predicted label has probability 1.
        """
        given, predicted = predictions.probabilities[part], self._positions(predictions.predicted[part].tolist())
        h = np.zeros((len(given), len(self.classes.labels)))
        if given.shape[1] <= len(columns):
            places = self._positions(columns.tolist()[: given.shape[1]])
            is_known = places < h.shape[1]  # the others became known after these rows
            h[:, places[is_known]] = np.clip(np.nan_to_num(given[:, is_known]), 0.0, 1.0)
        is_silent = ~h.any(axis=1)
        h[is_silent, predicted[is_silent]] = 1.0
        return h, predicted

    # Figures ------------------------------------------------------------------------------------------

    def note_alarm(self, model: Any, columns: Sequence[str]) -> None:
        """Add a raised alarm to the list, and arm it again; no-op if none is raised."""
        alarm = self._raised(model, columns)
        if alarm is not None and self.tracker.alarm is not None:
            self.n_alarms += 1
            self.alarms = [*self.alarms, alarm][:MAX_ALARMS]
            self.tracker.alarm.acknowledge()

    def _raised(self, model: Any, columns: Sequence[str]) -> Alarm | None:
        """Return the raised alarm, with rows of the stream and the columns that move, if the model knows them.

        Rows of which nothing was said are not known to the alarm. They are the first rows of a stream.
        """
        alarm, n = self.tracker.raised, self.n_unstated
        if alarm is None:
            return None
        alarm = replace(alarm, raised_at=alarm.raised_at + n, since=alarm.since + n)
        return alarm.with_moved(model.drift(columns=columns)) if hasattr(model, "drift") else alarm

    def figures(self, model: Any, columns: Sequence[str]) -> dict[str, Any]:
        """Return the figures of a `Summary` about guarantees; changes nothing."""
        guarantees, rows = self.tracker.guarantees, self.tracker.rows
        answers, sets = rows.answer_counts(), rows.set_counts()
        overall = self.tracker.intervals.overall(guarantees.delta)
        answered = error_interval(answers.n_answered, answers.n_wrong, guarantees.delta)
        raised = self._raised(model, columns)
        n = overall.n_rows
        return {
            "error_level": guarantees.errors[0],
            "answered": answered.n_rows / n if n else None,
            "answered_error": answered.error if answered.n_rows else None,
            "answered_interval": _limits(answered),
            "n_tried": answers.n_tried,
            "coverage_level": guarantees.coverages[0],
            "set_coverage": 1.0 - sets.n_missed / sets.n_rows if sets.n_rows else None,
            "set_size": sets.n_labels / sets.n_rows if sets.n_rows else None,
            "error_interval": _limits(overall),
            "interval_delta": guarantees.delta,
            "alarms": tuple(self.alarms if raised is None else [*self.alarms, raised][:MAX_ALARMS]),
            "n_alarms": self.n_alarms + (raised is not None),
        }


def _limits(interval: ErrorInterval) -> tuple[float, float] | None:
    return (interval.low, interval.high) if interval.n_rows else None


def _is_missing(prediction: Any) -> bool:
    """Return whether there is no prediction: None, or NaN, which does not equal itself."""
    return prediction is None or bool(prediction != prediction)  # noqa: PLR0124
