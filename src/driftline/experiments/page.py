"""Pages that show the paper's tables and figures beside ours: HTML, and Markdown for the documentation."""

from base64 import b64encode
from collections.abc import Mapping
from html import escape

from driftline.experiments.figure import Figure
from driftline.experiments.plot import draw
from driftline.experiments.render import said_of, to_markdown
from driftline.experiments.table import FAR, Cell, Row, Table

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
Section = Table | Figure


def to_html(title: str, sections: Mapping[str, Section]) -> str:
    """Return a page that needs nothing else: published figures, ours, and the difference.

    Parameters
    ----------
    title : str
        Its heading.
    sections : mapping of str to Table or Figure
        What it shows, by name.

    Returns
    -------
    str
        HTML.
    """
    body = "\n".join(
        _figure(name, shown) if isinstance(shown, Figure) else _table(name, shown) for name, shown in sections.items()
    )
    links = " · ".join(f'<a href="#{name}">{name}</a>' for name in sections)
    head = f"<h1>{escape(title)}</h1>\n<p>{links}</p>" if len(sections) > 1 else ""  # one alone has its own heading
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


def _table(name: str, table: Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "\n".join(_row(row, table) for row in table.rows)
    marked = f", marked beyond {FAR:g} points" if table.in_percent else ""
    said = "".join(f"<li>{escape(note)}</li>" for note in said_of(table))
    return f"""\
<section id="{name}">
<h2>{escape(table.title)}</h2>
<p>{escape(table.about)}</p>
<p>In each cell: ours; below it the published figure and the difference{marked}.</p>
<div class="wide"><table>
<tr><th></th>{head}</tr>
{rows}
</table></div>
<ul>{said}</ul>
<p class="made">{escape(table.provenance)}</p>
</section>"""


def _row(row: Row, table: Table) -> str:
    cells = "".join(f"<td>{_cell(cell, table)}</td>" for cell in row.cells)
    kind = "ours" if row.ours else "published"
    return f'<tr class="{kind}"><th>{escape(row.name)}</th>{cells}</tr>'


def _cell(cell: Cell, table: Table) -> str:
    digits = table.digits
    ours = "–" if cell.value is None else f"{cell.value:,.{digits}f}"
    if cell.published is None:
        return ours
    if not isinstance(cell.published, int | float):
        return f"{ours}<small>{escape(cell.published)}</small>"
    difference = ""
    if cell.difference is not None:
        is_far = table.in_percent and not cell.is_summary and abs(cell.difference) > FAR
        far = ' class="far"' if is_far else ""
        difference = f" <span{far}>{cell.difference:+,.{digits}f}</span>"
    return f"{ours}<small>{cell.published:,.{digits}f}{difference}</small>"


def _figure(name: str, figure: Figure) -> str:
    drawn = b64encode(draw(figure)[".svg"]).decode() if figure.panels else ""
    source = f"data:image/svg+xml;base64,{drawn}"  # inline its identifiers would be those of other figures too
    picture = f'<figure><img alt="{escape(figure.title)}" src="{source}"></figure>' if drawn else ""
    said = "".join(f'<li class="{"yes" if one.holds else "no"}">{escape(one.text)}</li>' for one in figure.findings)
    missing = "".join(f"<li>not drawn: {escape(reason)}</li>" for reason in figure.reasons)
    return f"""\
<section id="{name}">
<h2>{escape(figure.title)}</h2>
<p>{escape(figure.about)}</p>
{picture}
<p><b>The paper:</b> {escape(figure.says)}</p>
<ul>{said}{missing}</ul>
<p class="made">{escape(figure.provenance)}</p>
</section>"""


def to_page(title: str, introduction: str, sections: Mapping[str, Section]) -> str:
    """Return a page of the documentation; figures are beside it, in files of their names.

    Parameters
    ----------
    title, introduction : str
        Its heading, and what is said before anything is shown.
    sections : mapping of str to Table or Figure
        What it shows, by name.

    Returns
    -------
    str
        Markdown.
    """
    parts = [f"# {title}", introduction]
    for name, shown in sections.items():
        parts.append(figure_markdown(name, shown) if isinstance(shown, Figure) else f"#{to_markdown(shown)}".rstrip())
    return "\n\n".join(parts) + "\n"


def figure_markdown(name: str, figure: Figure) -> str:
    """Return a figure as Markdown, with a link to its file."""
    lines = [f"## {figure.title}", "", figure.about, ""]
    if figure.panels:
        lines += [f"![{figure.title}]({name}.svg)", ""]
    lines += [f"The paper: {figure.says}", ""]
    lines += [f"- {'' if one.holds else '**Not so here.** '}{one.text}" for one in figure.findings]
    lines += [f"- not drawn: {reason}" for reason in figure.reasons]
    return "\n".join([*lines, "", figure.provenance])
