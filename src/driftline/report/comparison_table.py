"""The tables of a report that compare classifiers: their places, and all measures."""

from driftline.evaluation import Comparison
from driftline.evaluation.metrics import METRICS
from driftline.report.analysis import Analysis, ReportEntry
from driftline.report.formatting import format_count, format_mean_bound, format_measure, format_percent, visible_text

MEASURES = {
    "Kappa": "kappa",
    "Balanced accuracy": "balanced_accuracy",
    "G-mean": "g_mean",
    "Macro F1": "macro_f1",
    "Log loss": "log_loss",
    "Brier score": "brier_score",
    "Area under ROC": "roc_auc",
    "Average precision": "average_precision",
}
"""The measures that every summary has, by their names; they are not shares of rows, or means of such."""


def comparison_rows(analysis: Analysis) -> list[dict[str, str]]:
    """Return the rows of the table of places, by the headings of its columns; classifiers stopped early are last."""
    return [
        {"Classifier": visible_text(entry.name), "Note": _note(entry)} | _places(analysis, entry, place)
        for entry, place in analysis.ranked_entries
    ]


def _note(entry: ReportEntry) -> str:
    return "" if entry.finished else f"stopped after {format_count(entry.summary.n_rows, 'row')}"


def _places(analysis: Analysis, entry: ReportEntry, place: Comparison | None) -> dict[str, str]:
    figures = {"Rank": f"{place.rank:g}" if place else "–", "Error": format_percent(entry.summary.error)}
    if analysis.by != "error":
        figures[measure_title(analysis)] = "–" if place is None else format_measure(place)
    return figures | {
        "Behind the best": _difference(analysis.by, place.behind) if place and place.behind else "–",
        "95% interval": _interval(place) if place else "–",
        "p": "–" if not place or place.p is None else "< 0.001" if place.p < 0.001 else f"{place.p:.3f}",
        "Mean bound": format_mean_bound(entry.summary),
        "Rows/s": f"{entry.summary.rows_per_second:,.0f}",
    }


def measure_title(analysis: Analysis) -> str:
    """Return the name of the measure by which classifiers are ranked, as a heading."""
    name = METRICS[analysis.by].name
    return name[:1].upper() + name[1:]


def _interval(place: Comparison) -> str:
    if place.low is None or place.high is None:
        return "–"
    return f"{_difference(place.by, place.low)} to {_difference(place.by, place.high)}"


def _difference(by: str, value: float) -> str:
    """Return a difference, in percentage points if the measure is a share of rows."""
    return f"{100.0 * value:.1f}" if METRICS[by].is_share else f"{value:.3f}"


def measure_rows(analysis: Analysis) -> list[dict[str, str]]:
    """Return all measures of each classifier, by the headings of the columns; the best classifier first."""
    return [
        {"Classifier": visible_text(entry.name)}
        | {name: _value(getattr(entry.summary, attribute)) for name, attribute in MEASURES.items()}
        for entry, _ in analysis.ranked_entries
    ]


def _value(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
