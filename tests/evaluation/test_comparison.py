"""Classifiers on the same stream: who is ahead, and whether that is more than chance."""

import numpy as np
import pytest

from driftline import ConfigError
from driftline.evaluation import Timeline, compare
from driftline.types import Block, Predictions


def timeline_of(wrong):
    n = len(wrong)
    labels = np.zeros(n, np.int64)
    timeline = Timeline(["x"])
    answers = Predictions.without_bounds(np.asarray(wrong, np.int64), labels, np.zeros(n), np.zeros(n))
    timeline.add(Block(np.zeros((n, 1)), labels, np.full(n, np.nan)), answers)
    return timeline


def test_ranks_go_by_errors_and_ties_share_theirs():
    wrong = np.arange(400) % 10
    ranked = compare({"c": timeline_of(wrong < 3), "a": timeline_of(wrong < 1), "b": timeline_of(wrong >= 9)})
    assert [entry.name for entry in ranked] == ["a", "b", "c"]
    assert [entry.rank for entry in ranked] == [1.5, 1.5, 3.0]
    assert [entry.error for entry in ranked] == pytest.approx([0.1, 0.1, 0.3])
    assert [entry.behind for entry in ranked] == pytest.approx([0.0, 0.0, 0.2])
    assert ranked[0].p is None
    assert ranked[2].low <= 0.2 <= ranked[2].high
    assert ranked[2].p < 1e-3


@pytest.mark.parametrize("n_models", [2, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("burst", [1, 20, 100])
def test_equal_classifiers_are_told_apart_as_rarely_as_promised(n_models, burst):
    by_p = by_interval = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        bursts = np.repeat(rng.random((n_models, 4000 // burst)) < 0.3, burst, axis=1)
        _, *others = compare({str(k): timeline_of(wrong) for k, wrong in enumerate(bursts)})
        by_p += min(other.p for other in others) < 0.05
        by_interval += max(other.low for other in others) > 0.0
    assert by_p <= 14  # 100 draws of probability 0.05 exceed that once in 6,000
    assert by_interval <= 14


def test_a_lead_that_lasts_long_counts_for_less():
    told = 0
    for seed in range(100):
        ahead = np.random.default_rng(seed).normal(size=40).cumsum() * 0.2
        ahead = np.repeat((ahead - ahead.mean()) / ahead.std(), 100) + np.random.default_rng(seed).normal()
        wrong = np.random.default_rng(seed).random((2, 4000)) < 0.3 + 0.1 * np.tanh([ahead, -ahead])
        told += compare({"a": timeline_of(wrong[0]), "b": timeline_of(wrong[1])})[1].p < 0.05
    assert told < 70  # rows as independent trials would tell nearly all of them apart


def test_a_real_difference_is_found_and_within_its_interval():
    covered = found = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        better, worse = rng.random((2, 4000)) < np.array([[0.2], [0.25]])
        ranked = compare({"worse": timeline_of(worse), "better": timeline_of(better)})
        assert ranked[0].name == "better"
        covered += ranked[1].low <= 0.05 <= ranked[1].high
        found += ranked[1].p < 0.05
    assert covered >= 43
    assert found >= 40


def test_a_short_stream_has_ranks_but_no_test():
    ranked = compare({"a": timeline_of(np.zeros(60)), "b": timeline_of(np.ones(60))})
    assert [(entry.name, entry.rank, entry.p) for entry in ranked] == [("a", 1.0, None), ("b", 2.0, None)]


def test_timelines_of_different_rows_are_refused():
    with pytest.raises(ConfigError, match="timelines must have the same rows"):
        compare({"a": timeline_of(np.zeros(60)), "b": timeline_of(np.ones(50))})


def test_one_mistake_in_the_last_rows_is_no_difference_that_counts():
    wrong = np.arange(1000) % 50 == 0
    more = wrong.copy()
    more[-1] = True
    (_, other) = compare({"a": timeline_of(wrong), "b": timeline_of(more)})
    assert other.behind == pytest.approx(0.001)
    assert other.p is None
    (_, equal) = compare({"a": timeline_of(wrong), "b": timeline_of(wrong)})
    assert equal.p == 1.0
