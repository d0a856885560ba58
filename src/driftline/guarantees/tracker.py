"""All guarantees of a classifier, from its predictions and the labels that arrive."""

from typing import TypeVar

import numpy as np

from driftline.core.schema import Schema, nested_schema
from driftline.core.state import ArrayState, SavedPart, copy_with, nested_state, restore_parts
from driftline.guarantees.alarm import Alarm, ErrorAlarm
from driftline.guarantees.error_intervals import ErrorIntervals
from driftline.guarantees.row_guarantees import RowGuarantees
from driftline.guarantees.settings import Guarantees
from driftline.kernels.statements import RowStatements
from driftline.types import LabelArray, Labels, Matrix, State

P = TypeVar("P", bound=ArrayState)


class GuaranteeTracker:
    """Says something of each row, and learns from its label; labels and predictions are positions of classes.

    It knows nothing of the classifier but its predictions. They must have been made before their labels were known.

    Parameters
    ----------
    guarantees : Guarantees
        The levels.

    Attributes
    ----------
    rows : RowGuarantees
        Confidences, decisions and sets.
    intervals : ErrorIntervals
        The error of the predictions, with intervals.
    alarm : ErrorAlarm or None
        The alarm; None if the settings have no level for it.
    """

    def __init__(self, guarantees: Guarantees) -> None:
        self.guarantees = guarantees
        self.rows = RowGuarantees(guarantees)
        self.intervals = ErrorIntervals()
        watched = guarantees.tolerated is not None or guarantees.rise is not None
        self.alarm = ErrorAlarm(guarantees.tolerated, guarantees.rise, guarantees.delta) if watched else None

    @property
    def raised(self) -> Alarm | None:
        """The raised alarm; None if there is none."""
        return None if self.alarm is None else self.alarm.alarm

    def copy(self) -> "GuaranteeTracker":
        """Return an independent copy."""
        alarm = None if self.alarm is None else _copied(self.alarm)
        return copy_with(self, rows=self.rows.copy(), intervals=_copied(self.intervals), alarm=alarm)

    def add_classes(self, n: int) -> None:
        """Add n classes, at the next positions."""
        self.rows.add_classes(n)
        self.intervals.add_classes(n)

    def name_classes(self, labels: LabelArray) -> None:
        """Set the labels of the classes, for levels that differ between labels."""
        self.rows.name_classes(labels)

    def state_rows(self, h: Matrix, predicted: Labels) -> RowStatements:
        """Return what is said of rows now, by their probabilities and predictions; changes nothing."""
        return self.rows.state_rows(h, predicted)

    def learn_rows(self, said: RowStatements, labels: Labels) -> None:
        """Learn the labels of rows, with what was said of them; a label of a class not known yet counts as wrong."""
        self.rows.learn_rows(said, labels)
        self._count(said.predicted, labels)

    def state_then_learn(self, h: Matrix, predicted: Labels, labels: Labels) -> RowStatements:
        """Say something of each row, then learn its label, row by row; return what was said."""
        said = self.rows.state_then_learn(h, predicted, labels)
        self._count(predicted, labels)
        return said

    def learn_at_once(self, h: Matrix, predicted: Labels, labels: Labels) -> None:
        """Learn the label of each row as `state_then_learn` does, where nobody needs what is said of the rows."""
        self.rows.learn_at_once(h, predicted, labels)
        self._count(predicted, labels)

    def _count(self, predicted: Labels, labels: Labels) -> None:
        self.intervals.count(predicted, labels)
        if self.alarm is not None:
            self.alarm.count((predicted != labels).astype(np.int64))

    # State --------------------------------------------------------------------------------------------

    def _parts(self) -> dict[str, SavedPart]:
        parts: dict[str, SavedPart] = {"rows": self.rows, "intervals": self.intervals}
        return parts if self.alarm is None else parts | {"alarm": self.alarm}

    def state(self) -> State:
        """Return the arrays that `restore` needs."""
        return nested_state(self._parts())

    def schema(self) -> Schema:
        """Return what each array must be in a file."""
        return nested_schema({name: part.schema() for name, part in self._parts().items()})

    def restore(self, state: State) -> None:
        """Continue from what `state` returned; from a file of an earlier version, begin anew."""
        restore_parts(self._parts(), state)


def _copied(part: P) -> P:
    """Return an independent copy of a part whose state is all that changes in it."""
    return copy_with(part, **{f"_{name}": array for name, array in part.state().items()})
