"""Search for changes while an evaluation runs."""

from dataclasses import dataclass, field

from driftline.evaluation.changes import FALSE_ALARM_PROBABILITY, Change
from driftline.evaluation.guarantee_record import ALARM_CHECK_ROWS
from driftline.evaluation.timeline import Timeline

LOOK_ROWS = ALARM_CHECK_ROWS
"""Searches are made at multiples of this number of rows, where an evaluation ends its slices of rows."""
FIRST_LOOK_ROWS = 4000
"""The first search is made after so many rows: fewer do not show how correlated rows are, or that they swing."""
LOOK_GROWTH = 1.0 / 16.0
"""Smallest share of the rows that are new at a search."""
WIDE_CELLS = 4096
"""With so many columns of classes, whose search takes longer, the rows are doubled from one search to the next."""


@dataclass(slots=True)
class ChangeWatch:
    """Searches for changes at fixed numbers of rows, and remembers those that were reported.

    The k-th search finds a change in a stream that does not change with a probability of at most p/(k(k + 1)). The sum
    over all searches is p, however many there are.

    Attributes
    ----------
    n_searches : int
        Number of searches so far.
    next_row : int
        Number of rows from which on the next search is made.
    reported : list of Change
        The changes that were reported.
    """

    n_searches: int = 0
    next_row: int = FIRST_LOOK_ROWS
    reported: list[Change] = field(default_factory=list)

    def new_changes(self, timeline: Timeline) -> list[Change]:
        """Search if it is time to, and return the changes that were not reported before.

        A change is the same as one reported before if its row is nearer to that row than the rows that were compared in
        either search, or than two windows.

        Parameters
        ----------
        timeline : Timeline
            The rows so far.

        Returns
        -------
        list of Change
            In the order of rows.
        """
        if timeline.n_rows < self.next_row:
            return []
        self.n_searches += 1
        cells = len(timeline.classes) * len(timeline.columns) if timeline.has_columns else 0
        growth = max(LOOK_GROWTH, cells / WIDE_CELLS)
        self.next_row = timeline.n_rows + max(LOOK_ROWS, int(growth * timeline.n_rows))
        found = timeline.search_now(FALSE_ALARM_PROBABILITY / (self.n_searches * (self.n_searches + 1)))
        known, least = self.reported, 2 * timeline.window_length
        new = [change for change in found if not any(_is_same(change, other, least) for other in known)]
        self.reported += new
        return sorted(new, key=lambda change: change.row)


def _is_same(one: Change, other: Change, least: int) -> bool:
    return abs(one.row - other.row) < max(min(one.n_rows, other.n_rows), least)
