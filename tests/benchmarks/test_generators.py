import numpy as np
import pytest

pytest.importorskip("river", reason="the generators are River's")
from generators import CHOICE, VALIDATION, concepts_in_turn, generator_streams

FILES = ("phishing", "bananas", "image_segments", "digits")
N_ROWS = 300


@pytest.mark.parametrize("name", [*CHOICE, *VALIDATION])
def test_rows_are_made_from_the_seed_and_nominal_columns_have_codes(name):
    make = generator_streams()[name]
    X, y, nominal = make(N_ROWS, 1)
    X_again, y_again, _ = make(N_ROWS, 1)
    assert X.shape == (N_ROWS, X.shape[1])
    assert np.array_equal(X, X_again)
    assert np.array_equal(y, y_again)
    assert np.array_equal(make(N_ROWS, 2)[0], X) == (name in FILES)
    assert y.dtype == int
    assert y.min() >= 0
    assert np.array_equal(X[:, nominal], np.round(X[:, nominal]))
    assert np.isfinite(X).all()


def test_the_groups_have_no_stream_in_common():
    assert not set(CHOICE) & set(VALIDATION)
    assert list(generator_streams()) == [*CHOICE, *VALIDATION]


def concept_of_rows(concepts, width, n_rows=4000):
    """Return the concept of each row, from streams whose rows have the concept as their label."""
    X, y, _ = concepts_in_turn(
        lambda concept, _: (({"x": t}, concept) for t in range(n_rows)), concepts, width, (), n_rows, 0
    )
    return X[:, 0], y


def test_abrupt_changes_happen_after_equal_shares_of_the_rows_and_a_concept_that_returns_continues():
    positions, concept = concept_of_rows((0, 1, 0, 2), 0.0)
    assert np.flatnonzero(np.diff(concept)) + 1 == pytest.approx([1000, 2000, 3000], abs=1)
    assert np.array_equal(positions[concept == 0], np.arange(np.sum(concept == 0)))


def test_around_a_gradual_change_both_concepts_occur():
    _, concept = concept_of_rows((0, 1), 0.1)
    at_the_change = concept[1900:2100]
    assert 0.35 < at_the_change.mean() < 0.65
    assert concept[:1400].mean() < 0.01
    assert concept[2600:].mean() > 0.99
    before, after = concept[1800:2000].mean(), concept[2000:2200].mean()
    assert before == pytest.approx(1 / (1 + np.exp(1)), abs=0.1)
    assert after == pytest.approx(1 / (1 + np.exp(-1)), abs=0.1)
