import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import cohen_kappa_score

from driftline.evaluation import evaluate, read_records
from driftline.evaluation.summary import RunningTotals, is_above
from driftline.streams import ArrayStream
from driftline.types import Status
from helpers.predictions import predictions_with_bounds
from helpers.quick_models import QUICK, linear, plain, small_stream
from helpers.strategies import seeds


def summary_of(totals):
    return totals.summary("stream", "model", 0.05, n_unlearned=0, n_skipped=0, bounds_are_late=False)


@given(
    seed=seeds,
    n_classes=st.integers(1, 4),
    window=st.integers(1, 50),
    cuts=st.lists(st.integers(1, 99), max_size=5, unique=True),
)
def test_the_figures_are_those_of_the_whole_however_it_was_cut(seed, n_classes, window, cuts):
    rng, n = np.random.default_rng(seed), 100
    y, said = rng.integers(0, n_classes, n), rng.integers(0, n_classes, n)
    h, bounds = rng.random(n), rng.random(n)
    totals = RunningTotals(window)
    for part in np.split(np.arange(n), sorted(cuts)):
        totals.add(y[part], predictions_with_bounds(said[part], h[part], bounds[part], seconds=(0.5, 0.25)))
    summary = summary_of(totals)
    assert summary.error == np.mean(y != said)
    assert summary.mistakes == np.sum(y != said)
    assert summary.expected_error == pytest.approx(np.mean(1 - h), rel=1e-12)
    assert summary.mean_bound == pytest.approx(bounds.mean(), rel=1e-12)
    assert summary.no_change_error == np.mean(y[1:] != y[:-1])
    assert summary.majority_error == pytest.approx(1 - np.bincount(y).max() / n, abs=1e-15)
    largest = max(bounds.sum(), np.sum(1 - h)) + np.sqrt(2 * n * np.log(20))
    assert summary.mistake_bound == pytest.approx(min(largest, n), rel=1e-12)
    assert summary.bounds_held == (np.sum(1 - h) <= bounds.sum())
    assert ("did not hold" in str(summary)) == (not summary.bounds_held)
    assert summary.predict_seconds == 50.0
    assert summary.learn_seconds == 25.0
    if len({*y.tolist(), *said.tolist()}) > 1:
        assert summary.kappa == pytest.approx(cohen_kappa_score(y, said), abs=1e-12)
    else:
        assert summary.kappa is None
    whole = [slice(i, i + window) for i in range(0, n - window + 1, window)]
    above = np.mean([np.mean(1 - h[part]) > bounds[part].mean() for part in whole])
    assert summary.windows_above_bound == pytest.approx(above)
    erring = np.mean([np.mean((y != said)[part]) > bounds[part].mean() for part in whole])
    assert summary.windows_above_bound_deterministic == pytest.approx(erring)


def test_bounds_count_with_their_excess_up_to_one_and_as_they_are_where_the_set_was_empty():
    bounds, charges = np.array([0.2, 5.0, -0.4, np.nan]), np.array([0.3, 1.4, 1.0, 1.0])
    statuses = np.array([Status.OK, Status.LOOSE, Status.EMPTY, Status.EMPTY], dtype=object)
    totals = RunningTotals(4)
    totals.add(
        np.zeros(4), predictions_with_bounds(np.zeros(4), np.ones(4), bounds, statuses=statuses, charges=charges)
    )
    summary = summary_of(totals)
    assert summary.mean_bound == pytest.approx((0.3 + 1.0 - 0.4 + 0.0) / 4)
    assert summary.bound_statuses == {"ok": 1, "loose": 1, "empty": 2}


def test_the_kappa_against_no_change_is_the_share_of_its_mistakes_avoided():
    totals = RunningTotals(10)
    y = np.array([0, 1, 0, 1, 0])
    totals.add(y, predictions_with_bounds(np.array([0, 1, 0, 0, 0]), np.ones(5), np.ones(5)))
    summary = summary_of(totals)
    assert summary.no_change_error == 1.0
    assert summary.kappa_no_change == pytest.approx(1 - 0.2)
    constant = RunningTotals(10)
    constant.add(np.zeros(5, int), predictions_with_bounds(np.zeros(5, int), np.ones(5), np.ones(5)))
    assert summary_of(constant).kappa_no_change is None


def test_the_summary_agrees_with_the_records_and_with_the_model(tmp_path):
    X, y = small_stream(n_steps=300)
    model = plain(**QUICK)
    summary = evaluate(model, ArrayStream(X, y), checkpoint=tmp_path, window=50, delta=0.2, progress=False).summary
    records = read_records(tmp_path).to_pandas()
    assert summary.error == (records.label != records.prediction).mean()
    assert summary.expected_error == pytest.approx(1 - records.probability.mean())
    assert summary.mistake_bound == pytest.approx(model.mistake_bound(0.2), rel=1e-12)
    assert summary.bound_statuses == records.status.value_counts().to_dict()
    written = json.loads((tmp_path / "summary.json").read_text())
    assert written == {**summary.to_dict(), "finished": True}


def test_the_summary_can_be_read(tmp_path):
    X, y = small_stream(n_steps=300)
    text = str(evaluate(plain(**QUICK), ArrayStream(X, y, name="made up"), delay=7, window=50, progress=False).summary)
    assert text.startswith("PaperAMRC on made up\n")
    assert "error" in text
    assert "7 labels that had not arrived at the end" in text
    assert "of windows of 50 rows" in text
    assert "(5% allowed)" in text
    assert "(90% asked for)" in text
    assert "alarms" in text
    without = str(evaluate(SGDClassifier(), ArrayStream(X, y), progress=False).summary)
    assert "at most" not in without
    short = str(evaluate(plain(**QUICK), ArrayStream(X[:60], y[:60]), progress=False).summary)
    assert "windows" not in short  # none was full


def test_a_bound_that_is_met_but_for_rounding_counts_as_met():
    sums = [0.1 + 0.2, 1e-16, 1e-6, 2.0]
    assert [is_above(total, bound) for total, bound in zip(sums, [0.3, 0.0, 0.0, 1.0], strict=True)] == [
        False,
        False,
        True,
        True,
    ]


def test_as_long_as_one_class_is_known_no_window_is_above_its_bound():
    X, y = small_stream(n_steps=400)
    summary = evaluate(linear(), ArrayStream(X, np.zeros_like(y)), window=50, progress=False).summary
    assert summary.windows_above_bound <= 1 / 8  # the first, whose first row finds no class
