"""The sections of a report, in the order of the page."""

from driftline.report.analysis import Analysis
from driftline.report.class_sections import (
    comparison_section,
    confusion_sections,
    cost_sections,
    curve_sections,
    found_sections,
    measure_section,
)
from driftline.report.error_sections import (
    answers_section,
    calibration_section,
    error_section,
    mistakes_section,
    sets_section,
)
from driftline.report.guarantee_charts import guaranteed_entries
from driftline.report.section import Section
from driftline.report.stream_sections import (
    changes_section,
    classes_section,
    distribution_sections,
    drift_section,
    missing_sections,
)


def report_sections(analysis: Analysis) -> list[Section]:
    """Return the sections of a report in the order of the page; a comparison comes first."""
    first = analysis.first
    promises = [answers_section(analysis), sets_section(analysis)] if guaranteed_entries(analysis) else []
    return [
        *([comparison_section(analysis)] if len(analysis.entries) > 1 else []),
        error_section(analysis),
        *cost_sections(analysis),
        *found_sections(analysis),
        *curve_sections(analysis),
        *confusion_sections(analysis),
        measure_section(analysis),
        *promises,
        changes_section(analysis),
        *distribution_sections(analysis),
        *missing_sections(analysis),
        drift_section(first),
        classes_section(first),
        mistakes_section(first),
        calibration_section(first),
    ]
