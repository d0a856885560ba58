"""Charts of the columns that moved show them at their changes; missing values are shown if there are any."""

from dataclasses import replace

import numpy as np
import pytest

from driftline.evaluation import Distribution, Timeline
from driftline.report import before_after_charts as module
from driftline.report import distribution_charts as distribution_charts_module
from driftline.report.analysis import analyse
from driftline.report.chart_elements import chart_windows
from driftline.report.distribution_charts import distribution_charts
from driftline.report.missing_chart import missing_chart
from driftline.report.moved_columns import moved_columns
from driftline.report.sections import report_sections
from driftline.types import Block, Predictions
from helpers.report_entries import entry, rows_of, series


def test_a_column_that_moved_is_shown_over_time_and_before_and_after():
    one = entry(4000, change_at=2000)
    over_time, before_after = distribution_charts(analyse([one]))
    assert over_time.title == "heat: median and middle half"
    assert [shape["x0"] for shape in over_time.layout["shapes"]] == [2000]
    x, medians = (np.array(over_time.data[-1][axis]) for axis in "xy")
    assert medians[x < 2000] == pytest.approx(0.0, abs=0.4)
    assert medians[x > 2000] == pytest.approx(3.0, abs=0.4)
    assert "before and after row 2,000" in before_after.title
    before, after = (np.array(series(before_after)[name]) for name in ("before", "after"))
    edges = np.array(before_after.data[-1]["x"])
    middles = (edges[1:] + edges[:-1]) / 2
    for shares, mean in ((before, 0.0), (after, 3.0)):
        assert 0.95 < shares[:-1].sum() <= 1.0
        assert shares[:-1] @ middles / shares[:-1].sum() == pytest.approx(mean, abs=0.2)


def test_at_most_six_columns_are_shown_and_none_without_a_change(monkeypatch):
    assert distribution_charts(analyse([entry(4000)])) == []
    assert "distributions" not in {section.name for section in report_sections(analyse([entry(4000)]))}
    one = analyse([entry(4000, change_at=2000)])
    assert [moved.labels for moved in moved_columns(one)] == [[0, 1]]
    monkeypatch.setattr(distribution_charts_module, "MAX_COLUMNS", 0)
    assert distribution_charts(one) == []


def test_a_class_of_few_rows_can_be_shown_too():
    one = entry(8000, change_at=4000, labels=("usual",) * 400 + ("rare",))
    found = analyse([one])
    label = one.timeline.classes.index("rare")
    assert one.timeline.support["rare"] < 60
    moved = replace(moved_columns(found)[0], labels=[label])
    chart = distribution_charts_module._over_time_chart("values", found, moved, is_log=False)
    assert chart.data[-1]["y"]
    assert chart.title.startswith("heat in class rare")


def test_few_values_are_bars_and_very_unequal_ones_have_a_logarithmic_axis():
    few = Distribution(np.array([0.0, 1.0]), np.array([3.0, 1.0]), 4.0, is_discrete=True)
    assert module._value_shares(few, np.array([0.0, 1.0, 2.0])).tolist() == [0.75, 0.25, 0.0]
    wide = Distribution(np.geomspace(1.0, 1e4, 9), np.linspace(0.0, 8.0, 9), 8.0, is_discrete=False)
    assert module.needs_log_axis(wide)
    assert not module.needs_log_axis(few)
    edges = module._edges(wide)
    assert np.diff(np.log(edges)) == pytest.approx(np.log(edges[1] / edges[0]))
    assert wide.shares(edges).sum() == pytest.approx(0.98, abs=0.005)


def test_bars_of_a_column_with_many_whole_numbers_hold_equally_many_of_them():
    whole = Distribution(np.arange(40.0), np.ones(40), 40.0, is_discrete=True)
    shares = whole.shares(module._edges(whole))
    assert set(np.round(40 * shares).tolist()) <= {0.0, 2.0}
    assert shares.sum() == pytest.approx(1.0)


def test_the_categories_of_a_column_are_shown_together():
    rng = np.random.default_rng(0)
    is_red = rng.random(4000) < np.where(np.arange(4000) < 2000, 0.2, 0.7)
    rows = np.column_stack([is_red, ~is_red, np.zeros(4000)]).astype(float)
    timeline = Timeline(["colour=red", "colour=blue", "colour=#0"])
    labels = rng.integers(2, size=4000)
    nothing = np.zeros(4000)
    block = Block(rows, labels, np.full(4000, np.nan))
    timeline.add(block, Predictions.without_bounds(labels, labels, nothing, nothing))
    found = replace(analyse([entry(4000)]), entries=(replace(entry(), timeline=timeline),), changes=timeline.changes())
    over_time, before_after = distribution_charts(found)
    assert over_time.layout["yaxis"]["tickformat"] == ".0%"
    shares = {trace["name"]: dict(zip(trace["x"], trace["y"], strict=True)) for trace in before_after.data}
    assert shares["before"] == pytest.approx({"red": 0.2, "blue": 0.8}, abs=0.04)
    assert shares["after"] == pytest.approx({"red": 0.7, "blue": 0.3}, abs=0.04)


def test_missing_values_are_shown_only_if_there_are_any():
    assert missing_chart(analyse([entry(4000)])) is None
    assert "missing" not in {section.name for section in report_sections(analyse([entry(4000)]))}
    one = entry(4000, missing_from=3000)
    shown = series(missing_chart(analyse([one])))
    assert set(shown) == {"wind"}
    assert shown["wind"] @ rows_of(chart_windows(one.timeline)) == pytest.approx(900, abs=1)
