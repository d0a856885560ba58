"""The page: story, charts and tables in one HTML file that reaches for nothing else."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.resources import files

from driftline.errors import MissingExtraError
from driftline.evaluation.course import MOST_WINDOWS, SHORTEST_WINDOW
from driftline.report.entry import Entry
from driftline.report.findings import look
from driftline.report.sections import sections_of
from driftline.report.story import tell
from driftline.report.wording import counted, described, moment, percent


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
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  # an extra may be missing
        from markupsafe import Markup  # noqa: PLC0415
        from plotly.offline import get_plotlyjs  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("a report needs jinja2 and plotly; pip install 'driftline[report]'") from error
    environment = Environment(
        loader=PackageLoader("driftline.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    environment.filters |= {"count": counted, "percent": percent, "shift": described, "time": moment}
    # The only texts that are not escaped: files of this package and of Plotly, which hold nothing of the user's.
    trusted = {
        "style": Markup(_file("page.css")),
        "script": Markup(_file("page.js")),
        "plotly": Markup(get_plotlyjs().replace("</script", r"<\/script")),
    }
    found = look(entries)
    sections = sections_of(found)
    page = environment.get_template("page.html.j2").render(
        title=f"{found.first.name} on {found.first.summary.stream}",
        sentences=tell(found),
        sections=sections,
        changes=found.changes,
        ranked_entries=found.ranked_entries,
        command=command,
        facts=_facts(found.first, versions),
        charts=[section.chart.to_dict() for section in sections if section.chart is not None],
        **trusted,
    )
    # Paths that are not valid UTF-8 contain lone surrogates, which cannot be written to a file.
    return page.encode(errors="replace").decode()


def _file(name: str) -> str:
    return (files("driftline.report") / "templates" / name).read_text(encoding="utf-8")


def _facts(entry: Entry, versions: Mapping[str, str]) -> dict[str, str]:
    """Return the rows of the page's last table, by name."""
    course, summary = entry.course, entry.summary
    state = "" if entry.finished else "; the run was stopped before its end"
    return {
        "Versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "Rows": f"{counted(summary.n_rows, 'row')}, {counted(summary.n_classes, 'class', 'classes')}{state}",
        "Made": f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}",
        "Windows": f"The course was kept in windows of {counted(course.length, 'row')}: of {SHORTEST_WINDOW} at first, "
        f"joined in pairs whenever there were {MOST_WINDOWS}. Charts show means over several where that many rows are "
        f"needed to see more than chance.",
    }
