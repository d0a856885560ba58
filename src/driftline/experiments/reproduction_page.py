"""Pages with the paper's tables and figures beside ours: HTML, and Markdown for the documentation."""

from base64 import b64encode
from collections.abc import Mapping
from html import escape

from driftline.experiments.figure_drawing import ResultFigure, draw
from driftline.experiments.result_table import FAR_POINTS, ResultTable, TableCell, TableRow
from driftline.experiments.table_formats import table_notes, to_markdown

STYLE = """\
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 88rem; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #8884; white-space: nowrap; }
th:first-child { text-align: left; position: sticky; left: 0; background: Canvas; }
td small { color: GrayText; display: block; }
td .far { color: #d55e00; font-weight: 600; }
tr.ours th, tr.ours td { background: #0072b212; font-style: italic; }
figure { margin: 1rem 0; background: white; padding: .5rem; } figure img { max-width: 100%; height: auto; }
.yes::before { content: "✓ "; color: #009e73; } .no::before { content: "✗ "; color: #d55e00; }
footer, .made { color: GrayText; font-size: 13px; }
"""
Section = ResultTable | ResultFigure


def to_html(title: str, sections: Mapping[str, Section]) -> str:
    """Return a self-contained page: published figures, ours, and the differences.

    Parameters
    ----------
    title : str
        Heading of the page.
    sections : mapping of str to ResultTable or ResultFigure
        Its content, by name.

    Returns
    -------
    str
        HTML.
    """
    body = "\n".join(
        _figure_html(name, part) if isinstance(part, ResultFigure) else _table_html(name, part)
        for name, part in sections.items()
    )
    links = " · ".join(f'<a href="#{name}">{name}</a>' for name in sections)
    # A single section has its own heading.
    head = f"<h1>{escape(title)}</h1>\n<p>{links}</p>" if len(sections) > 1 else ""
    return f"""\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{STYLE}</style>
{head}
{body}
</html>
"""


def _table_html(name: str, table: ResultTable) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "\n".join(_row_html(row, table) for row in table.rows)
    marked = f", which is marked if it exceeds {FAR_POINTS:g} points" if table.in_percent else ""
    notes = "".join(f"<li>{escape(note)}</li>" for note in table_notes(table))
    return f"""\
<section id="{name}">
<h2>{escape(table.title)}</h2>
<p>{escape(table.about)}</p>
<p>Each cell has our figure, and below it the published one and the difference{marked}.</p>
<div class="wide"><table>
<tr><th></th>{head}</tr>
{rows}
</table></div>
<ul>{notes}</ul>
<p class="made">{escape(table.provenance)}</p>
</section>"""


def _row_html(row: TableRow, table: ResultTable) -> str:
    cells = "".join(f"<td>{_cell_html(cell, table)}</td>" for cell in row.cells)
    kind = "ours" if row.ours else "published"
    return f'<tr class="{kind}"><th>{escape(row.name)}</th>{cells}</tr>'


def _cell_html(cell: TableCell, table: ResultTable) -> str:
    digits = table.digits
    ours = "–" if cell.value is None else f"{cell.value:,.{digits}f}"
    if cell.published is None:
        return ours
    if not isinstance(cell.published, int | float):
        return f"{ours}<small>{escape(cell.published)}</small>"
    difference = ""
    if cell.difference is not None:
        is_far = table.in_percent and not cell.is_summary and abs(cell.difference) > FAR_POINTS
        far = ' class="far"' if is_far else ""
        difference = f" <span{far}>{cell.difference:+,.{digits}f}</span>"
    return f"{ours}<small>{cell.published:,.{digits}f}{difference}</small>"


def _figure_html(name: str, figure: ResultFigure) -> str:
    drawn = b64encode(draw(figure)[".svg"]).decode() if figure.panels else ""
    source = f"data:image/svg+xml;base64,{drawn}"  # inline SVGs would share identifiers
    picture = f'<figure><img alt="{escape(figure.title)}" src="{source}"></figure>' if drawn else ""
    findings = "".join(f'<li class="{"yes" if one.holds else "no"}">{escape(one.text)}</li>' for one in figure.findings)
    missing = "".join(f"<li>not drawn: {escape(reason)}</li>" for reason in figure.reasons)
    return f"""\
<section id="{name}">
<h2>{escape(figure.title)}</h2>
<p>{escape(figure.about)}</p>
{picture}
<p><b>The paper:</b> {escape(figure.claim)}</p>
<ul>{findings}{missing}</ul>
<p class="made">{escape(figure.provenance)}</p>
</section>"""


def to_markdown_page(title: str, introduction: str, sections: Mapping[str, Section]) -> str:
    """Return a page of the documentation, which links to the files of the figures.

    Parameters
    ----------
    title, introduction : str
        Heading and first paragraph of the page.
    sections : mapping of str to ResultTable or ResultFigure
        Its content, by name.

    Returns
    -------
    str
        Markdown.
    """
    parts = [f"# {title}", introduction]
    for name, part in sections.items():
        if isinstance(part, ResultFigure):
            parts.append(figure_markdown(name, part))
        else:
            parts.append(f"#{to_markdown(part)}".rstrip())
    return "\n\n".join(parts) + "\n"


def figure_markdown(name: str, figure: ResultFigure) -> str:
    """Return a figure as Markdown, with a link to its file."""
    lines = [f"## {figure.title}", "", figure.about, ""]
    if figure.panels:
        lines += [f"![{figure.title}]({name}.svg)", ""]
    lines += [f"The paper: {figure.claim}", ""]
    lines += [f"- {'' if one.holds else '**Does not hold here.** '}{one.text}" for one in figure.findings]
    lines += [f"- not drawn: {reason}" for reason in figure.reasons]
    return "\n".join([*lines, "", figure.provenance])
