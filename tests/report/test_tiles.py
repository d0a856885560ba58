"""The tiles of a report: each figure is that of the summary, and tiles without a figure are left out."""

from dataclasses import replace

import pytest

from driftline.evaluation import Verdict
from driftline.evaluation.class_figures import ClassFigures
from driftline.guarantees import Alarm, AlarmKind
from driftline.report.analysis import analyse
from driftline.report.tiles import report_tiles
from helpers.report_entries import entry


def tiles(*entries):
    return {tile.name: (tile.value, tile.note) for tile in report_tiles(analyse(entries))}


def verdict(baseline, value, result, measure="error"):
    return Verdict(baseline, measure, value, 0.0, -0.1, 0.1, result)


def test_the_verdict_counts_the_baselines_that_are_beaten():
    compared = (
        verdict("majority_so_far", 0.3, "better"),
        verdict("last_label", 0.25, "better"),
        verdict("logistic_regression", 0.2, "about the same"),
    )
    first = entry(900)
    said = tiles(replace(first, summary=replace(first.summary, verdict=compared)))
    assert said["Verdict"] == ("2 of 3", "baselines beaten; the best, a logistic regression, is wrong in 20.0%")


@pytest.mark.parametrize(
    ("results", "note"),
    [
        (("worse", "worse", "worse"), "than doing nothing: the last label, costs 0.25 a row"),
        (("worse", "better", "worse"), "than doing nothing: the cheapest label, costs 0.3 a row"),
        (("better", "better", "worse"), "than a logistic regression, costs 0.2 a row"),
    ],
)
def test_the_verdict_names_the_baseline_that_wins(results, note):
    named = zip(("cheapest_label", "last_label", "logistic_regression"), (0.3, 0.25, 0.2), results, strict=True)
    first = entry(900, has_costs=True)
    summary = replace(first.summary, verdict=tuple(verdict(*each, "cost") for each in named))
    assert tiles(replace(first, summary=summary))["Verdict"] == ("worse", note)


def test_the_error_has_its_limits_if_there_are_any():
    first = entry(900)
    with_limits = replace(first.summary, error=0.1, error_interval=(0.08, 0.13))
    assert tiles(replace(first, summary=with_limits))["Error"] == ("10.0%", "between 8.0% and 13.0%, whenever you look")
    without = replace(first.summary, error=0.1, error_interval=None)
    assert tiles(replace(first, summary=without))["Error"] == ("10.0%", "of 900 rows")


def test_a_classifier_without_guarantees_has_no_tiles_about_answers_and_alarms():
    assert set(tiles(entry(900))) == {"Error", "Changes"}


def test_changes_and_alarms_are_counted_and_placed():
    alarm = Alarm(AlarmKind.RISE, 400, 350, 50, 25, 0.2, 0.1, ())
    said = tiles(entry(4000, change_at=2000, answered=0.5, alarms=[alarm]))
    assert said["Alarms"] == ("1", "the error rose, first noticed at row 400")
    count, note = said["Changes"]
    assert int(count) > 0
    assert "the strongest after row" in note
    assert tiles(entry(4000, answered=0.5))["Alarms"][0] == "none"


def test_the_positive_class_has_its_recall_and_precision():
    first = entry(900)
    figures = ClassFigures("spam", 0.8, 0.25, 0.38, 100, 31)
    summary = replace(first.summary, positive="spam", per_class=(figures,))
    said = tiles(replace(first, summary=summary))
    assert said["Recall of spam"] == ("25.0%", "of 100 rows; 80.0% of those predicted so were right")
    never = replace(figures, precision=None, recall=0.0, predicted=0)
    said = tiles(replace(first, summary=replace(summary, per_class=(never,))))
    assert said["Recall of spam"] == ("0.0%", "this class was never predicted")
