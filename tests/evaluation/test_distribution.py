"""The distribution of a column: that of its values, whether they are few and exact or many and interpolated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline.evaluation import Timeline
from driftline.evaluation.distribution import Distribution, pooled
from driftline.types import Block, Predictions
from helpers.strategies import seeds

SHARES = np.array([0.1, 0.25, 0.5, 0.75, 0.9])


def timeline_of(values, labels):
    """Return the timeline of rows with one column."""
    timeline, n = Timeline(["x"]), len(values)
    block = Block(np.asarray(values, float)[:, np.newaxis], np.asarray(labels), np.full(n, np.nan))
    timeline.add(block, Predictions.without_bounds(np.asarray(labels), block.labels, np.zeros(n), np.zeros(n)))
    return timeline


@given(st.integers(0, 2000), seeds)
def test_few_different_values_are_counted_exactly(first, seed):
    rng = np.random.default_rng(seed)
    values, labels = rng.integers(3, size=2000), rng.integers(2, size=2000)
    timeline = timeline_of(values, labels)
    first = first // 16 * 16
    for chosen in ([0], [0, 1]):
        (found,) = timeline.distributions(0, chosen, [(first, 2000)])
        label_values = [timeline.classes[c] for c in chosen]
        expected = values[first:][np.isin(labels[first:], label_values)]
        if not expected.size:
            assert found is None
            continue
        assert found.is_discrete
        assert found.total == expected.size
        assert found.mean == pytest.approx(expected.mean())
        edges = np.array([-0.5, 0.5, 1.5, 2.5])
        assert found.shares(edges) == pytest.approx(np.bincount(expected, minlength=3) / expected.size)


def test_many_values_of_several_classes_are_interpolated_together():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=20_000)
    values = rng.normal(size=20_000) + 2.0 * labels
    values[10_000:] += 5.0
    parts = timeline_of(values, labels).distributions(0, [0, 1], [(0, 9_984), (10_240, 20_000)])
    for found, expected in zip(parts, (values[:9_984], values[10_240:]), strict=True):
        assert not found.is_discrete
        assert found.total == pytest.approx(len(expected))
        assert found.quantiles(SHARES) == pytest.approx(np.quantile(expected, SHARES), abs=0.15)
        edges = np.linspace(-4.0, 12.0, 33)
        assert found.shares(edges) == pytest.approx(np.histogram(expected, edges)[0] / len(expected), abs=0.02)


def test_a_part_without_values_has_no_distribution():
    timeline = timeline_of([np.nan] * 64 + [1.0] * 64, ["a"] * 128)
    before, after = timeline.distributions(0, [0], [(0, 64), (64, 128)])
    assert before is None
    assert after.total == 64
    assert timeline.missing_shares(timeline.windows(2)) == pytest.approx(np.array([[1.0], [0.0]]))


def test_a_mixture_of_exact_and_interpolated_values_keeps_all_of_them():
    one = Distribution(np.array([0.0, 1.0]), np.array([3.0, 1.0]), 4.0, is_discrete=True)
    other = Distribution(np.array([0.0, 2.0]), np.array([0.0, 4.0]), 4.0, is_discrete=False)
    both = pooled([one, other])
    assert both.total == 8.0
    assert both.shares(np.array([-1.0, 3.0])) == pytest.approx([1.0])
    assert pooled([]) is None
