"""The sections of a report about errors: over time, their bounds, and what was promised."""

from driftline.evaluation.summary_table import format_level
from driftline.report.analysis import Analysis, ReportEntry
from driftline.report.chart_elements import chart_windows, point_text
from driftline.report.charts import calibration_chart, mistakes_chart
from driftline.report.error_chart import bound_lines, error_chart
from driftline.report.formatting import format_count
from driftline.report.guarantee_charts import MIN_ANSWERS, answers_chart, guaranteed_entries, sets_chart
from driftline.report.section import Section


def error_section(analysis: Analysis) -> Section:
    """Return the section with the error over time."""
    entry, summary = analysis.first, analysis.first.summary
    details = ""
    if summary.interval_delta is not None:
        details += (
            "Shaded: where the probability of a mistake lies, as the mean over the rows of a point. With "
            f"{100 * (1 - summary.interval_delta):g}% confidence this is true of all points at once, whatever the "
            "stream. "
        )
    if summary.expected_error is not None and summary.cost_without is None:
        details += "Expected error: that of predictions drawn at random from the classifier’s probabilities. "
    details += _bound_text(entry)
    if analysis.changes:
        details += "Dotted vertical lines mark the changes listed below, by number. "
    if summary.alarms:
        details += "Triangles on the axis mark alarms: point at one, or tap it, to see what happened. "
    details += point_text(chart_windows(entry.timeline))
    title = "Error over time and its bound" if bound_lines(entry) else "Error over time"
    return Section("error", title, "The share of wrong predictions over the stream.", details, error_chart(analysis))


def _bound_text(entry: ReportEntry) -> str:
    """Return what the bounds in the chart of errors are, of which there may be two, one or none."""
    summary, lines = entry.summary, bound_lines(entry)
    if summary.mean_bound is None:
        return ""
    if summary.cost_without is not None:
        return "Labels were chosen by cost, so more of them may be wrong; no bound applies to them. "
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


def answers_section(analysis: Analysis) -> Section:
    """Return the section about the rows that were answered."""
    chart, first = answers_chart(analysis), guaranteed_entries(analysis)[0].summary
    caption = "Rows that the classifier is sure enough of are answered; the others are handed over, say to a person."
    if "yaxis2" in chart.layout:
        allowed = f"the dashed line ({format_level(first.error_level)})"
        if isinstance(first.error_level, dict):
            allowed = "the share allowed for each label"
        details = (
            f"In the long run, the share of wrong answers among all answers is at most about {allowed}. Among the "
            "first answers, or those of a single point, it can be higher; of fewer than "
            f"{MIN_ANSWERS} answers it is not shown. {_lower_lines_text(analysis, 'answers')} "
        )
    else:
        details = f"There were fewer than {MIN_ANSWERS} answers, too few to show how many of them are wrong. "
    if first.n_tried:
        details += (
            f"{format_count(first.n_tried, 'row')} of {first.n_rows:,} were handed over because too many answers had "
            "been wrong; the promise counts them as answers. "
        )
    details += point_text(chart_windows(analysis.first.timeline))
    return Section("answers", "Answer or hand over", caption, details, chart)


def sets_section(analysis: Analysis) -> Section:
    """Return the section about sets of labels."""
    level = format_level(guaranteed_entries(analysis)[0].summary.coverage_level)
    caption = "Instead of one label, the classifier can give a set of labels: the smaller it is, the more it says."
    details = (
        "An empty set says that no label is likely. In the long run, the share of sets that contain the true label is "
        f"at least about the dashed line ({level}). Among the first rows, or those of a single point, it can be lower. "
        f"{_lower_lines_text(analysis, 'rows')} {point_text(chart_windows(analysis.first.timeline))}"
    )
    return Section("sets", "Sets of labels", caption, details, sets_chart(analysis))


def _lower_lines_text(analysis: Analysis, noun: str) -> str:
    """Return what the lines of the lower of two charts are."""
    if len(guaranteed_entries(analysis)) > 1:
        return f"The lower lines are over all {noun} so far."
    return f"The thick line is over all {noun} so far, the thin one over those of each point."


def mistakes_section(entry: ReportEntry) -> Section:
    """Return the section with the total of mistakes."""
    summary, details, caption = entry.summary, "", "The number of wrong predictions up to each row."
    if summary.cost_without is not None:
        details = "Labels were chosen by cost, so more of them may be wrong; no bound applies to them."
        return Section("mistakes", "Total mistakes", caption, details, mistakes_chart(entry))
    if summary.expected_mistakes is not None:
        details += "Expected mistakes: those of predictions drawn at random from the classifier’s probabilities. "
    if summary.mistake_bound is not None:
        details += (
            "The bound applies to such predictions: it is the sum of the bounds of all rows so far, or the expected "
            "mistakes where these are more, plus an allowance for chance. At any one row it holds with "
            f"{100 * (1 - summary.delta):g}% confidence. "
        )
    elif summary.mean_bound is not None:
        details += "There is no bound on the total: labels came late, and the classifier does not allow for that. "
    title = "Total mistakes" if summary.mistake_bound is None else "Total mistakes and their bound"
    return Section("mistakes", title, caption, details.strip(), mistakes_chart(entry))


def calibration_section(entry: ReportEntry) -> Section:
    """Return the section that compares bounds with errors."""
    chart, title = calibration_chart(entry), "Did the bound hold?"
    if chart is None:
        return Section("calibration", title, f"{entry.name} gives no bound.")
    caption = "The expected error of rows with similar bounds, against their mean bound: below the diagonal it held."
    return Section("calibration", title, caption, "Larger dots stand for more rows.", chart)
