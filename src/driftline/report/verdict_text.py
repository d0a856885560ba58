"""The verdict on a classifier in words: beside rules that need no classifier, and a plain logistic regression."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from driftline.evaluation import Summary
from driftline.report.formatting import format_percent, join_words

if TYPE_CHECKING:
    from driftline.evaluation.verdict import Verdict

NAMES = {
    "majority_so_far": "always predicting the most frequent label so far",
    "cheapest_label": "always predicting the label that would have cost least so far",
    "last_label": "repeating the last label that had arrived",
    "logistic_regression": "a plain logistic regression run alongside",
}
TRIVIAL = ("majority_so_far", "cheapest_label", "last_label")
RESULTS = {"better": "better than", "about the same": "neither clearly better nor worse than", "worse": "worse than"}


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
    parts = [
        text
        for result, words in RESULTS.items()
        if (text := _part([each for each in summary.verdict if each.result == result], words))
    ]
    compared = join_words(parts)
    if summary.verdict[0].measure == "cost":
        value, is_about = f"cost {summary.mean_cost:.4g} a row", f", which cost {summary.mean_cost:.4g} a row, is"
    else:
        value = f"was wrong in {format_percent(summary.error)}"
        is_about = f", wrong in {format_percent(summary.error)} of the rows, is"
    lost = [each for each in summary.verdict if each.baseline in TRIVIAL and each.result == "worse"]
    if not lost:
        return [f"Verdict: {name}{is_about} {compared}."]
    best = min(lost, key=lambda each: each.baseline_value)
    would = "cost {} a row" if best.measure == "cost" else "been wrong in {} of the rows"
    return [
        f"Verdict: {name} is worse than doing nothing: {NAMES[best.baseline]} would have "
        f"{would.format(format_baseline(best))}, and {name} {value}.",
        f"It is {compared}.",
    ]


def _part(verdicts: Sequence["Verdict"], words: str) -> str:
    """Return the baselines to which one result applies, each with its error and the interval of the difference."""
    if not verdicts:
        return ""
    return f"{words} {join_words([f'{NAMES[each.baseline]} ({_figures(each)})' for each in verdicts])}"


def _figures(verdict: "Verdict") -> str:
    if verdict.low is None or verdict.high is None:
        return f"{format_baseline(verdict)}; too few rows to tell them apart"
    numbers = (verdict.difference, verdict.low, verdict.high)
    if verdict.measure == "cost":
        difference, low, high = (f"{number:+.4g}" for number in numbers)
        return f"{format_baseline(verdict)}; difference {difference}, between {low} and {high}"
    difference, low, high = map(_signed_points, numbers)
    if verdict.low <= -1.0 and verdict.high >= 1.0:
        return f"{format_baseline(verdict)}; difference {difference} points, from too few stretches of rows to be sure"
    return f"{format_baseline(verdict)}; difference {difference} points, between {low} and {high}"


def format_baseline(verdict: "Verdict") -> str:
    """Return the error of a baseline in percent, or its mean cost."""
    return f"{verdict.baseline_value:.4g}" if verdict.measure == "cost" else format_percent(verdict.baseline_value)


def _signed_points(difference: float) -> str:
    """Return a difference of shares in percentage points with its sign, and enough digits to tell it from 0.

    Examples
    --------
    >>> _signed_points(-0.0613), _signed_points(-0.0004), _signed_points(0.0)
    ('-6.1', '-0.04', '+0.0')
    """
    points = 100 * difference
    return f"{points:+.1g}" if 0.0 < abs(points) < 0.05 else f"{points:+.1f}"
