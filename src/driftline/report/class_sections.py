"""The sections of a report about the predictions of each class, their cost, and the comparison of classifiers."""

import numpy as np

from driftline.evaluation.metrics import METRICS
from driftline.report.analysis import Analysis
from driftline.report.chart_elements import chart_windows, point_text
from driftline.report.charts import comparison_chart, comparison_windows
from driftline.report.class_charts import (
    MAX_CLASSES,
    class_curves,
    found_chart,
    positive_windows,
    precision_chart,
    roc_chart,
)
from driftline.report.confusion_table import MAX_CLASSES as MAX_CONFUSED
from driftline.report.confusion_table import confusion_table
from driftline.report.cost_chart import cost_chart
from driftline.report.formatting import format_count, truncate, visible_text
from driftline.report.section import Section

MAX_LABEL_LENGTH = 30


def comparison_section(analysis: Analysis) -> Section:
    """Return the section that compares the classifiers, by the measure that they are ranked by."""
    metric, chart = METRICS[analysis.by], comparison_chart(analysis)
    if analysis.by == "error":
        caption = "The share of wrong predictions of each classifier on the same rows."
    else:
        caption = f"The {metric.name} of each classifier on the same rows; {metric.better}."
    unit = " are in percentage points" if metric.is_share else f" are in units of the {metric.name}"
    details = (
        f"Rank, distance to the best and test are those of the {metric.name}; the distance and its interval{unit}. "
        "p: the probability of a difference this large if both classifiers were equally good, corrected "
        "for the number of comparisons. Mean bound: failed if the expected mistakes exceeded the sum of the bounds; "
        "void if labels came late and the bounds do not allow for that. "
    )
    if any(place.value is None for place in analysis.ranking):
        details += "–: undefined, as for a classifier without probabilities or one that never predicts the class. "
    details += point_text(comparison_windows(analysis, analysis.first))
    return Section("comparison", "Comparison of classifiers", caption, details, chart, "comparison_table.html.j2")


def cost_sections(analysis: Analysis) -> list[Section]:
    """Return the section about costs; none without costs."""
    summary = analysis.first.summary
    if summary.cost is None:
        return []
    if summary.cost_without is None:
        caption = "What the predictions cost, by the costs that were given for each mistake."
        details = ""
    else:
        caption = "What the predictions cost, and what the plain ones would have cost on the same rows."
        details = (
            "Labels were chosen so that they cost least, as far as the probabilities say. Plain: the most probable "
            "label, or what the classifier predicts itself. "
        )
    details += point_text(chart_windows(analysis.first.timeline))
    return [Section("cost", "Cost over time", caption, details, cost_chart(analysis))]


def found_sections(analysis: Analysis) -> list[Section]:
    """Return the section about the positive class over time; none without one."""
    summary, support = analysis.first.summary, analysis.first.timeline.support
    if summary.positive is None or not support.get(summary.positive):
        return []
    label = truncate(visible_text(summary.positive), MAX_LABEL_LENGTH)
    caption = f"How many rows of class {label} were found, and how many of those reported were right."
    windows = positive_windows(analysis.first, summary.positive)
    details = (
        f"Recall: the share of the rows of class {label} that were predicted as such. Precision: the share of right "
        f"ones among the rows predicted to be {label}; it is not shown where none was. {point_text(windows)}"
    )
    return [Section("found", f"Recall and precision of {label}", caption, details, found_chart(analysis))]


def curve_sections(analysis: Analysis) -> list[Section]:
    """Return the section with the ROC and the precision-recall curve; none without probabilities."""
    curves, summary = class_curves(analysis), analysis.first.summary
    if not curves:
        return []
    positive = summary.positive
    if positive is not None:
        label = truncate(visible_text(positive), MAX_LABEL_LENGTH)
        caption = f"What other thresholds for the probability of class {label} would have led to."
    else:
        caption = "How well the probability of each class, against all others, orders the rows."
    details = (
        "The dots are the predictions as they were given out; they can lie beside the curves, where labels were chosen "
        "in another way than by one threshold. Pointing at a curve shows the threshold. "
    )
    if positive is None and summary.n_classes > MAX_CLASSES:
        details += f"Only the {MAX_CLASSES} most frequent classes are drawn. "
    if summary.roc_auc is not None and summary.roc_auc_error is not None:
        mean = "" if positive is not None else ", as the means over all classes"
        details += (
            f"The area under the ROC curve is {summary.roc_auc:.3f}, and the average precision "
            f"{summary.average_precision:.3f}{mean}. Only the numbers of rows in bins of similar probability are kept, "
            f"so that these can be off by {_largest_error(summary.roc_auc_error)} and "
            f"{_largest_error(summary.average_precision_error)}, at most. "
        )
    details += (
        "Dashed: guesses by chance. The curves are over the whole stream, so that a threshold that was good before a "
        "change may not be after it."
    )
    charts = [roc_chart(curves), precision_chart(curves)]
    return [Section("curves", "ROC and precision–recall curves", caption, details, halves=charts)]


def _largest_error(error: float | None) -> str:
    """Return the largest error of an area, rounded up."""
    return f"{np.ceil(1e4 * (error or 0.0)) / 1e4:.4f}".rstrip("0").rstrip(".") or "0"


def confusion_sections(analysis: Analysis) -> list[Section]:
    """Return the section with the confusion matrix and the figures of each class; none if only one class occurred."""
    summary = analysis.first.summary
    table = confusion_table(summary)
    if table is None and len(summary.per_class) < 2:
        return []
    if table is None:
        caption = (
            f"How well each of the {MAX_CONFUSED} most frequent classes was found; there are too many for a matrix."
        )
        return [Section("confusion", "Precision and recall by class", caption, table="confusion_table.html.j2")]
    n_classes = len(summary.confusion.labels) if summary.confusion is not None else 0
    others = "" if n_classes <= MAX_CONFUSED else f" The {n_classes - MAX_CONFUSED + 1} rarest classes are one line."
    content = "Cells have percentages of the rows of a class" + (", and numbers of rows." if table.has_counts else ".")
    details = (
        f"{content} Right predictions are blue, mistakes orange; the darker, the larger the share.{others} "
        "Precision: the share of right ones among the predictions of a class. F1: the harmonic mean of both."
    )
    of_first = f" by {visible_text(analysis.first.name)}" if len(analysis.entries) > 1 else ""
    caption = f"What the rows of each class were predicted as{of_first}."
    return [Section("confusion", "Confusion matrix", caption, details, table="confusion_table.html.j2")]


def measure_section(analysis: Analysis) -> Section:
    """Return the section with the measures of each classifier."""
    details = (
        "Kappa: 0 for guesses by chance, 1 if all is right. Balanced accuracy, G-mean: the mean and the geometric mean "
        "of the recalls of all classes. Macro F1: the mean of their F1. Log loss, Brier score: smaller is better; they "
        "judge probabilities. Areas: of the positive class, or the means over all classes."
    )
    caption = f"Measures over all {format_count(analysis.first.summary.n_rows, 'row')}."
    return Section("measures", "All measures", caption, details, table="measures_table.html.j2")
