"""The tiles at the top of a report: the figures that matter most, each with a note."""

from dataclasses import dataclass

from driftline.evaluation import Summary
from driftline.evaluation.metrics import METRICS
from driftline.evaluation.summary_table import format_level
from driftline.report.analysis import Analysis
from driftline.report.formatting import format_percent, truncate, visible_text
from driftline.report.verdict_text import TRIVIAL, format_baseline

MAX_LABEL_LENGTH = 20
"""Characters shown of the label of a class."""
SHORT_NAMES = {
    "majority_so_far": "the most frequent label",
    "cheapest_label": "the cheapest label",
    "last_label": "the last label",
    "logistic_regression": "a logistic regression",
}


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure of the page.

    Attributes
    ----------
    name
        What it is.
    value
        The figure as text.
    note
        What to compare it with, or what it is about.
    """

    name: str
    value: str
    note: str


def report_tiles(analysis: Analysis) -> list[Tile]:
    """Return the tiles of the classifier that the report is about; those without a figure are left out."""
    summary = analysis.first.summary
    tiles = [*_rank(analysis), _error(summary), *_cost(summary), *_verdict(summary)]
    if summary.answered is not None:
        tiles.append(_answered(summary))
    return [
        *tiles,
        *_positive(summary),
        _changes(analysis),
        *([_alarms(summary)] if summary.answered is not None else []),
    ]


def _rank(analysis: Analysis) -> list[Tile]:
    """Return the place among the classifiers compared; nothing if there is none."""
    places = [place for place in analysis.ranking if place.name == analysis.first.name and place.value is not None]
    note = f"by {METRICS[analysis.by].name}"
    return [Tile("Rank", f"{place.rank:g} of {len(analysis.ranking)}", note) for place in places]


def _cost(summary: Summary) -> list[Tile]:
    """Return the cost of a row; nothing without costs."""
    if summary.cost is None:
        return []
    note = "a row" if summary.cost_without is None else f"a row; {summary.mean_cost_without:.3g} if not chosen by cost"
    return [Tile("Cost", f"{summary.mean_cost:.3g}", note)]


def _error(summary: Summary) -> Tile:
    if summary.error_interval is None:
        return Tile("Error", format_percent(summary.error), f"of {summary.n_rows:,} rows")
    low, high = map(format_percent, summary.error_interval)
    return Tile("Error", format_percent(summary.error), f"between {low} and {high}, whenever you look")


def _verdict(summary: Summary) -> list[Tile]:
    """Return how many baselines are beaten, or which one wins; nothing without a verdict."""
    if not summary.verdict:
        return []
    lost = [each for each in summary.verdict if each.result == "worse"]
    best = min(
        lost or summary.verdict, key=lambda each: (each.baseline not in TRIVIAL and bool(lost), each.baseline_value)
    )
    measure = "costs {} a row" if best.measure == "cost" else "is wrong in {}"
    name = f"{SHORT_NAMES[best.baseline]}, {measure.format(format_baseline(best))}"
    if lost:
        start = "than doing nothing: " if best.baseline in TRIVIAL else "than "
        return [Tile("Verdict", "worse", f"{start}{name}")]
    n_beaten = sum(each.result == "better" for each in summary.verdict)
    return [Tile("Verdict", f"{n_beaten} of {len(summary.verdict)}", f"baselines beaten; the best, {name}")]


def _answered(summary: Summary) -> Tile:
    share = format_percent(summary.answered or 0.0)
    if summary.answered_error is None:
        return Tile("Answered", share, "of the rows; the others are handed over")
    allowed = "" if isinstance(summary.error_level, dict) else f" ({format_level(summary.error_level)} allowed)"
    return Tile("Answered", share, f"of the rows, {format_percent(summary.answered_error)} wrong{allowed}")


def _positive(summary: Summary) -> list[Tile]:
    """Return the recall of the positive class, with its precision; nothing without one."""
    if summary.positive is None:
        return []
    (figures,) = [each for each in summary.per_class if each.label == summary.positive]
    label = truncate(visible_text(summary.positive), MAX_LABEL_LENGTH)
    if figures.precision is None:
        return [Tile(f"Recall of {label}", format_percent(figures.recall), "this class was never predicted")]
    note = f"of {figures.support:,} rows; {format_percent(figures.precision)} of those predicted so were right"
    return [Tile(f"Recall of {label}", format_percent(figures.recall), note)]


def _changes(analysis: Analysis) -> Tile:
    if not analysis.changes:
        return Tile("Changes", "none", "was found in the stream")
    strongest = max(analysis.changes, key=lambda change: change.strength)
    return Tile("Changes", str(len(analysis.changes)), f"in the stream, the strongest after row {strongest.row:,}")


def _alarms(summary: Summary) -> Tile:
    if not summary.alarms:
        return Tile("Alarms", "none", "the error never rose for certain")
    return Tile(
        "Alarms", f"{summary.n_alarms:,}", f"the error rose, first noticed at row {summary.alarms[0].raised_at:,}"
    )
