"""The HTML page of a report: sentences, charts and tables in one file that loads nothing else."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from typing import TYPE_CHECKING

from driftline.errors import MissingExtraError
from driftline.evaluation.timeline import MAX_WINDOWS, MIN_WINDOW_ROWS
from driftline.report.analysis import ReportEntry, analyse
from driftline.report.comparison_table import comparison_rows, measure_rows
from driftline.report.confusion_table import confusion_table, listed_classes
from driftline.report.formatting import format_count, format_percent, format_shift, visible_text
from driftline.report.sections import report_sections
from driftline.report.summary_text import analysis_sentences
from driftline.report.tiles import report_tiles
from driftline.utils.terminal import visible
from driftline.utils.times import format_time

if TYPE_CHECKING:
    from jinja2 import Template


def to_html(
    entries: Sequence[ReportEntry],
    *,
    command: str,
    versions: Mapping[str, str],
    failures: Mapping[str, str] | None = None,
    by: str = "error",
) -> str:
    """Return a report as an HTML page that needs no other file and no network.

    Parameters
    ----------
    entries : sequence of ReportEntry
        Evaluated classifiers with different names. The page is about the first and compares it with the others.
    command : str
        The command that was run, so that the reader can run it again.
    versions : mapping of str to str
        Versions of the software used, by name.
    failures : mapping of str to str, optional
        The errors of classifiers that failed, by name.
    by : str, default="error"
        The measure by which classifiers are ranked, as for `driftline.evaluation.compare`.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from driftline.evaluation import evaluate
    >>> from driftline.registry import create
    >>> from driftline.report import ReportEntry, to_html
    >>> from driftline.streams import ArrayStream, RotatingGaussians
    >>> stream = ArrayStream(*RotatingGaussians().sample(400, seed=0))
    >>> run = evaluate(create("majority"), stream, progress=False)
    >>> entry = ReportEntry("majority", run.summary, run.timeline, run.finished)
    >>> page = to_html([entry], command="driftline run …", versions={})
    >>> "majority on arrays" in page
    True
    """
    analysis = analyse(entries, by)
    sections = report_sections(analysis)
    page = _page_template().render(
        title=visible(f"{analysis.first.name} on {analysis.first.summary.stream}"),
        sentences=[*analysis_sentences(analysis), *_failure_sentences(failures or {})],
        tiles=report_tiles(analysis),
        sections=sections,
        changes=analysis.changes,
        comparison=comparison_rows(analysis),
        confusion=confusion_table(analysis.first.summary),
        class_rows=listed_classes(analysis.first.summary),
        measures=measure_rows(analysis),
        command=visible(command),
        facts=_facts(analysis.first, versions),
        charts=[chart.to_dict() for section in sections for chart in section.charts],
    )
    # Paths that are not valid UTF-8 contain lone surrogates, which cannot be written to a file.
    return page.encode(errors="replace").decode()


def _failure_sentences(failures: Mapping[str, str]) -> list[str]:
    return [f"{visible(name)} failed and is not compared: {visible(error)}" for name, error in failures.items()]


def _page_template() -> "Template":
    """Return the template of the page, which escapes every value inserted into it except for the trusted ones."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  # an extra may be missing
        from markupsafe import Markup  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("a report needs jinja2; pip install 'driftline[report]'") from error
    environment = Environment(
        loader=PackageLoader("driftline.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    environment.filters |= {
        "format_count": format_count,
        "format_percent": format_percent,
        "format_shift": format_shift,
        "format_time": format_time,
        "visible_text": visible_text,
    }
    # Trusted: files of this package, without any user data.
    environment.globals |= {
        "style": Markup(_read_file("templates", "look.css") + _read_file("templates", "page.css")),
        "script": Markup(_read_file("templates", "page.js")),
        "plotly": Markup(_read_file("vendor", "plotly-basic.min.js").replace("</script", r"<\/script")),
    }
    return environment.get_template("page.html.j2")


def _read_file(folder: str, name: str) -> str:
    return (files("driftline.report") / folder / name).read_text(encoding="utf-8")


def _facts(entry: ReportEntry, versions: Mapping[str, str]) -> dict[str, str]:
    """Return the entries of the footer by name."""
    timeline, summary = entry.timeline, entry.summary
    state = "" if entry.finished else "; the run was stopped early"
    return {
        "Versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "Rows": f"{format_count(summary.n_rows, 'row')}, {format_count(summary.n_classes, 'class', 'classes')}{state}",
        "Created": f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}",
        "Windows": f"Sums were kept in windows of {format_count(timeline.window_length, 'row')}. Windows start with "
        f"{MIN_WINDOW_ROWS} rows and are merged in pairs whenever there are {MAX_WINDOWS}. Charts show means over "
        "several windows where single ones are too noisy.",
    }
