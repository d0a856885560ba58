"""The columns that moved at the changes of a stream."""

from dataclasses import dataclass

from driftline.evaluation import Change, Distribution, ShiftKind, Timeline
from driftline.report.analysis import Analysis
from driftline.report.formatting import join_words, truncate, visible_text

MAX_NAMED_CLASSES = 3
KINDS = (ShiftKind.LOCATION, ShiftKind.SPREAD, ShiftKind.SHARE)


@dataclass(frozen=True, slots=True, eq=False)
class MovedColumn:
    """A column that moved at a change.

    Attributes
    ----------
    column
        Its position.
    labels
        Positions of the classes in which it moved.
    number, change
        The strongest change at which it moved, and its number in the table of changes.
    """

    column: int
    labels: list[int]
    number: int
    change: Change

    def sides(self, timeline: Timeline, column: int) -> list[Distribution | None]:
        """Return the distributions of a column before and after the change, among the rows that it was found in."""
        row, n = self.change.row, self.change.n_rows
        return timeline.distributions(column, self.labels, [(row - n, row), (row, min(row + n, timeline.n_rows))])

    def title(self, timeline: Timeline) -> str:
        """Return the name of the column, with the classes in which it moved unless it did in all."""
        name = truncate(visible_text(timeline.columns[self.column]), 40)
        n = len(self.labels)
        if n == len(timeline.classes):
            return name
        if n > MAX_NAMED_CLASSES:
            return f"{name} in {n} classes"
        labels = [truncate(visible_text(timeline.classes[c]), 25) for c in self.labels]
        return f"{name} in {'class' if n == 1 else 'classes'} {join_words(labels)}"


def moved_columns(analysis: Analysis) -> list[MovedColumn]:
    """Return the columns that moved, those of the strongest changes first; of categories of one column, only one."""
    timeline = analysis.first.timeline
    moves: dict[str, tuple[int, Change]] = {}
    labels: dict[str, list[int]] = {}
    for number, change in sorted(enumerate(analysis.changes, 1), key=lambda each: -each[1].strength):
        for shift in change.shifts:
            if shift.kind in KINDS and shift.feature is not None:
                moves.setdefault(shift.feature, (number, change))
                labels.setdefault(shift.feature, []).append(timeline.classes.index(shift.label))
    found: list[MovedColumn] = []
    for name, move in moves.items():
        column = timeline.columns.index(name)
        if not {each.column for each in found} & set(categories_beside(timeline, column)):
            found.append(MovedColumn(column, sorted(set(labels[name])), *move))
    return found


def categories_beside(timeline: Timeline, column: int) -> list[int]:
    """Return the columns of the same categorical column, such as "colour=red" and "colour=blue"; none if it is none."""
    name, is_category, _ = timeline.columns[column].partition("=")
    found = [j for j, other in enumerate(timeline.columns) if is_category and other.startswith(f"{name}=")]
    return found if len(found) > 1 else []
