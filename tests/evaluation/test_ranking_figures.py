"""Areas under curves from counts in bins, beside those that scikit-learn computes from the scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from driftline.evaluation.ranking_figures import EDGES, MAX_BINS, bins_of, ranking_curve, ranking_figures
from helpers.strategies import seeds

MIDDLES = (EDGES[1:] + EDGES[:-1]) / 2


def figures_of(scores, is_positive, n_bins):
    """Return the figures of scores that were counted in bins, and whether the bins hold equal scores only."""
    bins = bins_of(scores) // (MAX_BINS // n_bins)
    is_tie = np.array([len(np.unique(scores[bins == b])) <= 1 for b in range(n_bins)])
    counts = (np.bincount(bins[which], minlength=n_bins) for which in (~is_positive, is_positive))
    return ranking_figures(*counts, is_tie)


def exact(scores, is_positive):
    return roc_auc_score(is_positive, scores), average_precision_score(is_positive, scores)


@given(
    seed=seeds,
    n=st.integers(2, 400),
    decimals=st.sampled_from([1, 2, 4, 16]),
    share=st.sampled_from([0.02, 0.3, 0.9]),
    n_bins=st.sampled_from([8, 64, 1024]),
)
def test_the_areas_of_the_scores_lie_within_the_stated_errors(seed, n, decimals, share, n_bins):
    rng = np.random.default_rng(seed)
    is_positive = rng.random(n) < share
    is_positive[:2] = [True, False]
    log_odds = rng.normal(size=n) * rng.choice([0.5, 3.0, 12.0]) + is_positive * rng.normal()
    scores = np.round(1 / (1 + np.exp(-log_odds)), decimals)  # ties, and scores of 0 and 1
    figures = figures_of(scores, is_positive, n_bins)
    roc_auc, average_precision = exact(scores, is_positive)
    assert abs(figures.roc_auc - roc_auc) <= figures.roc_auc_error + 1e-12
    assert abs(figures.average_precision - average_precision) <= figures.average_precision_error + 1e-9


@given(seed=seeds, n=st.integers(2, 300), n_scores=st.integers(1, 200))
def test_they_are_exact_if_different_scores_lie_in_different_bins(seed, n, n_scores):
    rng = np.random.default_rng(seed)
    scores = rng.choice(rng.choice(MIDDLES, n_scores, replace=False), n)
    is_positive = rng.random(n) < 0.2
    is_positive[:2] = [True, False]
    figures = figures_of(scores, is_positive, MAX_BINS)
    assert (figures.roc_auc, figures.average_precision) == pytest.approx(exact(scores, is_positive), abs=1e-12)
    assert figures.roc_auc_error == 0.0
    assert figures.average_precision_error == 0.0


def test_the_limits_are_reached_by_the_best_and_the_worst_order_in_a_bin():
    low, high = np.nextafter(MIDDLES[500], 0), MIDDLES[500]
    is_positive = np.array([True] * 3 + [False] * 5)
    best = np.where(is_positive, high, low)
    ladder = low + np.arange(8) * np.spacing(low)
    worst = np.concatenate([ladder[:3], ladder[3:]])
    figures = figures_of(best, is_positive, MAX_BINS)
    assert figures.roc_auc + figures.roc_auc_error == exact(best, is_positive)[0] == 1.0
    assert figures.average_precision + figures.average_precision_error == exact(best, is_positive)[1] == 1.0
    assert figures.roc_auc - figures.roc_auc_error == exact(worst, is_positive)[0] == 0.0
    lowest = figures.average_precision - figures.average_precision_error
    assert lowest == pytest.approx(exact(worst, is_positive)[1], abs=1e-12)


def test_bins_are_in_the_order_of_scores_and_halve_into_bins():
    scores = np.sort(np.concatenate([[0.0, 1e-300, 1.0], EDGES, MIDDLES]))
    bins = bins_of(scores)
    assert np.all(np.diff(bins) >= 0)
    assert (bins[0], bins[-1]) == (0, MAX_BINS - 1)
    assert set(bins.tolist()) == set(range(MAX_BINS))


def test_areas_need_rows_of_both_kinds():
    assert ranking_figures(np.array([3, 0]), np.array([0, 0]), np.array([True, True])) is None
    assert ranking_figures(np.array([0, 0]), np.array([0, 2]), np.array([True, True])) is None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=8, max_size=8))
def test_the_curves_have_the_areas(counts):
    negatives, positives = np.array(counts).T
    figures, curve = (
        ranking_figures(negatives, positives, np.zeros(8, bool)),
        ranking_curve(negatives, positives),
    )
    assert (figures is None) == (curve is None)
    if figures is None:
        return
    x, y = (np.concatenate([[0.0], each]) for each in (curve.false_positive_rates, curve.recalls))
    assert np.diff(x) @ (y[1:] + y[:-1]) / 2.0 == pytest.approx(figures.roc_auc)
    area = np.diff(y) @ curve.precisions
    assert abs(area - figures.average_precision) <= figures.average_precision_error + 1e-9
    assert (np.diff(curve.thresholds) < 0.0).all()
