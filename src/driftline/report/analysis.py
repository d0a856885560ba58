"""The classifiers of a report, their ranking, and the changes detected in the stream."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from driftline.errors import ConfigError
from driftline.evaluation import Change, Comparison, Summary, Timeline, compare


@dataclass(frozen=True, slots=True, eq=False)
class ReportEntry:
    """An evaluated classifier, to be shown in a report.

    Attributes
    ----------
    name : str
        Name of the classifier as shown in the report, such as "amrc".
    summary : Summary
        The summary of its evaluation.
    timeline : Timeline
        The same evaluation over time.
    finished : bool
        False if the evaluation was interrupted.

    Examples
    --------
    >>> from driftline.evaluation import evaluate
    >>> from driftline.registry import create
    >>> from driftline.report import ReportEntry, summary_sentences
    >>> from driftline.streams import ArrayStream, RotatingGaussians
    >>> stream = ArrayStream(*RotatingGaussians().sample(400, seed=0))
    >>> run = evaluate(create("majority"), stream, progress=False)
    >>> sentences = summary_sentences([ReportEntry("majority", run.summary, run.timeline, run.finished)])
    >>> sentences[-2]
    'It gives no bound on its error.'
    """

    name: str
    summary: Summary
    timeline: Timeline
    finished: bool


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """The entries of a report and what was computed from them.

    Attributes
    ----------
    entries
        The classifiers; the report is about the first.
    changes
        The strongest changes of the stream, in the order of time.
    ranking
        The classifiers that were evaluated on the most rows, the best first; empty if there is only one.
    unranked
        The other classifiers, which were stopped earlier: errors on different rows cannot be compared.
    by
        The measure by which they are ranked.
    """

    entries: tuple[ReportEntry, ...]
    changes: list[Change]
    ranking: list[Comparison]
    unranked: list[ReportEntry]
    by: str = "error"

    @property
    def first(self) -> ReportEntry:
        """The classifier that the report is about."""
        return self.entries[0]

    @property
    def ranked_entries(self) -> list[tuple[ReportEntry, Comparison | None]]:
        """All entries with their places in the ranking, the best first; unranked entries are last, with None."""
        by_name = {entry.name: entry for entry in self.entries}
        ranked = [(by_name.pop(place.name), place) for place in self.ranking]
        return [*ranked, *((entry, None) for entry in by_name.values())]


def analyse(entries: Sequence[ReportEntry], by: str = "error") -> Analysis:
    """Check the entries, rank them, and detect changes in the stream.

    Parameters
    ----------
    entries : sequence of ReportEntry
        Evaluated classifiers with different names, the one that the report is about first.
    by : str, default="error"
        The measure by which they are ranked, as for `compare`. Its positive class is that of the first summary.

    Returns
    -------
    Analysis
        The entries with the changes and the ranking.
    """
    if not entries:
        raise ConfigError("entries must contain at least one evaluated classifier; got none")
    repeated = [name for name, n in Counter(entry.name for entry in entries).items() if n > 1]
    if repeated:
        raise ConfigError(f"entries must have different names; got {repeated[0]!r} twice")
    for entry in entries:
        if entry.timeline.n_rows != entry.summary.n_rows:
            raise ConfigError(
                f"the timeline and the summary of {entry.name} must be of the same evaluation; "
                f"got {entry.timeline.n_rows} and {entry.summary.n_rows} rows"
            )
    most = max(entry.summary.n_rows for entry in entries)
    timelines = {entry.name: entry.timeline for entry in entries if entry.summary.n_rows == most}
    return Analysis(
        entries=tuple(entries),
        changes=entries[0].timeline.changes(),
        ranking=compare(timelines, by, entries[0].summary.positive) if len(timelines) > 1 else [],
        unranked=[entry for entry in entries if entry.name not in timelines],
        by=by,
    )
