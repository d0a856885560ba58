"""Charts of the columns that moved show them at their changes; missing values are shown if there are any."""

import numpy as np
import pytest

from driftline.evaluation.distribution import Distribution
from driftline.report import distribution_charts as module
from driftline.report.analysis import analyse
from driftline.report.chart_elements import chart_windows
from driftline.report.distribution_charts import distribution_charts, moved_columns
from driftline.report.missing_chart import missing_chart
from driftline.report.sections import report_sections
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
    monkeypatch.setattr(module, "MAX_COLUMNS", 0)
    assert distribution_charts(one) == []


def test_few_values_are_bars_and_very_unequal_ones_have_a_logarithmic_axis():
    few = Distribution(np.array([0.0, 1.0]), np.array([3.0, 1.0]), 4.0, is_discrete=True)
    traces, top = module._value_bars({"before": (few, "bound")}, np.array([0.0, 1.0, 2.0]))
    assert traces[0]["y"] == [0.75, 0.25, 0.0]
    assert top == 0.75
    wide = Distribution(np.geomspace(1.0, 1e4, 9), np.linspace(0.0, 8.0, 9), 8.0, is_discrete=False)
    assert module._needs_log_axis(wide, wide)
    assert not module._needs_log_axis(few, few)
    edges = module._edges(wide, is_log=True)
    assert np.diff(np.log(edges)) == pytest.approx(np.log(edges[1] / edges[0]))
    assert wide.shares(edges).sum() == pytest.approx(0.98, abs=0.005)


def test_bars_of_a_column_with_many_whole_numbers_hold_equally_many_of_them():
    whole = Distribution(np.arange(40.0), np.ones(40), 40.0, is_discrete=True)
    shares = whole.shares(module._edges(whole, is_log=False))
    assert set(np.round(40 * shares).tolist()) <= {0.0, 2.0}
    assert shares.sum() == pytest.approx(1.0)


def test_missing_values_are_shown_only_if_there_are_any():
    assert missing_chart(analyse([entry(4000)])) is None
    assert "missing" not in {section.name for section in report_sections(analyse([entry(4000)]))}
    one = entry(4000, missing_from=3000)
    shown = series(missing_chart(analyse([one])))
    assert set(shown) == {"wind"}
    assert shown["wind"] @ rows_of(chart_windows(one.timeline)) == pytest.approx(900, abs=1)
