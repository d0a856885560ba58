"""Formatting of numbers, names, times and shifts as text."""

import math
from collections.abc import Sequence
from typing import Any

from driftline.evaluation import Change, Comparison, Shift, ShiftKind, Summary
from driftline.evaluation.metrics import METRICS
from driftline.utils.terminal import visible

MAX_NAMED_COLUMNS = 3
"""Columns that are named with a change, at most."""


def format_percent(share: float) -> str:
    """Return a share in percent, with enough digits that a share above 0 does not read as 0.

    Examples
    --------
    >>> format_percent(0.192), format_percent(0.00004), format_percent(0.0)
    ('19.2%', '0.004%', '0.0%')
    """
    return f"{100 * share:.2g}%" if 0.0 < abs(share) < 0.0005 else f"{share:.1%}"


def format_mean_bound(summary: Summary) -> str:
    """Return the mean bound of a classifier in percent, or the word that says why there is none.

    "failed" if the expected mistakes exceeded the sum of the bounds; "void" if labels came late and the bounds do not
    allow for that; "uninformative" if it is hardly better than guessing; "–" if the classifier gives no bounds.
    """
    if summary.mean_bound is None:
        return "–"
    if summary.bounds_held is None:
        return "void"
    if not summary.bounds_held:
        return "failed"
    return format_percent(summary.mean_bound) if summary.bound_is_informative else "uninformative"


def format_measure(place: Comparison) -> str:
    """Return the value by which a classifier is ranked: a share of rows in percent, "–" if there is none."""
    if place.value is None:
        return "–"
    return format_percent(place.value) if METRICS[place.by].is_share else f"{place.value:.3f}"


def format_points(difference: float) -> str:
    """Return a difference of shares in percentage points.

    Examples
    --------
    >>> format_points(0.0342), format_points(0.01), format_points(0.00004)
    ('3.4 percentage points', '1 percentage point', '0.004 percentage points')
    """
    number = format_percent(difference)[:-1].removesuffix(".0")
    return f"{number} percentage point{'' if number == '1' else 's'}"


def format_count(n: float, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun in the singular or the plural.

    Examples
    --------
    >>> format_count(1, "row"), format_count(2000, "row"), format_count(2, "class", "classes")
    ('1 row', '2,000 rows', '2 classes')
    """
    number = f"{n:,.0f}"
    return f"{number} {noun if number == '1' else plural or noun + 's'}"


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Return words joined by commas, and by "and" or another word before the last.

    Examples
    --------
    >>> join_words(["a"]), join_words(["a", "b"]), join_words(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def visible_text(value: Any) -> str:
    """Return a label or a column name as text; one without visible characters is quoted, control characters escaped.

    Examples
    --------
    >>> visible_text(3), visible_text(True), visible_text("spam"), visible_text(" ")
    ('3', 'True', 'spam', "' '")
    """
    text = str(value)
    return visible(text) if text.strip() else repr(text)


def truncate(text: str, max_length: int) -> str:
    """Return a text cut to at most `max_length` characters.

    Examples
    --------
    >>> truncate("visibility", 10), truncate("max_sustained_wind_speed", 10)
    ('visibility', 'max_susta…')
    """
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def format_pair(first: float, second: float) -> tuple[str, str]:
    """Return two numbers with enough digits to show their difference.

    Examples
    --------
    >>> format_pair(10.0952, 15.8517), format_pair(1013.25, 1013.412), format_pair(1e9, 3e9)
    (('10.1', '15.9'), ('1,013.25', '1,013.41'), ('1,000,000,000', '3,000,000,000'))
    >>> format_pair(0.0, 1e-12), format_pair(2.0, 2.0)
    (('0', '1e-12'), ('2', '2'))
    """
    size = max(abs(first), abs(second))
    difference = abs(first - second)
    if not math.isfinite(size) or size >= 1e12 or difference < 1e-6:
        return f"{first:.6g}", f"{second:.6g}"
    decimals = max(0, 1 - math.floor(math.log10(difference)))
    return f"{first:,.{decimals}f}", f"{second:,.{decimals}f}"


def shift_name(shift: Shift) -> str:
    """Return what a shift is of, in words.

    Examples
    --------
    >>> shift_name(Shift(ShiftKind.LOCATION, "heat", "spam", 1.0, 2.0, 9.0))
    'median of heat in class spam'
    """
    feature, label = visible_text(shift.feature), visible_text(shift.label)
    return {
        ShiftKind.LOCATION: f"median of {feature} in class {label}",
        ShiftKind.SPREAD: f"interquartile range of {feature} in class {label}",
        ShiftKind.SHARE: f"share of {feature} in class {label}",
        ShiftKind.MISSING: f"share of missing values of {feature}",
        ShiftKind.CLASS_SHARE: f"share of class {label}",
    }[shift.kind]


def shift_values(shift: Shift) -> tuple[str, str]:
    """Return the values before and after a shift: shares in percent, others with enough digits to differ.

    Examples
    --------
    >>> shift_values(Shift(ShiftKind.MISSING, "heat", None, 0.0, 0.9, 20.0))
    ('0.0%', '90.0%')
    """
    if shift.kind in (ShiftKind.LOCATION, ShiftKind.SPREAD):
        return format_pair(shift.before, shift.after)
    return format_percent(shift.before), format_percent(shift.after)


def format_shift(shift: Shift) -> str:
    """Return what shifted, and its values before and after.

    Examples
    --------
    >>> format_shift(Shift(ShiftKind.LOCATION, "heat", "spam", 10.0952, 15.8517, 17.0))
    'median of heat in class spam: 10.1 → 15.9'
    """
    before, after = shift_values(shift)
    return f"{shift_name(shift)}: {before} → {after}"


def leading_shifts(change: Change) -> list[Shift]:
    """Return the clearest shift of each column that moved at a change, of at most three columns.

    Examples
    --------
    >>> late = Shift(ShiftKind.LOCATION, "heat", "late", 10.0, 15.0, 17.0)
    >>> early = Shift(ShiftKind.LOCATION, "heat", "early", 10.0, 14.0, 12.0)
    >>> dead = Shift(ShiftKind.MISSING, "wind", None, 0.0, 0.9, 9.0)
    >>> change = Change(4_200, float("nan"), 4_600, 400, 17.0, 0.1, 0.2, (late, early, dead))
    >>> leading_shifts(change) == [late, dead]
    True
    """
    clearest = {shift.feature: shift for shift in reversed(change.shifts)}
    return [shift for shift in change.shifts if clearest[shift.feature] is shift][:MAX_NAMED_COLUMNS]


def format_change(change: Change) -> str:
    """Return a change that was found during a run as a line of text.

    Examples
    --------
    >>> shift = Shift(ShiftKind.LOCATION, "amount", "fraud", 247.0, 8.0, -9.0)
    >>> format_change(Change(4_200, float("nan"), 4_600, 400, 9.0, 0.1, 0.2, (shift,)))
    'change to a new level near row 4,200 (found at row 4,600): median of amount in class fraud 247 → 8'
    """
    shifts = [f"{shift_name(shift)} {' → '.join(shift_values(shift))}" for shift in leading_shifts(change)]
    return f"change to a new level near row {change.row:,} (found at row {change.found_at:,}): {', '.join(shifts)}"
