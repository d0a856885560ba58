"""Reports of evaluations: an HTML page without external files, and a summary in sentences."""

from driftline.report.analysis import ReportEntry
from driftline.report.page import to_html
from driftline.report.summary_text import summary_sentences

__all__ = ["ReportEntry", "summary_sentences", "to_html"]
