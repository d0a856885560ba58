"""Numbers, labels and moments in words."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from driftline.evaluation import Shift

FIRST_EPOCH = 1e8
"""Times above are taken for seconds since 1970, from 1973 on; numbers below are shown as they are."""
LAST_EPOCH = 253_402_300_799
"""The last second of the year 9999."""


def percent(share: float) -> str:
    """Return a share in percent, with a digit that is not 0 if it is not 0.

    Examples
    --------
    >>> percent(0.192), percent(0.00004), percent(0.0)
    ('19.2%', '0.004%', '0.0%')
    """
    return f"{100 * share:.2g}%" if 0.0 < abs(share) < 0.0005 else f"{share:.1%}"


def points(difference: float) -> str:
    """Return a difference of shares in percentage points.

    Examples
    --------
    >>> points(0.0342), points(0.01), points(0.00004)
    ('3.4 percentage points', '1 percentage point', '0.004 percentage points')
    """
    number = percent(difference)[:-1].removesuffix(".0")
    return f"{number} percentage point{'' if number == '1' else 's'}"


def counted(n: float, noun: str, nouns: str | None = None) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row"), counted(2, "class", "classes")
    ('1 row', '2,000 rows', '2 classes')
    """
    number = f"{n:,.0f}"
    return f"{number} {noun if number == '1' else nouns or noun + 's'}"


def listed(words: Sequence[str]) -> str:
    """Return words as one of a sentence.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def said(label: Any) -> str:
    """Return a label as the reader knows it; one that cannot be seen is quoted.

    Examples
    --------
    >>> said(3), said(True), said("spam"), said(" ")
    ('3', 'True', 'spam', "' '")
    """
    text = str(label)
    return text if text.strip() else repr(text)


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters.

    Examples
    --------
    >>> shortened("visibility", 10), shortened("max_sustained_wind_speed", 10)
    ('visibility', 'max_susta…')
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def two(one: float, other: float) -> tuple[str, str]:
    """Return two numbers with as many digits as show their difference.

    Examples
    --------
    >>> two(10.0952, 15.8517), two(1013.25, 1013.412), two(1e9, 3e9), two(0.0, 1e-12), two(2.0, 2.0)
    (('10.1', '15.9'), ('1,013.25', '1,013.41'), ('1,000,000,000', '3,000,000,000'), ('0', '1e-12'), ('2', '2'))
    """
    size = max(abs(one), abs(other))
    difference = abs(one - other)
    if not math.isfinite(size) or size >= 1e12 or difference < 1e-6:
        return f"{one:.6g}", f"{other:.6g}"
    decimals = max(0, 1 - math.floor(math.log10(difference)))
    return f"{one:,.{decimals}f}", f"{other:,.{decimals}f}"


def moment(time: float) -> str:
    """Return a time of a stream: a date if it is seconds since 1970, otherwise the number; nothing if there is none.

    Examples
    --------
    >>> moment(1_000_000_000.0), moment(86400.0 * 2000), moment(12.5), moment(1.7e12), moment(float("nan"))
    ('2001-09-09 01:46 UTC', '1975-06-24', '12.5', '1,700,000,000,000', '')
    """
    if not math.isfinite(time):
        return ""
    if not FIRST_EPOCH < time <= LAST_EPOCH:
        return f"{time:,.15g}"
    date = datetime.fromtimestamp(time, UTC)
    return f"{date:%Y-%m-%d}" if time % 86_400 == 0 else f"{date:%Y-%m-%d %H:%M} UTC"


def described(shift: Shift) -> str:
    """Return a shift as a line of the table of changes."""
    if shift.feature is None:
        return f"share of class {said(shift.label)}: {percent(shift.before)} → {percent(shift.after)}"
    before, after = two(shift.before, shift.after)
    return f"{said(shift.feature)} in class {said(shift.label)}: {before} → {after}"
