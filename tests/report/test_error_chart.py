"""The chart of the error over time shows its limits, its bounds, changes and alarms, and its text says which."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.guarantees import Alarm, AlarmKind, error_interval
from driftline.report.analysis import analyse
from driftline.report.chart_elements import chart_windows
from driftline.report.error_chart import error_chart, window_limits
from driftline.report.sections import report_sections
from helpers.report_entries import entry, rows_of, series
from helpers.strategies import seeds

RISE = Alarm(AlarmKind.RISE, 1234, 1200, 34, 17, 0.2, 0.125, (("spam", "heat", 9.0), ("<b>ham</b>", "wind", 4.0)))
TOLERATED = Alarm(AlarmKind.TOLERATED, 20, 0, 21, 14, 0.1, math.nan)


def error_section(*entries):
    return report_sections(analyse(entries))[0]


def named(chart, name):
    return next((trace for trace in chart.data if trace.get("name") == name), None)


@settings(max_examples=15)
@given(st.integers(30, 3000), seeds)
def test_errors_and_bounds_add_up_to_those_of_the_summary(n, seed):
    one = entry(n, seed=seed)
    shown = series(error_chart(analyse([one])))
    rows = rows_of(chart_windows(one.timeline))
    assert rows.sum() == n
    assert shown["error"] @ rows == pytest.approx(one.summary.mistakes, rel=1e-4)
    assert shown["expected error"] @ rows == pytest.approx(one.summary.expected_mistakes, rel=1e-4)
    assert shown["bound on average"] @ rows / n == pytest.approx(one.summary.mean_bound, rel=1e-4)
    assert (shown["bound per row"] > shown["bound on average"]).all()


def test_changes_are_marked_at_their_rows():
    found = analyse([entry(4000, change_at=2000)])
    layout = error_chart(found).layout
    assert [shape["x0"] for shape in layout["shapes"]] == [change.row for change in found.changes] == [2000]
    assert [note["text"] for note in layout["annotations"]] == ["1"]


def test_no_bound_is_drawn_beside_labels_that_were_chosen_by_cost():
    costly = error_section(entry(4000, has_costs=True))
    assert set(series(costly.chart)) == {"error"}
    assert costly.title == "Error over time"
    assert "no bound applies to them" in costly.details
    (mistakes,) = [each for each in report_sections(analyse([entry(4000, has_costs=True)])) if each.name == "mistakes"]
    assert set(series(mistakes.chart)) == {"mistakes"}
    assert "no bound applies to them" in mistakes.details


# Limits -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 16, 40, 3000, 20_000])
def test_the_limits_of_all_points_fail_with_at_most_delta_together(n):
    windows = chart_windows(entry(n).timeline)
    limits = window_limits(windows, 0.05)
    assert len(windows) <= 60
    expected = [error_interval(window.n_rows, int(window.mistakes), 0.05 / 60) for window in windows]
    assert [(each.low, each.high) for each in limits] == [(each.low, each.high) for each in expected]
    assert sum(each.delta for each in limits) <= 0.05 * (1 + 1e-9)


def test_the_band_surrounds_the_error_and_its_hover_text_has_the_limits():
    one = entry(3000, answered=0.5)
    chart = error_chart(analyse([one]))
    high, low = np.split(np.array(named(chart, "limits of the error")["y"]), 2)
    error = named(chart, "error")
    assert (low[::-1] < error["y"]).all()
    assert (error["y"] < high).all()
    first = window_limits(chart_windows(one.timeline), 0.05)[0]
    assert error["customdata"][0] == f"between {first.low:.1%} and {first.high:.1%}"
    assert "%{customdata}" in error["hovertemplate"]
    assert "limits of the error between" in chart.alt
    assert "With 95% confidence this is true of all points at once" in error_section(one).details


def test_the_band_of_a_single_point_has_the_width_of_the_chart():
    band = named(error_chart(analyse([entry(10, answered=0.5)])), "limits of the error")
    assert band["x"] == [0, 10, 10, 0]


def test_there_is_no_band_and_no_word_of_it_if_nothing_was_said():
    section = error_section(entry(3000))
    assert named(section.chart, "limits of the error") is None
    assert "Shaded" not in section.details
    assert "limits" not in section.chart.alt


def test_the_limits_are_within_the_scale():
    chart = error_chart(analyse([entry(3141, answered=0.5, has_bound=False)]))
    assert max(named(chart, "limits of the error")["y"]) < chart.layout["yaxis"]["range"][1]


# Bounds -----------------------------------------------------------------------------------------------


def test_the_text_speaks_of_two_bounds_only_if_two_are_drawn():
    two = error_section(entry())
    assert {"bound per row", "bound on average"} < set(series(two.chart))
    assert "The bounds were computed" in two.details
    assert two.title == "Error over time and its bound"


@pytest.mark.parametrize("per_row", [-0.01, 0.0, 0.009])
def test_the_text_speaks_of_one_bound_if_that_per_row_is_not_above_the_other(per_row):
    section = error_section(entry(row_bound_gap=per_row))
    assert set(series(section.chart)) == {"bound", "expected error", "error"}
    assert "The bound was computed" in section.details
    assert "The bounds" not in section.details
    assert "the other" not in section.details


def test_a_bound_that_is_hardly_better_than_guessing_is_not_drawn_and_the_text_says_so():
    vague = entry(bound_gap=0.25)
    assert not vague.summary.bound_is_informative
    section = error_section(vague)
    assert set(series(section.chart)) == {"expected error", "error"}
    assert section.title == "Error over time"
    assert "not drawn: it is hardly better than guessing" in section.details
    assert "computed before" not in section.details


@pytest.mark.parametrize(
    ("options", "words"), [({"late": True}, "labels came late"), ({"bound_gap": -0.15}, "did not hold on average")]
)
def test_the_text_does_not_rely_on_bounds_that_fail(options, words):
    assert words in error_section(entry(**options)).details
    assert words not in error_section(entry()).details


def test_there_is_no_word_of_bounds_without_them():
    section = error_section(entry(has_bound=False))
    assert "bound" not in section.details + section.title


# Alarms -----------------------------------------------------------------------------------------------


def test_alarms_are_marked_at_their_rows_and_say_what_happened():
    section = error_section(entry(4000, answered=0.5, alarms=[TOLERATED, RISE]))
    marks = named(section.chart, "alarm")
    assert marks["x"] == [20, 1234]
    assert marks["customdata"][0].split("<br>") == [
        "<b>alarm at row 20</b>: the error exceeded the tolerated 10.0%",
        "error since about row 0: 66.7%",
    ]
    assert marks["customdata"][1].split("<br>") == [
        "<b>alarm at row 1,234</b>: the error had risen",
        "error since about row 1,200: 50.0%",
        "error before: 12.5%",
        "moved: heat in class spam",
        "moved: wind in class &lt;b&gt;ham&lt;/b&gt;",
    ]
    assert section.chart.alt.endswith("2 alarms marked, at rows 20 and 1,234.")
    assert "mark alarms" in section.details


def test_without_alarms_there_is_no_mark_and_no_word_of_them():
    section = error_section(entry(4000, answered=0.5))
    assert named(section.chart, "alarm") is None
    assert "alarm" not in section.details + section.chart.alt


@pytest.mark.parametrize(("n", "end"), [(1, "1 alarm marked, at row 20."), (8, "20, 20, 20, 20, 20 and 3 more.")])
def test_the_text_alternative_names_few_alarms(n, end):
    assert error_chart(analyse([entry(answered=0.5, alarms=[TOLERATED] * n)])).alt.endswith(end)
