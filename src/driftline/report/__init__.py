"""Reports of evaluations: an HTML page without external files, a figure of the error, and a summary in sentences."""

from driftline.report.analysis import ReportEntry
from driftline.report.error_figure import draw_error
from driftline.report.page import to_html
from driftline.report.summary_text import summary_sentences

__all__ = ["ReportEntry", "draw_error", "summary_sentences", "to_html"]
