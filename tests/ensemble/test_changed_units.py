"""After columns change their unit or level, the error is back within 500 rows; wild values change almost nothing."""

import numpy as np
import pytest

from driftline import AMRC
from units import CHANGES, errors_by_window, mistakes, sample


@pytest.fixture(scope="module", params=["auto", "linear"])
def features(request):
    return request.param


@pytest.fixture(scope="module")
def unchanged(features):
    return errors_by_window(AMRC(features=features, random_state=0), *sample("none", n_rows=2000, at=1000, seed=0))


@pytest.mark.parametrize("change", [name for name in CHANGES if name not in ("none", "wild values")])
def test_the_error_is_back_500_rows_after_a_change(change, features, unchanged):
    model = AMRC(features=features, random_state=0)
    errors = errors_by_window(model, *sample(change, n_rows=2000, at=1000, seed=0))
    assert np.array_equal(errors[:2], unchanged[:2])
    assert errors[3] <= unchanged[3] + 1.0


def test_wild_values_change_almost_nothing(features):
    calm, wild = (
        mistakes(AMRC(features=features, random_state=0), *sample(change, n_rows=2000, at=1000, seed=0))
        for change in ("none", "wild values")
    )
    assert abs(wild[1005:].mean() - calm[1005:].mean()) <= 0.005
    assert np.mean(wild[1005:] != calm[1005:]) <= 0.01


def test_a_unit_that_changes_back_is_followed_too():
    X, y = sample("none", n_rows=4000, at=1000, seed=1)
    X[1000:2000] *= 1000.0
    X[3000:] *= 1000.0
    errors = errors_by_window(AMRC(random_state=0), X, y)
    assert np.all(errors[[3, 5, 7]] <= errors[1] + 1.0)
