"""The figures of an evaluation as a table of text."""

from math import isnan
from typing import TYPE_CHECKING, Any

from driftline.evaluation.cost_text import cost_line

if TYPE_CHECKING:
    from driftline.evaluation.summary import Summary


def summary_table(summary: "Summary") -> str:
    """Return the figures of a summary in lines, those that people act on first; what does not apply is left out."""
    s = summary
    lines = {
        "rows, classes": f"{s.n_rows:,}, {s.n_classes}",
        "error": f"{_percent(s.error)}{_limits(s)}   (majority {_percent(s.majority_error)}, "
        f"no change {_percent(s.no_change_error)})",
        **cost_line(s),
        **_guarantee_lines(s),
        "kappa": "–" if s.kappa is None else f"{s.kappa:.3f}   (against no change {_decimals(s.kappa_no_change)})",
        "randomised rule": f"error {_percent(s.expected_error)}, {_mean_bound(s)}",
        "above the bound": f"{_percent(s.windows_above_bound)} of windows of {s.window} rows",
        "mistakes": f"{_number(s.expected_mistakes)} expected of the randomised rule, "
        f"at most {_number(s.mistake_bound)} (δ = {s.delta:g})",
        "speed": f"{s.rows_per_second:,.0f} rows/s",
    }
    if s.windows_above_bound is None:
        del lines["above the bound"]
    if s.mistake_bound is None:
        del lines["mistakes"]
    if s.n_unlearned or s.n_skipped:
        lines["left out"] = f"{s.n_unlearned:,} labels that had not arrived at the end, {s.n_skipped:,} malformed rows"
    width = max(map(len, lines))
    body = "\n".join(f"  {name:<{width}}  {text}" for name, text in lines.items())
    return f"{s.model} on {s.stream}\n{body}"


def label_hint(summary: "Summary", name: str) -> list[str]:
    """Return a sentence if the last label that had arrived was right more often than the classifier; else none.

    Examples
    --------
    >>> from driftline import AMRC
    >>> from driftline.evaluation import evaluate
    >>> from driftline.streams import ArrayStream
    >>> import numpy as np
    >>> X, y = np.random.default_rng(0).normal(size=(600, 2)), np.arange(600) // 10 % 2
    >>> [hint] = label_hint(evaluate(AMRC(features="linear"), ArrayStream(X, y), progress=False).summary, "AMRC")
    >>> print(hint[:65])
    Repeating the last known label would have been wrong in 10.00% of
    """
    s = summary
    if s.last_label_error is None or not s.last_label_error < s.error:
        return []
    remedy = (
        ", although label_memory is on."
        if s.label_memory
        else "; AMRC(label_memory=True), or --label-memory on the command line, also uses the last labels."
    )
    return [
        f"Repeating the last known label would have been wrong in {s.last_label_error:.2%} of the rows, less often "
        f"than {name} ({s.error:.2%}){remedy}"
    ]


def _guarantee_lines(s: "Summary") -> dict[str, str]:
    """Return the lines about answers, sets and alarms; none if nothing was said of any row."""
    if s.answered is None:
        return {}
    wrong = "" if s.answered_error is None else f", wrong in {_percent(s.answered_error)} of them"
    lines = {
        "answered": f"{_percent(s.answered)} of rows{wrong}   ({format_level(s.error_level)} allowed)",
        "sets of labels": f"{s.set_size:.2f} labels, the true one among them in {_percent(s.set_coverage)} of rows   "
        f"({format_level(s.coverage_level)} asked for)",
        "alarms": "none",
    }
    if s.alarms:
        last = s.alarms[-1]
        which = "at" if s.n_alarms == 1 else f"{s.n_alarms:,}, the last at"
        before = "" if isnan(last.error_before) else f", {_percent(last.error_before)} before"
        lines["alarms"] = (
            f"{which} row {last.raised_at:,}: error {_percent(last.error)} since about row {last.since:,}{before}"
        )
    return lines


def _mean_bound(s: "Summary") -> str:
    """Return the mean bound, or why it bounds nothing."""
    if s.mean_bound is None or (s.bounds_held and s.bound_is_informative):
        return f"mean bound {_percent(s.mean_bound)}"
    if s.bounds_held is None:
        return "its bound is void: labels came late"
    if not s.bounds_held:
        return "its bound did not hold on average"
    return "mean bound uninformative (near guessing)"


def format_level(level: Any) -> str:
    """Return a level of error or coverage in percent; one that differs between labels in words.

    Examples
    --------
    >>> format_level(0.05), format_level(0.999), format_level({"fraud": 0.01, "fine": 0.001})
    ('5%', '99.9%', 'a share for each label')
    """
    return "a share for each label" if isinstance(level, dict) else f"{100 * level:g}%"


def _limits(s: "Summary") -> str:
    """Return the limits of the error, if it lies between them; not if it has many rows before any class was known."""
    if s.error_interval is None or not s.error_interval[0] <= s.error <= s.error_interval[1]:
        return ""
    return f", between {_percent(s.error_interval[0])} and {_percent(s.error_interval[1])}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _decimals(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
