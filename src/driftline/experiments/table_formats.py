"""Tables as CSV, Markdown and LaTeX, and the notes below them."""

import csv
import io

from driftline.experiments.result_table import FAR_POINTS, ResultTable, TableCell, TableRow

BRACKETS = "Published figures are in brackets."


def format_cell(cell: TableCell, digits: int) -> str:
    """Return our figure, with the published one in brackets.

    Examples
    --------
    >>> format_cell(TableCell(30.04, 29.9), 1), format_cell(TableCell(None, "N/A", "no file"), 1)
    ('30.0 (29.9)', '– (N/A)')
    >>> format_cell(TableCell(3.0), 0)
    '3'
    """
    ours = "–" if cell.value is None else f"{cell.value:,.{digits}f}"
    if cell.published is None:
        return ours
    theirs = f"{cell.published:,.{digits}f}" if isinstance(cell.published, int | float) else cell.published
    return f"{ours} ({theirs})"


def table_notes(table: ResultTable) -> list[str]:
    """Return all lines below a table: agreement with the paper, notes, and remarks."""
    return [*agreement(table), *notes(table), *remarks(table)]


def agreement(table: ResultTable) -> list[str]:
    """Return a line with the number of figures near the published ones in each row; none if nothing is published."""
    counts = []
    for row in table.rows:
        differences = [cell.difference for cell in row.cells if not cell.is_summary and cell.difference is not None]
        if differences:
            near = sum(abs(difference) <= FAR_POINTS for difference in differences)
            counts.append(f"{row.name} {near} of {len(differences)}")
    if not counts or not table.in_percent:
        return []
    return [f"Within {FAR_POINTS:g} points of the published figure: {', '.join(counts)}."]


def notes(table: ResultTable) -> list[str]:
    """Return the notes of rows and cells, a line for each different note."""
    rows_by_note: dict[str, list[str]] = {}
    for row in table.rows:
        if row.note:
            rows_by_note.setdefault(row.note, []).append(row.name)
        for cell, column in zip(row.cells, table.columns, strict=True):
            if cell.note:
                rows_by_note.setdefault(f"{column}: {cell.note}", []).append(row.name)
    all_rows = {row.name for row in table.rows}
    return [f"{'all' if set(rows) == all_rows else ', '.join(rows)}: {note}" for note, rows in rows_by_note.items()]


def remarks(table: ResultTable) -> list[str]:
    """Return the remarks about cells that are far from the published figures, a line each."""
    return [
        f"{row.name}, {column}: {format_cell(cell, table.digits)}. {cell.remark}"
        for row in table.rows
        for cell, column in zip(row.cells, table.columns, strict=True)
        if cell.remark
    ]


def to_csv(table: ResultTable) -> str:
    """Return a line for each cell: row, column, ours, published, difference, note."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "column", "ours", "published", "difference", "note"])
    for row in table.rows:
        for cell, column in zip(row.cells, table.columns, strict=True):
            note = "; ".join(text for text in (cell.note, row.note) if text)
            writer.writerow([row.name, column, cell.value, cell.published, cell.difference, note])
    return text.getvalue()


def to_markdown(table: ResultTable) -> str:
    """Return heading, table, notes and provenance."""
    lines = [
        f"# {table.title}",
        "",
        f"{table.about} {BRACKETS}",
        "",
        _markdown_row("", *table.columns),
        _markdown_row(*["---"] * (len(table.columns) + 1)),
    ]
    lines += [
        _markdown_row(_markdown_name(row), *(format_cell(cell, table.digits) for cell in row.cells))
        for row in table.rows
    ]
    return "\n".join([*lines, "", *(f"- {note}" for note in table_notes(table)), "", table.provenance, ""])


def _markdown_row(*entries: str) -> str:
    return f"| {' | '.join(entries)} |"


def _markdown_name(row: TableRow) -> str:
    return f"*{row.name}*" if row.ours else row.name


def to_latex(table: ResultTable) -> str:
    """Return a tabular environment, with the published figures in brackets."""
    head = " & ".join(["", *map(_escape_latex, table.columns)])
    body = [
        " & ".join([_escape_latex(row.name), *(_escape_latex(format_cell(cell, table.digits)) for cell in row.cells)])
        + r" \\"
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


def _escape_latex(text: str) -> str:
    for sign in "&%_#":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("λ", r"$\lambda$").replace("–", "--")
