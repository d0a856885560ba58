"""What an evaluation says about answers, sets of labels and alarms, in sentences."""

from math import isnan

from driftline.evaluation import Summary
from driftline.evaluation.summary_table import format_level
from driftline.guarantees import Alarm, AlarmKind
from driftline.report.formatting import format_count, format_percent, join_words, visible_text


def guarantee_sentences(summary: Summary) -> list[str]:
    """Return a sentence about answers, one about sets and one about alarms; none if nothing was said of any row.

    Parameters
    ----------
    summary : Summary
        The summary of an evaluation.

    Returns
    -------
    list of str
        Three sentences or none.
    """
    if summary.answered is None:
        return []
    return [_answer_sentence(summary), _set_sentence(summary), _alarm_sentence(summary)]


def _answer_sentence(summary: Summary) -> str:
    allowed = f"{format_level(summary.error_level)} allowed"
    if summary.answered is None or summary.answered_error is None:
        return f"It is never sure enough of a row to answer it ({allowed} to be wrong)."
    return (
        f"Answering only where it is sure enough, it answers {format_percent(summary.answered)} of the rows and is "
        f"wrong in {format_percent(summary.answered_error)} of them ({allowed})."
    )


def _set_sentence(summary: Summary) -> str:
    coverage, size = summary.set_coverage or 0.0, summary.set_size or 0.0
    return (
        f"Its sets of labels contain the true one in {format_percent(coverage)} of rows "
        f"({format_level(summary.coverage_level)} asked for), with {size:.2f} labels on average."
    )


def _alarm_sentence(summary: Summary) -> str:
    if not summary.alarms:
        return "No alarm was raised."
    alarm = summary.alarms[0]
    what = "the error had risen" if alarm.kind is AlarmKind.RISE else f"the error exceeded {format_level(alarm.level)}"
    before = "" if isnan(alarm.error_before) else f", {format_percent(alarm.error_before)} before"
    again = f"; {format_count(summary.n_alarms - 1, 'more alarm')} followed" if summary.n_alarms > 1 else ""
    return (
        f"An alarm was raised at row {alarm.raised_at:,}, because {what}: it was {format_percent(alarm.error)} since "
        f"about row {alarm.since:,}{before}{_moved_text(alarm)}{again}."
    )


def _moved_text(alarm: Alarm) -> str:
    return f"; {join_words(moved_columns(alarm))} moved" if alarm.moved else ""


def moved_columns(alarm: Alarm) -> list[str]:
    """Return the columns that moved when an alarm was raised, each with its class.

    Parameters
    ----------
    alarm : Alarm
        An alarm.

    Returns
    -------
    list of str
        Texts such as "heat in class spam"; none if the classifier does not know what moved.
    """
    return [f"{visible_text(column)} in class {visible_text(label)}" for label, column, _ in alarm.moved]
