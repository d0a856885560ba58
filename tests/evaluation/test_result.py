"""What a script or a notebook does with the result of an evaluation."""

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import AMRC, ConfigError, MissingExtraError
from driftline.evaluation import Evaluation, evaluate
from driftline.registry import create
from driftline.streams import ArrayStream
from helpers.quick_models import linear, small_stream
from helpers.report_entries import entry
from helpers.strategies import seeds


def of_entry(one, folder=None):
    return Evaluation(one.summary, one.timeline, None, folder, one.finished)


@pytest.fixture(scope="module")
def run():
    X, y = small_stream()
    stream = ArrayStream(X, np.array(["ham", "<i>spam</i>"])[y], name="<img src=x onerror=alert(1)>")
    return evaluate(linear(), stream, progress=False)


@settings(max_examples=15)
@given(st.integers(1, 9000), st.integers(1, 600), seeds)
def test_the_windows_of_the_frame_add_up_to_the_summary(n, most, seed):
    one = entry(n, seed=seed, answered=0.5)
    frame = of_entry(one).to_frame(most)
    rows = (frame.last_row - frame.first_row + 1).to_numpy()
    assert len(frame) <= min(most, 512)
    assert frame.first_row.tolist() == [0, *(frame.last_row[:-1] + 1)]
    assert frame.last_row.iloc[-1] == n - 1
    assert frame.error @ rows == pytest.approx(one.summary.mistakes)
    assert frame.bound @ rows / n == pytest.approx(one.summary.mean_bound)
    assert frame.expected_error @ rows == pytest.approx(one.summary.expected_mistakes)
    shares = frame[[f"share of {label}" for label in one.timeline.classes]]
    assert np.allclose(shares.sum(axis=1), 1.0)


def test_the_frame_has_the_times_of_the_last_rows_and_gaps_where_nothing_is_known():
    frame = of_entry(entry(100, start_time=0.0, has_bound=False)).to_frame(1)
    assert frame.end_time.tolist() == [99 * 3600.0]
    assert frame[["bound", "answered_share", "set_size"]].isna().all(axis=None)
    assert frame.bound.dtype.kind == "f"


@pytest.mark.parametrize("most", [0, 2.5, "all"])
def test_the_number_of_windows_is_checked(run, most):
    with pytest.raises(ConfigError, match="most must be"):
        run.to_frame(most)


def test_the_report_is_the_page_of_the_command_line(run, tmp_path):
    path = tmp_path / "run.html"
    path.write_text("old")
    assert run.report(path) == path
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "evaluate(AMRC(features=&#39;linear&#39;), …)" in page
    assert "<img src=x" not in page
    assert list(tmp_path.iterdir()) == [path]


def test_records_are_a_frame_if_they_were_kept(run, tmp_path):
    X, y = small_stream()
    kept = evaluate(create("majority"), ArrayStream(X, y), checkpoint=tmp_path / "run", progress=False)
    frame = kept.records()
    assert isinstance(frame, pd.DataFrame)
    assert frame.step.tolist() == list(range(len(y)))
    assert (frame.label != frame.prediction).sum() == kept.summary.mistakes
    with pytest.raises(ConfigError, match="no records were kept; pass checkpoint=FOLDER to evaluate"):
        run.records()


@pytest.mark.parametrize(("package", "call"), [("pandas", "to_frame"), ("pandas", "records"), ("matplotlib", "plot")])
def test_a_package_that_is_missing_is_named(run, monkeypatch, tmp_path, package, call):
    monkeypatch.setitem(sys.modules, package, None)
    kept = Evaluation(run.summary, run.timeline, run.model, tmp_path, finished=True)
    with pytest.raises(MissingExtraError, match=rf"{package}.* pip install .*({package}|plot)"):
        getattr(kept, call)()


def test_a_notebook_shows_the_figures_and_nothing_of_the_data_is_interpreted(run):
    for shown in (run._repr_html_(), run.summary._repr_html_()):
        assert "AMRC on &lt;img src=x onerror=alert(1)&gt;" in shown
        assert "<img" not in shown
        assert "<script" not in shown
        assert f"{run.summary.error:.1%}" in shown
    assert "stopped early" not in run._repr_html_()
    stopped = Evaluation(run.summary, run.timeline, run.model, None, finished=False)
    assert "The run was stopped early." in stopped._repr_html_()


def test_a_prompt_shows_one_line(run):
    assert repr(run) == f"Evaluation(AMRC on <img src=x onerror=alert(1)>: 60 rows, error {run.summary.error:.1%})"


def test_a_notebook_shows_the_hint_that_labels_come_in_runs():
    X, y = np.random.default_rng(0).normal(size=(600, 2)), np.arange(600) // 10 % 2
    run = evaluate(AMRC(features="linear"), ArrayStream(X, y), progress=False)
    assert "Repeating the last known label" in run._repr_html_()
