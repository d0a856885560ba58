"""Small HTML tables for notebooks: without scripts, and in the colours of the page that they are shown on."""

from collections.abc import Iterable, Sequence
from html import escape

from driftline.utils.terminal import visible

MAX_CHARACTERS = 40
"""Longest text of a cell; names may be long, and rows are to stay on one line."""
CELL = "text-align:left;padding:.15em 1.2em .15em 0;vertical-align:top;white-space:nowrap"


def titled_table(
    title: str, rows: Iterable[Sequence[str]], header: Sequence[str] = (), notes: Iterable[str] = ()
) -> str:
    """Return a title, notes below it, and a table; every text is escaped.

    Parameters
    ----------
    title : str
        The text above the table.
    rows : iterable of sequence of str
        The cells.
    header : sequence of str, default=()
        The cells of the first row. Without it, the first cell of each row is its heading.
    notes : iterable of str, default=()
        Paragraphs between the title and the table.

    Returns
    -------
    str
        An element of HTML that inherits its colours.

    Examples
    --------
    >>> print(titled_table("<b>", [["error", "5%"]]))
    <div><p style="margin:.3em 0"><b>&lt;b&gt;</b></p>...<th style="...">error</th><td style="...">5%</td>...</div>
    """
    lines = [f'<p style="margin:.3em 0"><b>{safe_text(title)}</b></p>']
    lines += [f'<p style="margin:.3em 0">{safe_text(note)}</p>' for note in notes]
    body = [_row([("th", cell) for cell in header])] if header else []
    for row in rows:
        cells = ["td"] * len(row) if header else ["th", *["td"] * (len(row) - 1)]
        body.append(_row(list(zip(cells, row, strict=True))))
    table = f'<table style="border-collapse:collapse;margin:.3em 0">{"".join(body)}</table>'
    return f"<div>{''.join(lines)}{table}</div>"


def safe_text(text: str) -> str:
    """Return a text in which nothing is interpreted as HTML, and control characters are visible."""
    return escape(visible(text).encode(errors="replace").decode())


def shortened(text: str) -> str:
    """Return a text cut to `MAX_CHARACTERS`."""
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


def _row(cells: Sequence[tuple[str, str]]) -> str:
    weight = {"th": ";font-weight:600", "td": ""}
    marked = (f'<{tag} style="{CELL}{weight[tag]}">{safe_text(text)}</{tag}>' for tag, text in cells)
    return f"<tr>{''.join(marked)}</tr>"
