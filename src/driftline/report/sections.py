"""The sections of a report: heading, explanation, chart and table of each."""

from dataclasses import dataclass

from driftline.evaluation.change_series import MIN_VALUES
from driftline.evaluation.summary_table import format_level
from driftline.report.analysis import Analysis, ReportEntry
from driftline.report.change_text import no_change_sentences
from driftline.report.chart_elements import Chart, chart_windows, point_text
from driftline.report.charts import calibration_chart, class_chart, comparison_chart, mistakes_chart
from driftline.report.error_chart import bound_lines, error_chart
from driftline.report.formatting import format_count
from driftline.report.guarantee_charts import MIN_ANSWERS, answers_chart, guaranteed_entries, sets_chart
from driftline.report.heatmap import drift_chart, mean_shifts


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A section of the page.

    Attributes
    ----------
    name, title
        Its anchor and its heading.
    text
        Explanation of what it shows.
    chart
        Its chart, if any.
    table
        File name of the template of its table, if any.
    """

    name: str
    title: str
    text: str
    chart: Chart | None = None
    table: str | None = None


def report_sections(analysis: Analysis) -> list[Section]:
    """Return the sections of a report in the order of the page."""
    first = analysis.first
    sections = [_error(analysis)]
    if guaranteed_entries(analysis):
        sections += [_answers(analysis), _sets(analysis)]
    sections += [_mistakes(first), _classes(first), _drift(first), _changes(analysis)]
    if len(analysis.entries) > 1:
        sections.append(_comparison(analysis))
    return [*sections, _calibration(first)]


def _error(analysis: Analysis) -> Section:
    entry, summary = analysis.first, analysis.first.summary
    text = "Error: the share of wrong predictions. "
    if summary.interval_delta is not None:
        text += (
            "Shaded: where the probability of a mistake lies, as the mean over the rows of a point. With "
            f"{100 * (1 - summary.interval_delta):g}% confidence this is true of all points at once, whatever the "
            "stream. "
        )
    if summary.expected_error is not None:
        text += "Expected error: that of predictions drawn at random from the classifier’s probabilities. "
    text += _bound_text(entry)
    if analysis.changes:
        text += "Dotted vertical lines mark the changes listed below, by number. "
    if summary.alarms:
        text += "Triangles on the axis mark alarms: point at one, or tap it, to see what happened. "
    title = "Error over time and its bound" if bound_lines(entry) else "Error over time"
    return Section("error", title, text + point_text(chart_windows(entry.timeline)), error_chart(analysis))


def _bound_text(entry: ReportEntry) -> str:
    """Return what the bounds in the chart of errors are, of which there may be two, one or none."""
    summary, lines = entry.summary, bound_lines(entry)
    if summary.mean_bound is None:
        return ""
    if not lines:
        return "The bound on the next step is not drawn: it is hardly better than guessing. "
    if len(lines) > 1:
        text = (
            "The bounds were computed before the labels were seen and apply to the expected error: one is meant to "
            "hold on average, the other in nearly every row, so it lies above the swings of the error. "
        )
    else:
        text = (
            "The bound was computed before the labels were seen and applies to the expected error: it is meant to "
            "hold on average. "
        )
    if summary.bounds_held is None:
        return text + "Here that cannot be relied on: labels came late, and the classifier does not allow for that. "
    return text if summary.bounds_held else text + "Here it did not hold on average. "


def _answers(analysis: Analysis) -> Section:
    chart, first = answers_chart(analysis), guaranteed_entries(analysis)[0].summary
    text = (
        "The classifier answers only rows that it is sure enough of; the others are handed over, for example to a "
        "person. "
    )
    if "yaxis2" in chart.layout:
        allowed = f"the dashed line ({format_level(first.error_level)})"
        if isinstance(first.error_level, dict):
            allowed = "the share allowed for each label"
        text += (
            f"In the long run, the share of wrong answers among all answers is at most about {allowed}. Among the "
            "first answers, or those of a single point, it can be higher; of fewer than "
            f"{MIN_ANSWERS} answers it is not shown. {_lower_lines_text(analysis, 'answers')} "
        )
    else:
        text += f"There were fewer than {MIN_ANSWERS} answers, too few to show how many of them are wrong. "
    if first.n_tried:
        text += (
            f"{format_count(first.n_tried, 'row')} of {first.n_rows:,} were handed over because too many answers had "
            "been wrong; the promise counts them as answers. "
        )
    text += point_text(chart_windows(analysis.first.timeline))
    return Section("answers", "Answer or hand over", text, chart)


def _sets(analysis: Analysis) -> Section:
    level = format_level(guaranteed_entries(analysis)[0].summary.coverage_level)
    text = (
        "Instead of one label, the classifier can give a set of labels. The smaller it is, the more it says; an empty "
        "one says that no label is likely. In the long run, the share of sets that contain the true label is at least "
        f"about the dashed line ({level}). Among the first rows, or those of a single point, it can be lower. "
        f"{_lower_lines_text(analysis, 'rows')} {point_text(chart_windows(analysis.first.timeline))}"
    )
    return Section("sets", "Sets of labels", text, sets_chart(analysis))


def _lower_lines_text(analysis: Analysis, noun: str) -> str:
    """Return what the lines of the lower of two charts are."""
    if len(guaranteed_entries(analysis)) > 1:
        return f"The lower lines are over all {noun} so far."
    return f"The thick line is over all {noun} so far, the thin one over those of each point."


def _mistakes(entry: ReportEntry) -> Section:
    summary = entry.summary
    text = "The number of wrong predictions up to each row. "
    if summary.expected_mistakes is not None:
        text += "Expected mistakes: those of predictions drawn at random from the classifier’s probabilities. "
    if summary.mistake_bound is not None:
        text += (
            "The bound applies to such predictions: it is the sum of the bounds of all rows so far, or the expected "
            "mistakes where these are more, plus an allowance for chance. At any one row it holds with "
            f"{100 * (1 - summary.delta):g}% confidence. "
        )
    elif summary.mean_bound is not None:
        text += "There is no bound on the total: labels came late, and the classifier does not allow for that. "
    title = "Total mistakes" if summary.mistake_bound is None else "Total mistakes and their bound"
    return Section("mistakes", title, text.strip(), mistakes_chart(entry))


def _classes(entry: ReportEntry) -> Section:
    text = f"The share of each class among the rows. {point_text(chart_windows(entry.timeline))}"
    return Section("classes", "Class shares over time", text, class_chart(entry))


def _drift(entry: ReportEntry) -> Section:
    shifts, title = mean_shifts(entry.timeline), "Drift of features by class"
    if not entry.timeline.has_columns:
        text = "There are too many columns and classes to track the mean of each, so their drift is not shown."
        return Section("drift", title, text)
    if shifts is None:
        return Section("drift", title, "No feature mean moved, or the stream is too short to tell.")
    rows = format_count(shifts.windows[0].n_rows, "row")
    text = (
        "The mean of a feature among the rows of a class (feature · class), minus its mean over the whole stream, in "
        "standard deviations of the feature in that class. Blue is below the mean, orange above. The strongest drift "
        f"is at the top. Each cell is the mean over {rows}; cells with fewer than {MIN_VALUES} values are blank."
    )
    return Section("drift", title, text, drift_chart(shifts))


def _changes(analysis: Analysis) -> Section:
    title = "Changes in the stream"
    if not analysis.changes:
        return Section("changes", title, " ".join(no_change_sentences(analysis.first.timeline.searched_changes())))
    text = (
        "Compared are the level and the spread of each feature in each class, by ranks; the share of missing values of "
        "each feature; and the share of each class. The table has what differs most before and after each change; "
        "medians and interquartile ranges are interpolated from counts. Strength: the largest difference, in "
        "standard errors, which allow for rows that depend on earlier ones. In a stream that does not change, a change "
        "is reported with a probability of about 1%. Swings that keep returning, such as seasons, do not count."
    )
    return Section("changes", title, text, table="changes_table.html.j2")


def _comparison(analysis: Analysis) -> Section:
    text = (
        "The share of wrong predictions on the same rows. The distance to the best and its interval are in percentage "
        "points. p: the probability of a difference this large if both classifiers had the same error rate, corrected "
        "for the number of comparisons. Mean bound: failed if the expected mistakes exceeded the sum of the bounds; "
        "void if labels came late and the bounds do not allow for that. "
        f"{point_text(chart_windows(analysis.first.timeline))}"
    )
    chart = comparison_chart(analysis)
    return Section("comparison", "Comparison of classifiers", text, chart, "comparison_table.html.j2")


def _calibration(entry: ReportEntry) -> Section:
    chart, title = calibration_chart(entry), "Did the bound hold?"
    if chart is None:
        return Section("calibration", title, f"{entry.name} gives no bound.")
    text = (
        "Rows are grouped by similar bounds; each dot shows the mean expected error of a group against its mean bound. "
        "Larger dots stand for more rows. Below the diagonal the bound held."
    )
    return Section("calibration", title, text, chart)
