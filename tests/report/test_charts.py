"""Charts show the sums that the timeline of an evaluation holds."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.evaluation import timeline as timeline_module
from driftline.report.analysis import analyse
from driftline.report.chart_elements import chart_windows, point_text, row_ranges, total_ranges, windows_with
from driftline.report.charts import (
    calibration_chart,
    class_chart,
    comparison_chart,
    merge_bins,
    mistakes_chart,
)
from driftline.report.error_chart import error_chart
from driftline.report.heatmap import drift_chart, mean_shifts
from driftline.report.line_labels import spread_out
from driftline.report.sections import report_sections
from driftline.utils.times import format_time
from helpers.report_entries import entry, rows_of, series
from helpers.strategies import seeds


@settings(max_examples=15)
@given(st.integers(1, 3000), seeds)
def test_accumulated_mistakes_end_at_those_of_the_summary(n, seed):
    one = entry(n, seed=seed)
    chart = mistakes_chart(one)
    shown = series(chart)
    assert chart.data[0]["x"][-1] == n
    assert shown["mistakes"][-1] == pytest.approx(one.summary.mistakes, rel=1e-5)
    assert shown["expected mistakes"][-1] == pytest.approx(one.summary.expected_mistakes, rel=1e-5)
    assert shown["bound"][-1] == pytest.approx(one.summary.mistake_bound, rel=1e-5)
    assert (np.diff(shown["bound"]) > 0).all()


def test_the_chart_of_mistakes_has_no_bound_if_labels_are_late():
    assert set(series(mistakes_chart(entry(late=True)))) == {"expected mistakes", "mistakes"}


def test_a_classifier_without_bounds_has_only_its_errors_shown():
    one = entry(has_bound=False)
    assert set(series(error_chart(analyse([one])))) == {"error"}
    assert set(series(mistakes_chart(one))) == {"mistakes"}
    assert calibration_chart(one) is None


@pytest.mark.parametrize("n_classes", [1, 2, 8, 9, 20])
def test_class_shares_add_up_to_one_and_at_most_eight_are_shown(n_classes):
    one = entry(2000, labels=tuple(range(n_classes)))
    shown = series(class_chart(one))
    assert np.sum(list(shown.values()), axis=0) == pytest.approx(1.0, abs=1e-4)
    assert len(shown) == min(n_classes, 8)
    others = [name for name in shown if "other" in name]
    assert others == ([f"the {n_classes - 7} other classes"] if n_classes > 8 else [])
    rows = rows_of(chart_windows(one.timeline))
    counts = one.timeline.class_counts(one.timeline.windows(1))[0]
    named = {f"class {label}": count for label, count in zip(one.timeline.classes, counts, strict=True)}
    for name in shown.keys() - set(others):
        assert shown[name] @ rows == pytest.approx(named[name], rel=1e-4)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 5000), min_size=50, max_size=50), seeds)
def test_merged_bins_contain_all_rows_and_none_is_small(counts, seed):
    rng = np.random.default_rng(seed)
    steps = np.array(counts, float)
    bins = np.array([steps, steps * rng.random(50), steps * np.linspace(0, 1, 50)])
    groups = merge_bins(bins)
    assert groups.sum(axis=1) == pytest.approx(bins.sum(axis=1))
    if groups.size:
        assert groups[0].min() >= 0.005 * steps.sum()
        assert (np.diff(groups[2] / groups[0]) > 0).all()


def test_the_drift_heat_map_shows_shifts_in_standard_deviations():
    one = entry(4000, change_at=2000)
    chart = drift_chart(mean_shifts(one.timeline))
    pairs = one.timeline.moving_columns(25)
    rows, base, lengths = (np.concatenate([trace[name] for trace in chart.data]) for name in ("y", "base", "x"))
    assert set(rows) == set(range(len(pairs))) == set(range(6))
    shifts = np.concatenate([trace["marker"]["color"] for trace in chart.data])
    assert base.min() == 0
    assert (base + lengths).max() == 4000
    assert chart.layout["yaxis"]["ticktext"][0].startswith("heat · ")
    is_strongest = rows == 0
    before, after = (shifts[is_strongest & where] for where in (base + lengths <= 1900, base >= 2100))
    # Means at -1.5 and 1.5 from the overall one, in deviations of √(1 + 1.5²).
    assert before.mean() == pytest.approx(-1.5 / np.sqrt(3.25), abs=0.05)
    assert after.mean() == pytest.approx(1.5 / np.sqrt(3.25), abs=0.05)
    assert chart.data[0]["hovertemplate"].startswith("<b>heat</b> in class ")


def test_cells_of_few_values_are_blank():
    one = entry(1200, labels=("usual",) * 10 + ("rare",))
    lines = mean_shifts(one.timeline)
    place = {str(label): k for k, label in enumerate(one.timeline.classes)}
    rows = [one.timeline.class_counts(line.windows)[:, place[line.label]] for line in lines]
    assert any(((line_rows > 0) & (line_rows < 8)).any() for line_rows in rows)
    assert all(np.array_equal(np.isnan(line.shifts), each < 8) for line, each in zip(lines, rows, strict=True))
    traces = drift_chart(lines).data
    shown = {cell for trace in traces for cell in zip(trace["y"], trace["base"], strict=True)}
    starts = [np.cumsum([0, *(window.n_rows for window in line.windows[:-1])]) for line in lines]
    assert shown == {
        (k, starts[k][t]) for k, line in enumerate(lines) for t in np.flatnonzero(np.isfinite(line.shifts))
    }
    assert all(len(trace["customdata"]) == len(trace["marker"]["color"]) == len(trace["y"]) for trace in traces)


@pytest.mark.parametrize("n_classes", [2, 10, 40])
def test_windows_of_the_heat_map_are_long_enough_for_the_classes(n_classes):
    for line in mean_shifts(entry(3000, labels=tuple(range(n_classes))).timeline):
        assert np.isfinite(line.shifts).mean() >= 0.5
        assert 8 >= len(line.windows) > 1 if n_classes == 40 else len(line.windows) > 8


def test_each_line_of_the_heat_map_has_cells_that_its_class_can_fill():
    lines = mean_shifts(entry(6000, labels=("ok",) * 39 + ("fraud",)).timeline)
    assert {line.label for line in lines} == {"ok", "fraud"}
    assert all(np.isfinite(line.shifts).mean() >= 0.5 for line in lines)
    n_windows = {line.label: len(line.windows) for line in lines}
    assert n_windows["fraud"] < n_windows["ok"]


def test_the_heat_map_has_its_scale_also_if_the_first_line_has_no_cells():
    lines = mean_shifts(entry(4000, change_at=2000).timeline)
    lines[0] = replace(lines[0], shifts=np.full(len(lines[0].shifts), np.nan))
    traces = drift_chart(lines).data
    assert [trace["marker"]["showscale"] for trace in traces] == [True] + [False] * (len(traces) - 1)
    assert 0 not in np.concatenate([trace["y"] for trace in traces])


def test_the_drift_section_says_if_there_are_too_many_columns(monkeypatch):
    monkeypatch.setattr(timeline_module, "MAX_COLUMN_SUMS", 1)
    one = entry()
    assert not one.timeline.has_columns
    assert mean_shifts(one.timeline) == []
    (drift,) = [section for section in report_sections(analyse([one])) if section.name == "drift"]
    assert "too many columns" in drift.caption


def test_all_classifiers_are_compared_on_their_own_rows():
    one, other, short = entry(), entry(name="dwm", error=0.4, seed=1), entry(300, name="rbp", finished=False)
    chart = comparison_chart(analyse([one, other, short]))
    shown = series(chart)
    assert set(shown) == {"amrc", "dwm", "rbp"}
    for each in (one, other, short):
        rows = rows_of(chart_windows(each.timeline))
        assert shown[each.name] @ rows == pytest.approx(each.summary.mistakes, rel=1e-4)
    assert chart.layout["xaxis"]["range"] == [0, 600]


@settings(max_examples=10)
@given(st.integers(1, 200), st.integers(1, 12), st.booleans(), seeds)
def test_every_chart_is_json_without_nan(n, n_classes, has_bound, seed):
    one = entry(n, labels=tuple(range(n_classes)), has_bound=has_bound, seed=seed)
    for section in report_sections(analyse([one])):
        for chart in section.charts:
            assert json.loads(json.dumps(chart.to_dict(), allow_nan=False))


def test_line_charts_have_few_points_over_many_rows():
    assert [len(chart_windows(entry(n).timeline)) for n in (1, 16, 160, 1600, 16_000)] == [1, 1, 10, 20, 56]
    assert len(chart_windows(entry(100_000).timeline)) <= 60


@given(st.integers(1, 20_000))
@settings(max_examples=20, deadline=None)
def test_no_point_of_a_line_chart_is_of_few_rows(n):
    one = entry(n, labels=("a",), columns=(), has_bound=False)
    for windows in (chart_windows(one.timeline), windows_with(one.timeline, n // 10)):
        rows = rows_of(windows)
        assert rows.sum() == n
        assert (2 * rows >= rows[0]).all()


def test_points_about_few_rows_are_of_more_rows():
    timeline = entry(20_000, columns=()).timeline
    assert len(windows_with(timeline, 20_000)) == len(chart_windows(timeline))
    assert rows_of(windows_with(timeline, 400))[0] >= 20_000 * 25 / 400
    assert len(windows_with(timeline, 0)) == 8


def test_the_text_mentions_a_last_point_of_fewer_rows():
    assert point_text(entry(32).timeline.windows()) == "Each point is the mean over 16 rows."
    assert point_text(entry(33).timeline.windows()) == "Each point is the mean over 16 rows, the last over fewer."
    assert point_text(chart_windows(entry(33).timeline)) == "Each point is the mean over 16 rows, the last over more."


def test_row_ranges_contain_rows_and_times():
    assert row_ranges(entry(20).timeline.windows()) == ["rows 1–16", "rows 17–20"]
    assert row_ranges(entry(20, start_time=0.0).timeline.windows())[1] == "rows 17–20, until 68,400"
    assert total_ranges(entry(20).timeline.windows()) == ["totals up to row 16", "totals up to row 20"]
    assert row_ranges(entry(20, start_time=1e9).timeline.windows())[0] == "rows 1–16, until 2001-09-09 16:46 UTC"


@given(st.floats())
def test_any_finite_time_can_be_formatted(time):
    assert (format_time(time) == "") == (not np.isfinite(time))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_labels_are_moved_apart_in_their_order(places):
    places = np.array(places)
    moved = spread_out(places, 0.08)
    order = np.argsort(places, kind="stable")
    assert (np.diff(moved[order]) >= 0.08 - 1e-9).all()
    assert moved.max() <= 1.0
