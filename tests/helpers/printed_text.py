"""Comparison of printed text with the text that a page or a notebook shows."""

import re

NUMBER = r"\d[\d,]*(?:\.\d+)?"


def prints(shown, printed):
    """Return whether what was printed is what is shown, where ... stands for anything, and numbers are close.

    Processors of one family print the same. On another one, or with another mathematical library, cosines differ in
    their last digit, and results by up to 2 % thousands of rows later.
    """
    pieces = re.split(rf"(\.\.\.|{NUMBER})", " ".join(shown.split()))
    groups = {"...": "(.*?)"}
    pattern = [groups.get(piece, f"({NUMBER})") if k % 2 else re.escape(piece) for k, piece in enumerate(pieces)]
    found = re.fullmatch("".join(pattern), " ".join(printed.split()))
    pairs = zip(pieces[1::2], found.groups(), strict=True) if found else ()
    return found is not None and all(shown == "..." or is_close(shown, number) for shown, number in pairs)


def is_close(shown, printed):
    """Return whether a printed number is within 2 %, one whole unit, or two units of the last decimal shown."""
    unit = 10.0 ** -len(shown.partition(".")[2])
    expected, got = (float(number.replace(",", "")) for number in (shown, printed))
    return abs(expected - got) <= max(2.0 * unit if "." in shown else 1.0, 0.02 * abs(expected))
