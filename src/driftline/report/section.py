"""A section of the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from driftline.report.chart_elements import Chart


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A section of the page.

    Attributes
    ----------
    name, title
        Its anchor and its heading.
    caption
        What it shows, in a sentence.
    details
        How to read it, which the page shows on demand; may be empty.
    chart
        Its chart, if any.
    table
        File name of the template of its table, if any.
    halves
        Further charts, of which two fit beside each other on a wide screen.
    """

    name: str
    title: str
    caption: str
    details: str = ""
    chart: Chart | None = None
    table: str | None = None
    halves: Sequence[Chart] = ()

    @property
    def charts(self) -> list[Chart]:
        """All charts of the section."""
        return [*([] if self.chart is None else [self.chart]), *self.halves]
