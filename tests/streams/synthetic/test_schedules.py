import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline import ConfigError
from driftline.streams import (
    AbruptDrift,
    GaussianClasses,
    GradualDrift,
    MovingClass,
    RecurringDrift,
    ReoccurringClasses,
    RotatingGaussians,
)
from helpers.synthetic_distributions import on_circle


def test_an_abrupt_change_happens_at_its_row():
    concepts = on_circle(3, 3)
    drift = AbruptDrift(concepts, at=[10, 25])
    rows = np.arange(40)
    current = np.where(rows < 10, 0, np.where(rows < 25, 1, 2))
    assert np.array_equal(drift.concept_probabilities(rows + 1), np.eye(3)[current])
    truth = np.array([concepts[k].expectations(1) for k in current])
    assert np.allclose(drift.expectations(rows + 1), truth)


@given(st.integers(1, 500), st.integers(1, 300), st.floats(0, 1000))
def test_a_gradual_change_mixes_the_concepts_in_proportion(at, width, t):
    before, after = on_circle(3, 2)
    drift = GradualDrift([before, after], at=[at], width=width)
    share = min(max((t - at) / width, 0), 1)
    assert np.allclose(drift.concept_probabilities(t), [1 - share, share])
    assert np.allclose(drift.expectations(t), (1 - share) * before.expectations(t) + share * after.expectations(t))


def test_a_gradual_change_begins_and_ends_where_it_says():
    drift = GradualDrift(on_circle(2, 3), at=[100, 300], width=200)
    assert drift.concept_probabilities(100).tolist() == [1, 0, 0]
    assert drift.concept_probabilities(150).tolist() == [0.75, 0.25, 0]
    assert drift.concept_probabilities(300).tolist() == [0, 1, 0]
    assert drift.concept_probabilities(450).tolist() == [0, 0.25, 0.75]
    assert drift.concept_probabilities(500).tolist() == [0, 0, 1]


def test_rows_of_a_gradual_change_come_from_both_concepts_in_proportion():
    """Class 0 is at 4 in the old concept and at -4 in the new one: the sign tells which a row came from."""
    X, y = GradualDrift(at=[10_000], width=20_000).sample(40_000, seed=1)
    new = np.sign(X[:, 0]) != np.where(y == 0, 1, -1)
    slip = 0.0023  # of 4 over √2 deviations
    for first, share in [(0, 0.0), (10_000, 0.125), (15_000, 0.375), (25_000, 0.875), (30_000, 1.0)]:
        expected = share + (1 - 2 * share) * slip
        assert new[first : first + 5000].mean() == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 5000))


def test_an_abrupt_change_is_a_gradual_one_of_one_row():
    t = np.arange(1, 100)
    abrupt, gradual = AbruptDrift(at=[50]), GradualDrift(at=[50], width=1)
    assert np.array_equal(abrupt.concept_probabilities(t), gradual.concept_probabilities(t))
    assert np.array_equal(abrupt.sample(99, seed=0)[0], gradual.sample(99, seed=0)[0])


@given(st.integers(1, 50), st.integers(2, 4), st.integers(1, 1000))
def test_concepts_recur_with_their_period(period, n_concepts, t):
    drift = RecurringDrift(on_circle(4, n_concepts), period=period)
    expected = np.eye(n_concepts)[(t - 1) // period % n_concepts]
    assert np.array_equal(drift.concept_probabilities(t), expected)
    assert np.allclose(drift.expectations(t), drift.expectations(t + n_concepts * period))


def test_a_concept_may_drift_itself():
    drift = RecurringDrift([RotatingGaussians(), MovingClass()], period=10)
    assert np.allclose(drift.class_means(5), RotatingGaussians().class_means(5))
    assert np.allclose(drift.class_means(15), MovingClass().class_means(15))
    nested = AbruptDrift([drift, GradualDrift()], at=[20])
    assert np.allclose(nested.class_means(15), MovingClass().class_means(15))


def test_a_vanished_class_never_comes_and_leaves_its_share_to_the_others():
    concept = GaussianClasses([[0.0], [1.0], [2.0]], probabilities=[0.2, 0.6, 0.2])
    classes = ReoccurringClasses(concept, present=[(0, 1, 2), (0, 1), (2,)], period=5000)
    assert classes.label_probabilities([5000, 5001, 10_001, 15_001]) == pytest.approx(
        np.array([[0.2, 0.6, 0.2], [0.25, 0.75, 0], [0, 0, 1], [0.2, 0.6, 0.2]])
    )
    assert classes.expectations(5001)[2].tolist() == [0]
    assert np.isnan(classes.class_means(5001)[2]).all()
    assert classes.class_means(5001)[1] == pytest.approx([1])
    _, y = classes.sample(20_000, seed=0)
    assert set(y[:5000]) == {0, 1, 2}
    assert set(y[5000:10_000]) == {0, 1}
    assert set(y[10_000:15_000]) == {2}
    assert set(y[15_000:]) == {0, 1, 2}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AbruptDrift(on_circle(2, 1), at=[]), "two or more synthetic distributions"),
        (lambda: AbruptDrift(RotatingGaussians()), "two or more synthetic distributions"),
        (lambda: AbruptDrift([RotatingGaussians(), "elec2"]), "two or more synthetic distributions"),
        (
            lambda: AbruptDrift([RotatingGaussians(), MovingClass(n_classes=3)]),
            "same numbers of .* got 2 and 2, 3 and 2",
        ),
        (
            lambda: AbruptDrift(at=[1, 2]),
            r"must have 1 positions, one for each change between 2 concepts; got \[1, 2\]",
        ),
        (lambda: AbruptDrift(at=[0]), "each position in at must be a whole number from 1 up; got 0"),
        (lambda: AbruptDrift(on_circle(2, 3), at=[9, 9]), "must increase by 1 or more"),
        (lambda: GradualDrift(on_circle(2, 3), at=[5, 14], width=10), "must increase by 10 or more"),
        (lambda: GradualDrift(width=0), "width must be a whole number from 1 up; got 0"),
        (lambda: RecurringDrift(period=-1), "period must be a whole number from 1 up; got -1"),
        (lambda: ReoccurringClasses(period=0.5), "period must be a whole number from 1 up; got 0.5"),
        (lambda: ReoccurringClasses(present=[(0, 1), ()]), r"one or more of the labels 0 to 2; got \[\(0, 1\), \(\)\]"),
        (lambda: ReoccurringClasses(present=[(0, 3)]), "one or more of the labels 0 to 2"),
        (lambda: ReoccurringClasses(present=[0, 1]), "one or more of the labels 0 to 2"),
        (lambda: ReoccurringClasses(present=[([0],)]), "one or more of the labels 0 to 2"),
        (lambda: ReoccurringClasses(present=3), "one or more of the labels 0 to 2; got 3"),
        (lambda: ReoccurringClasses(concept=3), "concept must be a synthetic distribution"),
    ],
)
def test_parameters_that_cannot_work_are_refused(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


def test_a_time_at_which_no_class_could_come_is_refused():
    only_one = GaussianClasses(np.eye(2), probabilities=[1.0, 0.0])
    classes = ReoccurringClasses(only_one, present=[(0, 1), (1,)], period=100)
    assert classes.label_probabilities(100).tolist() == [1, 0]
    with pytest.raises(ConfigError, match="no class occurs at time 101"):
        classes.label_probabilities([100, 101])
