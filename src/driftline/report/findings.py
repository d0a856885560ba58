"""What is found in evaluations, once for all parts of a report."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from driftline.errors import ConfigError
from driftline.evaluation import Change, Comparison, compare, find_changes
from driftline.report.entry import Entry


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Evaluated classifiers, and what comes of looking at them together.

    Attributes
    ----------
    entries
        The classifiers; the report is about the first.
    changes
        The moments at which the stream changed most, in the order of time.
    ranking
        The classifiers that went over the most rows, the best first; empty if there is only one.
    unranked
        The others, which were stopped before: errors on other rows do not compare.
    """

    entries: tuple[Entry, ...]
    changes: list[Change]
    ranking: list[Comparison]
    unranked: list[Entry]

    @property
    def first(self) -> Entry:
        """The classifier that the report is about."""
        return self.entries[0]

    @property
    def ranked_entries(self) -> list[tuple[Entry, Comparison | None]]:
        """All classifiers with their places in the ranking, the best first; those without a place come last."""
        by_name = {entry.name: entry for entry in self.entries}
        ranked = [(by_name.pop(place.name), place) for place in self.ranking]
        return [*ranked, *((entry, None) for entry in by_name.values())]


def look(entries: Sequence[Entry]) -> Findings:
    """Check the entries and find what there is to tell about them."""
    if not entries:
        raise ConfigError("entries must have at least one evaluated classifier; got none")
    twice = [name for name, n in Counter(entry.name for entry in entries).items() if n > 1]
    if twice:
        raise ConfigError(f"entries must have different names; got {twice[0]!r} twice")
    for entry in entries:
        if entry.course.n_rows != entry.summary.n_rows:
            raise ConfigError(
                f"the course and the summary of {entry.name} must be of the same evaluation; "
                f"got {entry.course.n_rows} and {entry.summary.n_rows} rows"
            )
    most = max(entry.summary.n_rows for entry in entries)
    courses = {entry.name: entry.course for entry in entries if entry.summary.n_rows == most}
    return Findings(
        entries=tuple(entries),
        changes=find_changes(entries[0].course),
        ranking=compare(courses) if len(courses) > 1 else [],
        unranked=[entry for entry in entries if entry.name not in courses] if len(entries) > 1 else [],
    )
