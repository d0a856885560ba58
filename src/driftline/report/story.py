"""The summary of a report in plain language, for readers who know nothing of how the classifier works."""

from collections.abc import Sequence

from driftline.evaluation import Change, Comparison, Shift
from driftline.report.entry import Entry
from driftline.report.findings import Findings, look
from driftline.report.wording import counted, listed, percent, points, said, two
from driftline.types import Status

MANY_CHANGES = 5
"""As many are looked for; if as many are found, there may be more."""
CHANCE = 0.05
"""Differences that are less probable than this are said to be more than chance."""


def story(entries: Sequence[Entry]) -> list[str]:
    """Say in plain language how wrong a classifier was, how wrong it could have been, and when the stream changed.

    Parameters
    ----------
    entries : sequence of Entry
        Evaluated classifiers, of different names. The story is about the first, and compares it with the others.

    Returns
    -------
    list of str
        Three to six sentences.

    Examples
    --------
    >>> from driftline.evaluation import Course, evaluate
    >>> from driftline.registry import create
    >>> from driftline.report import Entry, story
    >>> from driftline.streams import ArrayStream, MovingClass
    >>> stream = ArrayStream(*MovingClass().sample(400, seed=0))
    >>> run = evaluate(create("no-change"), stream, course=Course(stream.columns), progress=False)
    >>> print(story([Entry("no-change", run.summary, run.course, run.finished)])[1])
    It gives no bound on its error, so how wrong it could have been is not known.
    """
    return tell(look(entries))


def tell(found: Findings) -> list[str]:
    """Tell what was found.

    Parameters
    ----------
    found : Findings
        What a look at the entries gave.

    Returns
    -------
    list of str
        Sentences, as of `story`.
    """
    first = found.first
    sentences = [_errors(first), *_bounds(first), _changes(found.changes, has_columns=first.course.has_columns)]
    if len(found.entries) > 1:
        sentences.append(_ranks(found))
    if first.summary.n_skipped or first.summary.n_unlearned:
        sentences.append(_left_out(first))
    return sentences


def _errors(entry: Entry) -> str:
    summary = entry.summary
    rows = f"{counted(summary.n_rows, 'row')} of {summary.stream}"
    begin = f"On {rows}, {entry.name}" if entry.finished else f"The run was stopped after {rows}; on these {entry.name}"
    wrong = "was never wrong" if not summary.mistakes else f"was wrong {_times(summary.mistakes)}"
    text = (
        f"{begin} {wrong} ({percent(summary.error)}); always naming the commonest class would have been wrong "
        f"{percent(summary.majority_error)} of the time"
    )
    if summary.no_change_error is not None:
        text += f", and repeating the previous label {percent(summary.no_change_error)}"
    return text + "."


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n:,} times"


def _bounds(entry: Entry) -> list[str]:
    summary = entry.summary
    if summary.mean_bound is None or summary.expected_error is None:
        return ["It gives no bound on its error, so how wrong it could have been is not known."]
    n_void = summary.bound_statuses.get(Status.EMPTY, 0)
    void = f", though void for {counted(n_void, 'row')}" if n_void else ""
    mean = (
        f"Before seeing each label it stated the largest chance of a mistake, {percent(summary.mean_bound)} on "
        f"average{void}; this bound is about answers drawn at random with its probabilities, which would be wrong "
        f"{percent(summary.expected_error)} of the time."
    )
    return [mean, f"{_promise(entry)}; {_held(entry)}."]


def _promise(entry: Entry) -> str:
    summary = entry.summary
    if summary.mistake_bound is None or summary.expected_mistakes is None:
        return "It sets no bound on the sum of mistakes, because labels came late and it does not allow for that"
    kept = "and" if summary.expected_mistakes <= summary.mistake_bound else "but"
    expected = f"{summary.expected_mistakes:,.0f}"
    return (
        f"Summed up, it allows {counted(summary.mistake_bound, 'such mistake')} with {100 * (1 - summary.delta):g}% "
        f"confidence, {kept} {expected} {'was' if expected == '1' else 'were'} to be expected"
    )


def _held(entry: Entry) -> str:
    summary = entry.summary
    rows = counted(summary.window, "row")
    if summary.windows_above_bound is None:
        return f"there is no whole stretch of {rows} to check the bound on"
    n_whole = summary.n_rows // summary.window
    n_above = round(summary.windows_above_bound * n_whole)
    if n_whole == 1:
        more = "more" if n_above else "no more"
        return f"in the only whole stretch of {rows} {more} were to be expected than it allowed"
    if not n_above:
        return f"in none of the {n_whole:,} stretches of {rows} were more to be expected than it allowed"
    return f"in {n_above:,} of the {n_whole:,} stretches of {rows} more were to be expected than it allowed"


def _changes(changes: Sequence[Change], *, has_columns: bool) -> str:
    followed = "" if has_columns else " (only the shares of the classes were followed: there are too many columns)"
    if not changes:
        return f"No change in the stream stands out from chance{followed}."
    largest = max(changes, key=lambda change: change.strength)
    what = _movement(largest.shifts[0]) if largest.shifts else ""
    if len(changes) == 1:
        return f"The stream changed after row {largest.row:,}{what and ', when ' + what}{followed}."
    rows = listed([f"{change.row:,}" for change in changes])
    begin = "The strongest changes of the stream came" if len(changes) >= MANY_CHANGES else "The stream changed"
    text = f"{begin} after rows {rows}{_behind(changes)}"
    return f"{text}; the largest was after row {largest.row:,}{what and ', when ' + what}{followed}."


def _movement(shift: Shift) -> str:
    if shift.feature is None:
        return f"the share of class {said(shift.label)} went from {percent(shift.before)} to {percent(shift.after)}"
    before, after = two(shift.before, shift.after)
    return f"the mean of {said(shift.feature)} in class {said(shift.label)} went from {before} to {after}"


def _behind(changes: Sequence[Change]) -> str:
    """Name what moved most at each change, once."""
    leading = [change.shifts[0].feature for change in changes if change.shifts]
    names = ["the shares of the classes" if name is None else said(name) for name in dict.fromkeys(leading)]
    return f", with {listed(names)} moving most" if names else ""


def _ranks(found: Findings) -> str:
    stopped = [
        f"{entry.name} was stopped after {counted(entry.summary.n_rows, 'row')} and is not ranked"
        for entry in found.unranked
    ]
    if not found.ranking:
        return f"The classifiers cannot be compared: {listed(stopped)}."
    best, second = found.ranking[:2]
    ours = next((ranked for ranked in found.ranking if ranked.name == found.first.name), best)
    other = second if ours is best else ours
    text = (
        f"Of the {len(found.ranking)} classifiers compared, {best.name} erred least ({percent(best.error)}), "
        f"{_distance(other, is_next=other is second)}"
    )
    return "; ".join([text, *stopped]) + "."


def _distance(other: Comparison, *, is_next: bool) -> str:
    if other.behind == 0.0:
        return f"and {other.name} just as little"
    name = f"the next, {other.name}," if is_next else other.name
    chance = "" if other.p is None else ", more than chance explains" if other.p < CHANCE else ", which may be chance"
    return f"and {name} was {points(other.behind)} behind{chance}"


def _left_out(entry: Entry) -> str:
    skipped, unlearned = entry.summary.n_skipped, entry.summary.n_unlearned
    parts = [
        f"{counted(skipped, 'malformed row')} {'was' if skipped == 1 else 'were'} left out" if skipped else "",
        f"{counted(unlearned, 'label')} had not arrived at the end" if unlearned else "",
    ]
    return listed([part for part in parts if part]) + "."
