"""Classifiers on the same stream: who is ahead, and whether that is more than chance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import ConfigError
from driftline.evaluation import Timeline, compare
from driftline.evaluation.metrics import METRICS
from driftline.types import Block, Predictions
from helpers.strategies import seeds


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
    for seed in range(60):
        rng = np.random.default_rng(seed)
        bursts = np.repeat(rng.random((n_models, 4000 // burst)) < 0.3, burst, axis=1)
        _, *others = compare({str(k): timeline_of(wrong) for k, wrong in enumerate(bursts)})
        by_p += min(other.p for other in others) < 0.05
        by_interval += max(other.low for other in others) > 0.0
    assert by_p <= 10  # 60 draws of probability 0.05 exceed that once in 5,000
    assert by_interval <= 10


def test_a_lead_that_lasts_long_counts_for_less():
    told = 0
    for seed in range(50):
        ahead = np.random.default_rng(seed).normal(size=40).cumsum() * 0.2
        ahead = np.repeat((ahead - ahead.mean()) / ahead.std(), 100) + np.random.default_rng(seed).normal()
        wrong = np.random.default_rng(seed).random((2, 4000)) < 0.3 + 0.1 * np.tanh([ahead, -ahead])
        told += compare({"a": timeline_of(wrong[0]), "b": timeline_of(wrong[1])})[1].p < 0.05
    assert told < 35  # rows as independent trials would tell nearly all of them apart


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


def scored_timeline(is_positive, log_odds, *, classes=2):
    """Return the timeline of a classifier that gives label 1 these log-odds; further classes are never predicted."""
    n, labels = len(is_positive), np.asarray(is_positive, np.int64)
    p = 1.0 / (1.0 + np.exp(-log_odds))
    h = np.zeros((n, classes))
    h[:, 0], h[:, 1] = 1.0 - p, p
    nothing = np.zeros(n)
    predictions = Predictions.without_bounds(h.argmax(axis=1), labels, nothing, nothing, h[np.arange(n), labels], h)
    timeline = Timeline(["x"])
    timeline.add(Block(np.zeros((n, 1)), labels, np.full(n, np.nan)), predictions, None, np.arange(classes))
    return timeline


def noisy_scores(rng, is_positive, strength):
    return rng.normal(size=len(is_positive)) + strength * is_positive - 1.5


@settings(max_examples=40)
@given(seeds, st.sampled_from(list(METRICS)), st.floats(-0.6, 0.6), st.integers(160, 900))
def test_an_interval_excludes_0_exactly_if_its_p_value_is_below_5_percent(seed, by, lead, n):
    rng = np.random.default_rng(seed)
    is_positive = rng.random(n) < 0.25
    strengths = {"a": 1.5, "b": 1.5 + lead, "c": 1.5 - lead}
    ranked = compare(
        {k: scored_timeline(is_positive, noisy_scores(rng, is_positive, v)) for k, v in strengths.items()}, by
    )
    sign = 1.0 if METRICS[by].larger_is_better else -1.0
    values = [sign * place.value for place in ranked]
    assert values == sorted(values, reverse=True)
    for place in ranked[1:]:
        assert place.behind == pytest.approx(abs(place.value - ranked[0].value))
        if place.p is not None:
            assert place.low <= place.behind <= place.high
            assert (place.p < 0.05) == (not place.low <= 0.0 <= place.high)


def scored_pair(seed, n, share, strengths):
    """Return the timelines of two classifiers that find a rare class this well."""
    rng = np.random.default_rng(seed)
    is_positive = rng.random(n) < share
    return {k: scored_timeline(is_positive, noisy_scores(rng, is_positive, each)) for k, each in enumerate(strengths)}


def test_classifiers_that_find_a_rare_class_equally_well_are_rarely_told_apart():
    measures = ("average-precision", "roc-auc", "recall", "f1", "balanced-accuracy")
    told = dict.fromkeys(measures, 0)
    for seed in range(40):
        timelines = scored_pair(seed, 2000, 0.04, (2.0, 2.0))
        for by in measures:
            told[by] += compare(timelines, by)[1].p < 0.05
    assert max(told.values()) <= 8  # 40 draws of probability 0.05 exceed that once in 7,000


def test_a_better_order_of_the_rare_class_is_found_although_most_batches_have_few_rows_of_it():
    truth = compare(scored_pair(0, 200_000, 0.02, (1.0, 2.5)), by="average-precision")[1].behind
    covered = found = 0
    for seed in range(1, 31):
        best, other = compare(scored_pair(seed, 3000, 0.02, (1.0, 2.5)), by="average-precision")
        found += best.name == 1 and other.p < 0.05
        covered += other.low <= truth <= other.high
    assert found >= 27
    assert covered >= 24  # 30 draws of probability 0.95 are below that once in 2,000


def test_a_classifier_without_probabilities_is_last_where_they_count():
    is_positive = np.arange(400) % 4 == 0
    scored = scored_timeline(is_positive, np.where(is_positive, 1.0, -1.0))
    silent = {"silent": timeline_of(is_positive), "scored": scored, "also silent": timeline_of(is_positive)}
    ranked = compare(silent, by="log-loss")
    assert [(place.name, place.rank) for place in ranked] == [("scored", 1.0), ("silent", 2.5), ("also silent", 2.5)]
    assert [(place.value, place.behind, place.p) for place in ranked[1:]] == [(None, None, None)] * 2


def test_a_class_that_occurs_in_few_batches_is_ranked_but_not_tested():
    is_positive = np.arange(1000) < 60
    rng = np.random.default_rng(0)
    timelines = {k: scored_timeline(is_positive, noisy_scores(rng, is_positive, k)) for k in (1, 2)}
    assert compare(timelines, by="recall")[1].p is None
    assert compare(timelines, by="error")[1].p is not None


def test_a_measure_of_one_class_needs_to_know_which():
    labels = np.arange(300) % 3
    timelines = {k: scored_timeline(labels, np.zeros(300), classes=3) for k in (1, 2)}
    with pytest.raises(ConfigError, match="recall is about one class, and 3 occur; pass positive"):
        compare(timelines, by="recall")
    assert compare(timelines, by="recall", positive=2)[0].value == 0.0
    with pytest.raises(ConfigError, match=r"by must be one of error, kappa, .*; got 'recal'; did you mean recall"):
        compare(timelines, by="recal")
