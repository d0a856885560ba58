"""Suggestions for mistyped names in error messages."""

from collections.abc import Iterable
from difflib import get_close_matches

MIN_PART_CHARACTERS = 3
"""Shortest text that is searched for inside longer names: almost every name contains a single letter."""


def close_names(wanted: str, known: Iterable[str]) -> list[str]:
    """Return up to three known names that resemble a mistyped one, the most similar first.

    Parameters
    ----------
    wanted : str
        The mistyped name.
    known : iterable of str
        The names that exist.

    Returns
    -------
    list of str
        Names that differ only in case; if there are none, names with a similar spelling; if there are none either,
        names that contain the mistyped one.

    Examples
    --------
    >>> close_names("wether", ["weather", "poker"]), close_names("arf", ["river-arf", "capymoa-arf", "dwm"])
    (['weather'], ['river-arf', 'capymoa-arf'])
    """
    names = list(known)
    same = [name for name in names if name.lower() == wanted.lower()]
    containing = [name for name in names if wanted in name and len(wanted) >= MIN_PART_CHARACTERS]
    return (same or get_close_matches(wanted, names, n=3) or containing)[:3]


def did_you_mean(names: Iterable[str]) -> str:
    """Return the question "did you mean …?" for the end of an error message.

    Parameters
    ----------
    names : iterable of str
        The names to suggest.

    Returns
    -------
    str
        The question after a semicolon; empty if there is no name to suggest.

    Examples
    --------
    >>> did_you_mean(["weather", "poker"]), did_you_mean([])
    ('; did you mean weather or poker?', '')
    """
    listed = " or ".join(names)
    return f"; did you mean {listed}?" if listed else ""
