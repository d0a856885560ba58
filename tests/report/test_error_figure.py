"""The figure of the error over time has the numbers of the report's chart."""

import math

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot

from driftline.guarantees import Alarm, AlarmKind
from driftline.report import draw_error
from driftline.report.analysis import analyse
from driftline.report.error_chart import error_chart
from helpers.report_entries import entry, series

mpl.use("Agg")
ALARM = Alarm(AlarmKind.TOLERATED, 620, 600, 21, 14, 0.1, math.nan)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def lines(figure):
    """Return the lines of a figure with names, by name."""
    return {line.get_label(): line for line in figure.axes[0].lines if not line.get_label().startswith("_")}


@settings(max_examples=10)
@given(st.integers(30, 3000), st.booleans(), st.sampled_from([None, 0.2]))
def test_lines_and_axis_are_those_of_the_chart(n, has_bound, row_bound_gap):
    one = entry(n, has_bound=has_bound, row_bound_gap=row_bound_gap)
    chart, drawn = error_chart(analyse([one])), draw_error(one)
    expected = series(chart)
    assert lines(drawn).keys() == expected.keys()
    for name, line in lines(drawn).items():
        assert np.allclose(line.get_ydata(), expected[name], rtol=1e-4)
    assert drawn.axes[0].get_ylim() == pytest.approx(chart.layout["yaxis"]["range"])
    pyplot.close(drawn)


def test_changes_and_alarms_are_marked():
    one = entry(4000, change_at=2000, answered=0.5, alarms=(ALARM,))
    figure = draw_error(one)
    (axes,) = figure.axes
    assert [
        line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == ":" and len(line.get_xdata()) == 2
    ] == [2000]
    assert [text.get_text() for text in axes.texts] == ["1"]
    assert lines(figure)["alarm"].get_xdata().tolist() == [620]


def test_limits_are_drawn_where_there_are_some(tmp_path):
    for n in (10, 3000):
        figure = draw_error(entry(n, answered=0.5))
        assert len(figure.axes[0].collections) == 1
        figure.savefig(tmp_path / "error.png")


def test_names_are_text_and_no_formulas(tmp_path):
    figure = draw_error(entry(300, stream="$\\frac{a$ \x1b[31m"))
    assert figure.axes[0].get_title(loc="left") == "amrc on $\\frac{a$ \\x1b[31m"
    figure.savefig(tmp_path / "error.png")


def test_in_a_notebook_the_figure_is_closed_because_it_is_shown_as_the_result(monkeypatch):
    draw_error(entry(300))
    assert len(pyplot.get_fignums()) == 1
    monkeypatch.setattr(mpl, "get_backend", lambda: "inline")
    draw_error(entry(300))
    assert len(pyplot.get_fignums()) == 1
