"""Charts of classes: recall and precision, curves with the predictions as dots, and costs."""

from dataclasses import replace

import numpy as np
import pytest

from driftline.report.analysis import analyse
from driftline.report.class_charts import class_curves, found_chart, positive_windows, precision_chart, roc_chart
from driftline.report.cost_chart import cost_chart
from driftline.report.sections import report_sections
from helpers.report_entries import entry, rows_of, series

RARE = ("fine",) * 9 + ("fraud",)


def dots(chart):
    return [(trace["x"][0], trace["y"][0]) for trace in chart.data if trace["mode"] == "markers"]


def test_recall_over_time_adds_up_to_that_of_the_summary():
    one = entry(8000, labels=RARE, positive="fraud")
    windows = positive_windows(one, "fraud")
    counts = one.timeline.class_counts(windows)[:, one.timeline.classes.index("fraud")]
    (figures,) = [each for each in one.summary.per_class if each.label == "fraud"]
    shown = series(found_chart(analyse([one])))["amrc"]
    assert shown @ counts == pytest.approx(figures.recall * figures.support, rel=1e-4)
    assert counts.mean() >= 25


def test_the_dots_of_the_curves_are_the_figures_of_the_predictions():
    one = entry(4000, labels=RARE, positive="fraud")
    (figures,) = [each for each in one.summary.per_class if each.label == "fraud"]
    curves = class_curves(analyse([one]))
    ((false_positives, recall),), (point,) = dots(roc_chart(curves)), dots(precision_chart(curves))
    wrong = figures.predicted - round(figures.recall * figures.support)
    assert false_positives == pytest.approx(wrong / (4000 - figures.support), rel=1e-5)
    assert recall == pytest.approx(figures.recall, rel=1e-5)
    assert point == pytest.approx((figures.recall, figures.precision), rel=1e-5)


def test_the_points_that_are_drawn_have_the_area_of_the_summary():
    one = entry(4000, positive="spam", error=0.4)
    (curve, _) = roc_chart(class_curves(analyse([one]))).data
    x, y = np.array(curve["x"]), np.array(curve["y"])
    assert np.diff(x) @ (y[1:] + y[:-1]) / 2.0 == pytest.approx(one.summary.roc_auc, abs=0.01)
    assert (curve["x"][0], curve["x"][-1], curve["y"][-1]) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize(("n_classes", "n_curves"), [(3, 3), (12, 7)])
def test_without_a_positive_class_the_most_frequent_classes_have_curves(n_classes, n_curves):
    one = entry(3000, labels=tuple(range(n_classes)))
    curves = class_curves(analyse([one]))
    support = one.timeline.support
    least = min(support[int(each.line.name)] for each in curves)
    assert len(curves) == n_curves
    assert sorted(support.values(), reverse=True)[n_curves - 1] == least


def test_there_are_no_curves_without_probabilities_or_with_a_single_class():
    for one in (entry(has_bound=False, positive="spam"), entry(labels=("ham",))):
        assert "curves" not in {section.name for section in report_sections(analyse([one]))}
    silent = entry(name="dwm", has_bound=False, positive="spam")
    both = class_curves(analyse([entry(positive="spam"), silent]))
    assert [each.curve is None for each in both] == [False, True]
    assert len(dots(roc_chart(both))) == 2


def test_costs_add_up_and_plain_ones_are_left_out_if_they_are_not_known():
    one = entry(3000, has_costs=True)
    chart = cost_chart(analyse([one]))
    totals = series(chart, "y2")
    assert totals["chosen by cost"][-1] == pytest.approx(one.summary.cost, rel=1e-5)
    assert totals["plain"][-1] == pytest.approx(one.summary.cost_without, rel=1e-5)
    rows = rows_of(positive_windows(one, "ham"))
    assert series(chart)["plain"] @ rows == pytest.approx(one.summary.cost_without, rel=1e-4)
    assert "cost" not in {section.name for section in report_sections(analyse([entry()]))}
    unknown = replace(one, summary=replace(one.summary, cost_without=None))
    (section,) = [each for each in report_sections(analyse([unknown])) if each.name == "cost"]
    assert "plain" not in section.caption
