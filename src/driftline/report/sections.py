"""The sections of a report: what each shows, and how to read it."""

from dataclasses import dataclass

from driftline.evaluation.changes import LEAST_VALUES
from driftline.report.charts import calibration_chart, class_chart, comparison_chart, error_chart, mistakes_chart
from driftline.report.drawing import Chart, each_point, points_of
from driftline.report.entry import Entry
from driftline.report.findings import Findings
from driftline.report.heatmap import drift_chart, drift_of
from driftline.report.wording import counted


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A part of the page.

    Attributes
    ----------
    name, title
        Its anchor and its heading.
    text
        How to read what it shows.
    chart
        What is drawn, if anything.
    table
        Template of the table below it, if any.
    """

    name: str
    title: str
    text: str
    chart: Chart | None = None
    table: str | None = None


def sections_of(found: Findings) -> list[Section]:
    """Return the sections of a page, in order."""
    first = found.first
    sections = [_error(found), _mistakes(first), _classes(first), _drift(first), _changes(found)]
    if len(found.entries) > 1:
        sections.append(_comparison(found))
    return [*sections, _calibration(first)]


def _error(found: Findings) -> Section:
    entry = found.first
    text = "Error: the share of wrong predictions. "
    if entry.summary.expected_error is not None:
        text += "If drawn: of answers drawn at random with the classifier’s probabilities. "
    if entry.summary.mean_bound is not None:
        text += (
            "The bounds, stated before the labels were seen, are about drawn answers: one is to hold on average, the "
            "other at nearly every single row, so it lies above the swings of the error. "
        )
    if found.changes:
        text += "Dotted lines are the changes listed below, by their numbers. "
    title = "Error over time" if entry.summary.mean_bound is None else "Error over time, and its bound"
    return Section("error", title, text + each_point(points_of(entry.course)), error_chart(found))


def _mistakes(entry: Entry) -> Section:
    summary = entry.summary
    text = "All wrong predictions up to a row. "
    if summary.expected_mistakes is not None:
        text += "If drawn: what is to be expected of answers drawn at random with the classifier’s probabilities. "
    if summary.mistake_bound is not None:
        text += (
            "The bound, the sum of the bounds and an allowance for luck, is about these; at any one row it holds "
            f"with {100 * (1 - summary.delta):g}% confidence, where the bounds hold on average. "
        )
    elif summary.mean_bound is not None:
        text += "There is no bound on the sum: labels came late, and the classifier does not allow for that. "
    title = "Mistakes so far" if summary.mistake_bound is None else "Mistakes so far, and their bound"
    return Section("mistakes", title, text.strip(), mistakes_chart(entry))


def _classes(entry: Entry) -> Section:
    text = f"The share of each class among the rows. {each_point(points_of(entry.course))}"
    return Section("classes", "How the classes came and went", text, class_chart(entry))


def _drift(entry: Entry) -> Section:
    drift, title = drift_of(entry.course), "Which features moved, in which class"
    if not entry.course.has_columns:
        text = "There are too many columns and classes to keep the means of each, so how they moved is not shown."
        return Section("drift", title, text)
    if drift is None:
        return Section("drift", title, "No mean of a feature moved, or the stream is too short to tell.")
    rows = counted(drift.windows[0].n_rows, "row")
    text = (
        "The mean of a feature among the rows of a class (feature · class), less its mean over the whole stream, in "
        "standard deviations of the feature in that class. Blue is lower than usual, orange higher. The strongest "
        f"movements are at the top. Each cell is the mean over {rows}, blank where fewer than {LEAST_VALUES} values "
        "are in it."
    )
    return Section("drift", title, text, drift_chart(drift))


def _changes(found: Findings) -> Section:
    title = "When the stream changed"
    if not found.changes:
        return Section("changes", title, "No change stands out from chance.")
    text = (
        "The mean of each feature in each class, and the share of each class, before and after a moment. Strength: the "
        "largest difference, in standard errors. A moment is listed if chance alone would bring one about in "
        "at most one stream of a hundred, were rows independent; what swings slowly, such as seasons, counts too."
    )
    return Section("changes", title, text, table="changes_table.html.j2")


def _comparison(found: Findings) -> Section:
    text = (
        "Shares of wrong predictions on the same rows. Behind the best, and its interval: in percentage points. p: how "
        "probable so large a difference would be if both erred equally often, corrected for the number of comparisons. "
        f"{each_point(points_of(found.first.course))}"
    )
    return Section("comparison", "The classifiers compared", text, comparison_chart(found), "comparison_table.html.j2")


def _calibration(entry: Entry) -> Section:
    chart, title = calibration_chart(entry), "Could the bound be trusted?"
    if chart is None:
        return Section("calibration", title, f"{entry.name} gives no bound.")
    text = (
        "Rows with similar bounds, together: how wrong drawn answers were to be expected, against how wrong the bound "
        "said they may be. The larger a dot, the more rows. Below the diagonal the bound held."
    )
    return Section("calibration", title, text, chart)
