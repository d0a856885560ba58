"""The page: story, charts and tables in one HTML file that reaches for nothing else."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from importlib.resources import files
from string import Template

from driftline.errors import MissingExtraError
from driftline.evaluation.course import MOST_WINDOWS, SHORTEST_WINDOW
from driftline.report.drawing import Chart
from driftline.report.entry import Entry
from driftline.report.findings import look
from driftline.report.sections import Section, sections_of
from driftline.report.story import tell
from driftline.report.wording import counted


def to_html(entries: Sequence[Entry], *, command: str, versions: Mapping[str, str]) -> str:
    """Return a report as one HTML page that needs no other file and no network.

    Parameters
    ----------
    entries : sequence of Entry
        Evaluated classifiers, of different names. The page is about the first, and compares it with the others.
    command : str
        What was called, for the reader who wants to do it again.
    versions : mapping of str to str
        What it was done with: names and versions.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from driftline.evaluation import Course, evaluate
    >>> from driftline.registry import create
    >>> from driftline.report import Entry, to_html
    >>> from driftline.streams import ArrayStream, RotatingGaussians
    >>> stream = ArrayStream(*RotatingGaussians().sample(400, seed=0))
    >>> run = evaluate(create("majority"), stream, course=Course(stream.columns), progress=False)
    >>> page = to_html([Entry("majority", run.summary, run.course, True)], command="driftline run …", versions={})
    >>> "majority on arrays" in page
    True
    """
    try:
        from plotly.offline import get_plotlyjs  # noqa: PLC0415  # an extra may be missing
    except ImportError as error:
        raise MissingExtraError("a report needs plotly; pip install 'driftline[report]'") from error
    found = look(entries)
    sections = sections_of(found)
    page = Template(_part("page.html")).substitute(
        title=escape(f"{found.first.name} on {found.first.summary.stream}"),
        style=_part("page.css"),
        story="\n".join(f"<p>{escape(sentence)}</p>" for sentence in tell(found)),
        sections="\n".join(map(_section, sections)),
        origin=_origin(found.first, command, versions),
        plotly=get_plotlyjs().replace("</script", r"<\/script"),
        charts=_as_json([section.chart for section in sections if section.chart is not None]),
        script=_part("page.js"),
    )
    # Paths that are no UTF-8 come with half characters, which cannot be written to a file.
    return page.encode(errors="replace").decode()


def _part(name: str) -> str:
    return (files("driftline.report") / name).read_text(encoding="utf-8")


def _as_json(charts: Sequence[Chart]) -> str:
    """Return charts as JSON that can stand in a page: nothing in it ends the script, whatever labels are called."""
    text = json.dumps([chart.to_dict() for chart in charts], allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _section(section: Section) -> str:
    name, chart = section.name, section.chart
    figure = ""
    if chart is not None:
        kind = ' class="square"' if chart.is_square else ""
        figure = (
            f'<figure{kind}><div class="chart" id="chart-{chart.name}" role="img" aria-label="{escape(chart.alt)}" '
            f'style="height: {chart.height}px"></div></figure>\n'
        )
    return f"""\
<section aria-labelledby="{name}">
<h2 id="{name}">{escape(section.title)}</h2>
<p>{escape(section.text)}</p>
{figure}{section.table}
</section>"""


def _origin(entry: Entry, command: str, versions: Mapping[str, str]) -> str:
    course, summary = entry.course, entry.summary
    state = "" if entry.finished else "; the run was stopped before its end"
    facts = {
        "Command": f"<code>{escape(command)}</code>",
        "Versions": escape(", ".join(f"{name} {version}" for name, version in versions.items())),
        "Rows": escape(f"{counted(summary.n_rows, 'row')}, {counted(summary.n_classes, 'class', 'classes')}{state}"),
        "Made": f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}",
        "Windows": f"The course was kept in windows of {counted(course.length, 'row')}: of {SHORTEST_WINDOW} at first, "
        f"joined in pairs whenever there were {MOST_WINDOWS}. Charts show means over several where that many rows are "
        f"needed to see more than chance.",
    }
    return "<dl>\n" + "\n".join(f"<dt>{name}</dt><dd>{fact}</dd>" for name, fact in facts.items()) + "\n</dl>"
