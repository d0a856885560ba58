"""The charts of answers and of sets show what the summary says of them, over time."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.evaluation import evaluate
from driftline.registry import create
from driftline.report import ReportEntry
from driftline.report.analysis import analyse
from driftline.report.chart_elements import chart_windows
from driftline.report.guarantee_charts import answers_chart, sets_chart
from driftline.report.sections import report_sections
from driftline.streams import AbruptDrift, ArrayStream, GaussianClasses
from helpers.report_entries import entry, rows_of, series
from helpers.strategies import seeds


def sections(*entries):
    return {section.name: section for section in report_sections(analyse(entries))}


@settings(max_examples=15)
@given(st.integers(100, 3000), seeds)
def test_lines_so_far_end_at_the_figures_of_the_summary(n, seed):
    one = entry(n, answered=0.5, seed=seed)
    answers, sets = answers_chart(analyse([one])), sets_chart(analyse([one]))
    assert series(answers, "y2")["all so far"][-1] == pytest.approx(one.summary.answered_error, rel=1e-5)
    assert series(sets, "y2")["all so far"][-1] == pytest.approx(one.summary.set_coverage, rel=1e-5)


@settings(max_examples=15)
@given(st.integers(100, 3000), seeds)
def test_points_add_up_to_the_figures_of_the_summary(n, seed):
    one = entry(n, answered=0.5, seed=seed)
    windows = chart_windows(one.timeline)
    answers, sets, rows = answers_chart(analyse([one])), sets_chart(analyse([one])), rows_of(windows)
    assert series(answers)["amrc"] @ rows / n == pytest.approx(one.summary.answered, rel=1e-4)
    assert series(sets)["amrc"] @ rows / n == pytest.approx(one.summary.set_size, rel=1e-4)
    assert series(sets, "y2")["each point"] @ rows / n == pytest.approx(one.summary.set_coverage, rel=1e-4)
    shown = series(answers, "y2")["each point"]
    expected = [w.wrong_answers / w.answered if w.answered >= 8 else np.nan for w in windows]
    np.testing.assert_allclose(shown, expected, rtol=1e-4)


def test_levels_are_drawn_over_all_rows_and_named():
    answers, sets = answers_chart(analyse([entry(answered=0.5)])), sets_chart(analyse([entry(answered=0.5)]))
    for chart, level, name in [(answers, 0.05, "5% allowed"), (sets, 0.9, "90% asked for")]:
        (shape,) = chart.layout["shapes"]
        assert (shape["y0"], shape["y1"], shape["x0"], shape["x1"], shape["yref"]) == (level, level, 0, 1, "y2")
        low, high = chart.layout["yaxis2"]["range"]
        assert low < level < high
        assert name in [label["text"] for label in chart.labels]
        assert name in chart.alt


def test_a_level_for_each_label_is_no_line():
    section = sections(entry(answered=0.5, error_level={"ham": 0.01, "spam": 0.1}))["answers"]
    assert section.chart.layout["shapes"] == []
    assert "the share allowed for each label" in section.details
    assert "dashed" not in section.details


def test_different_levels_are_lines_each():
    chart = answers_chart(analyse([entry(answered=0.5), entry(name="dwm", answered=0.5, error_level=0.1)]))
    assert [shape["y0"] for shape in chart.layout["shapes"]] == [0.05, 0.1]


def test_sections_appear_only_if_something_was_said():
    assert {"answers", "sets"}.isdisjoint(sections(entry()))
    assert {"answers", "sets"} < set(sections(entry(answered=0.5)))
    assert {"answers", "sets"} < set(sections(entry(), entry(name="dwm", answered=0.5)))


def test_classifiers_that_say_something_are_overlaid_in_the_colours_of_the_comparison():
    entries = entry(answered=0.5), entry(name="dwm"), entry(300, name="rbp", answered=0.9, finished=False)
    found = sections(*entries)
    colours = {trace["name"]: trace["line"]["color"] for trace in found["comparison"].chart.data if "name" in trace}
    for name in ("answers", "sets"):
        chart = found[name].chart
        assert set(series(chart)) == set(series(chart, "y2")) == {"amrc", "rbp"}
        assert all(colours[trace["name"]] == trace["line"]["color"] for trace in chart.data if "name" in trace)
        assert [trace["name"] for trace in chart.data if trace["showlegend"]] == ["amrc", "rbp"]
        assert "The lower lines are over all" in found[name].details
        assert len(series(chart)["rbp"]) == len(chart_windows(entries[2].timeline))
    assert found["answers"].chart.layout["xaxis"]["range"] == [0, 600]


def test_the_first_classifier_is_drawn_in_front():
    chart = answers_chart(analyse([entry(answered=0.5), entry(name="dwm", answered=0.5)]))
    layers = {(trace["name"], trace["yaxis"]): trace["zorder"] for trace in chart.data if "name" in trace}
    for axis in ("y", "y2"):
        assert layers["amrc", axis] > layers["dwm", axis]


def test_a_classifier_that_never_answers_has_no_chart_of_wrong_answers():
    section = sections(entry(answered=0.0))["answers"]
    assert "yaxis2" not in section.chart.layout
    assert section.chart.layout["shapes"] == []
    assert (series(section.chart)["amrc"] == 0.0).all()
    assert "fewer than 8 answers" in section.details
    assert "dashed" not in section.details
    assert "thick" not in section.details


def test_shares_of_wrong_answers_have_gaps_where_there_are_few_answers():
    one = entry(2000, answered=0.08)
    chart = answers_chart(analyse([one]))
    (trace,) = [trace for trace in chart.data if trace.get("name") == "each point"]
    few = np.array([window.answered < 8 for window in chart_windows(one.timeline)])
    assert few.any()
    assert not few.all()
    assert [value is None for value in trace["y"]] == few.tolist()
    beside = np.concatenate([[True], few, [True]])
    alone = ~few & beside[:-2] & beside[2:]
    assert alone.any()
    assert (np.array(trace["marker"]["size"]) > 0).tolist() == alone.tolist()


def test_rows_on_trial_are_mentioned():
    one = entry(answered=0.5)
    tried = replace(one, summary=replace(one.summary, n_tried=70))
    assert (
        "70 rows of 600 were handed over because too many answers had been wrong" in sections(tried)["answers"].details
    )
    assert "too many answers" not in sections(one)["answers"].details


@settings(max_examples=15)
@given(st.integers(1, 200), st.integers(1, 12), st.sampled_from([0.0, 0.05, 0.5, 1.0]), seeds)
def test_every_chart_is_json_without_nan(n, n_classes, answered, seed):
    one = entry(n, labels=tuple(range(n_classes)), answered=answered, seed=seed)
    other = entry(n + 1, name="dwm", labels=tuple(range(n_classes)), answered=1.0, has_bound=False)
    for entries in ([one], [one, other]):
        for section in sections(*entries).values():
            assert all(json.loads(json.dumps(chart.to_dict(), allow_nan=False)) for chart in section.charts)


def test_an_evaluation_of_any_classifier_has_charts_of_answers_sets_and_alarms():
    parts = [GaussianClasses([[0], [1]], probabilities=shares) for shares in ([0.97, 0.03], [0.03, 0.97])]
    stream = ArrayStream(*AbruptDrift(parts, at=[3000]).sample(4000, seed=0))
    run = evaluate(create("majority"), stream, progress=False)
    assert run.summary.alarms
    found = sections(ReportEntry("majority", run.summary, run.timeline, run.finished))
    (marks,) = [trace for trace in found["error"].chart.data if trace.get("name") == "alarm"]
    assert marks["x"] == [alarm.raised_at for alarm in run.summary.alarms]
    assert 3000 <= marks["x"][0] < 3500
    wrong = series(found["answers"].chart, "y2")["all so far"]
    assert wrong[-1] == pytest.approx(run.summary.answered_error, rel=1e-4)
    covered = series(found["sets"].chart, "y2")["all so far"]
    assert covered[-1] == pytest.approx(run.summary.set_coverage, rel=1e-4)
