"""The summary of a report in sentences, for readers who do not know how the classifier works."""

from collections.abc import Sequence

from driftline.evaluation import Change, Comparison, Shift, Summary
from driftline.evaluation.cost_text import cost_sentences
from driftline.evaluation.metrics import METRICS
from driftline.evaluation.summary_table import label_hint
from driftline.report.analysis import Analysis, ReportEntry, analyse
from driftline.report.change_text import no_change_sentences
from driftline.report.formatting import (
    format_count,
    format_measure,
    format_percent,
    format_points,
    join_words,
    leading_shifts,
    shift_name,
    shift_values,
    visible_text,
)
from driftline.report.guarantee_text import guarantee_sentences
from driftline.report.rare_class_text import rare_class_sentences
from driftline.report.verdict_text import verdict_sentences
from driftline.types import Status

MAX_CHANGES = 5
"""`Timeline.changes` returns at most this many changes, so if it returns as many, there may be more."""
SIGNIFICANCE_LEVEL = 0.05


def summary_sentences(entries: Sequence[ReportEntry]) -> list[str]:
    """Summarise an evaluation in sentences: errors, answers, sets, alarms, bounds, and when the stream changed.

    Parameters
    ----------
    entries : sequence of ReportEntry
        Evaluated classifiers with different names. The summary is about the first and compares it with the others.

    Returns
    -------
    list of str
        Four to thirteen sentences, the verdict first.

    Examples
    --------
    >>> from driftline.evaluation import evaluate
    >>> from driftline.registry import create
    >>> from driftline.report import ReportEntry, summary_sentences
    >>> from driftline.streams import ArrayStream, MovingClass
    >>> stream = ArrayStream(*MovingClass().sample(400, seed=0))
    >>> run = evaluate(create("no-change"), stream, progress=False)
    >>> print(summary_sentences([ReportEntry("no-change", run.summary, run.timeline, run.finished)])[-2])
    It gives no bound on its error.
    """
    return analysis_sentences(analyse(entries))


def analysis_sentences(analysis: Analysis) -> list[str]:
    """Return the sentences of `summary_sentences` for entries that have been analysed.

    Parameters
    ----------
    analysis : Analysis
        The result of `analyse`.

    Returns
    -------
    list of str
        Four to thirteen sentences, the verdict first.
    """
    first = analysis.first
    sentences = [
        *verdict_sentences(first.summary, first.name),
        _error_sentence(first),
        *rare_class_sentences(first.summary),
        *label_hint(first.summary, first.name),
        *cost_sentences(first.summary, visible_text(first.name)),
        *guarantee_sentences(first.summary),
        *_bound_sentences(first),
        *_change_sentences(analysis),
    ]
    if len(analysis.entries) > 1:
        sentences.append(_ranking_sentence(analysis))
    if first.summary.n_skipped or first.summary.n_unlearned:
        sentences.append(_omission_sentence(first))
    return sentences


def _error_sentence(entry: ReportEntry) -> str:
    summary = entry.summary
    rows = f"{format_count(summary.n_rows, 'row')} of {visible_text(summary.stream)}"
    start = f"On {rows}" if entry.finished else f"The run was stopped after {rows}; up to there"
    mistakes = format_count(summary.mistakes, "mistake") if summary.mistakes else "no mistakes"
    text = (
        f"{start}, {entry.name} made {mistakes} ({format_percent(summary.error)}{_limits_text(summary)}); always "
        f"predicting the most frequent class would be wrong {format_percent(summary.majority_error)} of the time"
    )
    if summary.no_change_error is not None:
        text += f", and repeating the previous label {format_percent(summary.no_change_error)}"
    return text + "."


def _limits_text(summary: Summary) -> str:
    """Return the limits of the error; nothing if rows that were predicted before any class was known disturb them."""
    if summary.error_interval is None or not summary.error_interval[0] <= summary.error <= summary.error_interval[1]:
        return ""
    low, high = summary.error_interval
    return f", between {format_percent(low)} and {format_percent(high)} whenever you look"


def _bound_sentences(entry: ReportEntry) -> list[str]:
    summary = entry.summary
    if summary.mean_bound is None or summary.expected_error is None:
        return ["It gives no bound on its error."]
    if summary.bounds_held is None or summary.mistake_bound is None or summary.expected_mistakes is None:
        return ["Its bound on its error is void, because labels came late and it does not allow for that."]
    if summary.bounds_held and not summary.bound_is_informative:
        return ["Its bound on the probability of a mistake is uninformative: on average hardly better than guessing."]
    n_void = summary.bound_statuses.get(Status.EMPTY, 0)
    void = f" (not valid for {format_count(n_void, 'row')})" if n_void else ""
    mean = (
        f"Before each label was seen, it gave an upper bound on the probability of a mistake, "
        f"{format_percent(summary.mean_bound)} on average{void}; the bound applies to predictions drawn at random "
        f"from its probabilities, which would be wrong {format_percent(summary.expected_error)} of the time."
    )
    return [mean, f"{_mistake_bound_text(summary, summary.mistake_bound)}; {_window_text(entry)}."]


def _mistake_bound_text(summary: Summary, mistake_bound: float) -> str:
    expected = f"{summary.expected_mistakes:,.0f}"
    start = (
        "In total, the bound allows"
        if summary.bounds_held
        else "On average the bound did not hold, so its sum says nothing about the total; the probabilities alone allow"
    )
    return (
        f"{start} at most {format_count(mistake_bound, 'such mistake')} with "
        f"{100 * (1 - summary.delta):g}% confidence, and {expected} {'was' if expected == '1' else 'were'} expected"
    )


def _window_text(entry: ReportEntry) -> str:
    summary = entry.summary
    rows = format_count(summary.window, "row")
    if summary.windows_above_bound is None:
        return f"there was no full window of {rows} on which to check the bound"
    n_windows = summary.n_rows // summary.window
    n_above = round(summary.windows_above_bound * n_windows)
    if n_windows == 1:
        return f"the bound {'was exceeded' if n_above else 'held'} in the only full window of {rows}"
    if not n_above:
        return f"the bound held in all {n_windows:,} windows of {rows}"
    return f"the bound was exceeded in {n_above:,} of {n_windows:,} windows of {rows}"


def _change_sentences(analysis: Analysis) -> list[str]:
    timeline = analysis.first.timeline
    if not analysis.changes:
        return no_change_sentences(timeline.searched_changes())
    return [_change_sentence(analysis.changes, has_columns=timeline.has_columns)]


def _change_sentence(changes: Sequence[Change], *, has_columns: bool) -> str:
    scope = "" if has_columns else " (only class shares were tracked, because there are too many columns)"
    largest = max(changes, key=lambda change: change.strength)
    what = f", when {join_words([_shift_text(shift) for shift in leading_shifts(largest)])}" if largest.shifts else ""
    if len(changes) == 1:
        return f"The stream changed after row {largest.row:,}{what}{scope}."
    rows = join_words([f"{change.row:,}" for change in changes])
    start = "The strongest changes in the stream came" if len(changes) >= MAX_CHANGES else "The stream changed"
    return (
        f"{start} after rows {rows}{_leading_shifts(changes)}; the largest was after row {largest.row:,}{what}{scope}."
    )


def _shift_text(shift: Shift) -> str:
    before, after = shift_values(shift)
    return f"the {shift_name(shift)} went from {before} to {after}"


def _leading_shifts(changes: Sequence[Change]) -> str:
    """Name the feature that shifted most at each change, each feature once."""
    leading = [change.shifts[0].feature for change in changes if change.shifts]
    names = ["the class shares" if name is None else visible_text(name) for name in dict.fromkeys(leading)]
    return f", mostly in {join_words(names)}" if names else ""


def _ranking_sentence(analysis: Analysis) -> str:
    stopped = [
        f"{entry.name} was stopped after {format_count(entry.summary.n_rows, 'row')} and is not ranked"
        for entry in analysis.unranked
    ]
    if not analysis.ranking:
        return f"The classifiers cannot be compared: {join_words(stopped)}."
    if analysis.ranking[0].value is None:
        return f"No classifier has any {METRICS[analysis.by].name}."
    best, second = analysis.ranking[:2]
    ours = next((place for place in analysis.ranking if place.name == analysis.first.name), best)
    other = second if ours is best else ours
    metric = METRICS[analysis.by]
    superlative = "highest" if metric.larger_is_better else "lowest"
    text = (
        f"Of the {len(analysis.ranking)} classifiers compared, {best.name} had the {superlative} {metric.name}"
        f"{_class_text(analysis)} ({format_measure(best)}), {_distance_text(other, is_second=other is second)}"
    )
    return "; ".join([text, *stopped]) + "."


def _class_text(analysis: Analysis) -> str:
    """Return which class the measure is about, if it is about one."""
    positive = analysis.first.summary.positive
    is_of_class = METRICS[analysis.by].classes in ("positive", "ranked") and positive is not None
    return f" of {visible_text(positive)}" if is_of_class else ""


def _distance_text(other: Comparison, *, is_second: bool) -> str:
    metric = METRICS[other.by]
    if other.behind is None:
        return f"and {other.name} has no {metric.name}"
    if not other.behind:
        return f"and {other.name} had the same {metric.name}"
    name = f"{other.name} came second," if is_second else f"{other.name} was"
    if other.p is None:
        significance = ""
    else:
        significance = f" ({'' if other.p < SIGNIFICANCE_LEVEL else 'not '}statistically significant)"
    distance = format_points(other.behind) if metric.is_share else f"{other.behind:.3f}"
    return f"and {name} {distance} behind{significance}"


def _omission_sentence(entry: ReportEntry) -> str:
    skipped, unlearned = entry.summary.n_skipped, entry.summary.n_unlearned
    parts = [
        f"{format_count(skipped, 'malformed row')} {'was' if skipped == 1 else 'were'} skipped" if skipped else "",
        f"{format_count(unlearned, 'label')} had not arrived by the end" if unlearned else "",
    ]
    return join_words([part for part in parts if part]) + "."
