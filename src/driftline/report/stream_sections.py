"""The sections of a report about the stream: its changes, its columns and its classes."""

from driftline.evaluation.change_series import MIN_VALUES
from driftline.report.analysis import Analysis, ReportEntry
from driftline.report.before_after_charts import OUTER_SHARE
from driftline.report.change_text import no_change_sentences
from driftline.report.chart_elements import chart_windows, point_text
from driftline.report.charts import class_chart
from driftline.report.distribution_charts import MAX_COLUMNS, distribution_charts
from driftline.report.formatting import format_count
from driftline.report.heatmap import drift_chart, mean_shifts
from driftline.report.missing_chart import missing_chart
from driftline.report.moved_columns import moved_columns
from driftline.report.section import Section


def changes_section(analysis: Analysis) -> Section:
    """Return the section with the table of changes."""
    title = "Changes in the stream"
    if not analysis.changes:
        return Section("changes", title, " ".join(no_change_sentences(analysis.first.timeline.searched_changes())))
    caption = "When the stream changed, and what differed before and after."
    details = (
        "Compared are the level and the spread of each feature in each class, by ranks; the share of missing values of "
        "each feature; and the share of each class. The table has what differs most before and after each change; "
        "medians and interquartile ranges are interpolated from counts. Strength: the largest difference, in "
        "standard errors, which allow for rows that depend on earlier ones. In a stream that does not change, a change "
        "is reported with a probability of about 1%. Smooth swings that keep returning, such as seasons, do not count."
    )
    return Section("changes", title, caption, details, table="changes_table.html.j2")


def drift_section(entry: ReportEntry) -> Section:
    """Return the section with the heat map of means."""
    shifts, title = mean_shifts(entry.timeline), "Drift of features"
    if not entry.timeline.has_columns:
        return Section("drift", title, "There are too many columns and classes to track the mean of each.")
    if not shifts:
        return Section("drift", title, "No feature mean moved, or the stream is too short to tell.")
    caption = "How far the mean of each feature, in each class, was from its mean over the whole stream."
    details = (
        "Each line is a feature among the rows of a class (feature · class), the strongest drift at the top. "
        "Blue is below the mean over the stream, orange above, in standard deviations of the feature in that class. "
        "Cells are as long as it takes to have enough rows of the class; those with fewer than "
        f"{MIN_VALUES} values are blank."
    )
    return Section("drift", title, caption, details, drift_chart(shifts))


def classes_section(entry: ReportEntry) -> Section:
    """Return the section with the shares of classes."""
    details = point_text(chart_windows(entry.timeline))
    return Section("classes", "Classes", "The share of each class over the stream.", details, class_chart(entry))


def distribution_sections(analysis: Analysis) -> list[Section]:
    """Return the section with the columns that moved; none if none did."""
    charts = distribution_charts(analysis)
    if not charts:
        return []
    n_others = len(moved_columns(analysis)) - MAX_COLUMNS
    others = "" if n_others <= 0 else f" {format_count(n_others, 'further column')} moved."
    details = (
        "On the left, each point is of the rows of the classes named, over as many rows of the stream as are needed to "
        f"have enough of them; points of fewer than {MIN_VALUES} values are left out. The shaded area has the middle "
        "half of the values, and dotted vertical lines mark the changes. On the right are the rows that the strongest "
        f"change of the column was found in; the {100 * OUTER_SHARE:g}% at either end are left out. Columns with many "
        "different values are interpolated from counts. Very unequal values have a logarithmic axis. Of a categorical "
        f"column, the category that moved most is on the left, and all are on the right.{others}"
    )
    caption = "The columns that moved: their values over time, and before and after their strongest change."
    return [Section("distributions", "Before and after", caption, details, halves=charts)]


def missing_sections(analysis: Analysis) -> list[Section]:
    """Return the section about missing values; none if no value is missing."""
    chart = missing_chart(analysis)
    if chart is None:
        return []
    caption = "The share of rows in which a column has no value."
    details = f"{point_text(chart_windows(analysis.first.timeline))} Dotted vertical lines mark the changes."
    return [Section("missing", "Missing values", caption, details, chart)]
