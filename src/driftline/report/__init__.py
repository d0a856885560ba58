"""The report of an evaluation: one HTML page that needs nothing else, and its summary in plain language."""

from driftline.report.entry import Entry
from driftline.report.page import to_html
from driftline.report.story import story

__all__ = ["Entry", "story", "to_html"]
