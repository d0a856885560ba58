"""Tables as text: CSV, Markdown and LaTeX."""

import csv
import io

from driftline.experiments.table import FAR, Cell, Row, Table

BRACKETS = "In brackets what is published."


def shown(cell: Cell, digits: int) -> str:
    """Return our figure, and the published one in brackets.

    Examples
    --------
    >>> shown(Cell(30.04, 29.9), 1), shown(Cell(None, "N/A", "no file"), 1), shown(Cell(3.0), 0)
    ('30.0 (29.9)', '– (N/A)', '3')
    """
    ours = "–" if cell.value is None else f"{cell.value:,.{digits}f}"
    if cell.published is None:
        return ours
    theirs = f"{cell.published:,.{digits}f}" if isinstance(cell.published, int | float) else cell.published
    return f"{ours} ({theirs})"


def notes(table: Table) -> list[str]:
    """Return what is to be said of rows and cells, a line each, with the same said once."""
    said: dict[str, list[str]] = {}
    for row in table.rows:
        if row.note:
            said.setdefault(row.note, []).append(row.name)
        for cell, column in zip(row.cells, table.columns, strict=True):
            if cell.note:
                said.setdefault(f"{column}: {cell.note}", []).append(row.name)
    everyone = {row.name for row in table.rows}
    return [f"{'all' if set(rows) == everyone else ', '.join(rows)}: {note}" for note, rows in said.items()]


def nearness(table: Table) -> list[str]:
    """Return for each row how many of its figures are near the published ones, if any are published."""
    said = []
    for row in table.rows:
        differences = [cell.difference for cell in row.cells if not cell.is_summary and cell.difference is not None]
        if differences:
            near = sum(abs(difference) <= FAR for difference in differences)
            said.append(f"{row.name} {near} of {len(differences)}")
    return [f"Within {FAR:g} points of the published figure: {', '.join(said)}."] if said and table.in_percent else []


def remarks(table: Table) -> list[str]:
    """Return what is to be said of cells that are far from the published ones, a line each."""
    return [
        f"{row.name}, {column}: {shown(cell, table.digits)}. {cell.remark}"
        for row in table.rows
        for cell, column in zip(row.cells, table.columns, strict=True)
        if cell.remark
    ]


def said_of(table: Table) -> list[str]:
    """Return all that is to be said of a table, a line each."""
    return [*nearness(table), *notes(table), *remarks(table)]


def to_csv(table: Table) -> str:
    """Return a line for each cell: row, column, ours, published, difference, note."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "column", "ours", "published", "difference", "note"])
    for row in table.rows:
        for cell, column in zip(row.cells, table.columns, strict=True):
            note = "; ".join(text for text in (cell.note, row.note) if text)
            writer.writerow([row.name, column, cell.value, cell.published, cell.difference, note])
    return text.getvalue()


def to_markdown(table: Table) -> str:
    """Return a page: heading, table, notes."""
    lines = [
        f"# {table.title}",
        "",
        f"{table.about} {BRACKETS}",
        "",
        _line("", *table.columns),
        _line(*["---"] * (len(table.columns) + 1)),
    ]
    lines += [_line(_name(row), *(shown(cell, table.digits) for cell in row.cells)) for row in table.rows]
    return "\n".join([*lines, "", *(f"- {note}" for note in said_of(table)), "", table.provenance, ""])


def _line(*entries: str) -> str:
    return f"| {' | '.join(entries)} |"


def _name(row: Row) -> str:
    return f"*{row.name}*" if row.ours else row.name


def to_latex(table: Table) -> str:
    """Return a tabular environment, ours with the published figures in brackets."""
    head = " & ".join(["", *map(_escaped, table.columns)])
    body = [
        " & ".join([_escaped(row.name), *(_escaped(shown(cell, table.digits)) for cell in row.cells)]) + r" \\"
        for row in table.rows
    ]
    first_own = next((i for i, row in enumerate(table.rows) if row.ours), None)
    if first_own is not None:
        body.insert(first_own, r"\hline")
    lines = [
        rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"\hline",
        head + r" \\",
        r"\hline",
        *body,
        r"\hline",
    ]
    return "\n".join([f"% {table.title}", f"% {table.provenance}", *lines, r"\end{tabular}", ""])


def _escaped(text: str) -> str:
    for sign in "&%_#":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("λ", r"$\lambda$").replace("–", "--")
