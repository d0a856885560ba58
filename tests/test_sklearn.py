"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from driftline import AMRC

EXPECTED_FAILURES: dict[str, str] = {}
"""Checks that AMRC does not pass, each with the reason."""


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [AMRC(n_iterations=200), AMRC(features="fourier", n_components=20, n_iterations=200)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)
