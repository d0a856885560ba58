"""The verdict on a classifier in words: beside rules that need no classifier, and a plain logistic regression."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from driftline.evaluation import Summary
from driftline.report.formatting import format_percent, join_words

if TYPE_CHECKING:
    from driftline.evaluation.verdict import Verdict

NAMES = {
    "majority_so_far": "always predicting the most frequent label so far",
    "last_label": "repeating the last label that had arrived",
    "logistic_regression": "a plain logistic regression run alongside",
}
TRIVIAL = ("majority_so_far", "last_label")


def verdict_sentences(summary: Summary, name: str) -> list[str]:
    """Return the verdict on a classifier; none if there is no verdict in the summary.

    Parameters
    ----------
    summary : Summary
        The figures of its evaluation.
    name : str
        Its name.

    Returns
    -------
    list of str
        One or two sentences, the first about rules that win without looking at the features, if one does.
    """
    if not summary.verdict:
        return []
    lost = [each for each in summary.verdict if each.baseline in TRIVIAL and each.result == "worse"]
    sentences = []
    if lost:
        best = min(lost, key=lambda each: each.baseline_error)
        sentences.append(
            f"Verdict: {name} is worse than doing nothing: {NAMES[best.baseline]} would have been wrong in "
            f"{format_percent(best.baseline_error)} of the rows, and {name} was in {format_percent(summary.error)}."
        )
    start = f"Verdict: {name}" if not lost else "It"
    parts = [
        text
        for result, words in (
            ("better", "better than"),
            ("about the same", "within chance about as good as"),
            ("worse", "worse than"),
        )
        if (text := _part([each for each in summary.verdict if each.result == result], words))
    ]
    sentences.append(f"{start}, wrong in {format_percent(summary.error)} of the rows, is {join_words(parts)}.")
    return sentences


def _part(verdicts: Sequence["Verdict"], words: str) -> str:
    """Return the baselines to which one result applies, each with its error and the interval of the difference."""
    if not verdicts:
        return ""
    return f"{words} {join_words([f'{NAMES[each.baseline]} ({_figures(each)})' for each in verdicts])}"


def _figures(verdict: "Verdict") -> str:
    error = format_percent(verdict.baseline_error)
    if verdict.low is None or verdict.high is None:
        return f"{error}; too few rows to tell them apart"
    difference, low, high = map(_signed_points, (verdict.difference, verdict.low, verdict.high))
    return f"{error}; difference {difference} points, between {low} and {high}"


def _signed_points(difference: float) -> str:
    """Return a difference of shares in percentage points with its sign, and enough digits to tell it from 0.

    Examples
    --------
    >>> _signed_points(-0.0613), _signed_points(-0.0004), _signed_points(0.0)
    ('-6.1', '-0.04', '+0.0')
    """
    points = 100 * difference
    return f"{points:+.1g}" if 0.0 < abs(points) < 0.05 else f"{points:+.1f}"
