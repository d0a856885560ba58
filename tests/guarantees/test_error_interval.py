"""The error with its limits: the formula, and streams built to leave them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline.errors import CheckpointError, ConfigError, DataError
from driftline.guarantees import ErrorInterval, ErrorIntervals, error_interval
from driftline.kernels.error_interval import is_too_large, is_too_small
from driftline.kernels.start_weights import remaining_weight, start_weight
from helpers import reference_guarantees as reference
from helpers.saved_parts import check_saved
from helpers.strategies import seeds

DELTA = 0.05
counts = st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
deltas = st.floats(1e-12, 0.999)


@given(counts, deltas)
def test_limits_equal_the_roots_of_the_mixture(count, delta):
    interval = error_interval(*count, delta)
    low, high = reference.error_limits(*count, 2 / delta)
    assert interval.low == pytest.approx(low, rel=1e-6, abs=1e-9)
    assert interval.high == pytest.approx(high, rel=1e-6, abs=1e-9)


@given(st.integers(1, 10**12), st.floats(0, 1), st.floats(min_value=5e-324, max_value=1, exclude_max=True))
def test_limits_lie_around_the_error_and_are_mirrored_when_right_and_wrong_change_places(n, share, delta):
    wrong = int(share * n)
    interval, mirrored = error_interval(n, wrong, delta), error_interval(n, n - wrong, delta)
    assert 0 <= interval.low <= interval.error <= interval.high <= 1
    assert interval.low == pytest.approx(1 - mirrored.high, abs=1e-15)
    assert (interval.low, interval.high) != (interval.error, interval.error)


@given(counts, deltas, deltas)
def test_a_smaller_delta_and_fewer_rows_widen_the_interval(count, one, other):
    n, wrong = count
    wide, narrow = (error_interval(n, wrong, delta) for delta in sorted([one, other]))
    longer = error_interval(10 * n, 10 * wrong, max(one, other))
    assert wide.low <= narrow.low <= longer.low + 1e-9
    assert longer.high - 1e-9 <= narrow.high <= wide.high


@pytest.mark.parametrize(("n", "wrong"), [(10**12, 0), (10**12, 10**12), (10**12, 1), (10**12, 10**11), (1, 0), (1, 1)])
def test_extreme_counts_have_the_limits_of_their_formulas(n, wrong):
    interval = error_interval(n, wrong, DELTA)
    few = min(wrong, n - wrong)
    low, high = (interval.low, interval.high) if few == wrong else (1 - interval.high, 1 - interval.low)
    if few == 0:  # at λ = -8 alone, whose weight is 1/6: (1 - r (1 - e^-8))^n = δ/12, up to the other terms
        assert low == 0
        assert -math.expm1(math.log(DELTA / 2) / n) <= high <= -math.expm1(math.log(DELTA / 12) / n) / -math.expm1(-8)
    else:
        assert low < few / n < high
        assert high - low < 10 * math.sqrt(few) / n + 10 / n


def test_the_width_meets_its_targets():
    assert error_interval(45_000, 4_050).high - error_interval(45_000, 4_050).low <= 2 * 0.007
    assert error_interval(1_000, 90).high - error_interval(1_000, 90).low <= 2 * 0.04


def test_the_width_follows_the_law_of_the_iterated_logarithm():
    """Divided by √(log log n / n) it is nearly constant from a thousand rows up."""
    n = 10 ** np.arange(3, 13)
    widths = np.array([error_interval(int(k), int(k) // 10).high - error_interval(int(k), int(k) // 10).low for k in n])
    ratios = widths / np.sqrt(np.log(np.log(n)) / n)
    assert ratios.max() / ratios.min() < 1.2


@given(st.integers(1, 10**7), st.floats(1, 1e5))
def test_a_weight_of_a_start_is_at_most_what_it_takes_from_the_rest(k, scale):
    taken = remaining_weight(k - 1, scale) - remaining_weight(k, scale)
    assert 0 < start_weight(k, scale) <= taken * (1 + 1e-4)  # the difference is rounded


@given(st.integers(1, 1000), st.floats(1, 1e5))
def test_weights_of_starts_equal_their_formula(k, scale):
    assert start_weight(k, scale) == pytest.approx(reference.start_weights(k, scale)[-1])
    assert remaining_weight(k, scale) == pytest.approx(reference.remaining_weight(k, scale))


def divergences(m, r):
    """Return n times the relative entropy of S/n and the mean of r: no λ has a larger exponent."""
    n = np.arange(1, len(m) + 1)
    p, mean = np.cumsum(m) / n, np.cumsum(r) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        return n * sum(np.where(a > 0, a * np.log(a / b), 0) for a, b in ((p, mean), (1 - p, 1 - mean)))


def ever_left(m, r, delta):
    """Return whether the mean of r ever leaves the limits: the mixture at that mean reaches 2/δ."""
    n, S, log_limit = np.arange(1, len(m) + 1), np.cumsum(m), math.log(2 / delta)
    mean = np.cumsum(r) / n
    near = np.flatnonzero(divergences(m, r) >= log_limit - 1e-9)
    return any(f(n[i], S[i], mean[i], log_limit) for i in near for f in (is_too_small, is_too_large))


def reacting(rng, n, low, high):
    """Labels that are wrong more often whenever there have been more mistakes than expected, or fewer."""
    r, m, excess, u = np.empty(n), np.empty(n), 0.0, rng.random(n)
    for t in range(n):
        r[t] = high if excess > 0 else low
        m[t] = u[t] < r[t]
        excess += m[t] - r[t]
    return m, r


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.1), (0.02, 0.5), (0.5, 0.02)])
def test_few_streams_ever_leave_the_limits_also_if_labels_react(low, high):
    """At a large δ, so that the test can fail: with limits for a fixed time, nearly all streams would leave."""
    rng, delta, quantile = np.random.default_rng(1), 0.5, 0.674
    streams = [reacting(rng, 1500, low, high) for _ in range(80)]
    assert np.mean([ever_left(*stream, delta) for stream in streams]) <= delta
    assert np.mean([np.any(divergences(*stream) > quantile**2 / 2) for stream in streams]) > 0.8


def filled(predicted, labels, n_classes=4):
    intervals = ErrorIntervals(n_classes)
    intervals.update(predicted, labels)
    return intervals


def sample(seed, n):
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 4, n), rng.integers(0, 4, n)


@given(seeds, st.integers(0, 400), st.integers(0, 3))
def test_counts_are_those_of_the_rows(seed, n, k):
    predicted, labels = sample(seed, n)
    intervals, wrong = filled(predicted, labels), predicted != labels
    assert intervals.overall(DELTA) == error_interval(n, int(wrong.sum()), DELTA)
    for rows, interval in ((labels == k, intervals.of_class(k)), (predicted == k, intervals.of_prediction(k))):
        assert interval == error_interval(int(rows.sum()), int(wrong[rows].sum()), DELTA)


@given(seeds, st.integers(1, 1500), st.sampled_from([100, 1000]))
def test_recent_rows_are_the_last_ones_with_a_share_of_delta(seed, n, length):
    predicted, labels = sample(seed, n)
    recent = filled(predicted, labels).recent(length)
    assert recent.n_rows == n if n < length else length <= recent.n_rows < 1.1 * length
    assert (n - recent.n_rows) % (length // 10) == 0
    assert recent.n_wrong == (predicted != labels)[n - recent.n_rows :].sum()
    k = (n - recent.n_rows) // (length // 10) + 1
    low, high = reference.error_limits(recent.n_rows, recent.n_wrong, 2 / DELTA / reference.start_weights(k, 100)[-1])
    assert (recent.low, recent.high) == pytest.approx((low, high), rel=1e-6, abs=1e-9)


@given(seeds, st.lists(st.integers(0, 150), max_size=12))
def test_grouping_saving_and_classes_that_join_do_not_matter(seed, sizes):
    predicted, labels = sample(seed, sum(sizes))
    whole, parts, place = filled(predicted, labels), ErrorIntervals(4), 0
    for size in sizes:
        parts.update(predicted[place : place + size], labels[place : place + size])
        place += size
        saved, parts = parts.state(), ErrorIntervals(4)
        check_saved(saved, parts, version=4)
        parts.restore(saved)
    assert all(np.array_equal(array, parts.state()[name]) for name, array in whole.state().items())
    whole.add_classes(2)
    assert whole.of_class(5) == whole.of_prediction(4) == ErrorInterval(0, 0, 0.0, 1.0, DELTA)
    assert whole.of_class(3) == parts.of_class(3)


def test_older_files_have_no_counts_and_altered_ones_are_refused():
    intervals = ErrorIntervals(2)
    check_saved({}, intervals, version=2)
    intervals.restore({})
    assert math.isnan(intervals.overall().error)
    altered = intervals.state()
    altered["totals"][1] = 1
    with pytest.raises(CheckpointError, match="at most as many mistakes as rows"):
        check_saved(altered, intervals, version=4)
    altered["totals"][0], altered["blocks"][0, 0] = 5, 11
    with pytest.raises(CheckpointError, match="from 0 to 10"):
        check_saved(altered, intervals, version=4)


def test_the_state_does_not_grow():
    intervals = filled(*sample(0, 50_000))
    assert sum(array.nbytes for array in intervals.state().values()) < 1024


@pytest.mark.parametrize(
    "call",
    [
        lambda: error_interval(-1, 0),
        lambda: error_interval(3, 4),
        lambda: error_interval(3.0, 1),
        lambda: error_interval(3, 1, 0.0),
        lambda: error_interval(3, 1, 1.0),
        lambda: error_interval(3, 1, math.nan),
        lambda: ErrorIntervals(2).recent(500),
        lambda: ErrorIntervals(2).of_class(2),
        lambda: ErrorIntervals(2).of_prediction(-1),
        lambda: ErrorIntervals().of_class(0),
        lambda: ErrorIntervals(-1),
    ],
)
def test_wrong_arguments_are_refused(call):
    with pytest.raises(ConfigError, match=r"must be .*got|must be .*add_classes"):
        call()


@pytest.mark.parametrize(
    ("predicted", "labels"), [([0], [2]), ([2], [0]), ([-2], [0]), ([0], [-1]), ([0, 1], [0]), ([0.0], [0]), (0, 0)]
)
def test_wrong_rows_are_refused_and_change_nothing(predicted, labels):
    intervals = filled(np.array([0, 1]), np.array([1, 1]), n_classes=2)
    before = intervals.state()
    with pytest.raises(DataError):
        intervals.update(np.array(predicted), np.array(labels))
    assert all(np.array_equal(array, before[name]) for name, array in intervals.state().items())
