"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from models import fourier, linear, plain

EXPECTED_FAILURES: dict[str, str] = {}
"""Checks that AMRC does not pass, each with the reason."""


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        linear(),
        fourier(n_components=20),
        plain(n_iterations=200),
        plain(features="fourier", n_components=20, n_iterations=200),
        plain(widened=True, n_iterations=200),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)
