"""Text from data and files that is shown on a terminal."""

import re

UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters, with which a text could move the cursor or change the window, and marks of writing direction."""


def visible(text: str) -> str:
    r"""Return a text on one line in which control characters are replaced by their escapes, such as \x1b.

    Parameters
    ----------
    text : str
        A text that may contain data, such as labels, names of columns or of files.

    Returns
    -------
    str
        The text, which does nothing to a terminal but appear.

    Examples
    --------
    >>> print(visible("a\x1b[31mb"))
    a\x1b[31mb
    """
    return UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
