"""The figures of an evaluation as a table of text."""

from collections.abc import Sequence
from math import ceil, isnan
from typing import TYPE_CHECKING, Any

from driftline.evaluation.cost_text import cost_line
from driftline.utils.html import titled_table
from driftline.utils.terminal import visible

if TYPE_CHECKING:
    from driftline.evaluation.summary import Summary

MAX_SHOWN_CLASSES = 3
"""Largest number of classes that are listed."""


def summary_table(summary: "Summary") -> str:
    """Return the figures of a summary in lines, as text."""
    lines = summary_lines(summary)
    width = max(map(len, lines))
    new_line = "\n" + " " * (width + 4)
    body = "\n".join(f"  {name:<{width}}  " + text.replace("\n", new_line) for name, text in lines.items())
    return f"{summary.model} on {summary.stream}\n{body}"


def summary_html(summary: "Summary", notes: Sequence[str] = ()) -> str:
    """Return the figures of a summary as a table of HTML, below some notes."""
    notes = [*notes, *label_hint(summary, summary.model)]
    lines = ((name, text.split("\n")) for name, text in summary_lines(summary).items())
    rows = [("" if k else name, line) for name, texts in lines for k, line in enumerate(texts)]
    return titled_table(f"{summary.model} on {summary.stream}", rows, notes=notes)


def summary_lines(summary: "Summary") -> dict[str, str]:
    """Return the figures of a summary by name, those that people act on first; what does not apply is left out."""
    s = summary
    lines = {
        "rows, classes": f"{s.n_rows:,}, {s.n_classes}",
        "error": f"{_percent(s.error)}{_limits(s)}   (majority {_percent(s.majority_error)}, "
        f"no change {_percent(s.no_change_error)})",
        **cost_line(s),
        **_guarantee_lines(s),
        **_class_lines(s),
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
    return lines


def label_hint(summary: "Summary", name: str) -> list[str]:
    """Return a sentence if the last label that had arrived was right more often than the classifier; else none.

    With costs there is none, because they are the aim then, and not few mistakes.

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
    if s.last_label_error is None or not s.last_label_error < s.error or s.cost is not None:
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


def _class_lines(s: "Summary") -> dict[str, str]:
    """Return the lines about classes, of many the worst three by recall; none if there is only one class."""
    if len(s.per_class) < 2:
        return {}
    worst = sorted(s.per_class, key=lambda figures: (figures.recall, figures.support))
    n_shown = min(len(worst), MAX_SHOWN_CLASSES)
    texts = [
        f"{visible(str(each.label))}: recall {_percent(each.recall)}, precision {_percent(each.precision)}, "
        f"F1 {_percent(each.f1)}, {each.support:,} rows"
        for each in worst[:n_shown]
    ]
    if n_shown < len(worst):
        others = "other class has" if len(worst) == n_shown + 1 else "other classes have"
        texts.append(f"{len(worst) - n_shown} {others} a recall of {_percent(worst[n_shown].recall)} or more")
    lines = {
        "classes": "\n".join(texts),
        "all classes": f"balanced accuracy {_percent(s.balanced_accuracy)}, G-mean {_percent(s.g_mean)}, "
        f"macro F1 {_percent(s.macro_f1)}",
    }
    if s.average_precision is not None and s.roc_auc is not None:
        which = "mean of all classes" if s.positive is None else f"of {visible(str(s.positive))}"
        lines["ranking"] = (
            f"average precision {s.average_precision:.3f}{_rounded_up(s.average_precision_error)}, "
            f"area under ROC {s.roc_auc:.3f}{_rounded_up(s.roc_auc_error)}   ({which})"
        )
    if s.log_loss is not None:
        lines["probabilities"] = f"log loss {s.log_loss:.3f}, Brier score {_decimals(s.brier_score)}"
    return lines


def _rounded_up(error: float | None) -> str:
    return f" ± {ceil(1000 * error) / 1000:.3f}" if error else ""


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
