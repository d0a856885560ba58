"""Times of rows as text."""

import math
from datetime import UTC, datetime

MIN_UNIX_TIME = 1e8
"""Larger times are read as seconds since 1970 (this is in 1973); smaller ones are shown as plain numbers."""
MAX_UNIX_TIME = 253_402_300_799
"""The last second of the year 9999."""


def format_time(time: float) -> str:
    """Return a time as a date if it is in seconds since 1970, otherwise as a number; "" if it is not finite.

    Examples
    --------
    >>> format_time(1_000_000_000.0), format_time(86400.0 * 2000), format_time(12.5), format_time(1.7e12)
    ('2001-09-09 01:46 UTC', '1975-06-24', '12.5', '1,700,000,000,000')
    >>> format_time(float("nan"))
    ''
    """
    if not math.isfinite(time):
        return ""
    if not MIN_UNIX_TIME < time <= MAX_UNIX_TIME:
        return f"{time:,.15g}"
    date = datetime.fromtimestamp(time, UTC)
    return f"{date:%Y-%m-%d}" if time % 86_400 == 0 else f"{date:%Y-%m-%d %H:%M} UTC"
